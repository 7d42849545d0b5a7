//! Errors in machine code.

use gcn_isa::Target;

use crate::fields::check::OperandFault;

/// Machine code that is not an instruction of the target: the place, the code, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset:#x}, dword {word:08x} on {target}: {fault}")]
pub struct DecodeError {
    /// Byte offset of the instruction.
    pub offset: usize,
    /// Its first dword (fewer bytes at the end of the code count as zero).
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

/// The reason why the code at an offset is not an instruction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeFault {
    /// The code ends inside the instruction.
    #[error("the instruction has {need} bytes, but only {have} are left")]
    Truncated {
        /// Bytes of the instruction.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// No format of compute code begins like this.
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
    /// An operand field holds a code that means nothing.
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
        /// Why.
        #[source]
        fault: OperandFault,
    },
    /// A modifier field holds a value that means nothing.
    #[error("`{mnemonic}`: `{name}` has the undefined value {value:#x}")]
    Modifier {
        /// The instruction.
        mnemonic: &'static str,
        /// The modifier.
        name: &'static str,
        /// Its value.
        value: i64,
    },
    /// A branch leads to no instruction of the code.
    #[error("`{mnemonic}` leads to byte {destination:#x}, where no instruction of this code begins")]
    WildBranch {
        /// The branch.
        mnemonic: &'static str,
        /// Byte offset of its destination.
        destination: i64,
    },
}
