//! Variants: ways of using a mnemonic that have different operands or results, and whether these ways preserve a part of the destination.

use super::{Class, Format, InstDesc, Modifiers, OperandDesc, OperandKinds, WaveSizes};
use crate::target::{Generation, InstructionSet};

/// A way of using a mnemonic that has different operands or results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// The plain form, which is none of the following variants.
    Plain,
    /// An atomic that returns the old value (`glc`, `sc0`).
    Rtn,
    /// A load to LDS. Without `lds`, the mnemonic loads to registers.
    Lds,
    /// With data-parallel primitives.
    Dpp,
    /// With sub-dword addressing.
    Sdwa,
}

impl Variant {
    /// All variants.
    pub const ALL: [Variant; 5] = [Variant::Plain, Variant::Rtn, Variant::Lds, Variant::Dpp, Variant::Sdwa];

    /// The suffix after the mnemonic in a name that denotes only this variant. `_dpp` and `_sdwa` are also assemblers'
    /// suffixes.
    pub const fn suffix(self) -> &'static str {
        match self {
            Variant::Plain => "",
            Variant::Rtn => "_rtn",
            Variant::Lds => "_lds",
            Variant::Dpp => "_dpp",
            Variant::Sdwa => "_sdwa",
        }
    }
}

impl InstDesc {
    /// The suffix of a builder function's name if the instruction's vector operands have different widths for the other wave size or on
    /// another generation. The suffix is formed as in LLVM's builtins: `_w32`, `_w64_gfx12`. It is empty for all other instructions. The
    /// widths of lane masks are ignored.
    pub fn size_suffix(&self) -> &'static str {
        let mask =
            |operand: &OperandDesc| !operand.kinds.intersects(OperandKinds::VGPR) && operand.dwords > 0;
        let by_wave = self.instruction_set().wave_sizes().len() > 1
            && !(self.format.is_vop() && self.operands.iter().any(mask));
        let again = self.class == Class::Wmma && self.instruction_set().generation() == Generation::GFX12;
        match (self.waves, again) {
            (WaveSizes::W32, false) if by_wave => "_w32",
            (WaveSizes::W64, false) if by_wave => "_w64",
            (WaveSizes::W32, true) => "_w32_gfx12",
            (WaveSizes::W64, true) => "_w64_gfx12",
            _ => "",
        }
    }

    /// The variant to which this row belongs.
    pub fn variant(&self) -> Variant {
        match self.format {
            format if format.is_dpp() => Variant::Dpp,
            format if format.is_sdwa() => Variant::Sdwa,
            _ if self.form.starts_with("rtn") => Variant::Rtn,
            // Stores from LDS have no other form.
            _ if self.form.ends_with("_lds") && self.class != Class::VmemStoreLds => Variant::Lds,
            _ => Variant::Plain,
        }
    }

    /// A sort key for selecting one row among those with the same mnemonic and variant. The smallest key belongs to the encoding that
    /// accepts the most operands, on the target that has the most instructions.
    pub fn preference(&self) -> (bool, bool) {
        (
            !matches!(self.format, Format::Vop3a | Format::Vop3b),
            !self.targets.iter().any(InstructionSet::has_most_instructions),
        )
    }

    /// True if modifiers can make the instruction preserve a part of its destination, in some lanes or in some bits: `row_mask`,
    /// `bank_mask` and `bound_ctrl` of DPP, `dst_unused` of SDWA, or the destination's bit of `op_sel` (LLVM 22, "Syntax of AMDGPU
    /// Instruction Modifiers").
    ///
    /// ```
    /// use gcn_isa::{Target, table};
    /// let keeps = |name| table::find(Target::GFX942, name).next().unwrap().can_keep_part();
    /// assert!(keeps("v_mov_b32_dpp") && keeps("v_add_f32_sdwa") && keeps("v_mad_u16"));
    /// // A comparison writes a whole mask.
    /// assert!(!keeps("v_add_f32_e32") && !keeps("v_cmp_eq_u32_sdwa"));
    /// ```
    pub fn can_keep_part(&self) -> bool {
        match self.variant() {
            Variant::Dpp => true,
            Variant::Sdwa => self.modifiers.contains(Modifiers::DST_UNUSED),
            _ => self.op_sel_dst_bit().is_some(),
        }
    }
}
