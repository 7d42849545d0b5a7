//! Operands whose register is selected by more than the number in the encoding.
//!
//! Three mechanisms add a number to the register number in the encoding. The relative moves of the scalar ALU add M0
//! (MI100 ISA 5.7). VGPR indexing, while MODE.GPR_IDX_EN is set, adds `M0[7:0]` to the operands that `M0[15:12]`
//! selects (MI100 ISA 6.6). On gfx12.5, VGPRs have numbers of ten bits, of which the instruction has eight and the last
//! `s_set_vgpr_msb` the others (LLVM 22, measured).

use super::msb::MsbField;
use super::{Access, Behaviours, Class, InstDesc};
use crate::target::Family;

/// The number that may be added to the number of an operand's register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexedBy {
    /// M0, as an unsigned number: `s_movrel*`.
    M0,
    /// `M0[7:0]` while MODE.GPR_IDX_EN is set, if `M0[15:12]` contains one of these bits: 1 for source 0, 2 for source
    /// 1, 4 for source 2, 8 for the destination.
    Mode {
        /// The bits of the operand mask.
        bits: u8,
        /// True if the manual defines the indexing. The manual does not define whether, and by which bits, matrix instructions, moves of
        /// scales and instructions with two destinations are indexed.
        stated: bool,
    },
    /// The VGPR's number has upper bits that are not in the encoding; the last `s_set_vgpr_msb` has set them in this field (gfx12.5).
    Msb(MsbField),
}

impl IndexedBy {
    /// The value for an operand that the manual does not mention: any bit of the mask.
    const UNSTATED: IndexedBy = IndexedBy::Mode { bits: 0xf, stated: false };
}

impl InstDesc {
    /// How the register number of the operand `operand` is modified, if the operand is in a register file to which the mechanism applies:
    /// SGPRs for `s_movrel*`, VGPRs for VGPR indexing and `s_set_vgpr_msb`. `None` for an operand that is never indexed, such as those of
    /// GFX9's memory instructions.
    ///
    /// A destination that is also read is indexed as a destination. Sources are counted by their position at the ALU:
    /// source 2 of `v_madmk_f32` is its last operand (MI100 ISA 6.6.2).
    ///
    /// ```
    /// use gcn_isa::table::{self, IndexedBy};
    /// use gcn_isa::Target;
    ///
    /// let row = |name| table::find(Target::GFX908, name).next().unwrap();
    /// let stated = |bits| Some(IndexedBy::Mode { bits, stated: true });
    /// assert_eq!(row("v_mov_b32_e32").indexed_by(1), stated(1));
    /// assert_eq!(row("v_madmk_f32").indexed_by(3), stated(4));
    /// assert_eq!(row("s_movrels_b32").indexed_by(1), Some(IndexedBy::M0));
    /// assert_eq!(row("ds_read_b32").indexed_by(0), None);
    /// ```
    pub fn indexed_by(&self, operand: usize) -> Option<IndexedBy> {
        let slot = self.operands.get(operand)?;
        if let Some(field) = self.msb_field(operand) {
            return Some(IndexedBy::Msb(field));
        }
        match self.class {
            Class::MovrelSource => return (slot.access == Access::Read).then_some(IndexedBy::M0),
            Class::MovrelDestination => return (slot.access == Access::Write).then_some(IndexedBy::M0),
            _ if !self.format.is_vop() || self.family() != Family::GFX9 => return None,
            _ => {}
        }
        let writes = |o: &&super::OperandDesc| o.access != Access::Read;
        let destinations = self.operands.iter().filter(writes).filter(|o| o.name != "sdst").count();
        if self.is_matrix() || self.class == Class::MfmaLdScale || destinations > 1 {
            return Some(IndexedBy::UNSTATED);
        }
        if slot.access != Access::Read {
            return Some(IndexedBy::Mode { bits: 8, stated: true });
        }
        let position = self.operands.iter().take(operand).filter(|o| o.access == Access::Read).count();
        Some(IndexedBy::Mode { bits: 1 << position, stated: true })
    }

    /// The field of `s_set_vgpr_msb` that has the upper bits of the operand's VGPR. `None` if the number has only the bits in the encoding:
    /// on instruction sets with at most 256 VGPRs, and for the scales of matrix instructions. For an operand that is both read and written,
    /// this is the field for the write; see [`InstDesc::msb_field_of_old_value`] for the read.
    ///
    /// ```
    /// use gcn_isa::table::{self, MsbField};
    /// use gcn_isa::Target;
    ///
    /// let row = |name| table::find(Target::GFX1250, name).next().unwrap();
    /// assert_eq!(row("v_add_f32_e32").msb_field(2), Some(MsbField::Src1));
    /// assert_eq!(row("ds_store_2addr_b32").msb_field(2), Some(MsbField::Src2));
    /// assert_eq!(row("global_store_b32").msb_field(1), Some(MsbField::Src1));
    /// ```
    pub fn msb_field(&self, operand: usize) -> Option<MsbField> {
        self.operands.get(operand)?.msb
    }

    /// For an operand that is both read and written, the field for the read, if it differs from the field for the write: for accumulators
    /// of multiply-adds, and for swaps. `None` for all other operands.
    pub fn msb_field_of_old_value(&self, operand: usize) -> Option<MsbField> {
        let slot = self.operands.get(operand)?;
        let field = self.msb_field(operand)?;
        // `v_writelane_b32` keeps the other lanes of the register that it writes, and has no field for reading it.
        let is_both = slot.access == Access::ReadWrite
            && self.format.is_vop()
            && field == MsbField::Dst
            && self.class != Class::Writelane;
        match self.does(Behaviours::SWAPS) {
            true => is_both.then_some(MsbField::Src1),
            // `v_permlane16_swap` has two destinations; each of them is read and written with the same field.
            false => (is_both && self.operand_index("vdst1").is_none()).then_some(MsbField::Src2),
        }
    }
}
