//! Errors of reading files with code.

use gcn_emit::asm::Diagnostics;
use gcn_emit::target_id::TargetId;

/// The reason why a file could not be read as code. Each message starts with the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The assembly contains errors.
    #[error("{}", .0.render(false).trim_end())]
    Assembly(Diagnostics),
    /// The bytes are of another kind, or assembly that specifies no target.
    #[error("{name}: {problem}")]
    NotCode {
        /// The file.
        name: String,
        /// The problem.
        problem: String,
    },
    /// An object, or a container of objects, contains errors.
    #[error("{name}: {problem}")]
    Object {
        /// The file and, in a container, the entry.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The file is a single code object for another target than the requested one.
    #[error("{name}: the file is for {is}, not for {wanted}")]
    OtherTarget {
        /// The file.
        name: String,
        /// The requested target.
        wanted: TargetId,
        /// The target of the file.
        is: TargetId,
    },
    /// An entry was requested, but the file has none.
    #[error("{name}: the file is one code object, without entries")]
    NoEntries {
        /// The file.
        name: String,
    },
    /// No code object in the file matches the request.
    #[error("{name}: there is no code object {}; {there}", wanted(.target.as_ref(), *.entry))]
    NoneSelected {
        /// The file.
        name: String,
        /// The requested target.
        target: Option<TargetId>,
        /// The requested entry.
        entry: Option<usize>,
        /// A description of the code objects in the file.
        there: String,
    },
    /// A single code object is needed, but several match.
    #[error("{name}: {there}; choose one by its target or its number")]
    Several {
        /// The file.
        name: String,
        /// A description of the code objects in the file.
        there: String,
    },
    /// The file has no kernel of this name.
    #[error("{0}")]
    NoKernel(String),
}

fn wanted(target: Option<&TargetId>, entry: Option<usize>) -> String {
    match (target, entry) {
        (Some(target), None) => format!("for {target}"),
        (_, Some(entry)) => format!("with number {entry} that fits"),
        (None, None) => "for a supported target".to_owned(),
    }
}
