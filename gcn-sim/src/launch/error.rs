//! Errors about a code object, a spec or a file.

use std::path::PathBuf;

use gcn_emit::object::ObjectError;

use crate::core::error::SimError;

/// An error that prevents a kernel from being loaded, given its arguments, or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a code object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The code object has no kernel of this name.
    #[error("there is no kernel `{name}`; the code object has {}", names(known))]
    NoSuchKernel {
        /// The requested name.
        name: String,
        /// The kernels in the code object.
        known: Vec<String>,
    },
    /// The code object has no kernels.
    #[error("the code object has no kernel")]
    NoKernel,
    /// The code object has several kernels, and none was named.
    #[error("the code object has {} kernels; name one of {}", known.len(), names(known))]
    SeveralKernels {
        /// The kernels in the code object.
        known: Vec<String>,
    },
    /// The code object cannot be loaded.
    #[error("the code object cannot be loaded: {problem}; {remedy}")]
    Image {
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// The spec is not JSON.
    #[error("the spec is not JSON: {0}")]
    Json(String),
    /// An error in a spec that does not concern an argument.
    #[error("spec: {problem}; {remedy}")]
    Spec {
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// An error in an argument.
    #[error("argument `{argument}`: {problem}; {remedy}")]
    Argument {
        /// The argument's name or position.
        argument: String,
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// A file for a buffer cannot be read.
    #[error("argument `{argument}`: cannot read {}: {error}", path.display())]
    File {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// The simulation stopped with an error.
    #[error("{error}{}", note.as_deref().map(|n| format!("\n  note: {n}")).unwrap_or_default())]
    Sim {
        /// The error that stopped the simulation.
        #[source]
        error: Box<SimError>,
        /// A note that names the buffer, as in the spec, to which the address in the error belongs.
        note: Option<String>,
    },
}

impl From<SimError> for Error {
    fn from(error: SimError) -> Error {
        Error::Sim { error: Box::new(error), note: None }
    }
}

impl Error {
    pub(crate) fn argument(
        argument: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::Argument { argument: argument.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn spec(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Spec { problem: problem.into(), remedy: remedy.into() }
    }
}

/// The first few names, for a message.
fn names(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
