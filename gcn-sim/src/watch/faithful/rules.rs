//! The consequences of an instruction that executes too early according to a wait-state rule: it sees old values, its result is overwritten
//! by that of an earlier instruction, or an earlier instruction uses a value that it wrote over that instruction's source.

use gcn_isa::hazards;

use super::registers::{Changes, Hidden};
use super::violation::{self, Action, First, Violation};
use super::{Info, Program, WaveState};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Machine};
use crate::semantics::execute::execute;
use crate::watch::strict::Current;

impl WaveState {
    pub(super) fn violations(
        &mut self,
        program: &Program,
        machine: &Machine,
        now: &Current<'_>,
    ) -> Vec<Violation> {
        let pairs = &program.strict.pairs;
        let reach = u64::from(hazards::MAX_REACH);
        while self.past.front().is_some_and(|p| self.position - p.position >= reach) {
            self.past.pop_front();
        }
        let mut found = Vec::new();
        for (i, past) in self.past.iter().enumerate() {
            let distance = self.position - past.position;
            let view = past.view(pairs);
            let moved = past.moved.is_some() || now.moved.is_some();
            if distance < u64::from(view.reach())
                && (moved || distance < pairs.between(past.at, now.at) || !past.since.crossed().is_empty())
            {
                let first = First { past: i, at: past.at, view, since: past.since };
                found.extend(violation::between(machine, pairs.rules, first, now.view, distance));
            }
        }
        found
    }

    /// Swaps in the values that the instruction sees. The youngest result is hidden first, so that the visible value is the one from before
    /// all of them.
    pub(super) fn hide(&self, cx: &mut Cx<'_>, violations: &[Violation]) -> Hidden {
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

    /// Applies the effects that may happen after the instruction: late results of earlier instructions, and earlier instructions that use
    /// its result.
    pub(super) fn come_late(
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
                    // The late result also replaces the data of a load, which counts as having arrived before the result.
                    if let Some(load) = self.loads.iter_mut().find(|l| id != 0 && l.id == id) {
                        load.changes.replace_one(changes, *slot);
                    }
                }
            }
            let is_redone = |a: &Action| matches!(a, Action::Redo(_));
            if violation.actions.iter().any(is_redone) {
                self.redo(program, cx, violation, (info, id))?;
            }
        }
        Ok(())
    }

    /// Repeats the first instruction with its original sources, except for registers that the second instruction has overwritten.
    fn redo(
        &mut self,
        program: &Program,
        cx: &mut Cx<'_>,
        violation: &Violation,
        (second, id): (&Info, u32),
    ) -> Result<(), Fault> {
        let past = &self.past[violation.past];
        let (Some(sources), first) = (&past.sources, &program.info[past.at]) else { return Ok(()) };
        // The data of a load may have arrived before the counter shows it.
        let load = self.loads.iter().find(|load| id != 0 && load.id == id);
        load.inspect(|load| load.changes.land(cx.w));
        let mut now = Changes::before(cx.w, &first.reads, false);
        now.after(cx.w, u64::MAX);
        load.inspect(|load| load.changes.undo(cx.w));
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
}
