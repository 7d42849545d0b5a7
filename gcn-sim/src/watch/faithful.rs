//! Faithful mode: an instruction that executes too early computes with the data that the hardware may provide in that case.
//!
//! An operation is *certain* once a wait or a full counter guarantees its completion. Within what the rules allow, the machine behaves as
//! badly as possible:
//! - The result of a memory operation is written to its registers when the operation becomes certain, and not before. Among operations that
//!   return in any order, the oldest arrives last.
//! - Other waves see a store to LDS or global memory only when the store is certain. Until a load into LDS is certain, even its own wave
//!   does not see its data. Where a barrier does not itself wait for memory operations (gfx90a and later), the waves of the workgroup see
//!   the global stores from before the barrier.
//! - A read of LDS that is outstanding at a barrier returns what the other waves write after the barrier.
//! - An asynchronous store from LDS reads LDS when it becomes certain, so it stores what later instructions have written.
//! - A result to which a wait-state rule applies becomes available after the required number of wait states. The instructions that the rule
//!   names see the old value before that. If they write the register, the late result overwrites theirs. If they overwrite a source of an
//!   earlier store or matrix instruction, that instruction uses the new value.
//!
//! Instructions always execute on an ordinary wave state: old register values are swapped in before an instruction, and the true values
//! afterwards, so that the instruction functions need not know about this mode. A program with sufficient waits gives the result of
//! functional mode.

mod program;
mod registers;
mod rules;
mod stores;
mod violation;

use std::collections::VecDeque;
use std::sync::Arc;

use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::{Since, View};

use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::site::Hazard;
use crate::core::trace::Path;
use crate::core::wave::Sgprs;
use crate::semantics::execute::execute;
use crate::semantics::indexed;
use crate::watch::strict::counters::Counters;
use crate::watch::strict::effect::Effect;
use crate::watch::strict::outstanding::{Access, Accesses};
use crate::watch::strict::range::LdsRange;
use crate::watch::strict::states::Pairs;
use crate::watch::strict::{Current, Moved};

pub(crate) use program::Program;

use program::Info;
use registers::Changes;
use stores::Stores;

/// A memory operation that is not certain: its completion is not yet guaranteed.
struct Load {
    id: u32,
    ordered: bool,
    changes: Changes,
    /// For a read of LDS, whose data another wave may overwrite: the index of the instruction, and the sources with which to repeat it.
    again: Option<(usize, Box<Sources>)>,
}

/// An earlier instruction that a wait-state rule may still concern.
struct Past {
    at: usize,
    /// The instruction's view with the actual registers, if an index changed them.
    moved: Option<Arc<View>>,
    /// The number of wait states issued up to and including this instruction.
    position: u64,
    /// Facts about the instructions executed since this one.
    since: Since,
    changes: Changes,
    /// The instruction's sources and EXEC, if a rule allows later instructions to overwrite them.
    sources: Option<Box<Sources>>,
    /// The number of the instruction's memory operation.
    id: u32,
}

impl Past {
    fn view<'a>(&'a self, pairs: &'a Pairs) -> &'a View {
        self.moved.as_deref().unwrap_or(&pairs.views[self.at])
    }
}

/// The values that an instruction read.
struct Sources {
    vectors: Changes,
    scalars: Sgprs,
}

impl Sources {
    fn of(cx: &Cx<'_>, info: &Info) -> Box<Sources> {
        Box::new(Sources { vectors: Changes::before(cx.w, &info.reads, false), scalars: cx.w.s })
    }
}

impl Load {
    /// If the operation is a read of LDS, repeats it after the other waves have had their turns.
    fn read_again(&mut self, program: &Program, cx: &mut Cx<'_>) {
        let Some((at, sources)) = &self.again else { return };
        let (info, steps) = (&program.info[*at], cx.machine.steps());
        let now = [&info.writes, &info.reads].map(|slots| Changes::before(cx.w, slots, false));
        let scalars = std::mem::replace(&mut cx.w.s, sources.scalars);
        sources.vectors.undo(cx.w);
        // The read has executed before without a fault.
        if execute(cx, &steps[*at]).is_ok() {
            self.changes.again(cx.w);
        }
        cx.w.s = scalars;
        now.iter().rev().for_each(|changes| changes.undo(cx.w));
        if let Some(trace) = cx.trace.as_deref_mut() {
            trace.clear();
        }
    }
}

/// The function that receives reports.
type Report<'a> = &'a mut dyn FnMut(&Cx<'_>, Box<Hazard>);

/// The state of a wave in faithful mode.
#[derive(Default)]
pub(crate) struct WaveState {
    counters: Counters,
    loads: Vec<Load>,
    lds: Accesses,
    stores: Stores,
    /// True if the wave is waiting at a barrier, or has just passed it.
    at_barrier: bool,
    past: VecDeque<Past>,
    position: u64,
}

impl WaveState {
    pub(crate) fn reset(&mut self) {
        self.counters.reset();
        self.loads.clear();
        self.lds.reset();
        self.at_barrier = false;
        self.stores.reset();
        self.past.clear();
        self.position = 0;
    }

    /// Called when the wave's turn starts.
    pub(crate) fn resume(&mut self, program: &Program, cx: &mut Cx<'_>) {
        if self.at_barrier {
            self.loads.iter_mut().for_each(|load| load.read_again(program, cx));
        }
        self.at_barrier = false;
        self.stores.resume(cx);
    }

    /// True if the wave is at a barrier and has outstanding reads of LDS.
    pub(crate) fn reads_late(&self) -> bool {
        self.at_barrier && self.loads.iter().any(|l| l.again.is_some())
    }

    /// Called when the waves meet at a barrier. For the result, see [`Accesses::meet`].
    pub(crate) fn meet(&mut self) -> impl Iterator<Item = (Access, WaitCnt)> {
        self.lds.meet()
    }

    /// Called when the wave's turn is over. At a barrier, the other waves see only stores that are certain. Elsewhere, all stores of the
    /// wave become visible, because time passes.
    pub(crate) fn suspend(&mut self, cx: &mut Cx<'_>, at_barrier: bool) {
        self.at_barrier = at_barrier;
        if at_barrier {
            if cx.machine.target().has_back_off_barrier() {
                // The waves of a workgroup share a compute unit and its cache. So, except in threadgroup split mode, their global stores
                // need no wait (memory model, release at workgroup scope). A flat store to LDS that only vmcnt still counts needs no wait
                // either.
                let (counters, split) = (&self.counters, cx.machine.state().tg_split);
                let matters = |path| path == Path::Lds || split && path == Path::Global;
                self.stores.complete(cx, |id, path| !matters(path) || counters.wait_for(id, path).is_none());
            }
            self.stores.suspend(cx);
        } else {
            self.stores.complete(cx, |_, _| true);
        }
    }

    /// Executes one instruction. Accesses that come too early are passed to `report`.
    pub(crate) fn step(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        step: &Step,
        alone: bool,
        report: Report<'_>,
    ) -> Result<Next, Fault> {
        let at = cx.w.pc;
        let inst = indexed::moved(cx, step)?;
        let moved =
            inst.as_ref().map(|inst| Moved::of(cx.machine.target(), inst, program.strict.pairs.rules));
        let now = program.strict.current(at, moved.as_ref());
        let moved_info = inst.as_ref().map(|inst| Info::of(cx.machine, inst, &now));
        let (info, effect) = (moved_info.as_ref().unwrap_or(&program.info[at]), now.effect);
        if let Err(hazard) = self.counters.before(
            &program.strict.effects,
            cx.machine,
            effect,
            program.strict.pairs.rules,
            alone,
        ) {
            report(cx, hazard);
        }
        self.deliver(cx);
        let mut violations = self.violations(program, cx.machine, &now);
        let hidden = self.hide(cx, &violations);
        violations.iter_mut().filter_map(|v| v.hazard.take()).for_each(|h| report(cx, h));
        let may_be_late = effect.reads_lds && !alone;
        let mut sources = (info.reads_late || may_be_late).then(|| Sources::of(cx, info));
        let again = sources.take_if(|_| may_be_late);
        let mut changes = Changes::default();
        if info.watched {
            changes = Changes::before(cx.w, &info.writes, info.mode);
            changes.keep_bits(info.kept);
        }
        if info.merges {
            // A load of half a register merges with the results of earlier loads.
            for load in self.loads.iter().filter(|l| l.ordered) {
                info.writes.iter().for_each(|slot| load.changes.land_one(cx.w, *slot));
            }
        }
        let exec = cx.w.exec();
        let next = self.execute(cx, step, info)?;
        let lanes = info.written_lanes(cx, &changes, exec);
        changes.after(cx.w, lanes);
        let is_load = !effect.streams.is_empty() && !changes.is_empty();
        if is_load {
            changes.undo(cx.w);
        }
        let written = if is_load { &[][..] } else { &info.writes[..] };
        hidden.restore(cx.w, written, lanes, info.mode);
        let id = self.start(program, cx, (effect, at), (&changes, again), report);
        if effect.arrives {
            self.lds.arrive(&self.counters);
        }
        self.come_late(program, cx, &violations, (info, id))?;
        let (moved, since) = (now.moved.cloned(), Since::NOTHING);
        self.remember(program, &now, Past { at, moved, position: 0, since, changes, sources, id });
        if next == Next::End {
            self.stores.complete(cx, |_, _| true);
        }
        Ok(next)
    }

    /// Writes the results of operations that have become certain to their registers: first of those that return in order, in that order;
    /// then of the others, the oldest last.
    fn deliver(&mut self, cx: &mut Cx<'_>) {
        let done = self.counters.done();
        if done.is_empty() {
            return;
        }
        let is_done = |id: u32| done.contains(&id);
        let (ordered, others): (Vec<&Load>, Vec<&Load>) =
            self.loads.iter().filter(|l| is_done(l.id)).partition(|l| l.ordered);
        ordered.into_iter().chain(others.into_iter().rev()).for_each(|l| l.changes.land(cx.w));
        self.stores.complete(cx, |id, _| is_done(id));
        self.loads.retain(|l| !is_done(l.id));
    }

    /// Executes the instruction. If it reads scalar memory, it does not see vector stores that have not reached memory.
    fn execute(&mut self, cx: &mut Cx<'_>, step: &Step, info: &Info) -> Result<Next, Fault> {
        if !info.scalar_memory || self.stores.is_empty() {
            return Ok(execute(cx, step)?);
        }
        self.stores.suspend(cx);
        let next = execute(cx, step);
        self.stores.resume(cx);
        Ok(next?)
    }

    /// Registers the memory operation that the instruction started. Returns its number.
    fn start(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        (effect, at): (&Effect, usize),
        (changes, again): (&Changes, Option<Box<Sources>>),
        report: Report<'_>,
    ) -> u32 {
        let effects = &program.strict.effects;
        if effects[at].streams.is_empty() {
            return 0;
        }
        let touched = cx.trace.as_deref().map(|t| LdsRange::of(&t.touches)).unwrap_or_default();
        if let Err(hazard) = self.counters.after(effects, cx.machine, (effect, at), touched) {
            report(cx, hazard);
        }
        let id = self.counters.youngest();
        // A store from LDS writes memory only when the wave waits for it.
        if !effects[at].copies_lds {
            self.stores.push(cx, id, !effects[at].lds_dma);
        }
        if let Some(trace) = cx.trace.as_deref() {
            self.lds.add(&self.counters, cx.machine, (&effects[at], at), &trace.touches);
        }
        if !changes.is_empty() {
            let ordered = effects[at].in_order;
            let again = again.map(|sources| (at, sources));
            self.loads.push(Load { id, ordered, changes: changes.clone(), again });
        }
        id
    }

    /// Remembers the instruction if later instructions may execute too early after it.
    fn remember(&mut self, program: &Program, now: &Current<'_>, past: Past) {
        let pairs = &program.strict.pairs;
        self.position += u64::from(pairs.own[now.at]);
        let view = now.view;
        if view.matters_between() {
            for past in &mut self.past {
                past.since = past.since.past(past.view(pairs), view);
            }
        }
        if view.reach() > 0 {
            self.past.push_back(Past { position: self.position, ..past });
        }
    }
}
