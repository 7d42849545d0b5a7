//! Waits: `s_waitcnt` for operations that return some time later, then `s_nop` for fixed distances.
//!
//! [`insert_waits`] takes a program on machine registers and gives it exactly the waits that it needs, over branches,
//! joins and loop back-edges. What it guarantees for each kind of wait:
//!
//! - *Sufficient*: on no path does an instruction run before what it depends on is there.
//! - *Minimal*: no inserted counter value can be raised and no inserted wait state be taken away.
//! - *Cheap*: what a loop waits for only because of instructions before it stands before the loop, where all edges into
//!   the loop have a place for it.
//! - *Explained*: each wait carries its [`Reason`]s, which are also the line's note unless nobody reads it.
//!
//! - *Filled*, if asked for: instructions move within their blocks to where wait states would be idle (`fill`).
//!
//! `s_waitcnt` goes first because each is itself a wait state. Both passes are forward dataflow analyses on one engine
//! (`solve`), with their own lattices: `outstanding` for counters, `distance` for wait states. Waits that the program
//! has already count and are never weakened; one that stands right before an instruction that needs more is
//! strengthened. The result is judged by `crate::check`, which shares the rules but not the algorithm.

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
    /// The accesses that an `s_barrier` orders between the waves of a workgroup, so that they must be done
    /// before it. Only on targets whose barrier does not itself require drained counters (gfx90a and later);
    /// on the others everything is waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Orders: u8 {
        /// LDS writes and atomics of this wave, FLAT ones included.
        const LDS_WRITES = 1;
        /// LDS reads of this wave, so that another wave may overwrite what they read; not at a barrier that lets them pass
        /// ([`crate::program::Line::reads_pass`]).
        const LDS_READS = 1 << 1;
        /// Loads from memory straight into LDS.
        const LDS_DMA = 1 << 2;
        /// Stores and atomics to global memory; without it only at barriers that say so
        /// ([`crate::program::Line::orders_stores`]).
        const GLOBAL_STORES = 1 << 3;
    }
}

/// Which accesses of LDS, loads from memory straight into it included, are waited for before barriers and before other accesses
/// of LDS, and which stores before barriers that order stores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LdsOrder {
    /// Every one, since any other may be to the same bytes.
    #[default]
    All,
    /// Those that these lines start, given in ascending order. While data arrives in one buffer of LDS a program may use another
    /// and pass barriers: what it waits for somewhere is taken to be waited for where it has to be
    /// ([`crate::check::unordered_lds_accesses`]).
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

/// Choices of the wait passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOptions {
    /// The accesses that a barrier orders.
    pub barrier_orders: Orders,
    /// Which accesses of LDS the barriers, and the accesses of LDS after a load into it, are taken to concern.
    pub lds_order: LdsOrder,
    /// The first line is a function that others call, as if [`Program::entries`] said so: it starts with operations of its
    /// caller outstanding and waits for them first. A kernel starts with nothing outstanding.
    pub callable: bool,
    /// Which rules count. The convention about calls and the wait between a load into LDS and an access of it hold in any
    /// case.
    pub rules: Config,
    /// A wait in a loop that is only needed because of instructions before the loop is placed before the
    /// loop.
    pub leave_loops: bool,
    /// If given, instructions take the place of idle wait states: they move within their blocks, but across none of these
    /// places, each before a line, in ascending order. Operations of memory keep their order.
    pub fill: Option<Vec<usize>>,
    /// Write the reasons into the notes of the lines, too, which takes longer than finding them.
    pub notes: bool,
}

impl Default for WaitOptions {
    /// A kernel whose barriers order LDS as the memory model has it (writes, reads and LDS DMA), and whose waits leave loops.
    /// Instructions keep their order.
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

/// Inserts waits for counters, then wait states, then the remedies of RDNA's sequences ([`insert_remedies`]).
/// Returns the insertions in program order; every `at`, `producer` and `consumer` is a line of the result.
pub fn insert_waits(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    let mut inserted = waitcnt_edits(program, options, &mut []);
    let states = wait_state_edits(program, options, &mut inserted);
    inserted.extend(states);
    let remedies = remedies::remedy_edits(program, options, &mut inserted);
    inserted.extend(remedies);
    inserted.sort_by_key(|i| i.at);
    inserted
}

/// Inserts waits for counters only.
pub fn insert_waitcnt(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    waitcnt_edits(program, options, &mut [])
}

/// Inserts wait states and remedies only. `s_waitcnt` that are still to be inserted would be wait states too, so that this comes last.
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

/// The number of waits not needed at their own place that are explained by solving the program without each.
/// They are rare: in random programs of dense loops one in thousands.
const MOST_RIDDLES: usize = 32;

/// The reasons of the strictest of `conflicts`, counter by counter, as far as `wait` is for their counter.
fn binding_reasons(program: &Program, conflicts: &[Conflict], line: usize, wait: WaitCnt) -> Vec<Reason> {
    let strictest = |c: Counter| conflicts.iter().filter(|x| x.counter == c).map(|x| x.limit).min();
    let waited = |c: &&Conflict| c.counter.is_in(wait);
    let binding = conflicts.iter().filter(waited).filter(|c| Some(c.limit) == strictest(c.counter));
    binding.map(|c| waitcnt_reason(program, c, line, wait)).collect()
}

/// True if `limit` requires one of the values that `wait` has.
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

/// Strengthens the waits that stand right before `place` or in it, and makes new ones for the counters that those cannot wait for.
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
        // The first line of a function, which waits for less than it should.
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

/// The reasons that are about the counters of `part`.
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
        // Blocks are filled one by one, and where each ends changes how the next begins.
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

/// `states` wait states at `place`.
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
        // A pair that was moved out of a loop in several steps was first found without any of them.
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

/// The factor by which code is assumed to run more often for each loop around it, where the costs of waits are
/// compared.
pub const LOOP_WEIGHT: u64 = 10;
