//! An operation that may be outstanding, and the facts about it that hold on every path.

use std::hash::{Hash, Hasher};

use super::access::Owed;
use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
use crate::hazards::counter::{self as rules, CounterRule};
use crate::reg::Reg;
use crate::target::InstructionSet;

/// A number of operations that exceeds the capacity of every counter.
const MANY: u8 = 64;

/// The value for an operation that a wait has completed, if operations of its stream finish in order.
const DONE: u8 = u8::MAX;

/// An operation that may be outstanding and on which later instructions may depend. Such an operation still has *obligations*: a result to
/// write, registers to read, or an effect on memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<'a> {
    place: Place,
    event: &'a Event,
    /// Determines which counters exist.
    set: InstructionSet,
    progress: Progress,
}

/// The sort key of an operation: stream, effect, line. Operations with the same effect are therefore adjacent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pub kind: Kind,
    line: u32,
}

/// A stream, the registers (or half register) that an operation on the stream writes, and the operation's effect on memory, encoded as one
/// number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Kind(u64);

impl Place {
    fn of(line: usize, event: &Event) -> Place {
        let stream = (event.stream.index() as u64) << 56;
        let half = event.half.map_or(0, |half| 1 + half as u64) << 6;
        let written =
            event.writes.map_or(0, |r| (r.file as u64) << 24 | u64::from(r.index) << 8 | u64::from(r.len));
        let written = written | half;
        let memory = u64::from(awaited(event).bits()) << 32;
        Place { kind: Kind(stream | memory | written), line: line as u32 }
    }
}

/// The facts about an operation that hold on every path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Progress {
    /// The registers whose value is still outstanding. Bit i stands for the i-th register. A FLAT operation no longer has to write
    /// registers that a later vector memory operation has overwritten. Whether the later operation was allowed to overwrite them has been
    /// checked at that operation ([`crate::hazards::counter::WAW_FLAT`]); if so, the later operation finishes last.
    live: u32,
    /// A lower bound, over all paths, on the number of operations of the same stream that started after this one.
    younger: u8,
    /// The same number as `younger`, until a wait leaves at most that many operations outstanding on the counter; from then on [`DONE`]. If
    /// operations of one stream return in order even while operations of other streams are outstanding, the operation has then completed.
    by_order: u8,
    /// True if on some path an operation of another stream of the same counter was outstanding at the same time. Either operation may
    /// overtake the other, so only a count of 0 proves that one of them has completed.
    mixed: bool,
    /// For a stream of operands ([`Stream::of_operands`]): the minimum, over all paths, of the number of results that have started from
    /// this operation's own result on.
    results: u8,
    /// True if on every path the counter has since been so full that another instruction could issue only because this operation had
    /// completed, provided that operations of one stream finish in order.
    full: bool,
    /// The effects on memory on which later accesses may depend.
    memory: MemoryEffect,
}

/// `event` is not compared, because it is determined by the operation's position in the sort order.
impl PartialEq for Operation<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.place, self.progress) == (other.place, other.progress)
    }
}

impl Eq for Operation<'_> {}

impl Hash for Operation<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.place, self.progress).hash(state);
    }
}

impl<'a> Operation<'a> {
    /// The operation that starts with `event` of the instruction at `line`.
    pub fn started(set: InstructionSet, line: usize, event: &'a Event, mixed: bool) -> Operation<'a> {
        let memory = awaited(event);
        let progress =
            Progress { live: u32::MAX, younger: 0, by_order: 0, mixed, results: 0, full: false, memory };
        Operation { place: Place::of(line, event), event, set, progress }
    }

    /// The operation's position in the sort order.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The line of the instruction that started the operation.
    pub fn line(&self) -> usize {
        self.place.line as usize
    }

    /// The stream on which the operation finishes.
    pub fn stream(&self) -> Stream {
        self.event.stream
    }

    /// The counter of the operation's stream.
    pub fn counter(&self) -> Counter {
        self.event.stream.counter(self.set)
    }

    /// The registers that the operation writes when it finishes; `None` if it writes none.
    fn writes(&self) -> Option<Reg> {
        self.event.writes
    }

    /// The registers whose value is still outstanding. Bit i stands for the i-th register.
    fn live(&self) -> u32 {
        self.progress.live
    }

    /// The result that the operation has yet to write; `None` if there is none.
    pub fn owed(&self) -> Option<Owed> {
        self.writes().map(|reg| Owed { reg, live: self.live(), half: self.event.half })
    }

    /// The registers that the operation has yet to read.
    pub fn holds(&self) -> &'a [Reg] {
        &self.event.holds
    }

    /// The barrier whose `s_barrier_wait` completes the operation.
    pub fn until(&self) -> Option<i16> {
        self.event.until
    }

    /// The effects on memory on which a later access may depend.
    pub fn memory(&self) -> MemoryEffect {
        self.progress.memory
    }

    /// True if the operation has completed on every path, provided that operations of one stream return in order.
    fn is_done_by_order(&self) -> bool {
        self.progress.by_order == DONE
    }

    /// True if the operation has completed only under an assumption: that operations of one stream finish in order, or that a full counter
    /// stalled a later instruction. Some rules do not rely on these assumptions.
    pub fn is_done_if_trusted(&self) -> bool {
        self.is_done_by_order() || self.progress.full
    }

    /// The rule according to which the operation may still be outstanding although it is assumed to have completed: because of its order
    /// among the operations on the counter, because the counter was full, or because the counter has `room`. `None` if there is no such
    /// assumption.
    pub fn doubt(&self, room: WaitCnt) -> Option<&'static CounterRule> {
        if self.is_done_by_order() {
            Some(&rules::MIXED)
        } else if self.progress.full || self.makes_room(self.counter().of(room)) {
            Some(if self.stream().in_order() { &rules::FULL } else { &rules::FULL_UNORDERED })
        } else {
            None
        }
    }

    /// True if the counter certainly stays above `value` until the operation is done. Scalar memory operations and
    /// messages finish in any order, so they are excluded.
    fn makes_room(&self, value: u8) -> bool {
        !matches!(self.stream(), Stream::Smem | Stream::Message | Stream::SmemOperands)
            && self.progress.younger >= value
    }

    /// True if both operations have the same obligations, so that either can represent the other.
    pub fn is_alike(&self, other: &Operation<'_>) -> bool {
        let same = |o: &Operation<'_>| (o.place.kind, o.memory());
        same(self) == same(other) && self.holds() == other.holds() && self.until() == other.until()
    }

    /// True if the operation has no obligation other than writing its result.
    fn only_writes(&self) -> bool {
        self.holds().is_empty() && self.memory().is_empty()
    }

    /// Updates the operation for `event` of a later instruction on the same counter.
    pub fn count(&mut self, event: &Event) {
        self.progress.full |= self.makes_room(self.counter().capacity(self.set).saturating_sub(event.count));
        let same = self.stream() == event.stream;
        let progress = &mut self.progress;
        if same {
            progress.younger = progress.younger.saturating_add(event.count).min(MANY);
            if progress.by_order != DONE {
                progress.by_order = progress.by_order.saturating_add(event.count).min(MANY);
            }
        } else {
            progress.mixed = true;
        }
    }

    /// Counts the result that `event` of this or a later instruction starts, if the arrival of that result shows that this operation's
    /// operands have been read.
    pub fn count_result(&mut self, event: &Event) {
        if self.stream().of_operands().is_some_and(|(results, _)| results == event.stream) {
            self.progress.results = self.progress.results.saturating_add(event.count).min(MANY);
        }
    }

    /// True if `wait` completes a result whose operands were read after the operands of this operation.
    pub fn is_shown_by_results(&self, wait: WaitCnt) -> bool {
        self.stream().of_operands().is_some_and(|(results, _)| {
            let left = results.counter(self.set).of(wait);
            (left == 0 || results.in_order()) && left < self.progress.results
        })
    }

    /// Updates the operation for a vector memory operation that overwrites registers. Returns false if this is a FLAT operation that has no
    /// obligations left.
    pub fn owes_after_overwriting(&mut self, written: Reg) -> bool {
        let Some(mine) = self.writes().filter(|_| self.stream() == Stream::FlatVm) else { return true };
        self.progress.live &= !mine.shared_with(written);
        self.live() & mine.shared_with(mine) != 0 || !self.only_writes()
    }

    /// Updates the operation for a wait until the counter is at most `value`. Returns true if the wait certainly completes the operation.
    pub fn is_finished_by(&mut self, value: u8) -> bool {
        let in_order = self.stream().in_order();
        let progress = &mut self.progress;
        if in_order && progress.by_order >= value {
            progress.by_order = DONE;
        }
        value == 0 || (!progress.mixed && in_order && progress.younger >= value)
    }

    /// Removes `effect` from the obligations.
    pub fn forget(&mut self, effect: MemoryEffect) {
        self.progress.memory.remove(effect);
    }

    /// The largest value of the counter that proves that the operation is complete.
    pub fn needed(&self) -> u8 {
        self.needed_below(0)
    }

    /// The same value as [`Operation::needed`], but for an operation that needs 0 because of operations of other streams: if the number of
    /// younger operations is below `guess`, that number is returned as if there were no other streams.
    pub fn needed_below(&self, guess: u8) -> u8 {
        let younger = self.progress.younger.min(self.counter().cap(self.set));
        if self.stream().in_order() && !(self.progress.mixed && younger >= guess) { younger } else { 0 }
    }

    /// True if this younger operation has all obligations of `old`.
    pub fn covers(&self, old: &Operation<'_>) -> bool {
        let registers = match (self.writes(), old.writes()) {
            (_, None) => true,
            (Some(reg), Some(older)) => {
                let same = reg == older && old.live() & !self.live() == 0;
                let whole = self.event.half.is_none() || self.event.half == old.event.half;
                whole && (same || (reg.covers(older) && self.live() == u32::MAX))
            }
            (None, Some(_)) => false,
        };
        let holds = old.holds().iter().all(|o| self.holds().iter().any(|n| n.covers(*o)));
        registers && holds && self.memory().contains(old.memory())
    }

    /// Joins the facts of `other`, which is the same operation on another path. Returns true if that changed a fact.
    pub fn take_worse(&mut self, other: &Operation<'_>) -> bool {
        let (mine, theirs) = (self.progress, other.progress);
        self.progress = Progress {
            live: mine.live | theirs.live,
            younger: mine.younger.min(theirs.younger),
            by_order: mine.by_order.min(theirs.by_order),
            mixed: mine.mixed || theirs.mixed,
            results: mine.results.min(theirs.results),
            full: mine.full && theirs.full,
            memory: mine.memory,
        };
        self.progress != mine
    }
}

/// The effects of `event` on memory on which a later instruction may depend.
pub(super) fn awaited(event: &Event) -> MemoryEffect {
    event.memory & MemoryEffect::LOAD.complement()
}
