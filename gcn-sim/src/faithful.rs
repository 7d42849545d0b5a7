//! Faithful mode: an instruction that comes too early computes with what is really there.
//!
//! The machine below is as unkind as the rules allow:
//! - The result of a memory operation reaches its registers when an `s_waitcnt` has made it certain, and not before; of
//!   operations that return in any order, the older one arrives last.
//! - Other waves see a store to LDS or global memory when it is certain, a load into LDS not even its own wave.
//! - A result behind a wait-state rule is there after that many wait states for the instructions of the rule. Before,
//!   they see the old value; what they write over it is overwritten; a store or matrix instruction whose source they
//!   overwrite uses the new value.
//!
//! Instructions always run on the plain state of the wave: old values are swapped in before and the true ones after, so
//! that the functions of the instructions know nothing of it. A program that waits enough gives the result of functional
//! mode.

mod registers;
mod stores;
mod violation;

use std::collections::VecDeque;

use gcn_isa::hazards::{self, Kinds, Since};
use gcn_isa::table::{Access, Class};

use crate::error::Hazard;
use crate::exec::{Cx, Fault, Next};
use crate::machine::Machine;
use crate::step::Step;
use crate::strict;
use crate::strict::counters::Counters;
use crate::strict::effect::Kind;
use crate::strict::range::LdsRange;
use crate::workgroup::execute;

use registers::{Changes, Hidden, Slot};
use stores::Stores;
use violation::{Action, First, Violation};

/// A read or write that came too early, counted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stale {
    /// The rule, the two instructions, and where it happened first.
    pub hazard: Hazard,
    /// How often it happened, over all waves.
    pub count: u64,
}

impl std::fmt::Display for Stale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let times = if self.count == 1 { "time" } else { "times" };
        write!(f, "{} {times}: {}", self.count, self.hazard)
    }
}

/// What faithful mode knows about each instruction of a program.
pub(crate) struct Program {
    strict: strict::Program,
    info: Vec<Info>,
}

/// One instruction.
struct Info {
    writes: Vec<Slot>,
    reads: Vec<Slot>,
    lanes: WrittenLanes,
    /// Its old values are needed later.
    watched: bool,
    /// A rule may overwrite its sources.
    reads_late: bool,
    /// Writes MODE.
    mode: bool,
    /// A load that keeps part of its destination.
    merges: bool,
    /// Reads memory the scalar way.
    scalar_memory: bool,
}

/// Lanes of a vector register that an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenLanes {
    All,
    Exec,
    /// Those that differ afterwards.
    Changed,
}

impl Program {
    pub(crate) fn new(machine: &Machine) -> Program {
        let strict = strict::Program::new(machine);
        let info = (0..machine.steps().len()).map(|at| Info::of(machine, &strict, at)).collect();
        Program { strict, info }
    }
}

impl Info {
    fn of(machine: &Machine, strict: &strict::Program, at: usize) -> Info {
        let desc = machine.steps()[at].inst.desc;
        let (effect, view) = (&strict.effects[at], &strict.pairs.views[at]);
        let slots = |units: &[gcn_isa::reg::RegUnit]| -> Vec<Slot> {
            units.iter().filter_map(|u| Slot::of(machine, *u)).collect()
        };
        let late = view.kinds().contains(Kinds::WIDE_STORE) || desc.is_matrix();
        Info {
            writes: slots(&effect.writes),
            reads: slots(&effect.reads),
            lanes: match desc.class {
                Class::Writelane => WrittenLanes::Changed,
                Class::Permlane => WrittenLanes::All,
                _ if desc.is_matrix() => WrittenLanes::All,
                _ => WrittenLanes::Exec,
            },
            watched: view.reach() > 0 || effect.kind.is_some(),
            reads_late: late,
            mode: desc.class == Class::Setreg || desc.mnemonic == "s_setvskip",
            merges: effect.kind.is_some() && desc.operands.iter().any(|o| o.access == Access::ReadWrite),
            scalar_memory: desc.is_smem(),
        }
    }

    fn written_lanes(&self, cx: &Cx<'_>, changes: &Changes, exec: u64) -> u64 {
        match self.lanes {
            WrittenLanes::All => u64::MAX,
            WrittenLanes::Exec => exec,
            WrittenLanes::Changed => changes.changed_lanes(cx.w),
        }
    }
}

/// A memory operation whose result is not certain.
struct Load {
    id: u32,
    ordered: bool,
    changes: Changes,
}

/// An instruction within reach of a rule.
struct Past {
    at: usize,
    /// Wait states issued up to and including it.
    position: u64,
    /// What has been executed since.
    since: Since,
    changes: Changes,
    /// Its sources with EXEC, if a rule may overwrite them.
    sources: Option<Box<Sources>>,
    /// Its memory operation.
    id: u32,
}

/// What an instruction read.
struct Sources {
    vectors: Changes,
    scalars: [u32; 128],
}

impl Sources {
    fn of(cx: &Cx<'_>, info: &Info) -> Box<Sources> {
        Box::new(Sources { vectors: Changes::before(cx.w, &info.reads, false), scalars: cx.w.s })
    }
}

/// Where reports go.
type Report<'a> = &'a mut dyn FnMut(&Cx<'_>, Box<Hazard>);

/// What faithful mode knows about a wave.
#[derive(Default)]
pub(crate) struct WaveState {
    counters: Counters,
    loads: Vec<Load>,
    stores: Stores,
    past: VecDeque<Past>,
    position: u64,
}

impl WaveState {
    pub(crate) fn reset(&mut self) {
        self.counters.reset();
        self.loads.clear();
        self.stores.reset();
        self.past.clear();
        self.position = 0;
    }

    /// The wave's turn begins.
    pub(crate) fn resume(&mut self, cx: &mut Cx<'_>) {
        self.stores.resume(cx);
    }

    /// The wave's turn is over. At a barrier the others see only what is certain; otherwise time passes, and all its
    /// stores arrive.
    pub(crate) fn suspend(&mut self, cx: &mut Cx<'_>, at_barrier: bool) {
        if at_barrier {
            self.stores.suspend(cx);
        } else {
            self.stores.complete(cx, |_| true);
        }
    }

    /// Executes one instruction. What came too early goes to `report`.
    pub(crate) fn step(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        step: &Step,
        alone: bool,
        report: Report<'_>,
    ) -> Result<Next, Fault> {
        let at = cx.w.pc;
        let (info, effect) = (&program.info[at], &program.strict.effects[at]);
        if let Err(hazard) = self.counters.before(&program.strict.effects, cx.machine, at, alone) {
            report(cx, hazard);
        }
        self.deliver(cx);
        let mut violations = self.violations(program, cx.machine, at);
        let hidden = self.hide(cx, &violations);
        violations.iter_mut().filter_map(|v| v.hazard.take()).for_each(|h| report(cx, h));
        let sources = info.reads_late.then(|| Sources::of(cx, info));
        let mut changes = Changes::default();
        if info.watched {
            changes = Changes::before(cx.w, &info.writes, info.mode);
        }
        if info.merges {
            // A load of half a register merges with what earlier loads bring.
            for load in self.loads.iter().filter(|l| l.ordered) {
                info.writes.iter().for_each(|slot| load.changes.land_one(cx.w, *slot));
            }
        }
        let exec = cx.w.exec();
        let next = self.execute(cx, step, info)?;
        let lanes = info.written_lanes(cx, &changes, exec);
        changes.after(cx.w, lanes);
        let is_load = effect.kind.is_some() && !changes.is_empty();
        if is_load {
            changes.undo(cx.w);
        }
        let written = if is_load { &[][..] } else { &info.writes[..] };
        hidden.restore(cx.w, written, lanes, info.mode);
        let id = self.start(program, cx, at, &changes, report);
        self.come_late(program, cx, &violations, (info, id))?;
        self.remember(program, at, Past { at, position: 0, since: Since::NOTHING, changes, sources, id });
        if next == Next::End {
            self.stores.complete(cx, |_| true);
        }
        Ok(next)
    }

    /// Brings the results of the operations that have become certain: in order those that return so, then the others, the
    /// oldest last.
    fn deliver(&mut self, cx: &mut Cx<'_>) {
        let done = self.counters.done();
        if done.is_empty() {
            return;
        }
        let is_done = |id: u32| done.contains(&id);
        let (ordered, others): (Vec<&Load>, Vec<&Load>) =
            self.loads.iter().filter(|l| is_done(l.id)).partition(|l| l.ordered);
        ordered.into_iter().chain(others.into_iter().rev()).for_each(|l| l.changes.land(cx.w));
        self.stores.complete(cx, is_done);
        self.loads.retain(|l| !is_done(l.id));
    }

    fn violations(&mut self, program: &Program, machine: &Machine, at: usize) -> Vec<Violation> {
        let pairs = &program.strict.pairs;
        let reach = u64::from(hazards::MAX_REACH);
        while self.past.front().is_some_and(|p| self.position - p.position >= reach) {
            self.past.pop_front();
        }
        let mut found = Vec::new();
        for (i, past) in self.past.iter().enumerate() {
            let distance = self.position - past.position;
            if distance < u64::from(pairs.views[past.at].reach())
                && (distance < pairs.between(past.at, at) || !past.since.crossed().is_empty())
            {
                let first = First { past: i, at: past.at, since: past.since };
                found.extend(violation::between(pairs, machine, first, at, distance));
            }
        }
        found
    }

    /// Swaps in the values that the instruction sees. The youngest result is taken away first, so that what is seen is
    /// what was there before all of them.
    fn hide(&self, cx: &mut Cx<'_>, violations: &[Violation]) -> Hidden {
        let mut hidden = Hidden::default();
        for violation in violations.iter().rev() {
            let changes = &self.past[violation.past].changes;
            for action in &violation.actions {
                match *action {
                    Action::Hide(slot) => {
                        hidden.keep(cx.w, slot);
                        changes.hide(cx.w, slot);
                    }
                    Action::HideMode => {
                        hidden.keep_mode(cx.w);
                        changes.hide_mode(cx.w);
                    }
                    Action::Land(_) | Action::Redo(_) => {}
                }
            }
        }
        hidden
    }

    /// Scalar memory does not see what vector stores have not yet brought to memory.
    fn execute(&mut self, cx: &mut Cx<'_>, step: &Step, info: &Info) -> Result<Next, Fault> {
        if !info.scalar_memory || self.stores.is_empty() {
            return execute(cx, step);
        }
        self.stores.suspend(cx);
        let next = execute(cx, step);
        self.stores.resume(cx);
        next
    }

    /// Takes note of the memory operation that the instruction started; returns its number.
    fn start(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        at: usize,
        changes: &Changes,
        report: Report<'_>,
    ) -> u32 {
        let effects = &program.strict.effects;
        let Some(kind) = effects[at].kind else { return 0 };
        let touched = cx.trace.as_deref().map(LdsRange::of).unwrap_or_default();
        if let Err(hazard) = self.counters.after(effects, cx.machine, at, touched) {
            report(cx, hazard);
        }
        let id = self.counters.youngest();
        self.stores.push(cx, id, !effects[at].lds_dma);
        if !changes.is_empty() {
            let ordered = matches!(kind, Kind::Vector | Kind::Lds);
            self.loads.push(Load { id, ordered, changes: changes.clone() });
        }
        id
    }

    /// What the rules let arrive behind the instruction: results of earlier ones, and earlier ones that use its result.
    fn come_late(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        violations: &[Violation],
        (info, id): (&Info, u32),
    ) -> Result<(), Fault> {
        for violation in violations {
            for action in &violation.actions {
                if let Action::Land(slot) = action {
                    let changes = &self.past[violation.past].changes;
                    changes.land_one(cx.w, *slot);
                    // What a load brings comes before it too.
                    if let Some(load) = self.loads.iter_mut().find(|l| id != 0 && l.id == id) {
                        load.changes.replace_one(changes, *slot);
                    }
                }
            }
            let is_redone = |a: &Action| matches!(a, Action::Redo(_));
            if violation.actions.iter().any(is_redone) {
                self.redo(program, cx, violation, info)?;
            }
        }
        Ok(())
    }

    /// Runs the first instruction again, with its own sources but for the registers that the second has overwritten.
    fn redo(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        violation: &Violation,
        second: &Info,
    ) -> Result<(), Fault> {
        let past = &self.past[violation.past];
        let (Some(sources), first) = (&past.sources, &program.info[past.at]) else { return Ok(()) };
        let mut now = Changes::before(cx.w, &first.reads, false);
        now.after(cx.w, u64::MAX);
        let kept = Changes::before(cx.w, &second.writes, false);
        let scalars = std::mem::replace(&mut cx.w.s, sources.scalars);
        sources.vectors.undo(cx.w);
        for action in &violation.actions {
            if let Action::Redo(slot) = action {
                now.land_one(cx.w, *slot);
            }
        }
        if let Some(trace) = cx.trace.as_deref_mut() {
            trace.clear();
        }
        let (id, steps) = (past.id, cx.machine.steps());
        execute(cx, &steps[past.at])?;
        let mut result = Changes::before(cx.w, &first.writes, false);
        result.after(cx.w, u64::MAX);
        cx.w.s = scalars;
        now.land(cx.w);
        result.land(cx.w);
        kept.undo(cx.w);
        self.stores.push(cx, id, true);
        Ok(())
    }

    /// Keeps what later instructions may come too early for.
    fn remember(&mut self, program: &Program, at: usize, past: Past) {
        let pairs = &program.strict.pairs;
        self.position += u64::from(pairs.own[at]);
        let view = &pairs.views[at];
        if view.matters_between() {
            for past in &mut self.past {
                past.since = past.since.past(&pairs.views[past.at], view);
            }
        }
        if view.reach() > 0 {
            self.past.push_back(Past { position: self.position, ..past });
        }
    }
}
