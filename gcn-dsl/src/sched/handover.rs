//! The barrier that ends a `#[matrix]` block comes before the last matrix instructions of the block.
//!
//! The group of waves that multiplies hands the matrix pipe over at this barrier. The other group's first matrix instruction cannot
//! begin at once: the barrier takes its time. Meanwhile the pipe has what the first group has left. Matrix instructions access
//! registers only, so that the barrier orders nothing of theirs.
//!
//! What is left must not wait behind all of the other group's, which has priority 1: it gets priority 2.

use gcn_isa::InstDesc;
use gcn_isa::table::{Behaviours, Class};
use gcn_isa::{Operand, Target};
use gcn_sim::timed::at_most;
use smallvec::smallvec;

use crate::ir::mark::Mark;
use crate::mir::{Function, MInst, MOperand, Op};

/// Cycles of an issue slot.
const SLOT: u64 = 4;
/// Instructions from the barrier to the other group's first matrix instruction, these two included.
const FIRST: u64 = 3;

/// Moves the barriers of `f`.
pub fn run(f: &mut Function) {
    let target = f.target;
    for block in &mut f.blocks {
        let mut at = 0;
        while let Some(end) = next(&block.insts, at) {
            at = end + 3;
            let Some(first) = last_products(target, &block.insts[..end]) else { continue };
            let mut moved: Vec<MInst> = block.insts.drain(end + 1..end + 3).collect();
            let mut raised = block.insts[end].clone();
            raised.operands = smallvec![MOperand::Fixed(Operand::Imm(2))];
            moved.insert(0, raised);
            block.insts.splice(first..first, moved);
            at = end + 4;
        }
    }
}

/// The next place from `from` on where a `#[matrix]` block ends: the priority falls to 0, then comes the barrier of a phase.
fn next(insts: &[MInst], from: usize) -> Option<usize> {
    (from..insts.len().saturating_sub(2)).find(|&at| {
        let lowers = machine(&insts[at]).is_some_and(|row| row.does(Behaviours::SETS_PRIORITY))
            && insts[at].operands.first() == Some(&MOperand::Fixed(Operand::Imm(0)));
        let barrier = machine(&insts[at + 2]).is_some_and(|row| row.class == Class::Barrier);
        lowers && insts[at + 1].op == Op::Mark(Mark::Phase) && barrier
    })
}

/// The first of the matrix instructions at the end of a block that the pipe has time for until the other group's come.
fn last_products(target: Target, insts: &[MInst]) -> Option<usize> {
    let need = at_most(target, "barrier.release")? + SLOT * FIRST;
    let (mut covered, mut left, mut all, mut first) = (0, 0, 0, None);
    for (at, inst) in insts.iter().enumerate().rev() {
        let (row, mods) = match &inst.op {
            Op::Machine(row, mods) => (row, mods),
            Op::Copy | Op::Undef => continue,
            Op::Order | Op::Mark(_) => break,
        };
        let computes = row.is_matrix() || row.is_valu() || row.is_salu();
        if !computes || row.class.is_boundary() {
            break;
        }
        if !row.is_matrix() {
            continue;
        }
        all += 1;
        // The instruction before the barrier has the pipe as well.
        covered += SLOT * u64::from(row.passes_with(target, mods));
        if covered < need {
            (left, first) = (left + 1, Some(at));
        }
    }
    first.filter(|_| all > left)
}

fn machine(inst: &MInst) -> Option<&'static InstDesc> {
    match &inst.op {
        Op::Machine(row, _) => Some(row),
        _ => None,
    }
}
