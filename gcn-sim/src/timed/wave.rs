//! The timing state of a wave: when it can issue, for what it waits, and how its time was spent.

use gcn_isa::counters::{Counter, WaitCnt};

use super::cost::{Counts, SLOTS};

use super::stall::{Stall, Stalls};

/// The completion times of the outstanding operations of one counter, in ascending order, each with its instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(Vec<(u64, u32)>);

impl Queue {
    /// Adds an operation that completes at `time`.
    fn push(&mut self, time: u64, inst: u32) {
        let at = self.0.partition_point(|(t, _)| *t <= time);
        self.0.insert(at, (time, inst));
    }

    /// Removes operations that have completed by `now`.
    fn settle(&mut self, now: u64) {
        let done = self.0.partition_point(|(t, _)| *t <= now);
        self.0.drain(..done);
    }

    /// The time from which at most `n` operations are outstanding, and the instruction whose completion makes it so.
    fn at_most(&self, n: usize) -> (u64, Option<u32>) {
        let last = self.0.len().checked_sub(n + 1).and_then(|at| self.0.get(at));
        last.map_or((0, None), |(time, inst)| (*time, Some(*inst)))
    }
}

/// An interval in which a wave is known to stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The end of the interval.
    pub until: u64,
    pub stall: Stall,
    /// The instruction to which the stall is attributed.
    pub at: u32,
    /// The instruction for whose operation the wave waits, if known.
    pub by: Option<u32>,
}

/// The arbiter's decision about a wave that is ready to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Another wave was selected. `stalled`: the pipeline did not accept the instruction of that wave either.
    NotWin { stalled: bool },
    /// This wave was selected, but the pipeline did not accept its instruction.
    ExStall,
    /// This wave was selected, but one of its operands is pending, and its SIMD issues nothing until the operand is ready.
    Operand,
}

/// The activity of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The wave can issue its next instruction from cycle `ready` on.
    Ready,
    /// The wave waits at a barrier.
    Barrier,
    /// The wave has arrived at a split barrier and waits for the others.
    Signals,
    /// The wave has ended.
    Done,
}

/// The timing state of a wave.
#[derive(Clone, Debug)]
pub(super) struct TimedWave {
    /// The index of the wave's workgroup among those resident on the CU, and the wave's number in the workgroup.
    pub group: usize,
    pub number: usize,
    pub simd: usize,
    /// The wave slot on the SIMD.
    pub lane: u8,
    /// The wave's rank by age: a smaller value is older.
    pub age: u64,
    pub priority: u8,
    pub state: State,
    /// The index of the next instruction.
    pub pc: usize,
    /// The first cycle in which the wave can be selected.
    pub ready: u64,
    /// The cycle at which the operands of the wave's next instruction are ready. If the wave is selected earlier, its SIMD issues nothing
    /// until then.
    pub operands: u64,
    /// The time up to which the wave's cycles have been added to the statistics.
    pub accounted: u64,
    pub blocks: Vec<Block>,
    pub outcome: Option<Outcome>,
    pub started: u64,
    /// The number of cycles in which the wave issued, and the number of instructions.
    pub issued: u64,
    pub executed: u64,
    pub stalls: Stalls,
    /// The outstanding operations of each [`Counter`].
    queues: [Queue; Counter::ALL.len()],
    /// The completion times of the youngest operations of the in-order streams: vector memory and LDS.
    streams: [u64; 2],
    /// For each register slot, the cycle from which its result can be read.
    results: Box<[u64; SLOTS]>,
    /// The cycle from which all results can be read.
    pub results_until: u64,
    /// The lines of code in the instruction buffer: number, and the cycle from which each is present.
    pub lines: [(u64, u64); LINES],
    /// The first and the last cache line of the instruction that was looked up last.
    pub current: (u64, u64),
}

/// The number of lines of code that a wave's instruction buffer holds.
pub(super) const LINES: usize = 4;
/// A value for no line.
pub(super) const NO_LINE: (u64, u64) = (u64::MAX, 0);

impl TimedWave {
    pub(super) fn new(
        group: usize,
        number: usize,
        simd: usize,
        lane: u8,
        age: u64,
        start: u64,
        pc: usize,
    ) -> TimedWave {
        TimedWave {
            group,
            number,
            simd,
            lane,
            age,
            priority: 0,
            state: State::Ready,
            pc,
            ready: start,
            operands: 0,
            accounted: start,
            blocks: Vec::new(),
            outcome: None,
            started: start,
            issued: 0,
            executed: 0,
            stalls: Stalls::default(),
            queues: std::array::from_fn(|_| Queue::default()),
            streams: [0; 2],
            results: Box::new([0; SLOTS]),
            results_until: 0,
            lines: [NO_LINE; LINES],
            current: (u64::MAX, 0),
        }
    }

    /// Counts an operation of the next instruction that completes at `done`. If `in_order`, the operation does not complete before the
    /// previous one of its stream. Returns the completion time.
    pub(super) fn count(&mut self, counts: Counts, done: u64, in_order: bool) -> u64 {
        let vector = counts[Counter::Vm as usize] > 0;
        let stream = &mut self.streams[usize::from(!vector)];
        let done = if in_order { done.max(*stream) } else { done };
        if in_order {
            *stream = done;
        }
        for (queue, count) in self.queues.iter_mut().zip(counts) {
            (0..count).for_each(|_| queue.push(done, self.pc as u32));
        }
        done
    }

    /// The cycle from which the counters satisfy `wait`, and the instruction whose operation completes last.
    pub(super) fn wait(&mut self, wait: WaitCnt, now: u64) -> (u64, Option<u32>) {
        let mut ready = (0, None);
        for counter in Counter::ALL {
            let queue = &mut self.queues[counter as usize];
            queue.settle(now);
            if counter.is_in(wait) {
                ready = ready.max(queue.at_most(usize::from(counter.of(wait))));
            }
        }
        ready
    }

    /// The cycle from which the counters have room for the next instruction's operations: each counter is at most at its value in `room`.
    pub(super) fn room(&mut self, room: WaitCnt, now: u64) -> u64 {
        self.wait(room, now).0
    }

    /// The cycle from which the results in all `registers` can be read.
    pub(super) fn results_ready(&self, registers: &[u16]) -> u64 {
        registers.iter().filter_map(|r| self.results.get(usize::from(*r))).copied().max().unwrap_or(0)
    }

    /// Records that `registers` get results that can be read from `time` on.
    pub(super) fn write_results(&mut self, registers: &[u16], time: u64) {
        self.results_until = self.results_until.max(time);
        for register in registers {
            if let Some(slot) = self.results.get_mut(usize::from(*register)) {
                *slot = time;
            }
        }
    }

    /// The cycle from which `line` is in the instruction buffer; `None` if it has not been requested.
    pub(super) fn line(&self, line: u64) -> Option<u64> {
        self.lines.iter().find(|(number, _)| *number == line).map(|(_, ready)| *ready)
    }
}

#[cfg(test)]
mod tests {
    use gcn_isa::InstructionSet;

    use super::*;

    fn wave() -> TimedWave {
        TimedWave::new(0, 0, 0, 0, 0, 0, 0)
    }

    fn counted(counter: Counter, count: u8) -> Counts {
        let mut counts = Counts::default();
        counts[counter as usize] = count;
        counts
    }

    #[test]
    fn vector_memory_returns_in_order() {
        let mut w = wave();
        let one = counted(Counter::Vm, 1);
        assert_eq!([900, 300, 950].map(|done| w.count(one, done, true)), [900, 900, 950]);
        let vm = |n| Counter::Vm.at(n);
        assert_eq!([0, 1, 2, 3].map(|n| w.wait(vm(n), 0).0), [950, 900, 900, 0]);
        assert_eq!(w.wait(vm(0), 925).0, 950);
        assert_eq!(w.wait(WaitCnt::NONE, 0), (0, None));
    }

    #[test]
    fn scalar_loads_return_in_any_order_and_count_twice() {
        let mut w = wave();
        w.count(counted(Counter::Lgkm, 2), 500, false);
        w.count(counted(Counter::Lgkm, 2), 100, false);
        let lgkm = |n| Counter::Lgkm.at(n);
        assert_eq!([0, 1, 2, 3, 4].map(|n| w.wait(lgkm(n), 0).0), [500, 500, 100, 100, 0]);
    }

    #[test]
    fn a_full_counter_makes_room_when_the_oldest_is_done() {
        let mut w = wave();
        for i in 0..15 {
            w.count(counted(Counter::Lgkm, 1), 100 + i, true);
        }
        let room = |counter: Counter, n| counter.at(counter.capacity(InstructionSet::GFX900) - n);
        let rooms = [room(Counter::Lgkm, 1), room(Counter::Lgkm, 2), room(Counter::Vm, 1)];
        assert_eq!(rooms.map(|room| w.room(room, 0)), [100, 101, 0]);
    }
}
