//! Inserts waits: first `s_waitcnt` for operations that complete asynchronously, then `s_nop` for fixed distances.
//!
//! [`insert_waits`] takes a program with machine registers and inserts exactly the waits that it needs, across branches, joins and back
//! edges of loops. The waits have the following properties:
//!
//! - *Sufficient*: on no path does an instruction execute before the results on which it depends are available.
//! - *Minimal*: no inserted counter value can be raised and no inserted wait state can be removed.
//! - *Cheap*: if a loop waits only for instructions before the loop, the wait is placed before the loop, provided that
//!   an instruction can be inserted on every edge into the loop.
//! - *Explained*: each wait has its [`Reason`]s, which are also written to the line's note unless
//!   [`WaitOptions::notes`] is off.
//!
//! - *Filled*, on request: instructions are moved within their blocks to positions where the program would otherwise have
//!   idle wait states (`fill`).
//!
//! `s_waitcnt` are inserted first because each of them is itself a wait state. Both passes are forward dataflow analyses with one solver
//! (`solve`) and different lattices: `outstanding` for counters, `distance` for wait states. Waits that the program already has are taken
//! into account and never weakened. If such a wait directly precedes an instruction that needs more, it is strengthened. `crate::check`
//! verifies the result. It shares the rules, but not the algorithm.

mod distance;
mod edit;
mod events;
mod fill;
mod loops;
mod outstanding;
mod polish;
mod remedies;
mod report;
mod solve;
mod waitcnt;

use std::sync::Arc;

use bitflags::bitflags;
use smallvec::{SmallVec, smallvec};

use crate::Program;
use crate::cfg::{Cfg, Flow};
use crate::counters::WaitCnt;
use crate::hazards::counter::CALL_ENTRY;
use crate::hazards::{self, Config};

pub use crate::counters::Counter;
pub use remedies::insert_remedies;
pub use report::{Demand, Inserted, InsertedKind, Reason};

use distance::{DistancePass, Shortfall};
use edit::Edit;
use fill::Movable;
use loops::{Place, Shape};
use polish::At;
use report::note;
use solve::Solver;
use waitcnt::{Conflict, WaitcntPass};

bitflags! {
    /// The accesses that an `s_barrier` orders between the waves of a workgroup, so that they must be done before it. This applies only to
    /// targets whose barrier does not itself wait for the counters (gfx90a and later). On other targets, all operations are waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Orders: u8 {
        /// LDS writes and atomics of this wave, including FLAT ones.
        const LDS_WRITES = 1;
        /// LDS reads of this wave, which must be done before another wave may overwrite the data. Barriers that allow outstanding reads
        /// ([`crate::program::Line::reads_pass`]) do not order them.
        const LDS_READS = 1 << 1;
        /// Loads from memory directly into LDS.
        const LDS_DMA = 1 << 2;
        /// Stores and atomics to global memory. Without this flag, only barriers that request it
        /// ([`crate::program::Line::orders_stores`]) order them.
        const GLOBAL_STORES = 1 << 3;
    }
}

/// The accesses that the inserter orders by waits: LDS accesses, including loads from memory directly into LDS, before barriers and before
/// other LDS accesses; and stores, before the barriers that order stores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LdsOrder {
    /// All such accesses, because any two accesses may be to the same bytes.
    #[default]
    All,
    /// The accesses of these lines, which are in ascending order. This is for programs with several buffers in LDS, which use one buffer
    /// and execute barriers while data arrive in another. If such a program itself waits for an access anywhere, it is assumed to wait at
    /// the correct position; [`crate::check::unordered_lds_accesses`] returns the lines of the other accesses.
    OfLines(Vec<usize>),
}

impl LdsOrder {
    fn contains(&self, line: usize) -> bool {
        match self {
            LdsOrder::All => true,
            LdsOrder::OfLines(lines) => lines.binary_search(&line).is_ok(),
        }
    }
}

/// Options of the wait passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOptions {
    /// The accesses that a barrier orders.
    pub barrier_orders: Orders,
    /// The LDS accesses for which waits are inserted before barriers, and after a load into LDS before other LDS accesses.
    pub lds_order: LdsOrder,
    /// True if the first line is the entry of a function that other code calls, as if [`Program::entries`] contained it. A function starts
    /// while operations of its caller are outstanding, and waits for these first. A kernel starts without outstanding operations.
    pub callable: bool,
    /// The rules to satisfy. The calling convention, and the wait between a load into LDS and an access to LDS, apply in any case.
    pub rules: Config,
    /// True to place a wait that a loop needs only because of instructions before the loop in front of the loop.
    pub leave_loops: bool,
    /// If `Some`, instructions are moved within their blocks to positions at which the wave would otherwise wait idly. The list
    /// contains fences, across which no instruction is moved; each fence is given as the number of the line after it, in ascending order.
    /// Memory operations keep their order.
    pub fill: Option<Vec<usize>>,
    /// True to also write the reasons into the notes of the lines, which takes longer than finding the reasons.
    pub notes: bool,
}

impl Default for WaitOptions {
    /// Options for a kernel whose barriers order LDS as the memory model requires (writes, reads and LDS DMA), and
    /// whose waits are moved out of loops. Instructions keep their order.
    fn default() -> WaitOptions {
        WaitOptions {
            barrier_orders: Orders::LDS_WRITES.union(Orders::LDS_READS).union(Orders::LDS_DMA),
            lds_order: LdsOrder::All,
            callable: false,
            rules: Config::default(),
            leave_loops: true,
            fill: None,
            notes: true,
        }
    }
}

/// Inserts waits for counters, then wait states, then the remedies of RDNA's hazard sequences ([`insert_remedies`]).
/// Returns the insertions in program order; every `at`, `producer` and `consumer` is a line of the resulting program.
pub fn insert_waits(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    let mut inserted = waitcnt_edits(program, options, &mut []);
    let states = wait_state_edits(program, options, &mut inserted);
    inserted.extend(states);
    let remedies = remedies::remedy_edits(program, options, &mut inserted);
    inserted.extend(remedies);
    inserted.sort_by_key(|i| i.at);
    inserted
}

/// Inserts only waits for counters.
pub fn insert_waitcnt(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    waitcnt_edits(program, options, &mut [])
}

/// Inserts only wait states and remedies. All `s_waitcnt` must have been inserted before, because they are also wait states.
pub fn insert_wait_states(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    let mut inserted = wait_state_edits(program, options, &mut []);
    let remedies = remedies::remedy_edits(program, options, &mut inserted);
    inserted.extend(remedies);
    inserted.sort_by_key(|i| i.at);
    inserted
}

fn waitcnt_edits(program: &mut Program, options: &WaitOptions, earlier: &mut [Inserted]) -> Vec<Inserted> {
    let flow = options.rules.flow(program);
    let (cfg, shape) = (&flow.cfg, shape_of(&flow));
    let mut planned: Vec<(Place, WaitCnt, Vec<Reason>)> = Vec::new();
    let mut solved =
        Solver::solve(WaitcntPass::new(program, &flow, options), program, &flow, &shape, options.leave_loops);
    let mut puzzling = Vec::new();
    solved.each_edge_wait(|pass, state, edge, wait| {
        let binding = pass.outstanding_early(state, edge);
        let reasons =
            binding.iter().filter(|(_, limit)| wait.and(*limit) == wait && limit_binds(*limit, wait));
        let reasons: Vec<Reason> = reasons
            .map(|(early, _)| waitcnt_reason(program, &early.conflict, early.consumer, wait))
            .collect();
        if let Some(place) = edge.place(program, cfg) {
            if reasons.is_empty() {
                puzzling.push((planned.len(), At::Edge(edge), WaitCnt::NONE));
            }
            planned.push((place, wait, reasons));
        }
    });
    solved.each_wait(|pass, state, line, wait| {
        let conflicts = pass.all_conflicts(state, line);
        let needed = conflicts.iter().fold(WaitCnt::NONE, |all, c| all.and(c.counter.at(c.limit)));
        if needed != wait {
            puzzling.push((planned.len(), At::Line { block: cfg.block_of(line), line }, needed));
        }
        planned.push((Place::Before(line), wait, binding_reasons(program, &conflicts, line, wait)));
    });
    for (index, at, lower) in puzzling.into_iter().take(MOST_RIDDLES) {
        if let Some((state, line)) = solved.served_elsewhere(at, lower) {
            let conflicts = solved.pass.all_conflicts(&state, line);
            let (_, wait, reasons) = &mut planned[index];
            reasons.extend(binding_reasons(program, &conflicts, line, *wait));
        }
    }
    let edits = planned.into_iter().flat_map(|(place, wait, mut reasons)| {
        reasons.dedup();
        waitcnt_edits_at(program, cfg, place, wait, &reasons)
    });
    let edits = edits.collect();
    edit::apply(program, edits, earlier, options.notes)
}

fn shape_of(flow: &Flow) -> Shape {
    Shape::of(&flow.cfg, flow.roots.iter().map(|r| r.block))
}

/// The maximum number of waits for which the program is solved again. Some waits are needed only by later lines, and the program must be
/// solved again without such a wait to find its reasons. Such waits are rare: in random programs of dense loops, one in a thousand.
const MOST_RIDDLES: usize = 32;

/// The reasons of the strictest of `conflicts` for each counter of `wait`.
fn binding_reasons(program: &Program, conflicts: &[Conflict], line: usize, wait: WaitCnt) -> Vec<Reason> {
    let strictest = |c: Counter| conflicts.iter().filter(|x| x.counter == c).map(|x| x.limit).min();
    let waited = |c: &&Conflict| c.counter.is_in(wait);
    let binding = conflicts.iter().filter(waited).filter(|c| Some(c.limit) == strictest(c.counter));
    binding.map(|c| waitcnt_reason(program, c, line, wait)).collect()
}

/// True if `limit` and `wait` have the same value for one of the counters of `wait`.
fn limit_binds(limit: WaitCnt, wait: WaitCnt) -> bool {
    Counter::ALL.into_iter().any(|c| c.of(limit) == c.of(wait) && c.is_in(wait))
}

fn waitcnt_reason(program: &Program, conflict: &Conflict, consumer: usize, wait: WaitCnt) -> Reason {
    let counter = conflict.counter;
    if conflict.rule == CALL_ENTRY.id {
        return Reason::at_entry(program, consumer);
    }
    Reason::new(
        program,
        conflict.rule,
        conflict.producer.map(|p| p as usize),
        consumer,
        (conflict.reg, conflict.via),
        Demand::Count {
            counter,
            needed: counter.of(wait),
            present: counter.capacity(program.target.instruction_set()),
        },
    )
}

/// Strengthens the waits directly before `place` or at it, and creates new waits for the counters that the existing ones cannot express.
fn waitcnt_edits_at(
    program: &mut Program,
    cfg: &Cfg,
    place: Place,
    wait: WaitCnt,
    reasons: &[Reason],
) -> SmallVec<[Edit; 1]> {
    let kind = InsertedKind::Waitcnt;
    let waits = |program: &Program, line: usize| WaitCnt::of(&program.lines[line].inst).is_some();
    let standing: SmallVec<[usize; 2]> = match place {
        // The first line of a function is itself a wait, but this wait is too weak.
        Place::Before(line) if waits(program, line) => smallvec![line],
        Place::Before(line) => {
            let start = cfg.blocks[cfg.block_of(line)].start;
            (start..line).rev().take_while(|above| waits(program, *above)).collect()
        }
        Place::FallingInto(line) => {
            (0..line).next_back().filter(|above| waits(program, *above)).into_iter().collect()
        }
    };
    let mut left = wait;
    let mut edits = SmallVec::new();
    for above in standing {
        let inst = &program.lines[above].inst;
        let part = left.part_of(inst);
        let Some(old) = WaitCnt::of(inst).filter(|_| !part.is_none()) else { continue };
        left = left.without(part);
        old.and(part).put_into(program.lines[above].inst_mut());
        let mut reasons = reasons_of(reasons, part);
        reasons.iter_mut().for_each(|reason| reason.strengthens(old));
        edits.push(Edit { place: Place::Before(above), kind, insts: SmallVec::new(), reasons });
    }
    let insts: SmallVec<[_; 1]> = left.instructions(program.target).into_iter().map(Arc::new).collect();
    if !insts.is_empty() {
        edits.push(Edit { place, kind, insts, reasons: reasons_of(reasons, left) });
    }
    edits
}

/// The reasons that concern the counters of `part`.
fn reasons_of(reasons: &[Reason], part: WaitCnt) -> Vec<Reason> {
    let concerns = |reason: &&Reason| match reason.demand {
        Demand::Count { counter, .. } => counter.is_in(part),
        Demand::States { .. } | Demand::Remedy { .. } => true,
    };
    reasons.iter().filter(concerns).cloned().collect()
}

fn wait_state_edits(program: &mut Program, options: &WaitOptions, earlier: &mut [Inserted]) -> Vec<Inserted> {
    let flow = options.rules.flow(program);
    let (cfg, shape) = (&flow.cfg, shape_of(&flow));
    let mut solved = solve_distances(program, options, &flow, &shape);
    if let Some(fences) = &options.fill
        && let movable = Movable::new(program, fences, earlier)
        && let Some(order) = fill::plan(&solved, &movable)
    {
        let before = fill::cost(&solved);
        fill::apply(program, &order, earlier);
        solved = solve_distances(program, options, &flow, &shape);
        // Each block is filled separately, but a block's state at its end changes the start of the next block, so the total cost may rise.
        // In this case the move is undone.
        if fill::cost(&solved) > before {
            fill::apply(program, &fill::inverse(&order), earlier);
            solved = solve_distances(program, options, &flow, &shape);
        }
    }
    let mut nops = edit::Nops::new(program.target);
    let mut edits: Vec<Edit> = Vec::new();
    let mut puzzling = Vec::new();
    solved.each_edge_wait(|pass, _, edge, states| {
        let causes = pass.early.get(&edge).map_or(&[][..], |e| &e.1);
        if let Some(place) = edge.place(program, cfg) {
            edits.push(wait_state_edit(program, &mut nops, place, states, causes));
        }
    });
    solved.each_wait(|pass, state, line, states| {
        let causes = pass.strictest(state, line);
        let needed = causes.first().map_or(0, Shortfall::missing);
        if needed != states {
            puzzling.push((edits.len(), At::Line { block: cfg.block_of(line), line }, needed));
        }
        edits.push(wait_state_edit(program, &mut nops, Place::Before(line), states, &causes));
    });
    for (index, at, lower) in puzzling.into_iter().take(MOST_RIDDLES) {
        if let Some((state, line)) = solved.served_elsewhere(at, lower) {
            add_reasons(&mut edits[index].reasons, program, &solved.pass.strictest(&state, line));
        }
    }
    edit::apply(program, edits, earlier, options.notes)
}

fn solve_distances<'p>(
    program: &'p Program,
    options: &WaitOptions,
    flow: &'p Flow,
    shape: &'p Shape,
) -> Solver<'p, DistancePass<'p>> {
    Solver::solve(DistancePass::new(program, flow, options.rules), program, flow, shape, options.leave_loops)
}

/// An edit that inserts `states` wait states at `place`.
fn wait_state_edit(
    program: &Program,
    nops: &mut edit::Nops,
    place: Place,
    states: u32,
    causes: &[Shortfall],
) -> Edit {
    let insts = hazards::nops(states).filter_map(|n| nops.get(n)).collect();
    let mut reasons = Vec::with_capacity(causes.len());
    add_reasons(&mut reasons, program, causes);
    Edit { place, kind: InsertedKind::WaitStates, insts, reasons }
}

fn add_reasons(reasons: &mut Vec<Reason>, program: &Program, causes: &[Shortfall]) {
    for s in causes {
        // A wait that was moved out of a loop in several steps has the same pair of instructions as its cause several times. Only the first
        // cause is kept: its `present` distance does not yet include any of the moved wait states.
        let same = |r: &Reason| {
            r.rule == s.required.rule.id && r.producer == Some(s.producer) && r.consumer == s.consumer
        };
        if !reasons.iter().any(same) {
            let demand = Demand::States { needed: u32::from(s.required.states), present: s.present };
            let (rule, reg) = (s.required.rule.id, (s.required.reg, s.required.via));
            reasons.push(Reason::new(program, rule, Some(s.producer), s.consumer, reg, demand));
        }
    }
}

/// The factor by which each loop around a line is assumed to multiply the line's execution count. It is used to compare the costs of waits.
pub const LOOP_WEIGHT: u64 = 10;
