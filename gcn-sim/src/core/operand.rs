//! Operands in the form in which instruction functions read them: slots of registers, and constants converted to every width.

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
    /// The slot of the first vector register.
    Vector(u16),
    /// The encoding number of the first SGPR.
    Scalar(u16),
    /// An inline or literal constant.
    Const(Const),
    /// A read-only hardware value.
    Special(SrcSpecial),
}

/// A constant with its value for each operand width and type.
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
    pub(crate) fn literal(bits: u32) -> Const {
        Const {
            b16: bits as u16,
            b32: bits,
            // In a 64-bit operand, a literal is zero-extended, sign-extended, or used as the upper half of a double, depending on the
            // operand's type.
            b64: u64::from(bits),
            i64: bits as i32 as i64 as u64,
            f64: u64::from(bits) << 32,
            float: false,
        }
    }

    /// A 64-bit literal, which is the whole operand whatever its type.
    fn long(bits: u64) -> Const {
        Const { b64: bits, i64: bits, f64: bits, ..Const::literal(bits as u32) }
    }

    fn inline(inline: gcn_isa::Inline) -> Const {
        let wide = inline.bits64();
        let float = matches!(inline, gcn_isa::Inline::Float(_));
        Const { b16: inline.bits16(), b32: inline.bits32(), b64: wide, i64: wide, f64: wide, float }
    }

    /// The value for an operand of 16 or 32 bits.
    pub(crate) fn narrow(self, ty: Ty) -> u32 {
        if ty.is_16() { u32::from(self.b16) } else { self.b32 }
    }

    /// The value for an operand of 64 bits.
    pub(crate) fn wide(self, ty: Ty) -> u64 {
        match ty {
            Ty::F64 => self.f64,
            Ty::I64 => self.i64,
            _ => self.b64,
        }
    }

    /// The value for a packed bf16 operand: a float constant is a bf16 in the low half.
    pub(crate) fn packed_bf16(self) -> u32 {
        if self.float { self.b32 >> 16 } else { self.b32 }
    }

    /// The value for a packed f16 operand: a float constant is an f16 in the low half, and the upper half is zero.
    pub(crate) fn packed_f16(self) -> u32 {
        if self.float { u32::from(self.b16) } else { self.b32 }
    }
}

/// Maps VGPRs and AGPRs to slots of [`crate::core::wave::Wave::v`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterMap {
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
    /// The number of the first named scalar register. Named scalar registers need no allocation.
    pub first_named: u16,
}

impl RegisterMap {
    /// The slot of a vector register.
    pub(crate) fn slot(&self, reg: Reg) -> u16 {
        match reg.file {
            RegFile::Agpr => self.vgprs as u16 + reg.index,
            _ => reg.index,
        }
    }

    /// The SGPR number of a destination. For `null`, the number of the first register that absorbs discarded writes.
    pub(crate) fn scalar_slot(&self, reg: Reg) -> u16 {
        if reg.index == reg::NULL.index { wave::NUMBERED as u16 } else { reg.index }
    }

    /// The first register of `reg` that is not allocated, with the number of allocated registers; `None` if all are allocated.
    pub(crate) fn outside(&self, reg: Reg) -> Option<(Reg, u32)> {
        let limit = match reg.file {
            RegFile::Vgpr => self.vgprs,
            RegFile::Agpr => self.agprs,
            // The named scalar registers need no allocation.
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
            Operand::Literal64(bits) => Src::Const(Const::long(bits)),
            Operand::Imm(_) | Operand::Label(_) | Operand::Off => Src::None,
        }
    }
}

/// The role of a source operand (0 to 2), by its name in the instruction table.
pub(crate) fn role(name: &str) -> Option<usize> {
    Some(match name {
        "src0" | "ssrc0" | "vaddr" | "addr" | "sbase" => 0,
        "src1" | "ssrc1" | "vsrc1" | "saddr" | "soffset" | "data0" => 1,
        "src2" | "vsrc2" | "lane_mask" | "vdata" | "data1" | "sdata" | "literal" | "idx" | "lds_addr" => 2,
        _ => return None,
    })
}
