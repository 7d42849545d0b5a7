//! The remedy pass: decides which instructions need a remedy before them, or a changed field, because of RDNA's hazard
//! sequences.
//!
//! The state before an instruction is the set of sequences in progress on any path ([`Pending`]). The join is the
//! union. A remedy is treated like any other instruction: it ends sequences of every rule.

use smallvec::SmallVec;

use crate::Program;
use crate::cfg::Flow;
use crate::hazards::AnyRule as _;
use crate::hazards::remedy::Fix;
use crate::hazards::sequences::{Danger, Pending, Sequences};
use crate::hazards::{Config, Views};
use crate::inst::Via;
use crate::program::EntryKind;

use super::edit::{self, Edit};
use super::loops::{Edge, Place};
use super::polish::At;
use super::solve::{Pass, Solver};
use super::{Demand, Inserted, InsertedKind, MOST_RIDDLES, Reason, WaitOptions, shape_of};

struct RemedyPass<'a> {
    sequences: Sequences<'a>,
}

impl RemedyPass<'_> {
    /// The sequences that would be completed too early at `line`.
    fn dangers(&self, state: &Pending, line: usize) -> Vec<Danger> {
        let mut dangers = Vec::new();
        self.sequences.dangers(state, line, |danger| dangers.push(danger));
        dangers
    }
}

impl Pass for RemedyPass<'_> {
    type State = Pending;
    type Need = Fix;
    type Cause = ();
    const NONE: Fix = Fix::NONE;
    const NUMBER_FIRST: bool = true;

    fn stronger(a: Fix, b: Fix) -> Fix {
        a.and(b)
    }

    fn entry(&self, kind: EntryKind) -> Pending {
        self.sequences.entry(kind)
    }

    fn come_back(&self, state: &mut Pending) {
        self.sequences.come_back(state);
    }

    fn enter(&self, state: &mut Pending, by_call: bool) {
        if by_call {
            self.sequences.enter(state);
        }
    }

    fn leave(&self, state: &mut Pending, call: Option<&Pending>) {
        self.sequences.leave(state, call);
    }

    fn size(&self, state: &Pending) -> usize {
        state.size()
    }

    fn join(&self, into: &mut Pending, from: &Pending) {
        self.sequences.join(into, from);
    }

    fn need(&self, state: &Pending, line: usize, _: &dyn Fn(usize) -> bool) -> Fix {
        self.sequences.need(state, line)
    }

    fn edge_need(&self, _: &Pending, _: Edge) -> Fix {
        Fix::NONE
    }

    fn wait(&self, state: &mut Pending, need: Fix) {
        self.sequences.apply(state, need);
    }

    fn step(&self, state: &mut Pending, line: usize) {
        self.sequences.step(state, line);
    }

    fn seal(&self, state: &mut Pending) {
        self.sequences.seal(state);
    }

    /// Remedies are not moved out of loops: they cost little, and most of their producers are in the same loop.
    fn outer_cause(&self, _: &Pending, _: usize, _: &dyn Fn(usize) -> bool) {}

    fn hoist(&mut self, (): &(), _: &[(Edge, &Pending)]) {}

    fn weaker(&self, _: Fix) -> Vec<Fix> {
        vec![Fix::NONE]
    }

    fn strength(&self, wait: Fix) -> u64 {
        u64::from(!wait.is_none()) + u64::from(wait.states)
    }
}

/// Inserts the remedies for RDNA's hazard sequences; the waits for counters must have been inserted before. Returns the insertions and
/// changes in program order; every `at`, `producer` and `consumer` is a line of the resulting program. A program for a target without such
/// rules remains unchanged.
///
/// ```
/// use gcn_isa::wait::{self, WaitOptions};
/// use gcn_isa::{Inst, Program, Reg, Target, table};
///
/// // A transcendental result is not there yet for the next instruction.
/// let mut program = Program::new(Target::GFX1100, "f");
/// let find = |name| table::find(Target::GFX1100, name).next().unwrap();
/// program.push(Inst::new(find("v_exp_f32_e32"), [Reg::v(0, 1).into(), Reg::v(1, 1).into()]));
/// program.push(Inst::new(find("v_mov_b32_e32"), [Reg::v(2, 1).into(), Reg::v(0, 1).into()]));
/// let inserted = wait::insert_remedies(&mut program, &WaitOptions::default());
/// assert_eq!((inserted[0].at, program.lines[1].inst.desc.mnemonic), (1, "s_waitcnt_depctr"));
/// ```
pub fn insert_remedies(program: &mut Program, options: &WaitOptions) -> Vec<Inserted> {
    remedy_edits(program, options, &mut [])
}

pub(super) fn remedy_edits(
    program: &mut Program,
    options: &WaitOptions,
    earlier: &mut [Inserted],
) -> Vec<Inserted> {
    let flow = options.rules.flow(program);
    let planned = plan(program, options.rules, &flow, options.callable);
    let mut edits: Vec<Edit> = Vec::new();
    for (line, fix, reasons) in planned {
        let in_block = flow.cfg.blocks[flow.cfg.block_of(line)].start < line;
        place(program, in_block, line, fix, reasons, &mut edits);
    }
    edit::apply(program, edits, earlier, options.notes)
}

/// The fix that each line needs, with its reasons.
fn plan(program: &Program, rules: Config, flow: &Flow, callable: bool) -> Vec<(usize, Fix, Vec<Reason>)> {
    let views = Views::of(program, &rules.indexing(program, flow));
    let sequences = Sequences::of(program, views, rules);
    let mut planned = Vec::new();
    if sequences.is_idle() {
        return planned;
    }
    let shape = shape_of(flow);
    let mut flow = std::borrow::Cow::Borrowed(flow);
    if callable && program.entries.is_empty() {
        flow.to_mut().roots.iter_mut().filter(|r| r.block == 0).for_each(|r| r.kind = EntryKind::Function);
    }
    let mut solved = Solver::solve(RemedyPass { sequences }, program, &flow, &shape, false);
    let mut puzzling = Vec::new();
    solved.each_wait(|pass, state, line, fix| {
        let reasons = reasons(program, &pass.dangers(state, line), line, fix);
        if reasons.is_empty() {
            puzzling.push((planned.len(), At::Line { block: solved.cfg.block_of(line), line }));
        }
        planned.push((line, fix, reasons));
    });
    for (index, at) in puzzling.into_iter().take(MOST_RIDDLES) {
        if let Some((state, line)) = solved.served_elsewhere(at, Fix::NONE) {
            planned[index].2 = reasons(program, &solved.pass.dangers(&state, line), line, planned[index].1);
        }
    }
    planned
}

/// The reasons for the parts of `fix`.
fn reasons(program: &Program, dangers: &[Danger], line: usize, fix: Fix) -> Vec<Reason> {
    let served = dangers.iter().filter(|d| fix.covers(d.fix));
    // If several rules require the same fix, the best supported rule is the reason.
    let better = |d: &Danger| {
        dangers.iter().any(|o| {
            o.fix == d.fix && o.first == d.first && o.rule != d.rule && o.rule.grade() > d.rule.grade()
        })
    };
    let told = served.filter(|d| !better(d));
    told.map(|d| {
        let demand = Demand::Remedy { fix: d.fix, target: program.target };
        Reason::new(program, d.rule.id, d.first, line, (d.reg, Via::Name), demand)
    })
    .collect()
}

/// Changes the fields of `line`, strengthens a wait directly above it, and plans the instructions to insert.
fn place(
    program: &mut Program,
    in_block: bool,
    line: usize,
    fix: Fix,
    reasons: Vec<Reason>,
    edits: &mut Vec<Edit>,
) {
    let kind = InsertedKind::Remedy;
    let target = program.target;
    if fix.changes_fields() {
        fix.change(program.lines[line].inst_mut());
    }
    let mut left = fix.without_fields();
    if in_block && !left.waits.is_empty() && left.strengthens(&program.lines[line - 1].inst) {
        left.strengthen(program.lines[line - 1].inst_mut());
        left = left.without_waits();
        let above = Place::Before(line - 1);
        edits.push(Edit { place: above, kind, insts: SmallVec::new(), reasons: reasons.clone() });
        if left.is_none() && !fix.changes_fields() {
            return;
        }
    }
    let insts = left.instructions(target).into_iter().map(std::sync::Arc::new).collect();
    edits.push(Edit { place: Place::Before(line), kind, insts, reasons });
}
