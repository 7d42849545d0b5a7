//! Literals that are moved to scalar registers for instructions that cannot encode them.

use gcn_isa::RegFile;
use hashbrown::HashMap;

use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

/// For each block and constant: the index of the first instruction that reads the constant, and the scalar register
/// that contains it.
#[derive(Default)]
pub(super) struct Literals(HashMap<(usize, MOperand), (usize, VReg)>);

impl Literals {
    /// The scalar register with the constant for the instruction at this position. Call this for instructions from last
    /// to first.
    pub fn register(
        &mut self,
        f: &mut Function,
        (block, index): (usize, usize),
        value: MOperand,
    ) -> MOperand {
        let new = || (index, f.new_vreg(RegFile::Sgpr, 1));
        let (at, reg) = self.0.entry((block, value)).or_insert_with(new);
        *at = index;
        MOperand::Virt(VSlice { reg: *reg, start: 0, len: 1 })
    }

    /// Inserts the moves of the constants, each before its first reader.
    pub fn insert(self, f: &mut Function) {
        let mut copies: Vec<_> =
            self.0.into_iter().map(|((block, value), (at, reg))| (block, at, reg, value)).collect();
        // Insert from last to first, so that earlier positions stay valid.
        copies.sort_unstable_by_key(|(block, at, reg, _)| std::cmp::Reverse((*block, *at, reg.0)));
        for (block, at, reg, value) in copies {
            let insts = &mut f.blocks[block].insts;
            let operands = [MOperand::Virt(VSlice { reg, start: 0, len: 1 }), value].into_iter().collect();
            let loc = insts[at].loc;
            insts.insert(at, MInst { op: Op::Copy, operands, keeps_dst: false, loc });
        }
    }
}
