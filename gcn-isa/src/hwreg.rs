//! The hardware registers that `s_setreg` and `s_getreg` access, and the bit GPR_IDX_EN of MODE, which switches VGPR
//! indexing on.

use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::Program;
use crate::table::Class;

/// The field of a hardware register that `s_setreg` or `s_getreg` accesses.
pub(crate) struct HwregField {
    pub id: u8,
    /// The lowest bit.
    pub first: u32,
    last: u32,
}

impl HwregField {
    /// `HW_REG_MODE`.
    pub const MODE: u8 = 1;
    /// `HW_REG_TRAPSTS`.
    pub const TRAPSTS: u8 = 3;

    /// The registers with the state of the wave on GFX12: `HW_REG_WAVE_STATUS`, `HW_REG_WAVE_STATE_PRIV`, `HW_REG_WAVE_EXCP_FLAG_PRIV` and
    /// `HW_REG_WAVE_EXCP_FLAG_USER`.
    pub const OF_STATE: [u8; 4] = [2, 4, 17, 18];

    /// `HW_REG_WAVE_SCHED_MODE` of GFX12.
    pub const SCHED_MODE: u8 = 26;

    /// The field that `inst` accesses: register ID in bits 5:0, first bit in 10:6, size minus one in 15:11. `None` if `inst` has no such
    /// operand.
    pub fn of(inst: &Inst) -> Option<HwregField> {
        let Some(Operand::Imm(field)) = inst.operand("hwreg") else { return None };
        let first = (field >> 6 & 31) as u32;
        let size = (field >> 11 & 31) as u32 + 1;
        Some(HwregField { id: (field & 63) as u8, first, last: first + size - 1 })
    }

    /// True if the field is part of register `id` and contains bit `bit`.
    pub fn covers(&self, id: u8, bit: u32) -> bool {
        self.id == id && (self.first..=self.last).contains(&bit)
    }
}

/// The bit of MODE that switches VGPR indexing on (MI100 ISA 3.5).
const GPR_IDX_EN: u32 = 27;

/// The value that an `s_setreg` writes to MODE.GPR_IDX_EN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GprIdxEn {
    Set,
    Clear,
    /// The value comes from a register.
    Unknown,
}

impl GprIdxEn {
    /// The value that `inst` writes; `None` if `inst` is not an `s_setreg` or writes another field.
    pub fn written_by(inst: &Inst) -> Option<GprIdxEn> {
        if inst.desc.class != Class::Setreg {
            return None;
        }
        let field = HwregField::of(inst)?;
        if !field.covers(HwregField::MODE, GPR_IDX_EN) {
            return None;
        }
        let bits = inst.operand("literal").and_then(Operand::constant32);
        Some(match bits.map(|bits| bits >> (GPR_IDX_EN - field.first) & 1) {
            Some(0) => GprIdxEn::Clear,
            Some(_) => GprIdxEn::Set,
            None => GprIdxEn::Unknown,
        })
    }
}

/// The upper bits of VGPR numbers that `inst` sets if it is an `s_setreg_imm32_b32` of MODE, encoded as in the operand of `s_set_vgpr_msb`;
/// `None` for other instructions. They are bits 19:12 of the literal, with the bits of the destination before those of the sources, and
/// they take effect whichever field of MODE the instruction writes (LLVM 22, `AMDGPULowerVGPREncoding`; kernels compiled by LLVM rely on
/// it).
pub(crate) fn vgpr_msb_of_setreg(inst: &Inst) -> Option<u8> {
    let field = HwregField::of(inst).filter(|_| inst.desc.class == Class::Setreg)?;
    let literal = inst.operand("literal").and_then(Operand::constant32)?;
    (field.id == HwregField::MODE).then(|| ((literal >> 12) as u8).rotate_right(2))
}

/// True if `inst` is an `s_setreg` that may write a value other than 0 to the lowest two bits of SCHED_MODE.
pub(crate) fn may_set_sched_mode(inst: &Inst) -> bool {
    let field = HwregField::of(inst)
        .filter(|field| inst.desc.class == Class::Setreg && field.id == HwregField::SCHED_MODE);
    field.is_some_and(|field| {
        let value = inst.operand("literal").and_then(Operand::constant32).map_or(!0, u64::from);
        let written = (value & ((1 << (field.last - field.first + 1)) - 1)) << field.first;
        written & 3 != 0
    })
}

/// True if VGPR indexing may be on somewhere in `program`.
pub(crate) fn may_index_vgprs(program: &Program) -> bool {
    let enables =
        |inst: &Inst| inst.desc.class == Class::GprIdx || GprIdxEn::written_by(inst) == Some(GprIdxEn::Set);
    program.lines.iter().any(|l| enables(&l.inst))
}
