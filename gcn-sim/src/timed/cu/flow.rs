//! Determines what a wave waits for before its next instruction: code, registers, counters, barriers.

use super::{Code, Cu, Finished, Shared};
use crate::core::wave::Status;
use crate::timed::cost::Kind;
use crate::timed::record::Barrier;
use crate::timed::stall::Stall;
use crate::timed::wave::{Block, State};

impl Cu {
    /// Records a stall that ends at the first slot at or after `until`, if `until` is after `base`. Returns the end of the stall.
    pub(super) fn block(
        &mut self,
        code: &Code<'_>,
        w: usize,
        until: u64,
        base: u64,
        stall: Stall,
        at: usize,
    ) -> u64 {
        if until <= base {
            return base;
        }
        let wave = &mut self.waves[w];
        let until = code.times.slot(wave.simd, until);
        wave.blocks.push(Block { until, stall, at: at as u32, by: None });
        until
    }

    /// Determines for what the next instruction of a wave waits, from cycle `base` on.
    pub(super) fn prepare(&mut self, code: &Code<'_>, shared: &mut Shared, w: usize, base: u64) {
        let wave = &mut self.waves[w];
        let at = wave.pc;
        let (mut time, mut operands) = (base, 0);
        // A fast path, because most instructions do not wait for anything.
        if let Some(cost) = code.costs.get(at)
            && cost.free
            && wave.current == cost.lines
            && wave.results_until <= base
        {
            (wave.state, wave.ready, wave.operands) = (State::Ready, base, 0);
            let simd = &mut self.simds[wave.simd];
            simd.next = simd.next.min(base);
            return;
        }
        if let Some(cost) = code.costs.get(at) {
            let there = self.fetch(code, shared, w, cost.lines, time);
            time = self.block(code, w, there, time, Stall::NoInstructionAvailable, at);
            if self.waves[w].results_until > time {
                let there = self.waves[w].results_ready(&cost.waits_for);
                match cost.holds {
                    true => operands = there,
                    false => time = self.block(code, w, there, time, Stall::AluDependency, at),
                }
            }
            if let Kind::Wait(wait) = cost.kind {
                let (there, by) = self.waves[w].wait(wait, time);
                let until = self.block(code, w, there, time, Stall::Waitcnt, at);
                if until > time
                    && let Some(block) = self.waves[w].blocks.last_mut()
                {
                    block.by = by;
                }
                time = until;
            }
            if cost.counts_something() {
                let there = self.waves[w].room(cost.room, time);
                time = self.block(code, w, there, time, Stall::Other, at);
            }
        }
        let wave = &mut self.waves[w];
        (wave.state, wave.ready, wave.operands) = (State::Ready, time, operands);
        let simd = &mut self.simds[wave.simd];
        simd.next = simd.next.min(time);
    }

    /// The cycle from which `lines` of code are in the instruction buffer of a wave that requests them in cycle `now`. The lines after them
    /// are prefetched.
    fn fetch(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        w: usize,
        (first, last): (u64, u64),
        now: u64,
    ) -> u64 {
        let wave = &mut self.waves[w];
        if wave.current == (first, last) {
            return now;
        }
        let mut there = now;
        for line in first..=last + code.times.ahead {
            let ready = match wave.line(line) {
                Some(ready) => ready,
                None => {
                    let ready = match self.instructions.find(line) {
                        Some(ready) => ready,
                        None => {
                            let ready = shared.memory.read(now, line * code.times.line, code.times.line);
                            self.instructions.insert(line, ready);
                            ready
                        }
                    };
                    wave.lines.rotate_right(1);
                    wave.lines[0] = (line, ready);
                    ready
                }
            };
            if line <= last {
                there = there.max(ready);
            }
        }
        wave.current = (first, last);
        there
    }

    /// Called when a wave reaches a barrier.
    pub(super) fn arrive(&mut self, code: &Code<'_>, shared: &mut Shared, w: usize, now: u64) {
        self.waves[w].state = State::Barrier;
        let slot = self.waves[w].group;
        if let Some(group) = self.groups[slot].as_mut() {
            group.arrived += 1;
        }
        self.release(code, shared, slot, now);
    }

    /// Releases the waves of a workgroup if all waves that have not ended are at the barrier.
    fn release(&mut self, code: &Code<'_>, shared: &mut Shared, slot: usize, now: u64) {
        let Some(group) = self.groups[slot].as_mut() else { return };
        if group.arrived == 0 || group.arrived < group.left {
            return;
        }
        group.arrived = 0;
        let waves = group.waves.clone();
        if waves.len() > 1 && shared.record.records() {
            let barrier = Barrier { cu: self.index, workgroup: group.index, cycle: now };
            shared.record.recording.barriers.push(barrier);
        }
        // The only wave of a workgroup does not have to wait.
        let time = if waves.len() == 1 { 0 } else { code.times.barrier };
        for w in waves {
            let wave = &self.waves[w];
            if wave.state == State::Barrier && wave.group == slot {
                let (at, base) = (wave.pc.saturating_sub(1), wave.accounted);
                let base = self.block(code, w, now + time, base, Stall::BarrierWait, at);
                self.prepare(code, shared, w, base);
            }
        }
    }

    /// Releases the waves of a workgroup that wait at a split barrier, if all waves that have not ended have arrived.
    pub(super) fn release_waiting(&mut self, code: &Code<'_>, shared: &mut Shared, slot: usize, now: u64) {
        let Some(group) = self.groups[slot].as_ref() else { return };
        for w in group.waves.clone() {
            let (wave, Some(group)) = (&self.waves[w], self.groups[slot].as_mut()) else { return };
            let number = wave.number;
            if wave.state != State::Signals || wave.group != slot || !group.unit.has_met(number) {
                continue;
            }
            group.unit.waves[number].arrivals.go_on();
            group.waiting -= 1;
            let time = if group.waves.len() == 1 { 0 } else { code.times.barrier };
            let (at, base) = (wave.pc.saturating_sub(1), wave.accounted);
            let base = self.block(code, w, now + time, base, Stall::BarrierWait, at);
            self.prepare(code, shared, w, base);
        }
    }

    /// Called when a wave ends.
    pub(super) fn end(&mut self, code: &Code<'_>, shared: &mut Shared, w: usize, now: u64) {
        let end = now + code.times.interval;
        let wave = &mut self.waves[w];
        wave.state = State::Done;
        let (slot, wave_number) = (wave.group, wave.number);
        shared.wave_cycles += end - wave.started;
        shared.end = shared.end.max(end);
        self.retired.push(w);
        let Some(group) = self.groups[slot].as_mut() else { return };
        if shared.finished.len() < shared.most_finished {
            let wave = wave.clone();
            shared.finished.push(Finished { cu: self.index, workgroup: group.index, wave, end });
        }
        group.left -= 1;
        group.unit.waves[wave_number].status = Status::Ended;
        if group.left == 0 {
            self.vacant.push((slot, end + code.times.per_workgroup));
            return;
        }
        self.release(code, shared, slot, now);
        self.release_waiting(code, shared, slot, now);
    }
}
