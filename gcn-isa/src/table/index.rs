//! Operands whose register is selected by more than the number in the encoding.
//!
//! Three mechanisms add a number to the register number in the encoding. Relative moves add M0 or a part of it (MI100 ISA 5.7;
//! RDNA ISA, `v_movrel*` and `v_swaprel_b32`). VGPR indexing, while MODE.GPR_IDX_EN is set, adds `M0[7:0]` to the operands that `M0[15:12]`
//! selects (MI100 ISA 6.6). On gfx12.5, VGPRs have numbers of ten bits, of which the instruction has eight and the last
//! `s_set_vgpr_msb` the others (LLVM 22, measured).

use super::msb::MsbField;
use super::{Access, Behaviours, Class, InstDesc, OperandDesc};
use crate::target::Family;

/// The part of M0 that a relative move adds to the number of a register, as an unsigned number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum M0Part {
    /// All of M0.
    Whole,
    /// `M0[9:0]`.
    Low,
    /// `M0[25:16]`.
    High,
}

impl M0Part {
    /// The position of the part's lowest bit, and the part's bits from there on.
    pub const fn bits(self) -> (u32, u32) {
        match self {
            M0Part::Whole => (0, u32::MAX),
            M0Part::Low => (0, 0x3ff),
            M0Part::High => (16, 0x3ff),
        }
    }

    /// The value of the part.
    pub const fn of(self, m0: u32) -> u32 {
        let (first, mask) = self.bits();
        m0 >> first & mask
    }
}

/// The number that may be added to the number of an operand's register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexedBy {
    /// M0 or a part of it: relative moves.
    M0(M0Part),
    /// `M0[7:0]` while MODE.GPR_IDX_EN is set, if `M0[15:12]` contains one of these bits: 1 for source 0, 2 for source
    /// 1, 4 for source 2, 8 for the destination.
    Mode {
        /// The bits of the operand mask.
        bits: u8,
        /// True if the manual defines the indexing. The manual does not define whether, and by which bits, matrix instructions, moves of
        /// scales and instructions with two destinations are indexed.
        stated: bool,
    },
    /// The VGPR's number has upper bits that are not in the encoding; the last `s_set_vgpr_msb` has set them in this field (gfx12.5). A
    /// relative move then also adds a part of M0: LLVM 22 sets the bits for the first register of the array that it indexes.
    Msb(MsbField, Option<M0Part>),
}

impl IndexedBy {
    /// The value for an operand that the manual does not mention: any bit of the mask.
    const UNSTATED: IndexedBy = IndexedBy::Mode { bits: 0xf, stated: false };

    /// The same with another field of `s_set_vgpr_msb`, if the number has upper bits in one.
    pub(crate) fn with_field(self, field: MsbField) -> IndexedBy {
        match self {
            IndexedBy::Msb(_, part) => IndexedBy::Msb(field, part),
            other => other,
        }
    }
}

impl InstDesc {
    /// How the register number of the operand `operand` is modified, if the operand is in a register file to which the mechanism applies:
    /// SGPRs for `s_movrel*`, VGPRs for `v_movrel*`, VGPRs for VGPR indexing and `s_set_vgpr_msb`. `None` for an operand that is never indexed, such as those of
    /// GFX9's memory instructions.
    ///
    /// A destination that is also read is indexed as a destination. Sources are counted by their position at the ALU:
    /// source 2 of `v_madmk_f32` is its last operand (MI100 ISA 6.6.2).
    ///
    /// ```
    /// use gcn_isa::table::{self, IndexedBy, M0Part};
    /// use gcn_isa::Target;
    ///
    /// let row = |name| table::find(Target::GFX908, name).next().unwrap();
    /// let stated = |bits| Some(IndexedBy::Mode { bits, stated: true });
    /// assert_eq!(row("v_mov_b32_e32").indexed_by(1), stated(1));
    /// assert_eq!(row("v_madmk_f32").indexed_by(3), stated(4));
    /// assert_eq!(row("s_movrels_b32").indexed_by(1), Some(IndexedBy::M0(M0Part::Whole)));
    /// assert_eq!(row("ds_read_b32").indexed_by(0), None);
    /// ```
    pub fn indexed_by(&self, operand: usize) -> Option<IndexedBy> {
        let slot = self.operands.get(operand)?;
        let part = self.part_of_m0(slot);
        // Scalar instructions have no VGPRs, although their results have the field of results.
        if let Some(field) = self.msb_field(operand).filter(|_| !self.is_salu()) {
            return Some(IndexedBy::Msb(field, part));
        }
        if part.is_some() || !self.format.is_vop() || self.family() != Family::GFX9 {
            return part.map(IndexedBy::M0);
        }
        let writes = |o: &&OperandDesc| o.access != Access::Read;
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

    /// True if M0 is added to the number of a register.
    pub fn is_relative(&self) -> bool {
        self.does(Behaviours::SOURCE_BY_M0) || self.does(Behaviours::DESTINATION_BY_M0)
    }

    /// The part of M0 that is added to the number of the operand's register.
    fn part_of_m0(&self, slot: &OperandDesc) -> Option<M0Part> {
        // The second register of a swap is in the field of the source.
        let is_source = slot.access == Access::Read || slot.is_source();
        let (behaviour, half) = match is_source {
            true => (Behaviours::SOURCE_BY_M0, M0Part::Low),
            false => (Behaviours::DESTINATION_BY_M0, M0Part::High),
        };
        let part = if self.does(Behaviours::HALVES_OF_M0) { half } else { M0Part::Whole };
        self.does(behaviour).then_some(part)
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
