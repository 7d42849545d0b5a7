//! An instruction after parsing: its operands and modifiers are known, but the table row is not.

use gcn_isa::{Reg, SrcSpecial};
use smallvec::SmallVec;

use super::cursor::Span;
use super::number::Number;
use super::words::{Function, ModWord};

/// The operands and modifiers of an instruction.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub operands: SmallVec<[RawOperand; 6]>,
    pub mods: SmallVec<[RawMod; 6]>,
}

/// An operand with its source modifiers.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawOperand {
    pub span: Span,
    pub value: RawValue,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
}

/// A value as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawValue {
    Reg(Reg),
    /// Half a VGPR; true for the upper half.
    Half(Reg, bool),
    Special(SrcSpecial),
    Number(Number),
    /// `lit(…)`: encoded as a literal even if an inline constant is possible.
    Lit(Number),
    Off,
    /// The immediate for which a function such as `hwreg(…)` stands.
    Call(Function, u16),
    /// An immediate written by named fields, such as the counters of `s_waitcnt`.
    Fields(u16),
    /// The attribute of a pixel's parameter, as in `attr0.w`.
    Attribute(u16),
}

impl RawOperand {
    /// True if the operand has a sign, an absolute value or a sign extension.
    pub fn has_modifier(&self) -> bool {
        self.neg || self.abs || self.sext
    }
}

/// A modifier with its value as the field's bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawMod {
    pub span: Span,
    pub modifier: ModWord,
    pub value: u32,
}
