//! Element types: the types in the names of instructions, and the types in which operands read constants.

use super::constants::{ConstType, Constants};
use super::{Entry, InstDesc};
use crate::operand::Inline;

impl Entry {
    fn ends_in(&self, types: &[&str]) -> bool {
        types.iter().any(|t| self.mnemonic.ends_with(t))
    }

    /// True if operands contain several narrow elements per dword.
    pub fn is_packed(&self) -> bool {
        self.mnemonic.contains("_pk")
    }

    /// True if the name contains a 16-bit type.
    pub fn has_words(&self) -> bool {
        self.mnemonic.contains("16")
    }

    /// True if the last type in the name, which is that of the sources, is a 16-bit integer.
    pub fn has_integer_words(&self) -> bool {
        self.ends_in(&["i16", "u16", "b16"])
    }

    /// True if the name contains the type f64.
    pub fn has_doubles(&self) -> bool {
        self.mnemonic.contains("_f64")
    }

    /// True if the last type in the name, which is that of the sources, is a 64-bit integer, or if the name is that of a 64-bit shift.
    pub fn has_long_integers(&self) -> bool {
        self.ends_in(&["_i64", "_u64", "rev_b64"])
    }

    /// True if the last type in the name, which is that of the sources, is a 16-bit float.
    pub fn has_half_floats(&self) -> bool {
        self.ends_in(&["f16"])
    }
}

impl InstDesc {
    /// The type in which LLVM's assembler interprets constants at an operand, determined for every constant operand of
    /// the table with the bit pattern of 1.0 in each type. If the entry does not specify it, the constant is an untyped
    /// bit pattern.
    pub fn constant_type(&self, position: usize) -> ConstType {
        let Some(operand) = self.operands.get(position) else { return ConstType::B32 };
        let holds = |constants: &&Constants| {
            (self.format.is_sdwa() || !constants.sdwa) && [operand.name, ""].contains(&constants.operand)
        };
        match self.entry.constants.iter().rfind(holds) {
            Some(constants) => constants.ty,
            None if operand.dwords == 2 => ConstType::B64,
            None => ConstType::B32,
        }
    }

    /// True if assemblers accept the inline constant at this operand, which must accept inline constants in general. The encoding has all
    /// inline constants, but LLVM's assembler rejects 1/(2π) for 16-bit integers in SDWA, and only there (tested on every constant operand
    /// of the table).
    pub fn spells_inline(&self, position: usize, inline: Inline) -> bool {
        let is_refused = self.format.is_sdwa() && inline == Inline::INVERSE_TAU;
        !(is_refused && self.constant_type(position) == ConstType::I16)
    }
}
