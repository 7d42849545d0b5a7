//! Why a kernel cannot be lowered.

use gcn_emit::encode::EncodeError;
use gcn_isa::Target;
use gcn_isa::program::SourceLoc;

use crate::scalar::Elem;

/// What cannot be lowered, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{cause}", SourceLoc::lead(*at))]
#[non_exhaustive]
pub struct LowerError {
    /// The user's place, if known.
    pub at: Option<SourceLoc>,
    /// Why.
    #[source]
    pub cause: LowerCause,
}

/// Why a kernel cannot be lowered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerCause {
    /// The target lacks an instruction.
    #[error("`{mnemonic}` does not exist on {target}; {remedy}")]
    NoInstruction {
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// What to do.
        remedy: String,
    },
    /// No encoding takes the operands.
    #[error("no encoding of `{mnemonic}` on {target} takes these operands ({operands}); {remedy}")]
    Operands {
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The operands.
        operands: String,
        /// What to do.
        remedy: String,
    },
    /// The instruction does not have a modifier.
    #[error(
        "`{mnemonic}` on {target} does not take {what}; the function's documentation lists its modifiers"
    )]
    Modifier {
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The modifiers.
        what: String,
    },
    /// A modifier or an immediate has a value that no encoding holds.
    #[error("`{mnemonic}` cannot be encoded on {target}: {fault}")]
    Encoding {
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The encoder's error.
        #[source]
        fault: Box<EncodeError>,
    },
    /// An operation that has no lowering for its element type.
    #[error("{what} is not available for `{elem}` on the device; {remedy}")]
    Unsupported {
        /// The operation.
        what: String,
        /// The element type.
        elem: Elem,
        /// What to do.
        remedy: String,
    },
}
