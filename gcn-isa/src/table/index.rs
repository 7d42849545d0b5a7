//! Operands whose register is selected by an index.
//!
//! Two mechanisms add a number to the register number in the encoding. The relative moves of the scalar ALU add M0
//! (MI100 ISA 5.7). VGPR indexing, while MODE.GPR_IDX_EN is set, adds `M0[7:0]` to the operands that `M0[15:12]`
//! selects (MI100 ISA 6.6).

use super::{Access, Class, InstDesc};

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
}

impl IndexedBy {
    /// The value for an operand that the manual does not mention: any bit of the mask.
    const UNSTATED: IndexedBy = IndexedBy::Mode { bits: 0xf, stated: false };
}

impl InstDesc {
    /// The number that may be added to the register number of the operand `operand`, if its register file is one to which the mechanism
    /// applies: SGPRs for `s_movrel*`, VGPRs for VGPR indexing. `None` for an operand that is never indexed, such as those of memory
    /// instructions.
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
        match self.class {
            Class::MovrelSource => return (slot.access == Access::Read).then_some(IndexedBy::M0),
            Class::MovrelDestination => return (slot.access == Access::Write).then_some(IndexedBy::M0),
            _ if !self.format.is_vop() => return None,
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
}
