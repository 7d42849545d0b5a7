//! Operands as instruction functions read them: slots of registers, and constants in every width.

use gcn_isa::reg::{self, RegFile};
use gcn_isa::{Operand, Reg, SrcSpecial};

use crate::core::value::Ty;
use crate::core::wave;

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Src {
    /// No operand, or the keyword `off`.
    #[default]
    None,
    /// Vector register slot of the first word.
    Vector(u16),
    /// SGPR encoding number of the first word.
    Scalar(u16),
    /// A constant: inline or literal.
    Const(Const),
    /// A read-only hardware value.
    Special(SrcSpecial),
}

/// A constant as the operand widths see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Const {
    b16: u16,
    b32: u32,
    b64: u64,
    i64: u64,
    f64: u64,
    float: bool,
}

impl Const {
    fn literal(bits: u32) -> Const {
        Const {
            b16: bits as u16,
            b32: bits,
            // Literals of 64-bit operands: zero-extended, sign-extended, or the upper half of a double.
            b64: u64::from(bits),
            i64: bits as i32 as i64 as u64,
            f64: u64::from(bits) << 32,
            float: false,
        }
    }

    fn inline(inline: gcn_isa::Inline) -> Const {
        let wide = inline.bits64();
        let float = matches!(inline, gcn_isa::Inline::Float(_));
        Const { b16: inline.bits16(), b32: inline.bits32(), b64: wide, i64: wide, f64: wide, float }
    }

    /// The constant as an operand of 16 or 32 bits.
    pub(crate) fn narrow(self, ty: Ty) -> u32 {
        if ty.is_16() { u32::from(self.b16) } else { self.b32 }
    }

    /// The constant as an operand of 64 bits.
    pub(crate) fn wide(self, ty: Ty) -> u64 {
        match ty {
            Ty::F64 => self.f64,
            Ty::I64 => self.i64,
            _ => self.b64,
        }
    }

    /// The constant as a packed bf16 operand: a float constant is a bf16 in the low half.
    pub(crate) fn packed_bf16(self) -> u32 {
        if self.float { self.b32 >> 16 } else { self.b32 }
    }

    /// The constant as a packed f16 operand: a float constant is an f16 in the low half, the upper half is zero.
    pub(crate) fn packed_f16(self) -> u32 {
        if self.float { u32::from(self.b16) } else { self.b32 }
    }
}

/// Where VGPRs and AGPRs are in [`crate::core::wave::Wave::v`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterMap {
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
    /// The number from which on scalar registers have names and are always there.
    pub first_named: u16,
}

impl RegisterMap {
    /// Slot of a vector register.
    pub(crate) fn slot(&self, reg: Reg) -> u16 {
        match reg.file {
            RegFile::Agpr => self.vgprs as u16 + reg.index,
            _ => reg.index,
        }
    }

    /// SGPR number of a destination: of `null`, where writes are dropped.
    pub(crate) fn scalar_slot(&self, reg: Reg) -> u16 {
        if reg.index == reg::NULL.index { wave::NUMBERED as u16 } else { reg.index }
    }

    /// The first register of `reg` that is not allocated, with the number of allocated ones.
    pub(crate) fn outside(&self, reg: Reg) -> Option<(Reg, u32)> {
        let limit = match reg.file {
            RegFile::Vgpr => self.vgprs,
            RegFile::Agpr => self.agprs,
            // The named scalar registers are always there.
            RegFile::Sgpr if reg.index >= self.first_named => return None,
            RegFile::Sgpr => self.sgprs,
        };
        if u32::from(reg.end()) <= limit {
            return None;
        }
        let first = u32::from(reg.index).max(limit) as u16;
        Some((Reg { index: first, len: 1, ..reg }, limit))
    }

    pub(crate) fn source(&self, operand: Operand) -> Src {
        match operand {
            Operand::Reg(reg) if reg == (Reg { len: reg.len, ..reg::NULL }) => Src::Const(Const::literal(0)),
            Operand::Reg(reg) if reg.file == RegFile::Sgpr => Src::Scalar(reg.index),
            Operand::Reg(reg) => Src::Vector(self.slot(reg)),
            Operand::Inline(inline) => Src::Const(Const::inline(inline)),
            Operand::Literal(bits) => Src::Const(Const::literal(bits)),
            Operand::Special(special) => Src::Special(special),
            // No instruction set with literals of 64 bits is simulated.
            Operand::Literal64(_) | Operand::Imm(_) | Operand::Label(_) | Operand::Off => Src::None,
        }
    }
}

/// Position of a source operand among the three, by its name in the instruction table.
pub(crate) fn role(name: &str) -> Option<usize> {
    Some(match name {
        "src0" | "ssrc0" | "vaddr" | "addr" | "sbase" => 0,
        "src1" | "ssrc1" | "vsrc1" | "saddr" | "soffset" | "data0" => 1,
        "src2" | "vdata" | "data1" | "sdata" | "literal" | "idx" => 2,
        _ => return None,
    })
}
