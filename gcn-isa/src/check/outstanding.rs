//! The operations that may be outstanding at one point of the program.

use super::operation::{self, Operation};
use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
use crate::target::InstructionSet;

/// The operations that may be outstanding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Outstanding<'a> {
    /// Determines which counters exist.
    set: InstructionSet,
    /// Sorted by [`Operation::place`].
    operations: Vec<Operation<'a>>,
    /// For each stream, the line of an operation that may be outstanding; `None` if there is none.
    active: [Option<usize>; Stream::ALL.len()],
    /// The same as `active`, but without operations that only invalidate a cache.
    accesses: [Option<usize>; Stream::ALL.len()],
    /// For each stream, whether an operation may be outstanding that does not return anything to a register.
    silent: [bool; Stream::ALL.len()],
    /// For each counter, whether operations of the caller may be outstanding. Such operations may be of any kind and may write any
    /// register.
    caller: [bool; Counter::ALL.len()],
}

/// If there are more operations than this number, one operation represents all operations with the same obligations, and a missing wait is
/// found through that representative. Otherwise a program without waits would take time and memory quadratic in its length.
const CROWD: usize = 256;

impl<'a> Outstanding<'a> {
    /// The state without outstanding operations.
    pub fn none(set: InstructionSet) -> Outstanding<'a> {
        Outstanding {
            set,
            operations: Vec::new(),
            active: Default::default(),
            accesses: Default::default(),
            silent: Default::default(),
            caller: Default::default(),
        }
    }

    /// The state at the entry of a function: its caller may have left any operation outstanding.
    pub fn of_caller(set: InstructionSet) -> Outstanding<'a> {
        Outstanding { caller: Counter::ALL.map(|counter| counter.exists_on(set)), ..Outstanding::none(set) }
    }

    /// True if operations of a caller may be outstanding on `counter`.
    pub fn caller_on(&self, counter: Counter) -> bool {
        self.caller[counter as usize]
    }

    /// Forgets the caller's operations on `counter`.
    pub fn forget_caller(&mut self, counter: Counter) {
        self.caller[counter as usize] = false;
    }

    /// The state without the lines in `active` and `accesses`, so that two states compare equal if they require the same waits.
    pub fn blurred(mut self) -> Outstanding<'a> {
        self.active.iter_mut().chain(&mut self.accesses).flatten().for_each(|line| *line = 0);
        self
    }

    /// The operations that have obligations.
    pub fn operations(&self) -> &[Operation<'a>] {
        &self.operations
    }

    /// The line of an operation that may be outstanding on `counter`; `None` if there is none.
    pub fn any_on(&self, counter: Counter) -> Option<usize> {
        let set = self.set;
        Stream::ALL.into_iter().filter(|s| s.counter(set) == counter).find_map(|s| self.active[s.index()])
    }

    /// The line of an operation that may be outstanding on `counter` and does more than invalidate a cache; `None` if there is none.
    pub fn access_on(&self, counter: Counter) -> Option<usize> {
        let set = self.set;
        Stream::ALL.into_iter().filter(|s| s.counter(set) == counter).find_map(|s| self.accesses[s.index()])
    }

    /// True if an operation with this event has obligations, so that it is one of [`Outstanding::operations`].
    pub fn keeps_track_of(event: &Event) -> bool {
        event.writes.is_some()
            || !event.holds.is_empty()
            || operation::awaited(event) != MemoryEffect::empty()
    }

    /// Starts the operation `event` of the instruction at `line`.
    pub fn issue(&mut self, line: usize, event: &'a Event) {
        let stream = event.stream;
        self.silent[stream.index()] |= event.writes.is_none();
        self.issue_behind(line, event);
        // Only now, because the hardware may have finished the other streams of the counter first.
        let mixed = self.active_beside(stream) || self.caller_on(stream.counter(self.set));
        if !Outstanding::keeps_track_of(event) {
            return;
        }
        let new = Operation::started(self.set, line, event, mixed);
        if let (Stream::Vmem, Some(written)) = (stream, event.writes) {
            self.operations.retain_mut(|o| o.owes_after_overwriting(written));
        }
        // A wait for the new operation also completes an older operation of the same stream, which then has no further obligations.
        self.operations.retain(|old| !(old.stream() == stream && new.covers(old)));
        let at = self.operations.partition_point(|o| o.place() < new.place());
        self.operations.insert(at, new);
    }

    /// Counts `event` of the instruction at `line` for the older operations, without tracking obligations of `event` itself.
    pub fn issue_behind(&mut self, line: usize, event: &Event) {
        let counter = event.stream.counter(self.set);
        if let Some((_, others)) = event.stream.of_operands() {
            self.finish(others);
        }
        for older in &mut self.operations {
            if older.counter() == counter {
                older.count(event);
            }
            older.count_result(event);
        }
        self.active[event.stream.index()] = Some(line);
        if !event.invalidates {
            self.accesses[event.stream.index()] = Some(line);
        }
    }

    /// Records that all operations of `stream` are complete.
    fn finish(&mut self, stream: Stream) {
        if self.active[stream.index()].is_some() {
            self.operations.retain(|o| o.stream() != stream);
            self.stop(stream);
        }
    }

    /// Records that no operation of `stream` is outstanding.
    fn stop(&mut self, stream: Stream) {
        self.active[stream.index()] = None;
        self.accesses[stream.index()] = None;
        self.silent[stream.index()] = false;
    }

    /// Applies an `s_waitcnt`: removes the operations that it certainly completes.
    pub fn wait(&mut self, wait: WaitCnt) {
        self.operations.retain(|o| !o.is_shown_by_results(wait));
        for counter in Counter::ALL {
            if !counter.is_in(wait) {
                continue;
            }
            let (set, value) = (self.set, counter.of(wait));
            self.operations.retain_mut(|o| o.counter() != counter || !o.is_finished_by(value));
            if value == 0 {
                self.caller[counter as usize] = false;
                for stream in Stream::ALL.into_iter().filter(|s| s.counter(set) == counter) {
                    self.stop(stream);
                }
            }
        }
    }

    /// Removes the operations that are complete once the wave has waited at `barrier`.
    pub fn pass_barrier(&mut self, barrier: i16) {
        self.operations.retain(|o| o.until() != Some(barrier));
        if !self.operations.iter().any(|o| o.stream() == Stream::BarrierScc) {
            self.stop(Stream::BarrierScc);
        }
    }

    /// Removes the operations that a function must have completed before a call or a return.
    pub fn wait_as_at_calls(&mut self) {
        self.wait(WaitCnt::at_calls(self.set));
    }

    /// Removes `effect` from the obligations of the operations of `line`. The operations remain outstanding.
    pub fn forget(&mut self, line: usize, effect: MemoryEffect) {
        for operation in self.operations.iter_mut().filter(|o| o.line() == line) {
            operation.forget(effect);
        }
    }

    /// The largest value of `counter` that proves that the operations of `line` are complete, computed by [`Operation::needed_below`] with
    /// `guess`. It is 0 if only untracked operations of the line are outstanding, and `None` if no operation of the line is outstanding.
    pub fn needed_of(&self, line: usize, counter: Counter, guess: u8) -> Option<u8> {
        let started = |o: &&Operation<'_>| o.line() == line && o.counter() == counter;
        let mut values = self.operations.iter().filter(started).map(|o| o.needed_below(guess));
        match values.next() {
            Some(first) => Some(values.fold(first, u8::min)),
            None => self.any_on(counter).filter(|l| *l == line).map(|_| 0),
        }
    }

    /// True if an operation that returns nothing to a register, such as a store, may be outstanding on `counter`.
    pub fn any_silent_on(&self, counter: Counter) -> bool {
        Stream::ALL.into_iter().any(|s| s.counter(self.set) == counter && self.silent[s.index()])
    }

    /// True if an operation of another stream of the same counter may be outstanding.
    fn active_beside(&self, stream: Stream) -> bool {
        let (set, counter) = (self.set, stream.counter(self.set));
        let beside = |s: &Stream| s.counter(set) == counter && *s != stream;
        Stream::ALL.into_iter().filter(beside).any(|s| self.active[s.index()].is_some())
    }

    /// Joins the operations that may be outstanding on another path. Returns true if the state changed.
    pub fn join(&mut self, other: &Outstanding<'a>) -> bool {
        let mut changed = false;
        let mine = self.active.iter_mut().chain(&mut self.accesses);
        for (mine, theirs) in mine.zip(other.active.into_iter().chain(other.accesses)) {
            if mine.is_none() && theirs.is_some() {
                *mine = theirs;
                changed = true;
            }
        }
        for (mine, theirs) in self.silent.iter_mut().zip(other.silent) {
            changed |= theirs && !*mine;
            *mine |= theirs;
        }
        for (mine, theirs) in self.caller.iter_mut().zip(other.caller) {
            changed |= theirs && !*mine;
            *mine |= theirs;
        }
        self.join_operations(&other.operations) || changed
    }

    /// Joins the operations of another path. Both lists are sorted. Returns true if the list changed.
    fn join_operations(&mut self, others: &[Operation<'a>]) -> bool {
        let mut changed = false;
        let mut new: Vec<Operation<'a>> = Vec::new();
        // `at` is the position of the first operation that does not come before `theirs`; `alike` is the position of the first operation of
        // the same kind.
        let (mut at, mut alike) = (0, 0);
        for theirs in others {
            let place = theirs.place();
            at += self.operations[at..].iter().take_while(|o| o.place() < place).count();
            if let Some(mine) = self.operations.get_mut(at).filter(|o| o.place() == place) {
                changed |= mine.take_worse(theirs);
                continue;
            }
            alike += self.operations[alike..].iter().take_while(|o| o.place().kind < place.kind).count();
            if self.operations.len() + new.len() < CROWD {
                new.push(*theirs);
                continue;
            }
            let of_kind = |o: &&mut Operation<'_>| o.place().kind == place.kind;
            let mine = self.operations[alike..].iter_mut().take_while(of_kind);
            let others = new.iter_mut().rev().take_while(of_kind);
            match mine.chain(others).find(|o| o.is_alike(theirs)) {
                Some(mine) => changed |= mine.take_worse(theirs),
                None => new.push(*theirs),
            }
        }
        if new.is_empty() {
            return changed;
        }
        self.operations.extend(new);
        // The vector consists of two sorted parts, which this sort merges fast.
        self.operations.sort_by_key(Operation::place);
        true
    }
}
