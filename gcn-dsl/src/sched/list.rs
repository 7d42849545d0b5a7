//! List scheduling of each block on virtual registers, before register allocation. Memory operations start early, and
//! independent work goes between a slow instruction (a load, a matrix instruction) and the first use of its result.
//!
//! A block is divided into regions at instructions that nothing may be moved across (`deps::is_boundary`), and regions
//! into windows of at most [`WINDOW`] instructions, so that the time is linear in the program's size. In a window the
//! dependences (`deps`) form a DAG. Instructions are selected top down: of the ready ones that the matrix pipe and LDS
//! could start at once, the one with the longest critical path to the end of the window. An instruction whose result
//! would raise the estimated register pressure (`pressure`) above the budget is delayed while another instruction is
//! ready. If the new order still needs more registers than both the budget and the original order, the original order
//! is kept.
//!
//! This pass does not move instructions across blocks. It does not start loads in an earlier iteration of a loop
//! ([`crate::ir::pipeline`] does), nor compute exact waits ([`super::wait`] does).

mod deps;
mod latency;
mod pattern;
mod pressure;

pub use pattern::MissingClass;

use crate::ir::mark::Mark;
use crate::mir::{Function, MInst, MOperand, Op};
use gcn_isa::Operand;
use pattern::Pattern;
use pressure::{Budget, Live, Pressure};

/// The largest number of instructions that are scheduled together.
pub const WINDOW: usize = 256;

/// The number of issue slots before the matrix pipe becomes free from which on a matrix instruction takes precedence
/// over arithmetic. Other waves of the SIMD use slots as well: if this wave filled all slots with arithmetic, its
/// matrix instruction would be late and the pipe idle.
const SPARE: u32 = 3;

/// Reorders the instructions of each block of `f`.
///
/// # Errors
/// [`MissingClass`] if an `interleave!` asks for a class of instructions that its window does not contain.
pub fn schedule(f: &mut Function) -> Result<(), MissingClass> {
    let pressure = Pressure::of(f);
    let mut manual = 0;
    for b in 0..f.blocks.len() {
        // The pressure is computed for the original order. It stays valid for later blocks, because reordering one
        // block does not change the others.
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        let start = if b == 0 { initial_copies(f, &insts) } else { 0 };
        let live = pressure.before_each(f, b, &insts);
        for window in windows(&insts, start, &mut manual) {
            let old = &insts[window.clone()];
            let registers = pressure.window(f, window.start, live[window.start], old);
            if let Some(order) = schedule_window(f, old, registers)? {
                let new: Vec<MInst> = order.into_iter().map(|i| old[i].clone()).collect();
                insts[window].clone_from_slice(&new);
            }
        }
        f.blocks[b].insts = insts;
    }
    Ok(())
}

/// The number of instructions at the entry that copy initial state out of its registers. They stay first, because the
/// allocator must reserve those registers until they have been copied.
fn initial_copies(f: &Function, insts: &[MInst]) -> usize {
    let copies_in = |inst: &MInst| {
        let reads_live_in = inst.operands.iter().skip(1).any(|o| match o {
            MOperand::Fixed(Operand::Reg(reg)) => f.live_in.iter().any(|l| l.overlaps(*reg)),
            _ => false,
        });
        matches!(inst.op, Op::Undef) || (matches!(inst.op, Op::Copy) && reads_live_in)
    };
    insts.iter().take_while(|i| copies_in(i)).count()
}

/// The windows of a block: ranges of instructions between boundaries.
///
/// `manual` is the number of manual schedules that are open: at the start of the block on entry, at its end on return.
fn windows(insts: &[MInst], start: usize, manual: &mut u32) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut from = start;
    for (i, inst) in insts.iter().enumerate().skip(start) {
        let boundary = *manual > 0 || deps::is_boundary(inst);
        match &inst.op {
            Op::Mark(Mark::ManualBegin) => *manual += 1,
            Op::Mark(Mark::ManualEnd) => *manual = manual.saturating_sub(1),
            _ => {}
        }
        // A full window ends before instruction `i`, which begins the next window. A boundary belongs to no window.
        if boundary || i - from == WINDOW {
            found.push(from..i);
            from = if boundary { i + 1 } else { i };
        }
    }
    if *manual == 0 {
        found.push(from..insts.len());
    }
    found.retain(|w| w.len() > 1);
    found
}

/// A new order of a window, as indices into it; `None` if the original order is better or the same.
///
/// An order that the user requests (`interleave!`) is used whatever its register pressure is.
fn schedule_window(f: &Function, insts: &[MInst], live: Live) -> Result<Option<Vec<usize>>, MissingClass> {
    let graph = deps::Graph::build(f, insts);
    let original: Vec<usize> = (0..insts.len()).collect();
    let budget = Budget::above(live.peak(&original));
    let pattern = Pattern::of(f, insts)?;
    let asked = pattern.is_some();
    let order = list_schedule(f, insts, &graph, live.clone(), budget, pattern);
    // If no instruction that fits the budget is ready, the greedy choice exceeds the budget, so check the whole order.
    Ok((order != original && (asked || budget.allows(live.peak(&order)))).then_some(order))
}

/// An instruction whose predecessors in the DAG have all been scheduled.
#[derive(Clone, Copy)]
struct Ready {
    inst: usize,
    /// The slot at which the instruction's operands are available.
    earliest: u32,
}

fn list_schedule(
    f: &Function,
    insts: &[MInst],
    graph: &deps::Graph,
    mut live: Live,
    budget: Budget,
    mut pattern: Option<Pattern>,
) -> Vec<usize> {
    let heights = graph.heights(insts);
    let mut unscheduled_preds: Vec<u32> = graph.preds.clone();
    let mut earliest = vec![0u32; insts.len()];
    let mut ready: Vec<Ready> = (0..insts.len())
        .filter(|&i| unscheduled_preds[i] == 0)
        .map(|inst| Ready { inst, earliest: 0 })
        .collect();
    let mut order = Vec::with_capacity(insts.len());
    let (mut now, mut matrix_free, mut lds_free, mut vmem_free) = (0u32, 0u32, 0u32, 0u32);
    let (lds, vmem) = latency::memory_slots(f.target, insts);
    while !ready.is_empty() {
        // The number of slots until the instruction could start: its operands must have arrived, and the unit that it
        // uses (matrix pipe, LDS or vector memory) must be free. A stall emits nothing; it only advances the clock for
        // the following choices.
        let memory = |r: &Ready| {
            let free = if lds[r.inst] > 0 { lds_free } else { vmem_free };
            lds[r.inst] + vmem[r.inst] > 0 && r.earliest.max(free) <= now
        };
        let spare = if ready.iter().any(memory) { 0 } else { SPARE };
        let busy = |r: &Ready| {
            let pipe = if latency::matrix_passes(f.target, &insts[r.inst]).is_some() {
                matrix_free.saturating_sub(spare)
            } else if lds[r.inst] > 0 {
                lds_free
            } else if vmem[r.inst] > 0 {
                vmem_free
            } else {
                0
            };
            r.earliest.max(pipe).saturating_sub(now)
        };
        let rank = |r: &Ready| {
            let fits = budget.allows(live.after(r.inst));
            // If no ready instruction fits the budget, take the next instruction of the original order: that order as a
            // whole is known to fit, so following it leads back below the budget.
            let height = if fits { u32::MAX - heights[r.inst] } else { 0 };
            match &pattern {
                Some(pattern) => (false, u32::from(pattern.rank(r.inst)), u32::MAX - heights[r.inst], r.inst),
                // Prefer instructions that fit the budget, then those that need not stall, then the longest critical
                // path. The original position breaks ties, so the order is deterministic.
                None => (!fits, busy(r), height, r.inst),
            }
        };
        let best = (0..ready.len()).min_by_key(|&i| rank(&ready[i])).unwrap_or(0);
        let stall = busy(&ready[best]);
        let Ready { inst, .. } = ready.swap_remove(best);
        now += stall;
        if let Some(passes) = latency::matrix_passes(f.target, &insts[inst]) {
            matrix_free = now + passes;
        }
        if lds[inst] > 0 {
            lds_free = now + lds[inst];
        }
        if vmem[inst] > 0 {
            vmem_free = now + vmem[inst];
        }
        live.take(inst);
        if let Some(pattern) = &mut pattern {
            pattern.take(inst);
        }
        order.push(inst);
        for &(next, latency) in &graph.succs[inst] {
            earliest[next] = earliest[next].max(now + latency);
            unscheduled_preds[next] -= 1;
            if unscheduled_preds[next] == 0 {
                ready.push(Ready { inst: next, earliest: earliest[next] });
            }
        }
        now += 1;
    }
    order
}
