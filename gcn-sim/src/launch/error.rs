//! Errors about a code object, a spec or a file.

use std::path::PathBuf;

use gcn_emit::object::ObjectError;

use crate::core::error::SimError;

/// Why a kernel could not be loaded, given its arguments, or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No code object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// No kernel of this name.
    #[error("there is no kernel `{name}`; the code object has {}", names(known))]
    NoSuchKernel {
        /// The requested name.
        name: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// A code object without kernels.
    #[error("the code object has no kernel")]
    NoKernel,
    /// More than one kernel and none was named.
    #[error("the code object has {} kernels; name one of {}", known.len(), names(known))]
    SeveralKernels {
        /// The kernels.
        known: Vec<String>,
    },
    /// Something that cannot be loaded.
    #[error("the code object cannot be loaded: {problem}; {remedy}")]
    Image {
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// A spec that is not JSON.
    #[error("the spec is not JSON: {0}")]
    Json(String),
    /// Something in a spec that is not about an argument.
    #[error("spec: {problem}; {remedy}")]
    Spec {
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// An argument.
    #[error("argument `{argument}`: {problem}; {remedy}")]
    Argument {
        /// Its name, or its position.
        argument: String,
        /// The problem.
        problem: String,
        /// The suggested fix.
        remedy: String,
    },
    /// A file of a buffer.
    #[error("argument `{argument}`: cannot read {}: {error}", path.display())]
    File {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The simulation.
    #[error("{error}{}", note.as_deref().map(|n| format!("\n  note: {n}")).unwrap_or_default())]
    Sim {
        /// The error that stopped it.
        #[source]
        error: Box<SimError>,
        /// The buffer that the address in it belongs to, in terms of the spec.
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

/// Names for a message: the first few.
fn names(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
