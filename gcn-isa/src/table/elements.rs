//! Types of elements: those that the names of instructions say, and of an operand the type of constants.

use super::constants::{ConstType, Constants};
use super::{Entry, InstDesc};
use crate::operand::Inline;

impl Entry {
    fn ends_in(&self, types: &[&str]) -> bool {
        types.iter().any(|t| self.mnemonic.ends_with(t))
    }

    /// True if operands have several narrow elements to a dword.
    pub fn is_packed(&self) -> bool {
        self.mnemonic.contains("_pk")
    }

    /// True if the name has a type of 16 bits.
    pub fn has_words(&self) -> bool {
        self.mnemonic.contains("16")
    }

    /// True if the last type in the name, that of the sources, is an integer of 16 bits.
    pub fn has_integer_words(&self) -> bool {
        self.ends_in(&["i16", "u16", "b16"])
    }

    /// True if the name has the type f64.
    pub fn has_doubles(&self) -> bool {
        self.mnemonic.contains("_f64")
    }

    /// True if the last type in the name, that of the sources, is an integer of 64 bits, or the name is that of a shift of 64 bits.
    pub fn has_long_integers(&self) -> bool {
        self.ends_in(&["_i64", "_u64", "rev_b64"])
    }

    /// True if the last type in the name, that of the sources, is a float of 16 bits.
    pub fn has_half_floats(&self) -> bool {
        self.ends_in(&["f16"])
    }
}

impl InstDesc {
    /// The constant type of an operand: what LLVM's assembler takes each integer for, probed on every constant operand of the
    /// table with the bits of 1.0 in each type. Without a statement of the entry it is the operand's bits.
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

    /// True if assemblers take the inline constant at this operand, which takes inline constants. The field of a source holds every one
    /// of them, but LLVM's assembler refuses 1/(2π) at 16-bit integers in SDWA, and there alone (probed on every constant operand of
    /// the table).
    pub fn spells_inline(&self, position: usize, inline: Inline) -> bool {
        let is_refused = self.format.is_sdwa() && inline == Inline::INVERSE_TAU;
        !(is_refused && self.constant_type(position) == ConstType::I16)
    }
}
