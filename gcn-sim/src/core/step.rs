//! A decoded program: each instruction resolved once to a function and operands.

use std::sync::Arc;

use gcn_isa::reg::RegFile;
use gcn_isa::table::Access;
use gcn_isa::{Inst, Operand, Reg, SrcSpecial, Target};

use crate::core::exec::Exec;
use crate::core::overflow::Form;
use crate::core::value::Ty;

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

/// A resolved instruction.
pub(crate) struct Step {
    /// What it does, in the usual rounding mode.
    pub exec: Arc<dyn Exec>,
    /// What it does when MODE asks for directed rounding; `None` if that is not supported.
    pub directed: Option<Arc<dyn Exec>>,
    /// The instruction, for modifiers and messages.
    pub inst: Inst,
    /// Byte offset in the code.
    pub offset: u32,
    /// Bytes of the encoding.
    pub size: u32,
    /// Vector slot of the destination, or of the data of a load.
    pub vdst: u16,
    /// SGPR number of the scalar destination (masks, carries, scalar results, scalar data).
    pub sdst: u16,
    /// Sources by role: `src0`-like, `src1`-like, `src2`-like.
    pub src: [Src; 3],
    /// Vector slots of the scales of a matrix instruction.
    pub scales: [u16; 2],
    /// First SGPR of a buffer resource.
    pub rsrc: u16,
    /// Immediate field.
    pub imm: i64,
    /// Branch target as instruction index, if known.
    pub target: Option<usize>,
    /// No source modifier, DPP, SDWA or `op_sel`.
    pub plain_src: bool,
    /// No clamp, omod, DPP, SDWA or `op_sel` on the result, and a 16-bit result clears the upper half.
    pub plain_dst: bool,
    /// Half of the destination that a 16-bit result goes to, if the other half is kept.
    pub half: Option<u8>,
    /// How the operands are read, if an f16 result may overflow.
    pub overflow: Option<Form>,
    /// The target, for facts that differ.
    pub arch: Target,
}

/// Where VGPRs and AGPRs are in [`crate::core::wave::Wave::v`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterMap {
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
}

impl RegisterMap {
    /// Slot of a vector register.
    pub(crate) fn slot(&self, reg: Reg) -> u16 {
        match reg.file {
            RegFile::Agpr => self.vgprs as u16 + reg.index,
            _ => reg.index,
        }
    }

    /// The first register of `reg` that is not allocated, with the number of allocated ones.
    pub(crate) fn outside(&self, reg: Reg) -> Option<(Reg, u32)> {
        let limit = match reg.file {
            RegFile::Vgpr => self.vgprs,
            RegFile::Agpr => self.agprs,
            // The named scalar registers are always there.
            RegFile::Sgpr if reg.index >= 102 => return None,
            RegFile::Sgpr => self.sgprs,
        };
        if u32::from(reg.end()) <= limit {
            return None;
        }
        let first = u32::from(reg.index).max(limit) as u16;
        Some((Reg { index: first, len: 1, ..reg }, limit))
    }

    fn source(&self, operand: Operand) -> Src {
        match operand {
            Operand::Reg(reg) if reg.file == RegFile::Sgpr => Src::Scalar(reg.index),
            Operand::Reg(reg) => Src::Vector(self.slot(reg)),
            Operand::Inline(inline) => Src::Const(Const::inline(inline)),
            Operand::Literal(bits) => Src::Const(Const::literal(bits)),
            Operand::Special(special) => Src::Special(special),
            Operand::Imm(_) | Operand::Label(_) | Operand::Off => Src::None,
        }
    }
}

/// Position of a source operand among the three, by its name in the instruction table.
pub(crate) fn role(name: &str) -> Option<usize> {
    Some(match name {
        "src0" | "ssrc0" | "vaddr" | "addr" | "sbase" => 0,
        "src1" | "ssrc1" | "saddr" | "soffset" | "data0" => 1,
        "src2" | "vdata" | "data1" | "sdata" | "literal" | "idx" => 2,
        _ => return None,
    })
}

impl Step {
    /// Resolves the operands of `inst`.
    pub(crate) fn resolve(
        inst: Inst,
        (offset, size): (u32, u32),
        target: Target,
        map: &RegisterMap,
        exec: Arc<dyn Exec>,
        directed: Option<Arc<dyn Exec>>,
    ) -> Step {
        let mods = inst.mods;
        let wrapped = mods.dpp.is_some() || mods.sdwa.is_some() || mods.op_sel != 0;
        let half = inst.desc.op_sel_dst_bit().map(|bit| mods.op_sel >> bit & 1);
        let mut step = Step {
            exec,
            directed,
            offset,
            size,
            vdst: 0,
            sdst: 0,
            src: [Src::None; 3],
            scales: [0; 2],
            rsrc: 0,
            imm: 0,
            target: None,
            plain_src: !wrapped && mods.neg == 0 && mods.abs == 0 && mods.sext == 0,
            plain_dst: !wrapped && !mods.clamp && mods.omod == 0 && half.is_none(),
            half,
            overflow: Form::of(&inst),
            arch: target,
            inst,
        };
        for (i, desc) in step.inst.desc.operands.iter().enumerate() {
            step.place(map, desc.name, desc.access, step.inst.operands[i]);
        }
        step
    }

    /// The same step of the program with the registers of `inst`.
    pub(crate) fn with(&self, inst: Inst, map: &RegisterMap) -> Step {
        let at = (self.offset, self.size);
        let step = Step::resolve(inst, at, self.arch, map, self.exec.clone(), self.directed.clone());
        Step { target: self.target, ..step }
    }

    fn place(&mut self, map: &RegisterMap, name: &str, access: Access, operand: Operand) {
        let tied = access == Access::ReadWrite;
        match (name, operand) {
            ("srsrc", Operand::Reg(reg)) => self.rsrc = reg.index,
            ("vdst" | "sdst" | "vdata" | "sdata", Operand::Reg(reg)) if access != Access::Read => {
                if reg.file == RegFile::Sgpr {
                    self.sdst = reg.index;
                } else {
                    self.vdst = map.slot(reg);
                }
                if tied {
                    self.src[2] = map.source(operand);
                }
            }
            // v_swap: the second register is both source and destination.
            ("vdst1", _) => self.src[1] = map.source(operand),
            ("scale_src0", Operand::Reg(reg)) => self.scales[0] = map.slot(reg),
            ("scale_src1", Operand::Reg(reg)) => self.scales[1] = map.slot(reg),
            (_, Operand::Imm(value)) => self.imm = value,
            _ => {
                if let Some(role) = role(name) {
                    self.src[role] = map.source(operand);
                }
            }
        }
    }
}
