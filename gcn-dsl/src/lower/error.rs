//! Why a kernel cannot be lowered.

use gcn_emit::encode::EncodeError;
use gcn_isa::Target;

use crate::scalar::Elem;

/// Why a kernel cannot be lowered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The target lacks an instruction.
    #[error("{at}`{mnemonic}` does not exist on {target}; {remedy}")]
    NoInstruction {
        /// Source position and colon, if known.
        at: String,
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// What to do.
        remedy: String,
    },
    /// No encoding takes the operands.
    #[error("{at}no encoding of `{mnemonic}` on {target} takes these operands ({operands}); {remedy}")]
    Operands {
        /// Source position and colon, if known.
        at: String,
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
        "{at}`{mnemonic}` on {target} does not take {what}; the function's documentation lists its modifiers"
    )]
    Modifier {
        /// Source position and colon, if known.
        at: String,
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// The modifiers.
        what: String,
    },
    /// A modifier or an immediate has a value that no encoding holds.
    #[error("{at}`{mnemonic}` cannot be encoded on {target}: {fault}")]
    Encoding {
        /// Source position and colon, if known.
        at: String,
        /// The instruction.
        mnemonic: String,
        /// The target.
        target: Target,
        /// What the encoder says.
        #[source]
        fault: Box<EncodeError>,
    },
    /// An operation that has no lowering for its element type.
    #[error("{at}{what} is not available for `{elem}` on the device; {remedy}")]
    Unsupported {
        /// Source position and colon, if known.
        at: String,
        /// The operation.
        what: String,
        /// The element type.
        elem: Elem,
        /// What to do.
        remedy: String,
    },
}
