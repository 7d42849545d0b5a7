//! Gives priority to a wave that has begun the matrix instructions between two barriers of a loop, so that it keeps the
//! matrix pipe.
//!
//! Of the waves that can issue, the hardware picks the oldest. If two workgroups share a SIMD, a wave of the older one
//! would interrupt the matrix instructions of the younger one, and all waves of the younger workgroup would wait at its
//! barrier for the slowest. A wave therefore raises its priority after its first matrix instruction and lowers it after
//! its last. The wave that starts first then finishes first, while the other one loads and stores tiles.
//!
//! Only MFMA and SMFMAC count. WMMA occupies the vector ALU, in which the other waves compute the addresses of their loads: with priority for
//! it, the products of `gcn-kernels` take 0.5 to 1.4% more cycles in the timed simulator.
//!
//! This pass runs after scheduling, on blocks inside loops that contain both barriers and matrix instructions. It skips
//! kernels that set a priority themselves or that have a manual schedule, which stays as written.

use gcn_isa::table::{self, Class};
use gcn_isa::{InstDesc, Operand};
use smallvec::smallvec;

use crate::ir::mark::Mark;
use crate::mir::{Function, MInst, MOperand, Op};

/// The smallest number of matrix instructions for which the two additional instructions pay.
const LEAST: usize = 4;

/// Inserts the instructions that change the priority into `f`.
pub fn run(f: &mut Function) {
    let Some(priority) = table::find(f.target, "s_setprio").next() else { return };
    let by_hand = |inst: &MInst| match &inst.op {
        Op::Machine(row, _) => row.id == priority.id,
        Op::Mark(mark) => *mark == Mark::ManualBegin,
        _ => false,
    };
    if f.blocks.iter().flat_map(|block| &block.insts).any(by_hand) {
        return;
    }
    for block in &mut f.blocks {
        let barriers: Vec<usize> = places(&block.insts, |row| row.class == Class::Barrier);
        if block.loop_depth == 0 || barriers.is_empty() {
            continue;
        }
        let products = places(&block.insts, InstDesc::is_matrix);
        let ends = barriers.iter().copied().chain([block.insts.len()]);
        let mut from = 0;
        let mut new: Vec<(usize, i64)> = Vec::new();
        for end in ends {
            let here: Vec<usize> = products.iter().copied().filter(|at| (from..end).contains(at)).collect();
            if let ([first, .., last], true) = (&here[..], here.len() >= LEAST) {
                new.extend([(first + 1, 1), (last + 1, 0)]);
            }
            from = end;
        }
        for (at, level) in new.into_iter().rev() {
            let loc = block.insts[at - 1].loc;
            let operands = smallvec![MOperand::Fixed(Operand::Imm(level))];
            let op = Op::Machine(priority, priority.default_mods());
            block.insts.insert(at, MInst { op, operands, keeps_dst: false, loc });
        }
    }
}

fn places(insts: &[MInst], is: impl Fn(&InstDesc) -> bool) -> Vec<usize> {
    let found =
        insts.iter().enumerate().filter(|(_, inst)| matches!(&inst.op, Op::Machine(row, _) if is(row)));
    found.map(|(at, _)| at).collect()
}
