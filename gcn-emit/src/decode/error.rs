//! Errors in machine code.

use gcn_isa::Target;

use crate::fields::check::OperandFault;

/// The error for machine code that is not an instruction of the target: the position, the code, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset:#x}, dword {word:08x} on {target}: {fault}")]
pub struct DecodeError {
    /// The byte offset of the instruction.
    pub offset: usize,
    /// The first dword of the instruction (missing bytes at the end of the code count as zero).
    pub word: u32,
    /// The target.
    pub target: Target,
    /// The reason.
    #[source]
    pub fault: DecodeFault,
}

impl DecodeError {
    pub(super) fn new(offset: usize, bytes: &[u8], target: Target, fault: DecodeFault) -> DecodeError {
        DecodeError { offset, word: super::window(bytes) as u32, target, fault }
    }
}

/// Why the code at an offset is not an instruction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeFault {
    /// The code ends inside the instruction.
    #[error("the instruction has {need} bytes, but only {have} are left")]
    Truncated {
        /// The size of the instruction in bytes.
        need: usize,
        /// The number of bytes left.
        have: usize,
    },
    /// No format of compute code begins with these bits.
    #[error(
        "no encoding format of compute code begins like this (interpolation, export and image are not compute)"
    )]
    UnknownFormat,
    /// The format has no such opcode on this target.
    #[error("the target has no {format} instruction with opcode {opcode:#x}")]
    UnknownOpcode {
        /// The format, as the manuals name it.
        format: &'static str,
        /// The opcode.
        opcode: u16,
    },
    /// Bits are set that have no meaning in this instruction.
    #[error("opcode of `{mnemonic}`, but bits that it does not have are set")]
    ReservedBits {
        /// The instruction with that opcode.
        mnemonic: &'static str,
    },
    /// An operand field has a code without meaning.
    #[error("`{mnemonic}`: operand `{name}` has an undefined code")]
    Operand {
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        name: &'static str,
    },
    /// An operand that this instruction does not accept.
    #[error("`{mnemonic}`: operand `{name}`: {fault}")]
    IllegalOperand {
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        name: &'static str,
        /// The reason.
        #[source]
        fault: OperandFault,
    },
    /// A modifier field has a value without meaning.
    #[error("`{mnemonic}`: `{name}` has the undefined value {value:#x}")]
    Modifier {
        /// The instruction.
        mnemonic: &'static str,
        /// The modifier.
        name: &'static str,
        /// The field's value.
        value: i64,
    },
    /// A branch leads to an offset where no instruction of the code begins.
    #[error("`{mnemonic}` leads to byte {destination:#x}, where no instruction of this code begins")]
    WildBranch {
        /// The branch.
        mnemonic: &'static str,
        /// The byte offset of its destination.
        destination: i64,
    },
}
