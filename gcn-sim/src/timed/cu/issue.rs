//! Issues an instruction: executes it, marks its pipelines as busy, and starts its memory operation.

use super::{Code, Cu, Shared, event, group_index};
use crate::core::error::SimError;
use crate::core::fault::Next;
use crate::core::machine::Cx;
use crate::core::place;
use crate::core::trace::Path;
use crate::semantics::execute::execute;
use crate::timed::cost::{Cost, Kind};
use crate::timed::record::{Busy, Event};
use crate::timed::stall::{Pipe, Stall};
use crate::timed::units::Way;
use crate::timed::wave::State;

impl Cu {
    /// Issues the next instruction of a wave.
    pub(super) fn issue(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        w: usize,
        now: u64,
    ) -> Result<(), SimError> {
        let interval = code.times.interval;
        let wave = &mut self.waves[w];
        let at = wave.pc;
        let cost = &code.costs[at];
        wave.issued += interval;
        wave.executed += 1;
        wave.accounted = now + interval;
        shared.record.insts[at].issued += 1;
        let use_of_pipe = &mut shared.record.pipes[cost.pipe as usize];
        use_of_pipe.issued += 1;
        let next = self.execute(code, shared, w, now)?;
        self.occupy(shared, w, cost, now);
        let done = self.memory(code, shared, w, cost, now);
        let wave = &mut self.waves[w];
        let done = done.map(|done| wave.count(cost.counts, done, cost.in_order));
        if shared.record.most_events > 0 {
            self.put_down(shared, w, cost, (now, interval), done);
        }
        let wave = &mut self.waves[w];
        if let Some(done) = done
            && code.launch.machine.copies_to_lds()
            && let Some(group) = self.groups[wave.group].as_mut()
        {
            group.unit.waves[wave.number].late.done_at(done);
        }
        if !cost.writes.is_empty() {
            wave.write_results(&cost.writes, now + cost.latency);
        }
        let mut base = now + interval;
        match cost.kind {
            Kind::Nop(cycles) => {
                base = self.block(code, w, now + cycles, base, Stall::InternalInstruction, at);
            }
            Kind::Sleep(cycles) => base = self.block(code, w, now + cycles, base, Stall::Other, at),
            Kind::Priority(priority) => {
                wave.priority = priority;
                let simd = wave.simd;
                self.simds[simd].reorder = true;
            }
            _ => {}
        }
        match next {
            Next::Fall | Next::Yield => {
                let wave = &mut self.waves[w];
                wave.pc = at + 1;
                if cost.kind == Kind::Branch {
                    let until = now + code.times.not_taken;
                    base = self.block(code, w, until, base, Stall::NoInstructionAvailable, at + 1);
                }
            }
            Next::Jump(to) => {
                let to = to as usize;
                self.waves[w].pc = to;
                let until = now + code.times.taken;
                base = self.block(code, w, until, base, Stall::NoInstructionAvailable, to);
            }
            Next::Barrier => {
                self.waves[w].pc = at + 1;
                self.arrive(code, shared, w, now);
                return Ok(());
            }
            Next::Signals => {
                let wave = &mut self.waves[w];
                (wave.pc, wave.state) = (at + 1, State::Signals);
                let slot = wave.group;
                if let Some(group) = self.groups[slot].as_mut() {
                    group.waiting += 1;
                }
                self.release_waiting(code, shared, slot, now);
                return Ok(());
            }
            Next::Queue(_) => return Err(self.cannot_queue(code, w)),
            Next::End => {
                self.end(code, shared, w, now);
                return Ok(());
            }
        }
        self.prepare(code, shared, w, base);
        let slot = self.waves[w].group;
        if self.groups[slot].as_ref().is_some_and(|group| group.waiting > 0) {
            self.release_waiting(code, shared, slot, now);
        }
        Ok(())
    }

    /// Executes the instruction, and records its memory accesses if they take time.
    fn execute(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        w: usize,
        now: u64,
    ) -> Result<Next, SimError> {
        let (at, slot, number) = (self.waves[w].pc, self.waves[w].group, self.waves[w].number);
        let executed = self.waves[w].executed;
        let Some(group) = self.groups[slot].as_mut() else { return Ok(Next::End) };
        let traced = matches!(code.costs[at].kind, Kind::Lds(_) | Kind::Vmem { .. } | Kind::Smem);
        if traced {
            shared.trace.clear();
        }
        if traced && code.launch.machine.copies_to_lds() {
            group.unit.finish_copies(code.memory, code.launch.machine, now);
        }
        let mut cx = Cx {
            w: &mut group.unit.waves[number],
            lds: &mut group.unit.lds,
            memory: code.memory,
            machine: code.launch.machine,
            trace: traced.then_some(&mut shared.trace),
            next: Next::Fall,
        };
        cx.w.pc = at;
        // Sets the clock that `s_memtime` reads.
        (cx.w.count, cx.w.slept) = (now, 0);
        let step = &code.launch.machine.steps()[at];
        if executed > code.max_instructions {
            let site = place::site(&cx, group.id, step);
            return Err(SimError::InstructionLimit { site, limit: code.max_instructions });
        }
        execute(&mut cx, step).map_err(|fault| place::explain(&cx, group.id, step, *fault))
    }

    pub(super) fn ran_off(&mut self, code: &Code<'_>, w: usize) -> Result<(), SimError> {
        let (slot, number) = (self.waves[w].group, self.waves[w].number);
        let Some(group) = self.groups[slot].as_mut() else { return Ok(()) };
        let cx = Cx {
            w: &mut group.unit.waves[number],
            lds: &mut group.unit.lds,
            memory: code.memory,
            machine: code.launch.machine,
            trace: None,
            next: Next::Fall,
        };
        Err(place::ran_off(&cx, group.id))
    }

    /// The error for a wave that waits for global wave sync: the wave for which it waits may be on a compute unit that is not simulated.
    fn cannot_queue(&mut self, code: &Code<'_>, w: usize) -> SimError {
        let step = &code.launch.machine.steps()[self.waves[w].pc];
        let line = code.launch.machine.line_text(step.offset);
        let what = "a wave waits for those of other compute units, and timed mode has some of them only; run it without timing";
        SimError::Unsupported {
            offset: step.offset,
            text: code.launch.machine.text(&step.inst),
            what: what.to_owned(),
            line,
        }
    }

    /// Marks the pipelines that an instruction occupies as busy.
    fn occupy(&mut self, shared: &mut Shared, w: usize, cost: &Cost, now: u64) {
        let simd = &mut self.simds[self.waves[w].simd];
        if cost.valu > 0 {
            simd.valu_free = now + cost.valu;
            shared.record.pipes[Pipe::Valu as usize].busy += cost.valu;
        }
        if cost.trans > 0 {
            simd.trans_free = now + cost.trans;
        }
        if cost.matrix > 0 {
            simd.matrix_free = now + cost.matrix;
            shared.record.pipes[Pipe::Matrix as usize].busy += cost.matrix;
        }
        if matches!(cost.pipe, Pipe::Scalar | Pipe::Misc) {
            // Scalar and branch units accept one instruction per cycle.
            shared.record.pipes[cost.pipe as usize].busy += 1;
        }
    }

    /// Records for the timeline an issue and the time for which pipelines work on it.
    fn put_down(&self, shared: &mut Shared, w: usize, cost: &Cost, span: (u64, u64), done: Option<u64>) {
        let wave = &self.waves[w];
        let (at, workgroup) = (wave.pc as u32, group_index(&self.groups, wave));
        if !shared.record.records() {
            shared.record.events_dropped += 1;
            return;
        }
        let issue = event(self.index, workgroup, wave, at, span, None);
        shared.record.event(Event { done, ..issue });
        let number = wave.number as u32;
        let mut busy = |simd, pipe, (start, cycles)| {
            let cu = self.index;
            let busy = Busy { cu, simd, pipe, workgroup, wave: number, at, start, cycles };
            shared.record.recording.busy.extend((cycles > 0).then_some(busy));
        };
        let (now, own) = (span.0, Some(wave.simd as u8));
        busy(own, Pipe::Valu, (now, cost.valu));
        busy(own, Pipe::Matrix, (now, cost.matrix));
        match cost.kind {
            Kind::Lds(_) => busy(None, Pipe::Lds, self.lds.span),
            Kind::Vmem { .. } => {
                busy(None, Pipe::Tex, self.vectors[self.vector_of(wave.simd)].span);
                busy(None, Pipe::Lds, self.lds.span);
            }
            _ if matches!(cost.pipe, Pipe::Scalar | Pipe::Misc) => busy(None, cost.pipe, (now, 1)),
            _ => {}
        }
    }

    /// Starts the memory operation of an instruction; returns the cycle in which it completes.
    fn memory(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        w: usize,
        cost: &Cost,
        now: u64,
    ) -> Option<u64> {
        let wave = &self.waves[w];
        let (simd, scratch) = (wave.simd, u64::from(self.index) << 12 | w as u64);
        let array = self.groups[wave.group].as_ref().map_or(0, |group| group.array);
        let unit = self.vector_of(simd);
        let touches = &shared.trace.touches[..];
        let memory = &mut shared.memory;
        Some(match cost.kind {
            Kind::Lds(transfer) => self.lds.send(simd, array, now, transfer, touches),
            Kind::Vmem { transfer, bypass } => {
                let way = Way { middle: &mut self.middle, memory };
                let done = self.vectors[unit].send(way, now, touches, bypass, scratch);
                // The LDS accesses of flat instructions, or the later LDS writes of loads to LDS.
                let local: Vec<_> = touches.iter().filter(|t| t.space == Path::Lds).copied().collect();
                if cost.pipe == Pipe::Flat && !local.is_empty() {
                    done.max(self.lds.send(simd, array, now, transfer, &local))
                } else {
                    self.lds.write_arriving(array, done, &local)
                }
            }
            Kind::Smem => self.scalar.send(memory, now, touches),
            Kind::Time => now + code.times.clock,
            Kind::Message => now + code.times.message,
            Kind::InvalidateVector => {
                self.middle.cache.clear();
                self.vectors[unit].invalidate(now)
            }
            Kind::InvalidateScalar => {
                self.scalar.cache.clear();
                now + code.times.clock
            }
            _ if cost.counts_something() => now + code.times.clock,
            _ => return None,
        })
    }
}
