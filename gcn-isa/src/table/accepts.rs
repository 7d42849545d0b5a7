//! Determines the modifiers that a row accepts, and the bits of each.

use super::{Class, Format, InstDesc};
use crate::mods::{self, Modifier, Modifiers, Word, dpp_word};
use crate::target::{Generation, InstructionSet, Target};

impl InstDesc {
    /// The bits of a modifier's value that the row accepts. They are 0 if the row does not have the modifier.
    pub fn accepted_bits(&self, modifier: Modifier) -> u32 {
        let per_source = || (1 << self.sources()) - 1;
        let bits = self.bits;
        match modifier {
            Modifier::Neg if self.modifiers.contains(Modifiers::NEG) => per_source(),
            Modifier::Neg => bits.neg.into(),
            Modifier::Abs => bits.abs.into(),
            // Only SDWA has sign-extension bits. In other formats, the assembler would encode a negation instead.
            Modifier::Sext if self.format.is_sdwa() => bits.sext.into(),
            Modifier::Tfe => self.has_tfe().into(),
            Modifier::Format if self.is_typed_buffer() => 0x7f,
            Modifier::OpSel if self.has_fetch_inactive() => 3,
            Modifier::ByteSel | Modifier::IndexKey => self.last_selector.into(),
            Modifier::OpSelHi if self.scales_by_op_sel() => 3,
            _ if !self.modifiers.intersects(modifier.flag()) => 0,
            Modifier::OpSel => {
                let destination = self.op_sel_dst_bit().filter(|_| self.has_halves());
                u32::from(bits.op_sel) | destination.map_or(0, |bit| 1 << bit)
            }
            Modifier::OpSelHi => bits.op_sel_hi.into(),
            Modifier::NegLo => bits.neg_lo.into(),
            Modifier::NegHi => bits.neg_hi.into(),
            _ => u32::MAX,
        }
    }

    /// True if the target calls the cache bits `sc0`, `nt` and `sc1` instead of `glc`, `slc` and `scc`.
    pub fn has_new_cache_names(&self, target: Target) -> bool {
        target.is_gfx940_family() && self.format != Format::Smem
    }

    /// The words that set the row's modifiers, in the target's spelling. Words that restore a default, such as `noclamp`, are excluded.
    pub fn words(&self, target: Option<Target>) -> impl Iterator<Item = &'static Word> {
        let new_names = target.is_some_and(|target| self.has_new_cache_names(target));
        mods::words(new_names).filter(|word| self.accepted_bits(word.modifier) != 0)
    }

    /// True if this form of the instruction always has the modifier.
    pub fn requires(&self, modifier: Modifier) -> bool {
        self.required.intersects(modifier.flag())
    }

    /// True if the row has this DPP control.
    pub fn takes_dpp_control(&self, ctrl: u16) -> bool {
        dpp_word(ctrl, self.dpp_controls).is_some()
    }

    /// True if the row has the DPP controls of this word.
    pub fn takes_control_of(&self, word: &Word) -> bool {
        self.dpp_controls.contains(word.control())
    }

    /// True for buffer instructions that specify the format of the elements.
    pub fn is_typed_buffer(&self) -> bool {
        matches!(self.format, Format::Mtbuf | Format::VBufferTyped)
    }

    /// The branch distance for which the target executes a branch wrongly, if there is one. Branches with another field in addition to the
    /// distance (`s_call_b64`, `s_subvector_loop_begin`) are not affected.
    pub fn bad_distance(&self, target: Target) -> Option<u16> {
        let is_plain = self.format == Format::Sopp && self.branch_operand().is_some();
        target.bad_branch_distance().filter(|_| is_plain)
    }

    /// True for the scaled matrix instructions that select the byte of the scale with `op_sel` (gfx950).
    pub fn scales_by_op_sel(&self) -> bool {
        self.format == Format::Vop3px2 && self.generation() == Generation::GFX9
    }

    /// True for the VOP3 forms of `v_permlane16_swap_b32` and `v_permlane32_swap_b32`, in which bits 0 and 1 of `op_sel` are `fi` and
    /// `bound_ctrl`.
    pub fn has_fetch_inactive(&self) -> bool {
        self.format == Format::Vop3a && self.operand_index("vdst1").is_some()
    }

    /// True for the buffer loads that can return a status dword after the data. On targets with a unified register file, this bit selects
    /// AGPRs instead. In LLVM, typed loads have no such form.
    pub fn has_tfe(&self) -> bool {
        matches!(self.format, Format::Mubuf | Format::VBuffer)
            && self.class == Class::VmemLoad
            && !self.targets.iter().any(InstructionSet::has_unified_agprs)
    }
}
