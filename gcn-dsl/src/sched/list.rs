//! List scheduling of each block on virtual registers: memory operations start early, and independent work stands
//! between a slow instruction (a load, a matrix instruction) and the use of its result.
//!
//! A block is cut into regions at instructions that nothing may pass (`deps::is_boundary`), regions into windows of at
//! most [`WINDOW`] instructions, so that the work is linear in the program. In a window the dependences (`deps`) form a
//! graph; instructions are taken top down, of those that are ready the one with the longest way to the window's end,
//! and none whose result would lift the estimated register pressure (`pressure`) over the budget while another will do.
//! If the result still needs more registers than both the budget and the original order, the original order stays.
//!
//! Left to others: order across blocks, loads ahead of their trip ([`crate::ir::pipeline`]), and the exact waits
//! ([`super::wait`]).

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

/// Instructions that are ordered at a time.
pub const WINDOW: usize = 256;

/// Orders the instructions of each block of `f`.
///
/// # Errors
/// [`MissingClass`] if an `interleave!` asks for instructions that are not there.
pub fn schedule(f: &mut Function) -> Result<(), MissingClass> {
    let pressure = Pressure::of(f);
    let mut manual = 0;
    for b in 0..f.blocks.len() {
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

/// How many instructions at the entry copy the initial state out of the registers that hold it.
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

/// The stretches of instructions between those that nothing passes.
///
/// `manual` counts the manual stretches that are open where the block begins and, afterwards, where it ends.
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

/// The better order of a window, as indices into it, if there is one.
///
/// An order that the user asks for is not weighed against registers.
fn schedule_window(f: &Function, insts: &[MInst], live: Live) -> Result<Option<Vec<usize>>, MissingClass> {
    let graph = deps::Graph::build(f, insts);
    let original: Vec<usize> = (0..insts.len()).collect();
    let budget = Budget::above(live.peak(&original));
    let pattern = Pattern::of(f, insts)?;
    let asked = pattern.is_some();
    let order = take_in_order(f, insts, &graph, live.clone(), budget, pattern);
    Ok((order != original && (asked || budget.allows(live.peak(&order)))).then_some(order))
}

/// An instruction whose predecessors have all been taken.
#[derive(Clone, Copy)]
struct Ready {
    inst: usize,
    /// When its operands are there.
    earliest: u32,
}

fn take_in_order(
    f: &Function,
    insts: &[MInst],
    graph: &deps::Graph,
    mut live: Live,
    budget: Budget,
    mut pattern: Option<Pattern>,
) -> Vec<usize> {
    let heights = graph.heights();
    let mut waiting: Vec<u32> = graph.preds.clone();
    let mut earliest = vec![0u32; insts.len()];
    let mut ready: Vec<Ready> =
        (0..insts.len()).filter(|&i| waiting[i] == 0).map(|inst| Ready { inst, earliest: 0 }).collect();
    let mut order = Vec::with_capacity(insts.len());
    let (mut now, mut matrix_free) = (0u32, 0u32);
    while !ready.is_empty() {
        let busy = |r: &Ready| {
            let pipe =
                if latency::matrix_passes(f.target, &insts[r.inst]).is_some() { matrix_free } else { 0 };
            r.earliest.max(pipe).saturating_sub(now)
        };
        let rank = |r: &Ready| {
            let fits = budget.allows(live.after(r.inst));
            // Of those that do not fit the earliest in the text: the original order is known to fit.
            let height = if fits { u32::MAX - heights[r.inst] } else { 0 };
            match &pattern {
                Some(pattern) => (false, u32::from(pattern.rank(r.inst)), u32::MAX - heights[r.inst], r.inst),
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
        live.take(inst);
        if let Some(pattern) = &mut pattern {
            pattern.take(inst);
        }
        order.push(inst);
        for &(next, latency) in &graph.succs[inst] {
            earliest[next] = earliest[next].max(now + latency);
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(Ready { inst: next, earliest: earliest[next] });
            }
        }
        now += 1;
    }
    order
}
