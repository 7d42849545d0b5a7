//! Errors of reading files with code.

use gcn_emit::asm::Diagnostics;
use gcn_emit::target_id::TargetId;

/// Why a file could not be read as code. A message begins with the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Assembly with errors.
    #[error("{}", .0.render(false).trim_end())]
    Assembly(Diagnostics),
    /// Bytes of another kind, or assembly that names no target.
    #[error("{name}: {problem}")]
    NotCode {
        /// The file.
        name: String,
        /// The problem.
        problem: String,
    },
    /// An object, or a container of objects, with errors.
    #[error("{name}: {problem}")]
    Object {
        /// The file, and of a container the entry.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The file is one code object for another target than the one that was asked for.
    #[error("{name}: the file is for {is}, not for {wanted}")]
    OtherTarget {
        /// The file.
        name: String,
        /// The target that was asked for.
        wanted: TargetId,
        /// The target of the file.
        is: TargetId,
    },
    /// An entry was asked for, but the file has none.
    #[error("{name}: the file is one code object, without entries")]
    NoEntries {
        /// The file.
        name: String,
    },
    /// No code object of the file is the one that was asked for.
    #[error("{name}: there is no code object {}; {there}", wanted(.target.as_ref(), *.entry))]
    NoneSelected {
        /// The file.
        name: String,
        /// The target that was asked for.
        target: Option<TargetId>,
        /// The entry that was asked for.
        entry: Option<usize>,
        /// The value in the file.
        there: String,
    },
    /// One code object is needed, and several fit.
    #[error("{name}: {there}; choose one by its target or its number")]
    Several {
        /// The file.
        name: String,
        /// The value in the file.
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
