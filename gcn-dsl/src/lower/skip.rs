//! The cost model of skip branches, which decides which varying branches do without one.
//!
//! With a skip branch, a wave jumps over the body if none of its lanes takes the branch. Without one, the wave executes
//! the body with EXEC = 0, which has no effect but takes issue slots. The model compares instruction counts and uses
//! LLVM's threshold: for gfx90a and gfx942, `llc-22 -O2` jumps over a varying `if` of 10 or more arithmetic
//! instructions (measured for chains of 1 to 23 additions and xors, multiplications, or both). Copies are not counted,
//! because most of them are coalesced. How often no lane takes the branch is unknown; the model assumes that this is
//! rare for such short bodies.
//!
//! A body without a skip branch may run with EXEC = 0. So it may contain only instructions that then have no effect and
//! take at most an issue slot: vector and scalar arithmetic, but no memory accesses, lane reads, matrix instructions or
//! waits.

use gcn_isa::table::Class;

use super::{Lower, Pending};
use crate::mir::{MInst, Op};

/// A body with at least this many instructions keeps its skip branch.
const SKIP_FROM: usize = 10;

impl Lower<'_> {
    /// Removes the branch over the body that was just lowered, if the body is short and harmless. Returns true if it
    /// did.
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

/// True if the instruction has no effect with EXEC = 0 and takes only an issue slot.
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
