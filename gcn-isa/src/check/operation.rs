//! An operation that may be outstanding, and the facts that hold for it on every path.

use std::hash::{Hash, Hasher};

use super::access::Owed;
use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
use crate::hazards::counter::{self as rules, CounterRule};
use crate::reg::Reg;
use crate::target::InstructionSet;

/// More than any counter can hold.
const MANY: u8 = 64;

/// Marks an operation that a wait has completed, according to the order within its stream.
const DONE: u8 = u8::MAX;

/// An operation that may be outstanding and that later instructions can depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<'a> {
    place: Place,
    event: &'a Event,
    /// It says which counters there are.
    set: InstructionSet,
    progress: Progress,
}

/// The sort key of an operation: stream, effect, line. Operations with the same effect are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pub kind: Kind,
    line: u32,
}

/// A stream, the registers (or half register) that an operation on it writes, and its effect on memory, as one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Kind(u32);

impl Place {
    fn of(line: usize, event: &Event) -> Place {
        let stream = (event.stream.index() as u32) << 28;
        let half = event.half.map_or(0, |half| 1 + half as u32) << 6;
        let written =
            event.writes.map_or(0, |r| (r.file as u32) << 24 | u32::from(r.index) << 8 | u32::from(r.len));
        let written = written | half;
        let memory = u32::from(awaited(event).bits()) << 17;
        Place { kind: Kind(stream | memory | written), line: line as u32 }
    }
}

/// The facts about an operation that hold on every path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Progress {
    /// The registers whose value is still outstanding, bit i for the i-th. A FLAT operation no longer owes registers
    /// that a later vector memory operation has overwritten: whether that was right has been checked there
    /// ([`crate::hazards::counter::WAW_FLAT`]), and if it was, the later one finishes last.
    live: u32,
    /// The fewest operations of its stream that any path has started after it.
    younger: u8,
    /// The smallest number of later operations of its stream on any path without a wait for as many of them, or
    /// [`DONE`]. If operations of one type return in order, whatever else is outstanding, it has then completed.
    by_order: u8,
    /// On some path an operation of another stream of the counter was outstanding with it: they can overtake each
    /// other, so only a count of 0 proves completion of either.
    mixed: bool,
    /// Of a stream of operands ([`Stream::of_operands`]), the fewest results from this operation on that any path has started.
    results: u8,
    /// On every path its counter was then so full that an instruction could issue only because it had completed,
    /// provided that operations of one type finish in order.
    full: bool,
    /// Its effect on memory that later accesses can depend on.
    memory: MemoryEffect,
}

/// The event follows from the place.
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
    /// `event` of the instruction at `line`, which starts now.
    pub fn started(set: InstructionSet, line: usize, event: &'a Event, mixed: bool) -> Operation<'a> {
        let memory = awaited(event);
        let progress =
            Progress { live: u32::MAX, younger: 0, by_order: 0, mixed, results: 0, full: false, memory };
        Operation { place: Place::of(line, event), event, set, progress }
    }

    /// Its place in the order of operations.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The instruction that started it.
    pub fn line(&self) -> usize {
        self.place.line as usize
    }

    /// The stream on which it finishes.
    pub fn stream(&self) -> Stream {
        self.event.stream
    }

    /// The counter of that stream.
    pub fn counter(&self) -> Counter {
        self.event.stream.counter(self.set)
    }

    /// The registers that it writes when it finishes.
    fn writes(&self) -> Option<Reg> {
        self.event.writes
    }

    /// The registers whose value is still outstanding: bit i for the i-th.
    fn live(&self) -> u32 {
        self.progress.live
    }

    /// The result that it has not written yet.
    pub fn owed(&self) -> Option<Owed> {
        self.writes().map(|reg| Owed { reg, live: self.live(), half: self.event.half })
    }

    /// The registers that it still reads.
    pub fn holds(&self) -> &'a [Reg] {
        &self.event.holds
    }

    /// The effects on memory that a later access can depend on.
    pub fn memory(&self) -> MemoryEffect {
        self.progress.memory
    }

    /// True if it has completed on every path, provided that operations of one type return in order.
    fn is_done_by_order(&self) -> bool {
        self.progress.by_order == DONE
    }

    /// True if no wait has completed it, but something else has that certain rules do not trust.
    pub fn is_done_if_trusted(&self) -> bool {
        self.is_done_by_order() || self.progress.full
    }

    /// The rule that distrusts its completion, if there is reason to assume completion once its counter has `room`.
    pub fn doubt(&self, room: WaitCnt) -> Option<&'static CounterRule> {
        if self.is_done_by_order() {
            Some(&rules::MIXED)
        } else if self.progress.full || self.makes_room(self.counter().of(room)) {
            Some(if self.stream().in_order() { &rules::FULL } else { &rules::FULL_UNORDERED })
        } else {
            None
        }
    }

    /// True if its counter surely holds more than `value` until it is done. Scalar memory and messages finish in any order.
    fn makes_room(&self, value: u8) -> bool {
        !matches!(self.stream(), Stream::Smem | Stream::Message | Stream::SmemOperands)
            && self.progress.younger >= value
    }

    /// True if both have the same obligations, so that either can represent the other.
    pub fn is_alike(&self, other: &Operation<'_>) -> bool {
        let same = |o: &Operation<'_>| (o.place.kind, o.memory());
        same(self) == same(other) && self.holds() == other.holds()
    }

    /// True if nothing is expected of it but its result.
    fn only_writes(&self) -> bool {
        self.holds().is_empty() && self.memory().is_empty()
    }

    /// Counts `event` of a later instruction, on the same counter.
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

    /// Counts the result that `event` of this or a later instruction starts, if it shows that the operands of this one were read.
    pub fn count_result(&mut self, event: &Event) {
        if self.stream().of_operands().is_some_and(|(results, _)| results == event.stream) {
            self.progress.results = self.progress.results.saturating_add(event.count).min(MANY);
        }
    }

    /// True if `wait` finishes a result whose operands were read after those of this operation.
    pub fn is_shown_by_results(&self, wait: WaitCnt) -> bool {
        self.stream().of_operands().is_some_and(|(results, _)| {
            let left = results.counter(self.set).of(wait);
            (left == 0 || results.in_order()) && left < self.progress.results
        })
    }

    /// Notes that vector memory overwrites registers. False if nothing is expected of a FLAT operation any more.
    pub fn owes_after_overwriting(&mut self, written: Reg) -> bool {
        let Some(mine) = self.writes().filter(|_| self.stream() == Stream::FlatVm) else { return true };
        self.progress.live &= !mine.shared_with(written);
        self.live() & mine.shared_with(mine) != 0 || !self.only_writes()
    }

    /// Notes a wait for at most `value` operations on its counter. True if that surely finishes it.
    pub fn is_finished_by(&mut self, value: u8) -> bool {
        let in_order = self.stream().in_order();
        let progress = &mut self.progress;
        if in_order && progress.by_order >= value {
            progress.by_order = DONE;
        }
        value == 0 || (!progress.mixed && in_order && progress.younger >= value)
    }

    /// Expects `effect` of it no more.
    pub fn forget(&mut self, effect: MemoryEffect) {
        self.progress.memory.remove(effect);
    }

    /// The weakest value of its counter that surely finishes it.
    pub fn needed(&self) -> u8 {
        self.needed_below(0)
    }

    /// The weakest value of its counter that finishes it, if others that overtake it only matter from `guess` on.
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

    /// Stays outstanding wherever `other` does. True if that is more than before.
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

/// The effects of `event` on memory that something later can depend on.
pub(super) fn awaited(event: &Event) -> MemoryEffect {
    event.memory & MemoryEffect::LOAD.complement()
}
