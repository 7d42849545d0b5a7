//! A compute unit (or a workgroup processor with two): four SIMDs with their waves, the arbiter, and the units that the SIMDs share.
//!
//! Time advances in slots: each SIMD is considered every fourth cycle, in turn, or every cycle (RDNA). In a slot, each wave issues at most
//! one instruction, and for each category of instructions at most one wave is selected: the oldest wave of the highest priority. The time
//! of a wave from its start to its end is fully accounted for: each slot is one in which the wave issues, or has a stall reason. Once an
//! instruction has issued, the time at which its wave can issue the next one is known, except at barriers. So the scheduler proceeds
//! directly to the next slot in which something can change.

mod flow;
mod issue;
mod stretch;

use std::cmp::Reverse;
use std::ops::Range;

use gcn_emit::occupancy::Mode;
use gcn_isa::Target;
use gcn_isa::target::Subtarget;

use super::cache::Cache;
use super::cost::Cost;
use super::lds::Lds;
use super::memory::Memory;
use super::record::{Event, Record};
use super::stall::{Pipe, Stall};
use super::units::{Middle, Scalar, Vector};
use super::wave::{Block, LINES, Outcome, State, TimedWave};
use crate::core::error::SimError;
use crate::core::late::When;
use crate::core::params::Params;
use crate::core::trace::Trace;
use crate::run::launch::Launch;
use crate::run::workgroup::Unit;

/// The number of SIMDs of a compute unit on GFX9, and of a workgroup processor on RDNA.
pub(super) const SIMDS: usize = 4;

/// The constant data of a run.
pub(super) struct Code<'a> {
    pub launch: &'a Launch<'a>,
    pub memory: &'a crate::core::memory::Memory,
    pub costs: Vec<Cost>,
    pub times: Times,
    pub max_instructions: u64,
}

/// Parameters that the scheduler needs in every step.
pub(super) struct Times {
    pub interval: u64,
    /// The number of SIMDs over which the waves of a workgroup are distributed.
    pub spread: usize,
    pub taken: u64,
    pub not_taken: u64,
    pub barrier: u64,
    pub message: u64,
    pub clock: u64,
    pub ahead: u64,
    pub per_wave: u64,
    pub per_workgroup: u64,
    pub line: u64,
}

impl Times {
    pub(super) fn new(params: &Params, mode: Mode, target: Target) -> Times {
        Times {
            interval: params.number("issue.interval").max(1),
            spread: (mode.simds(target) as usize).clamp(1, SIMDS),
            taken: params.number("branch.taken"),
            not_taken: params.number("branch.not-taken"),
            barrier: params.number("barrier.release"),
            message: params.number("message.latency"),
            clock: params.number("memtime.latency"),
            ahead: params.number("instruction.ahead").min(LINES as u64 - 2),
            per_wave: params.number("dispatch.wave"),
            per_workgroup: params.number("dispatch.workgroup"),
            line: params.number("instruction.line").max(1),
        }
    }

    /// The first slot of `simd` at or after cycle `time`.
    fn slot(&self, simd: usize, time: u64) -> u64 {
        let phase = simd as u64 % self.interval;
        let past = (time + self.interval - phase) % self.interval;
        if past == 0 { time } else { time + self.interval - past }
    }
}

/// The memory and the statistics that all compute units share.
pub(super) struct Shared {
    pub memory: Memory,
    pub record: Record,
    pub trace: Trace,
    pub finished: Vec<Finished>,
    pub most_finished: usize,
    pub wave_cycles: u64,
    pub waves: u64,
    pub end: u64,
}

/// The statistics of a wave that has ended.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub cu: u32,
    pub workgroup: u64,
    pub wave: TimedWave,
    pub end: u64,
}

/// A workgroup that is running.
struct Group {
    unit: Unit,
    id: [u32; 3],
    index: u64,
    waves: Vec<usize>,
    /// The number of waves that have not ended, and the number of waves that have reached the barrier.
    left: usize,
    arrived: usize,
    /// The number of waves that have arrived at a split barrier and wait for the others.
    waiting: usize,
    /// The array of LDS banks in which the workgroup's LDS is allocated.
    array: usize,
}

#[derive(Default)]
struct Simd {
    /// The waves of the SIMD, in the order in which the arbiter considers them.
    order: Vec<usize>,
    /// True if the order has to be updated.
    reorder: bool,
    valu_free: u64,
    matrix_free: u64,
    trans_free: u64,
    /// The cycle until which the SIMD issues nothing, because a selected wave waits for an operand.
    held: u64,
    /// The next slot in which something can change.
    next: u64,
}

/// A compute unit.
pub(super) struct Cu {
    index: u32,
    groups: Vec<Option<Group>>,
    waves: Vec<TimedWave>,
    free: Vec<usize>,
    retired: Vec<usize>,
    /// Free workgroup slots of workgroups that have ended, each with the cycle from which another workgroup may start there.
    vacant: Vec<(usize, u64)>,
    simds: [Simd; SIMDS],
    pub lds: Lds,
    /// The vector memory units, one for each compute unit.
    pub vectors: Vec<Vector>,
    /// The caches between L1 and L2 that the compute units share.
    pub middle: Middle,
    pub scalar: Scalar,
    pub instructions: Cache,
    /// The workgroups that have not started: the index of the next one, the stride, and the end.
    pending: (u64, u64, u64),
    age: u64,
}

impl Cu {
    pub(super) fn new(
        params: &Params,
        on: Subtarget,
        index: u32,
        resident: usize,
        pending: (u64, u64, u64),
    ) -> Cu {
        let number = |name| params.number(name);
        let lanes = u64::from(on.wave.lanes());
        let units = SIMDS.div_ceil(on.target.simds_per_cu().max(1) as usize);
        let simds = std::array::from_fn(|_| Simd { next: u64::MAX, ..Simd::default() });
        Cu {
            index,
            groups: (0..resident).map(|_| None).collect(),
            waves: Vec::new(),
            free: Vec::new(),
            retired: Vec::new(),
            vacant: Vec::new(),
            simds,
            lds: Lds::new(params, lanes),
            vectors: (0..units).map(|_| Vector::new(params, lanes)).collect(),
            middle: Middle::new(params),
            scalar: Scalar::new(params),
            instructions: Cache::new(
                number("instruction.bytes"),
                number("instruction.line"),
                number("instruction.ways"),
            ),
            pending,
            age: 0,
        }
    }

    /// The number of this compute unit on the device.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// The next slot in which something can change, as its cycle and its SIMD; the cycle is `u64::MAX` if all work is done.
    pub(super) fn next(&self) -> (u64, usize) {
        let mut first = (u64::MAX, 0);
        for (simd, this) in self.simds.iter().enumerate() {
            if this.next < first.0 {
                first = (this.next, simd);
            }
        }
        first
    }

    /// Starts as many workgroups as fit.
    pub(super) fn fill(&mut self, code: &Code<'_>, shared: &mut Shared) -> Result<(), SimError> {
        for slot in 0..self.groups.len() {
            self.start(code, shared, slot, 0)?;
        }
        Ok(())
    }

    /// Starts the next workgroup in a free slot; does nothing if no workgroup is left.
    fn start(&mut self, code: &Code<'_>, shared: &mut Shared, slot: usize, now: u64) -> Result<(), SimError> {
        let (index, step, end) = self.pending;
        if index >= end {
            return Ok(());
        }
        self.pending.0 = index + step;
        let mut unit = match self.groups[slot].take() {
            Some(group) => group.unit,
            None => Unit::new(code.launch),
        };
        let id = code.launch.geometry.id(index);
        unit.start(code.launch, id)?;
        unit.waves.iter_mut().for_each(|wave| wave.late.when = When::Done);
        let count = unit.waves.len();
        let pcs: Vec<usize> = unit.waves.iter().map(|w| w.pc).collect();
        let part = self.part(code.times.spread);
        // It is not public how the hardware chooses the array for a workgroup that may use any of them; here they alternate.
        let array = if part.len() < SIMDS { part.start / code.times.spread } else { slot };
        let waves = Vec::with_capacity(count);
        let group = Group { unit, id, index, waves, left: count, arrived: 0, waiting: 0, array };
        self.groups[slot] = Some(group);
        for (number, pc) in pcs.into_iter().enumerate() {
            let simd = part.clone().min_by_key(|s| self.simds[*s].order.len()).unwrap_or(0);
            let start = code.times.slot(simd, now + number as u64 * code.times.per_wave);
            let lane = self.free_lane(simd);
            let wave = TimedWave::new(slot, number, simd, lane, self.age, start, pc);
            self.age += 1;
            let w = match self.free.pop() {
                Some(w) => {
                    self.waves[w] = wave;
                    w
                }
                None => {
                    self.waves.push(wave);
                    self.waves.len() - 1
                }
            };
            self.simds[simd].order.push(w);
            self.simds[simd].reorder = true;
            if let Some(group) = &mut self.groups[slot] {
                group.waves.push(w);
            }
            shared.waves += 1;
            self.prepare(code, shared, w, start);
        }
        Ok(())
    }

    /// The adjacent SIMDs on which the next workgroup runs: the `spread` SIMDs with the fewest waves.
    fn part(&self, spread: usize) -> Range<usize> {
        let parts = (0..SIMDS / spread).map(|part| part * spread..(part + 1) * spread);
        let waves =
            |part: &Range<usize>| part.clone().map(|simd| self.simds[simd].order.len()).sum::<usize>();
        parts.min_by_key(waves).unwrap_or(0..SIMDS)
    }

    /// The index of the vector memory unit of a SIMD.
    fn vector_of(&self, simd: usize) -> usize {
        simd * self.vectors.len() / SIMDS
    }

    /// The lowest free wave slot of a SIMD.
    fn free_lane(&self, simd: usize) -> u8 {
        let taken = |lane: u8| self.simds[simd].order.iter().any(|w| self.waves[*w].lane == lane);
        (0..=u8::MAX).find(|lane| !taken(*lane)).unwrap_or(u8::MAX)
    }

    /// Simulates one slot of a SIMD.
    pub(super) fn slot(
        &mut self,
        code: &Code<'_>,
        shared: &mut Shared,
        simd: usize,
        now: u64,
    ) -> Result<(), SimError> {
        let held = self.simds[simd].held;
        if held > now {
            self.simds[simd].next = held;
            return Ok(());
        }
        self.simds[simd].next = u64::MAX;
        let (mut selected, mut stalled, mut next) = (0u8, 0u8, u64::MAX);
        for place in 0..self.simds[simd].order.len() {
            let w = self.simds[simd].order[place];
            let wave = &self.waves[w];
            if wave.state != State::Ready {
                continue;
            }
            if wave.ready > now {
                next = next.min(wave.ready);
                continue;
            }
            let Some(cost) = code.costs.get(wave.pc) else {
                return self.ran_off(code, w);
            };
            let category = cost.pipe.category();
            if selected & category != 0 {
                let stalled = stalled & category != 0;
                self.lost(code, shared, w, now, Outcome::NotWin { stalled });
                if !stalled {
                    next = next.min(now + code.times.interval);
                }
                continue;
            }
            selected |= category;
            let free = self.accepts(simd, cost);
            if free > now {
                stalled |= category;
                self.lost(code, shared, w, now, Outcome::ExStall);
                next = next.min(code.times.slot(simd, free));
                continue;
            }
            let operands = self.waves[w].operands;
            if operands > now {
                // Until the operand is ready, the SIMD cannot select another wave.
                self.lost(code, shared, w, now, Outcome::Operand);
                next = code.times.slot(simd, operands);
                self.simds[simd].held = next;
                break;
            }
            self.settle(code, shared, w, now);
            self.issue(code, shared, w, now)?;
            if self.waves[w].state == State::Ready {
                next = next.min(self.waves[w].ready);
            }
        }
        let this = &mut self.simds[simd];
        this.next = this.next.min(next);
        if !self.retired.is_empty() {
            this.order.retain(|w| self.waves[*w].state != State::Done);
            self.free.append(&mut self.retired);
        }
        if this.reorder {
            this.reorder = false;
            this.order.sort_by_key(|w| (Reverse(self.waves[*w].priority), self.waves[*w].age));
        }
        while let Some((slot, from)) = self.vacant.pop() {
            self.start(code, shared, slot, from)?;
        }
        let start = now + code.times.interval;
        if selected == Pipe::Scalar.category() && self.simds[simd].next == start {
            self.stretch(code, shared, simd, start)?;
        }
        Ok(())
    }

    /// The cycle from which the pipeline accepts the instruction.
    fn accepts(&self, simd: usize, cost: &Cost) -> u64 {
        let this = &self.simds[simd];
        match cost.pipe {
            Pipe::Valu if cost.trans > 0 => this.valu_free.max(this.trans_free),
            Pipe::Valu => this.valu_free,
            Pipe::Matrix => this.valu_free.max(this.matrix_free),
            Pipe::Lds => self.lds.accepts(simd),
            Pipe::Tex => self.vectors[self.vector_of(simd)].accepts(),
            Pipe::Flat => self.vectors[self.vector_of(simd)].accepts().max(self.lds.accepts(simd)),
            Pipe::Scalar | Pipe::Misc | Pipe::Internal => 0,
        }
    }

    /// Records that the wave does not issue in this slot. Its time is added to the statistics when the reason changes.
    fn lost(&mut self, code: &Code<'_>, shared: &mut Shared, w: usize, now: u64, outcome: Outcome) {
        if self.waves[w].outcome != Some(outcome) {
            self.settle(code, shared, w, now);
            self.waves[w].outcome = Some(outcome);
        }
    }

    /// Adds the time of a wave up to `now` to the statistics.
    fn settle(&mut self, code: &Code<'_>, shared: &mut Shared, w: usize, now: u64) {
        let wave = &mut self.waves[w];
        if wave.accounted == now {
            wave.outcome = None;
            return;
        }
        let blocks = std::mem::take(&mut wave.blocks);
        for block in &blocks {
            let until = block.until.min(now);
            lose(shared, self.index, &self.groups, wave, *block, until);
        }
        wave.blocks = blocks;
        wave.blocks.clear();
        if wave.accounted < now {
            let cycles = now - wave.accounted;
            // The wave was considered in the slot in which it became ready, so its outcome is known here.
            let outcome = wave.outcome.unwrap_or(Outcome::NotWin { stalled: false });
            let pipe = code.costs.get(wave.pc).map_or(Pipe::Internal, |cost| cost.pipe);
            let slots = cycles / code.times.interval;
            let stall = shared.record.arbitration(wave.pc, pipe, outcome, cycles, slots);
            let block = Block { until: now, stall, at: wave.pc as u32, by: None };
            lose(shared, self.index, &self.groups, wave, block, now);
        }
        wave.outcome = None;
    }
}

fn group_index(groups: &[Option<Group>], wave: &TimedWave) -> u64 {
    groups.get(wave.group).and_then(Option::as_ref).map_or(0, |group| group.index)
}

fn event(
    cu: u32,
    workgroup: u64,
    wave: &TimedWave,
    at: u32,
    (start, cycles): (u64, u64),
    stall: Option<Stall>,
) -> Event {
    let number = wave.number as u32;
    let (simd, lane) = (wave.simd as u8, wave.lane);
    Event { cu, simd, lane, workgroup, wave: number, at, start, cycles, stall, by: None, done: None }
}

/// Counts the cycles of a wave up to `until` as stalled.
fn lose(
    shared: &mut Shared,
    cu: u32,
    groups: &[Option<Group>],
    wave: &mut TimedWave,
    block: Block,
    until: u64,
) {
    let Some(cycles) = until.checked_sub(wave.accounted).filter(|cycles| *cycles > 0) else { return };
    wave.stalls.add(block.stall, cycles);
    if let Some(inst) = shared.record.insts.get_mut(block.at as usize) {
        inst.stalls.add(block.stall, cycles);
    }
    if shared.record.most_events > 0 {
        let span = (wave.accounted, cycles);
        let stalled = event(cu, group_index(groups, wave), wave, block.at, span, Some(block.stall));
        shared.record.event(Event { by: block.by, ..stalled });
    }
    wave.accounted = until;
}
