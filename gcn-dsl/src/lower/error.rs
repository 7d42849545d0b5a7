//! The reasons why a kernel cannot be lowered.

use gcn_emit::encode::EncodeError;
use gcn_isa::Target;
use gcn_isa::program::SourceLoc;

use crate::scalar::Elem;

/// The error for a kernel that cannot be lowered: the reason, and the location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{cause}", SourceLoc::lead(*at))]
#[non_exhaustive]
pub struct LowerError {
    /// The location in the user's source, if known.
    pub at: Option<SourceLoc>,
    /// The reason.
    #[source]
    pub cause: LowerCause,
}

/// The reasons why a kernel cannot be lowered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerCause {
    /// The target lacks an instruction.
    #[error("`{mnemonic}` does not exist on {target}; {remedy}")]
    NoInstruction {
        /// The instruction's mnemonic.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The remedy: what to write instead.
        remedy: String,
    },
    /// No encoding takes the operands.
    #[error("no encoding of `{mnemonic}` on {target} takes these operands ({operands}); {remedy}")]
    Operands {
        /// The instruction's mnemonic.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The operands.
        operands: String,
        /// The remedy: what to write instead.
        remedy: String,
    },
    /// The instruction does not have a modifier.
    #[error(
        "`{mnemonic}` on {target} does not take {what}; the function's documentation lists its modifiers"
    )]
    Modifier {
        /// The instruction's mnemonic.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The modifiers.
        what: String,
    },
    /// No encoding can represent the value of a modifier or an immediate.
    #[error("`{mnemonic}` cannot be encoded on {target}: {fault}")]
    Encoding {
        /// The instruction's mnemonic.
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
        /// The remedy: what to write instead.
        remedy: String,
    },
}
