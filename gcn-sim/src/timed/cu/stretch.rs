//! A fast path for consecutive scalar instructions of one wave, which are issued without arbitration.
//!
//! Scheduling scalar code costs more host time than executing it. While the first wave in a SIMD's order executes only such instructions,
//! from lines of code that have been fetched, it is selected in every slot: waves that need the same unit lose the arbitration each time,
//! and nothing outside can observe the instructions. Since all these slots have the same outcome, the arbitration is skipped.

use super::{Code, Cu, Outcome, Shared, State};
use crate::core::error::SimError;
use crate::core::fault::Next;
use crate::core::machine::Cx;
use crate::core::place;
use crate::semantics::execute::execute;
use crate::timed::stall::Pipe;

impl Cu {
    /// Issues scalar instructions from the slot at `start` on, as long as it is certain that the SIMD selects the same wave in every slot.
    pub(super) fn stretch(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        simd: usize,
        start: u64,
    ) -> Result<(), SimError> {
        // A timeline records events in the order of all SIMDs' slots, so the fast path is not used.
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
        // The waves that lost in all of these slots are considered again in the next slot.
        let next = self.next_of(simd, start + cycles);
        let this = &mut self.simds[simd];
        this.next = this.next.min(next);
        Ok(())
    }

    /// The wave that wins every slot from `start` on, and the cycle until which this is certain; `None` if it is not certain.
    fn only(&self, code: &Code<'_>, simd: usize, start: u64) -> Option<(usize, u64)> {
        let mut winner = None;
        let mut end = self.next_workgroup(code, simd);
        for &w in &self.simds[simd].order {
            let wave = &self.waves[w];
            match wave.state {
                State::Done => {}
                // This wave may be released by a wave on another SIMD that arrives last.
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

    /// The earliest cycle in which a workgroup can start because a running one ends on another SIMD.
    fn next_workgroup(&self, code: &Code<'_>, simd: usize) -> u64 {
        let (index, _, end) = self.pending;
        if index >= end {
            return u64::MAX;
        }
        let others = self.simds.iter().enumerate().filter(|(other, _)| *other != simd);
        let first = others.map(|(_, other)| other.next).min().unwrap_or(u64::MAX);
        first.saturating_add(code.times.interval + code.times.per_workgroup)
    }

    /// The first slot at or after `from` in which a wave of the SIMD is ready.
    fn next_of(&self, simd: usize, from: u64) -> u64 {
        let ready = self.simds[simd].order.iter().map(|w| &self.waves[*w]);
        let ready = ready.filter(|wave| wave.state == State::Ready);
        ready.map(|wave| wave.ready.max(from)).min().unwrap_or(u64::MAX)
    }

    /// Executes `count` instructions. The first one issues in the slot at `start`.
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
            next: Next::Fall,
        };
        let range = wave.pc..wave.pc + count as usize;
        let steps = code.launch.machine.steps()[range.clone()].iter();
        for ((at, step), inst) in range.clone().zip(steps).zip(&mut shared.record.insts[range]) {
            cx.w.pc = at;
            cx.w.count = start;
            execute(&mut cx, step).map_err(|fault| place::explain(&cx, group.id, step, *fault))?;
            inst.issued += 1;
        }
        Ok(())
    }
}
