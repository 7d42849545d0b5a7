//! Hardware registers that `s_setreg` and `s_getreg` name, and the one bit of MODE on which control flow
//! depends: GPR_IDX_EN, which switches VGPR indexing on.

use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::Program;
use crate::table::Class;

/// The field of a hardware register that `s_setreg` and `s_getreg` name.
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

    /// The field that `inst` names: register id in bits 5:0, first bit in 10:6, size less one in 15:11.
    pub fn of(inst: &Inst) -> Option<HwregField> {
        let Some(Operand::Imm(field)) = inst.operand("hwreg") else { return None };
        let first = (field >> 6 & 31) as u32;
        let size = (field >> 11 & 31) as u32 + 1;
        Some(HwregField { id: (field & 63) as u8, first, last: first + size - 1 })
    }

    /// True if the field is of register `id` and has its bit `bit`.
    pub fn covers(&self, id: u8, bit: u32) -> bool {
        self.id == id && (self.first..=self.last).contains(&bit)
    }
}

/// The bit of MODE that switches VGPR indexing on (MI100 ISA 3.5).
const GPR_IDX_EN: u32 = 27;

/// What an `s_setreg` writes into MODE.GPR_IDX_EN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GprIdxEn {
    Set,
    Clear,
    /// The value comes from a register.
    Unknown,
}

impl GprIdxEn {
    /// `None` if `inst` is no `s_setreg`, or one that writes another field.
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

/// True if VGPR indexing may be on somewhere in `program`.
pub(crate) fn may_index_vgprs(program: &Program) -> bool {
    let enables =
        |inst: &Inst| inst.desc.class == Class::GprIdx || GprIdxEn::written_by(inst) == Some(GprIdxEn::Set);
    program.lines.iter().any(|l| enables(&l.inst))
}
