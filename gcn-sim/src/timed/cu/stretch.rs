//! Scalar instructions of one wave, one slot after the other, without a look at the others.
//!
//! Code of scalar instructions costs more to schedule than to execute. While the first wave in the SIMD's order has nothing
//! but such instructions in a line of code that it has, it is selected in every slot; waves that want the same unit go on
//! losing to it, and nothing that it does is seen outside of it. Slots that come out the same every time need no arbiter.

use super::{Code, Cu, Outcome, Shared, State};
use crate::core::error::SimError;
use crate::core::machine::Cx;
use crate::core::place;
use crate::semantics::execute::execute;
use crate::timed::stall::Pipe;

impl Cu {
    /// Issues scalar instructions from the slot at `start` on, as long as the SIMD's slots can only go to one wave.
    pub(super) fn stretch(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        simd: usize,
        start: u64,
    ) -> Result<(), SimError> {
        // The order of events in a timeline is that of the slots of all SIMDs.
        if shared.record.most_events > 0 {
            return Ok(());
        }
        let Some((w, end)) = self.only(code, simd, start) else { return Ok(()) };
        let wave = &self.waves[w];
        let left = code.max_instructions.saturating_sub(wave.executed);
        let slots = (end - start).div_ceil(code.times.interval);
        let count = u64::from(code.costs[wave.pc].run).min(slots).min(left);
        if count == 0 {
            return Ok(());
        }
        self.settle(code, shared, w, start);
        self.run(code, shared, w, (start, count))?;
        let busy = &mut shared.record.pipes[Pipe::Scalar as usize];
        (busy.issued, busy.busy) = (busy.issued + count, busy.busy + count);
        let cycles = count * code.times.interval;
        let wave = &mut self.waves[w];
        wave.pc += count as usize;
        wave.issued += cycles;
        wave.executed += count;
        wave.accounted = start + cycles;
        self.simds[simd].next = u64::MAX;
        self.prepare(code, shared, w, start + cycles);
        // The waves that lost in all of these slots are looked at in the next one.
        let next = self.next_of(simd, start + cycles);
        let this = &mut self.simds[simd];
        this.next = this.next.min(next);
        Ok(())
    }

    /// The wave that every slot from `start` on goes to, and when that may end; `None` if it is not so simple.
    fn only(&self, code: &Code<'_>, simd: usize, start: u64) -> Option<(usize, u64)> {
        let mut winner = None;
        let mut end = self.next_workgroup(code, simd);
        for &w in &self.simds[simd].order {
            let wave = &self.waves[w];
            match wave.state {
                State::Done => {}
                // Another SIMD's wave may be the last to arrive.
                State::Barrier | State::Signals => return None,
                State::Ready if wave.ready > start => end = end.min(wave.ready),
                State::Ready if winner.is_none() => {
                    let cost = code.costs.get(wave.pc)?;
                    if cost.run == 0 || wave.results_until > start {
                        return None;
                    }
                    winner = Some(w);
                }
                State::Ready => {
                    let loses = wave.outcome == Some(Outcome::NotWin { stalled: false });
                    if !loses || code.costs.get(wave.pc)?.pipe != Pipe::Scalar {
                        return None;
                    }
                }
            }
        }
        winner.filter(|_| end > start).map(|w| (w, end))
    }

    /// The first cycle in which a workgroup can start for which one that now runs has to end on another SIMD.
    fn next_workgroup(&self, code: &Code<'_>, simd: usize) -> u64 {
        let (index, _, end) = self.pending;
        if index >= end {
            return u64::MAX;
        }
        let others = self.simds.iter().enumerate().filter(|(other, _)| *other != simd);
        let first = others.map(|(_, other)| other.next).min().unwrap_or(u64::MAX);
        first.saturating_add(code.times.interval + code.times.per_workgroup)
    }

    /// The next slot, not before `from`, in which a wave of the SIMD is ready.
    fn next_of(&self, simd: usize, from: u64) -> u64 {
        let ready = self.simds[simd].order.iter().map(|w| &self.waves[*w]);
        let ready = ready.filter(|wave| wave.state == State::Ready);
        ready.map(|wave| wave.ready.max(from)).min().unwrap_or(u64::MAX)
    }

    /// Carries out `count` instructions, the first in the slot at `start`.
    fn run(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        w: usize,
        (start, count): (u64, u64),
    ) -> Result<(), SimError> {
        let wave = &self.waves[w];
        let Some(group) = self.groups[wave.group].as_mut() else { return Ok(()) };
        let mut cx = Cx {
            w: &mut group.unit.waves[wave.number],
            lds: &mut group.unit.lds,
            memory: code.memory,
            machine: code.launch.machine,
            trace: None,
        };
        let range = wave.pc..wave.pc + count as usize;
        let steps = code.launch.machine.steps()[range.clone()].iter();
        for ((at, step), inst) in range.clone().zip(steps).zip(&mut shared.record.insts[range]) {
            cx.w.pc = at;
            cx.w.count = start;
            execute(&mut cx, step).map_err(|fault| place::explain(&cx, group.id, step, fault))?;
            inst.issued += 1;
        }
        Ok(())
    }
}
