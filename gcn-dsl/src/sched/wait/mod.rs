//! Waits: `s_waitcnt` for operations that return some time later, then `s_nop` for fixed distances.
//!
//! [`insert_waits`] takes a program on machine registers and gives it exactly the waits that it needs, over branches,
//! joins and loop back-edges. What it guarantees for each kind of wait:
//!
//! - *Sufficient*: on no path does an instruction run before what it depends on is there.
//! - *Minimal*: no inserted counter value can be raised and no inserted wait state be taken away.
//! - *Cheap*: what a loop waits for only because of instructions before it stands before the loop, where all edges into
//!   the loop have a place for it.
//! - *Explained*: each wait carries its [`Reason`]s, which are also the line's note.
//!
//! `s_waitcnt` goes first because each is itself a wait state. Both passes are forward dataflow analyses on one engine
//! (`solve`), with their own lattices: `outstanding` for counters, `distance` for wait states. Waits that the program
//! has already count and are never weakened; one that stands right before an instruction that needs more is
//! strengthened. The result is judged by `gcn_isa::check`, which shares the rules but not the algorithm.

mod distance;
mod edit;
mod events;
mod loops;
mod outstanding;
mod report;
mod solve;
mod waitcnt;

use bitflags::bitflags;
use gcn_isa::Program;
use gcn_isa::cfg::Cfg;
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::Config;

pub use gcn_isa::counters::Counter;
pub use report::{Demand, Inserted, InsertedKind, Reason};

use distance::{DistancePass, Shortfall};
use edit::Edit;
use loops::{Place, Shape};
use report::note;
use solve::Solver;
use waitcnt::{Conflict, WaitcntPass};

bitflags! {
    /// What an `s_barrier` orders between the waves of a workgroup, so that it must be done before it. Only on targets
    /// whose barrier does not itself ask for drained counters (gfx90a and later); on the others everything is waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Orders: u8 {
        /// LDS writes and atomics of this wave, FLAT ones included.
        const LDS_WRITES = 1;
        /// LDS reads of this wave, so that another wave may overwrite what they read.
        const LDS_READS = 1 << 1;
        /// Loads from memory straight into LDS.
        const LDS_DMA = 1 << 2;
        /// Stores and atomics to global memory.
        const GLOBAL_STORES = 1 << 3;
    }
}

/// Choices of the wait passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOptions {
    /// What a barrier orders.
    pub barrier_orders: Orders,
    /// The program is a function that others call: it starts with operations of its caller outstanding and waits for
    /// them first. A kernel starts with nothing outstanding.
    pub callable: bool,
    /// Which wait-state rules count.
    pub rules: Config,
    /// What a loop waits for only because of instructions before it is waited for before it.
    pub leave_loops: bool,
}

impl Default for WaitOptions {
    /// A kernel whose barriers order LDS writes and LDS DMA, and whose waits leave loops.
    fn default() -> WaitOptions {
        WaitOptions {
            barrier_orders: Orders::LDS_WRITES.union(Orders::LDS_DMA),
            callable: false,
            rules: Config::default(),
            leave_loops: true,
        }
    }
}

/// Inserts `s_waitcnt`, then wait states. Returns what was put where, in program order; every `at`, `producer` and
/// `consumer` is a line of the result.
pub fn insert_waits(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    let mut inserted = waitcnt_edits(program, options, &mut []);
    let states = wait_state_edits(program, options, &mut inserted);
    inserted.extend(states);
    inserted.sort_by_key(|i| i.at);
    inserted
}

/// Inserts `s_waitcnt` only.
pub fn insert_waitcnt(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    waitcnt_edits(program, options, &mut [])
}

/// Inserts wait states only. `s_waitcnt` that are still to be inserted would be wait states too, so that this comes last.
pub fn insert_wait_states(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    wait_state_edits(program, options, &mut [])
}

fn waitcnt_edits(program: &mut Program, options: &WaitOptions, earlier: &mut [Inserted]) -> Vec<Inserted> {
    let cfg = Cfg::build(program);
    let shape = Shape::of(&cfg);
    let mut planned: Vec<(Place, WaitCnt, Vec<Reason>)> = Vec::new();
    if options.callable && !program.lines.is_empty() {
        let reason = Reason::at_entry(program);
        planned.push((Place::FallingInto(0), WaitCnt::ALL, vec![reason]));
    }
    let solved =
        Solver::solve(WaitcntPass::new(program, options), program, &cfg, &shape, options.leave_loops);
    solved.each_edge_wait(|pass, state, edge, wait| {
        let binding = pass.outstanding_early(state, edge);
        let reasons =
            binding.iter().filter(|(_, limit)| wait.and(*limit) == wait && limit_binds(*limit, wait));
        let reasons =
            reasons.map(|(early, _)| waitcnt_reason(program, &early.conflict, early.consumer, wait));
        if let Some(place) = edge.place(program, &cfg) {
            planned.push((place, wait, reasons.collect()));
        }
    });
    solved.each_wait(|pass, state, line, wait| {
        let mut conflicts = Vec::new();
        pass.conflicts(state, line, &mut |c| conflicts.push(c));
        let strictest = |c: Counter| conflicts.iter().filter(|x| x.counter == c).map(|x| x.limit).min();
        let waited = |c: &&Conflict| c.counter.of(wait) <= c.counter.cap();
        let binding = conflicts.iter().filter(waited).filter(|c| Some(c.limit) == strictest(c.counter));
        let reasons = binding.map(|c| waitcnt_reason(program, c, line, wait)).collect();
        planned.push((Place::Before(line), wait, reasons));
    });
    let edits = planned.into_iter().filter_map(|(place, wait, mut reasons)| {
        reasons.dedup();
        waitcnt_edit(program, &cfg, place, wait, reasons)
    });
    let edits = edits.collect();
    edit::apply(program, edits, earlier)
}

/// True if `limit` asks for one of the values that `wait` has.
fn limit_binds(limit: WaitCnt, wait: WaitCnt) -> bool {
    Counter::ALL.into_iter().any(|c| c.of(limit) == c.of(wait) && c.of(wait) <= c.cap())
}

fn waitcnt_reason(program: &Program, conflict: &Conflict, consumer: usize, wait: WaitCnt) -> Reason {
    let counter = conflict.counter;
    Reason::new(
        program,
        conflict.rule,
        conflict.producer.map(|p| p as usize),
        consumer,
        conflict.reg,
        Demand::Count { counter, needed: counter.of(wait), present: counter.of(WaitCnt::NONE) },
    )
}

/// Strengthens the `s_waitcnt` that stands right before `place`, or makes a new one.
fn waitcnt_edit(
    program: &mut Program,
    cfg: &Cfg,
    place: Place,
    wait: WaitCnt,
    mut reasons: Vec<Reason>,
) -> Option<Edit> {
    let kind = InsertedKind::Waitcnt;
    let above = match place {
        Place::Before(line) => (cfg.blocks[cfg.block_of(line)].start < line).then(|| line - 1),
        Place::FallingInto(line) => line.checked_sub(1),
    };
    if let Some(above) = above
        && let Some(old) = waitcnt::decode(&program.lines[above].inst)
    {
        let inst = &mut program.lines[above].inst;
        inst.operands = [gcn_isa::Operand::Imm(i64::from(old.and(wait).encode()))].into_iter().collect();
        for reason in &mut reasons {
            reason.strengthens(old);
        }
        return Some(Edit { place: Place::Before(above), kind, insts: Vec::new(), reasons });
    }
    let inst = edit::sopp(program, "s_waitcnt", wait.encode())?;
    Some(Edit { place, kind, insts: vec![inst], reasons })
}

fn wait_state_edits(program: &mut Program, options: &WaitOptions, earlier: &mut [Inserted]) -> Vec<Inserted> {
    let cfg = Cfg::build(program);
    let shape = Shape::of(&cfg);
    let mut edits = Vec::new();
    let solved =
        Solver::solve(DistancePass::new(program, options.rules), program, &cfg, &shape, options.leave_loops);
    solved.each_edge_wait(|pass, _, edge, states| {
        let causes = pass.early.get(&edge).map_or(&[][..], |e| &e.1);
        if let Some(place) = edge.place(program, &cfg) {
            edits.push(nops(program, place, states, causes));
        }
    });
    solved.each_wait(|pass, state, line, states| {
        let mut causes = Vec::new();
        pass.shortfalls(state, line, &mut |s| causes.push(s));
        let most = causes.iter().map(Shortfall::missing).max();
        causes.retain(|s| Some(s.missing()) == most);
        edits.push(nops(program, Place::Before(line), states, &causes));
    });
    edit::apply(program, edits, earlier)
}

/// `states` wait states at `place`.
fn nops(program: &Program, place: Place, states: u32, causes: &[Shortfall]) -> Edit {
    let mut insts = Vec::new();
    let mut left = states;
    while left > 0 {
        let now = left.min(MAX_NOP_STATES);
        insts.extend(edit::sopp(program, "s_nop", now as u16 - 1));
        left -= now;
    }
    let reason = |s: &Shortfall| {
        let demand = Demand::States { needed: u32::from(s.required.states), present: s.present };
        Reason::new(program, s.required.rule.id, Some(s.producer), s.consumer, s.required.reg, demand)
    };
    let mut reasons: Vec<Reason> = Vec::with_capacity(causes.len());
    for s in causes {
        // A pair that was moved out of a loop in several steps was first found without any of them.
        let same = |r: &Reason| {
            r.rule == s.required.rule.id && r.producer == Some(s.producer) && r.consumer == s.consumer
        };
        if !reasons.iter().any(same) {
            reasons.push(reason(s));
        }
    }
    Edit { place, kind: InsertedKind::WaitStates, insts, reasons }
}

/// Wait states of the longest `s_nop`: the hardware takes its operand modulo 16.
const MAX_NOP_STATES: u32 = 16;
