//! Which varying branches get along without a skip branch: the cost model.
//!
//! With the skip branch a wave whose lanes all do without the body jumps over it; without it, the body runs and does nothing.
//! The model compares instruction counts. Its number is LLVM's: `llc-22 -O2` was given a varying `if` around a chain of 1 to
//! 23 arithmetic instructions (additions and xors, multiplications, both) for gfx90a and gfx942, and jumps over the chain from
//! 10 instructions on, whichever they are. Copies are not counted: most become nothing. How often no lane of a wave takes
//! the branch is not known here; the model assumes that this is rare for so short a body.
//!
//! A body without its skip branch can run with EXEC = 0, so it may hold only what does nothing then and costs an issue
//! slot at most: vector and scalar arithmetic, no memory, no lane reads, no matrix instruction, nothing that waits.

use gcn_isa::table::Class;

use super::Lower;
use super::control::Pending;
use crate::mir::{MInst, Op};

/// From this many instructions on a body is jumped over.
const SKIP_FROM: usize = 10;

impl Lower<'_> {
    /// Removes the branch over the body that was just lowered, if the body is short and harmless; true if it did.
    pub(super) fn drop_skip(&mut self, skip: Pending) -> bool {
        let last = self.func.blocks.len() - 1;
        let body = &self.func.blocks[last].insts;
        let is_branch_before =
            skip.block + 1 == last && skip.inst + 1 == self.func.blocks[skip.block].insts.len();
        let instructions = body.iter().filter(|i| matches!(i.op, Op::Machine(..))).count();
        if !is_branch_before || instructions >= SKIP_FROM || !body.iter().all(harmless) {
            return false;
        }
        let body = self.func.blocks.pop().map(|b| b.insts).unwrap_or_default();
        let block = &mut self.func.blocks[skip.block].insts;
        block.truncate(skip.inst);
        block.extend(body);
        true
    }
}

/// True if the instruction does nothing but take its time when no lane runs.
fn harmless(inst: &MInst) -> bool {
    match &inst.op {
        Op::Copy | Op::Undef => true,
        Op::Machine(row, _) => {
            matches!(row.class, Class::Valu | Class::ValuDot | Class::Trans | Class::Cmp)
                || row.class == Class::Salu && !row.does(gcn_isa::table::Behaviours::SKIPS_VECTOR)
        }
        Op::Order | Op::Mark(_) => false,
    }
}
