//! Types of elements: those that the names of instructions say, and the types of constants, which entries say.

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

/// How an operand reads a constant, which decides what is an inline constant and how it is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstType {
    /// 32 bits.
    B32,
    /// A 16-bit integer.
    I16,
    /// A 16-bit float.
    F16,
    /// A bf16.
    Bf16,
    /// Two 16-bit floats.
    PackedF16,
    /// Two bf16.
    PackedBf16,
    /// A 64-bit integer or bit pattern: literals are zero-extended.
    B64,
    /// A 64-bit float: a literal is the high half.
    F64,
}

impl ConstType {
    /// The names in entries.
    pub(super) const NAMES: [(&'static str, ConstType); 8] = [
        ("b32", ConstType::B32),
        ("i16", ConstType::I16),
        ("f16", ConstType::F16),
        ("bf16", ConstType::Bf16),
        ("pk_f16", ConstType::PackedF16),
        ("pk_bf16", ConstType::PackedBf16),
        ("b64", ConstType::B64),
        ("f64", ConstType::F64),
    ];
}

/// The type of constants at some operands of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constants {
    /// True if it holds for SDWA forms alone.
    pub sdwa: bool,
    /// The operand; empty for all of them.
    pub operand: &'static str,
    /// The type.
    pub ty: ConstType,
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
