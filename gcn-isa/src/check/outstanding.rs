//! Operations that may be outstanding at one point of the program.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
use crate::hazards::counter::{self as rules, CounterRule};
use crate::reg::Reg;

/// An operation that may be outstanding and of which something is expected.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Operation {
    /// The instruction that started it.
    pub line: usize,
    pub stream: Stream,
    /// The fewest operations of its stream that any path has started after it.
    pub younger: u8,
    /// On some path an operation of another stream of the counter was outstanding with it: they overtake each other, so
    /// that only 0 says that it is done. Until then neither is known to be.
    pub mixed: bool,
    /// The fewest operations of its stream that were started after it on any path without a wait for as many of them, or
    /// [`DONE`]. If operations of one type do return in order, whatever else is outstanding, it is then done.
    by_order: u8,
    /// On every path its counter was then so full that an instruction could only issue because it was done, if operations of
    /// one type finish in order.
    full: bool,
    pub writes: Option<Reg>,
    /// Of the registers of `writes` those whose value is still to come from this operation, bit i for the i-th. A FLAT
    /// operation owes no more what a later vector memory operation has overwritten: whether that was right has been asked
    /// there ([`crate::hazards::counter::WAW_FLAT`]), and if it was, the later one finishes last.
    pub live: u32,
    pub holds: SmallVec<[Reg; 2]>,
    pub memory: MemoryEffect,
}

impl Operation {
    /// True if it is done on every path if operations of one type return in order.
    fn is_done_by_order(&self) -> bool {
        self.by_order == DONE
    }

    /// True if no wait has come for it, but something else that makes it finish unless it is doubted.
    pub fn is_done_if_trusted(&self) -> bool {
        self.is_done_by_order() || self.full
    }

    /// The rule that doubts that it is done, if there is reason to think so once its counter has `room`.
    pub fn doubt(&self, room: WaitCnt) -> Option<&'static CounterRule> {
        if self.is_done_by_order() {
            Some(&rules::MIXED)
        } else if self.full || self.makes_room(self.stream.counter().of(room)) {
            Some(if self.stream.in_order() { &rules::FULL } else { &rules::FULL_UNORDERED })
        } else {
            None
        }
    }

    /// True if its counter surely holds more than `value` until it is done. Scalar memory and messages finish in any order.
    fn makes_room(&self, value: u8) -> bool {
        !matches!(self.stream, Stream::Smem | Stream::Message) && self.younger >= value
    }
}

/// What may be outstanding. The default is nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Outstanding {
    /// By line and stream.
    operations: Vec<Operation>,
    /// By stream, the line of an operation if any may be outstanding.
    active: [Option<usize>; Stream::ALL.len()],
    /// By stream, whether an operation may be outstanding that returns nothing to a register.
    silent: [bool; Stream::ALL.len()],
    /// By counter, whether operations of a caller may be outstanding, of any kind and for any register.
    caller: [bool; Counter::ALL.len()],
}

/// More than any counter can hold.
const MANY: u8 = 64;

/// A wait has come for an operation, by the order within its stream.
const DONE: u8 = u8::MAX;

/// With more operations than this, one stands for all that write the same registers: a missing wait is then found by way of it. A
/// program that waits for nothing would otherwise take time and memory with the square of its length.
const CROWD: usize = 256;

/// Memory effects that something later can depend on.
const AWAITED: MemoryEffect =
    MemoryEffect::LDS_WRITE.union(MemoryEffect::LDS_READ).union(MemoryEffect::LDS_DMA);

impl Outstanding {
    /// At the entry of a function: its caller may have anything outstanding.
    pub fn of_caller() -> Outstanding {
        Outstanding { caller: [true; Counter::ALL.len()], ..Outstanding::default() }
    }

    /// True if operations of a caller may be outstanding on `counter`.
    pub fn caller_on(&self, counter: Counter) -> bool {
        self.caller[counter as usize]
    }

    /// Expects no more operations of a caller on `counter`.
    pub fn forget_caller(&mut self, counter: Counter) {
        self.caller[counter as usize] = false;
    }

    /// The state without the lines that stand for streams: states that are alike for what comes become equal.
    pub fn blurred(mut self) -> Outstanding {
        self.active.iter_mut().flatten().for_each(|line| *line = 0);
        self
    }

    /// The operations of which something is expected.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The line of an operation that may be outstanding on `counter`.
    pub fn any_on(&self, counter: Counter) -> Option<usize> {
        Stream::ALL.into_iter().filter(|s| s.counter() == counter).find_map(|s| self.active[s.index()])
    }

    /// True if something is expected of the operation, so that it is one of [`Outstanding::operations`].
    pub fn keeps_track_of(event: &Event) -> bool {
        event.writes.is_some() || !event.holds.is_empty() || event.memory.intersects(AWAITED)
    }

    /// Starts the operation `event` of the instruction `line`.
    pub fn issue(&mut self, line: usize, event: &Event) {
        let stream = event.stream;
        let mixed = self.active_beside(stream) || self.caller_on(stream.counter());
        self.silent[stream.index()] |= event.writes.is_none();
        self.issue_behind(line, event);
        if !Outstanding::keeps_track_of(event) {
            return;
        }
        let new = Operation {
            line,
            stream,
            younger: 0,
            mixed,
            by_order: 0,
            full: false,
            writes: event.writes,
            live: u32::MAX,
            holds: event.holds.clone(),
            memory: event.memory & AWAITED,
        };
        if let (Stream::Vmem, Some(written)) = (stream, new.writes) {
            self.overwrite(written);
        }
        // Whoever waits for the new operation waits for an older one of which nothing else is expected, too.
        self.operations.retain(|old| !(old.stream == stream && covers(&new, old)));
        let at = self.operations.partition_point(|o| (o.line, o.stream) < (line, stream));
        self.operations.insert(at, new);
    }

    /// Vector memory overwrites registers that FLAT operations write.
    fn overwrite(&mut self, written: Reg) {
        self.operations.retain_mut(|o| match o.writes.filter(|_| o.stream == Stream::FlatVm) {
            Some(mine) => {
                o.live &= !mine.shared_with(written);
                o.live & mine.shared_with(mine) != 0 || !o.holds.is_empty() || !o.memory.is_empty()
            }
            None => true,
        });
    }

    /// Counts an operation of another instruction without keeping track of it.
    pub fn issue_behind(&mut self, line: usize, event: &Event) {
        let counter = event.stream.counter();
        for older in self.operations.iter_mut().filter(|o| o.stream.counter() == counter) {
            older.full |= older.makes_room(counter.capacity().saturating_sub(event.count));
            if older.stream == event.stream {
                older.younger = older.younger.saturating_add(event.count).min(MANY);
                if !older.is_done_by_order() {
                    older.by_order = older.by_order.saturating_add(event.count).min(MANY);
                }
            } else {
                older.mixed = true;
            }
        }
        self.active[event.stream.index()] = Some(line);
    }

    /// Lets `s_waitcnt` finish what it surely finishes.
    pub fn wait(&mut self, wait: WaitCnt) {
        for counter in Counter::ALL {
            let value = counter.of(wait);
            if value > counter.cap() {
                continue;
            }
            self.operations.retain_mut(|o| {
                if o.stream.counter() != counter {
                    return true;
                }
                if o.stream.in_order() && o.by_order >= value {
                    o.by_order = DONE;
                }
                !finished(o, value)
            });
            if value == 0 {
                self.caller[counter as usize] = false;
                for stream in Stream::ALL.into_iter().filter(|s| s.counter() == counter) {
                    self.active[stream.index()] = None;
                    self.silent[stream.index()] = false;
                }
            }
        }
    }

    /// Expects `effect` of the operations of `line` no more; they stay outstanding.
    pub fn forget(&mut self, line: usize, effect: MemoryEffect) {
        for operation in self.operations.iter_mut().filter(|o| o.line == line) {
            operation.memory.remove(effect);
        }
    }

    /// The weakest value of its counter that surely finishes `operation`.
    pub fn needed(&self, operation: &Operation) -> u8 {
        let counter = operation.stream.counter();
        if operation.mixed || !operation.stream.in_order() { 0 } else { operation.younger.min(counter.cap()) }
    }

    /// The weakest value of `counter` below `guess` at which something changes for what `line` started on it; 0 if only that
    /// is known to do so.
    pub fn needed_of(&self, line: usize, counter: Counter, guess: u8) -> Option<u8> {
        let value = |o: &Operation| {
            let younger = o.younger.min(counter.cap());
            if o.stream.in_order() && !(o.mixed && younger >= guess) { younger } else { 0 }
        };
        let mut values =
            self.operations.iter().filter(|o| o.line == line && o.stream.counter() == counter).map(value);
        match values.next() {
            Some(first) => Some(values.fold(first, u8::min)),
            None => self.any_on(counter).filter(|l| *l == line).map(|_| 0),
        }
    }

    /// True if an operation that returns nothing to a register, such as a store, may be outstanding on `counter`.
    pub fn any_silent_on(&self, counter: Counter) -> bool {
        Stream::ALL.into_iter().any(|s| s.counter() == counter && self.silent[s.index()])
    }

    /// True if an operation of another stream of the same counter may be outstanding.
    fn active_beside(&self, stream: Stream) -> bool {
        let beside = |s: &Stream| s.counter() == stream.counter() && *s != stream;
        Stream::ALL.into_iter().filter(beside).any(|s| self.active[s.index()].is_some())
    }

    /// Takes in what may be outstanding on another path. Returns true if that changed anything.
    pub fn join(&mut self, other: &Outstanding) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.active.iter_mut().zip(other.active) {
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
        let mut crowd = Crowd::default();
        for theirs in &other.operations {
            let known = self.place(theirs.line, theirs.stream).or_else(|at| {
                let alike = crowd.alike(&self.operations, theirs).ok_or(at)?;
                self.place(alike, theirs.stream).map_err(|_| at)
            });
            match known {
                Ok(at) => changed |= self.operations[at].take_worse(theirs),
                Err(at) => {
                    self.operations.insert(at, theirs.clone());
                    changed = true;
                }
            }
        }
        changed
    }

    /// Where the operation of a line on a stream is, or would be.
    fn place(&self, line: usize, stream: Stream) -> Result<usize, usize> {
        self.operations.binary_search_by_key(&(line, stream), |o| (o.line, o.stream))
    }
}

impl Operation {
    /// Stays outstanding wherever `other` does. True if that is more than before.
    fn take_worse(&mut self, other: &Operation) -> bool {
        let worst = (
            self.younger.min(other.younger),
            self.mixed || other.mixed,
            self.by_order.min(other.by_order),
            self.full && other.full,
            self.live | other.live,
        );
        let changed = worst != (self.younger, self.mixed, self.by_order, self.full, self.live);
        (self.younger, self.mixed, self.by_order, self.full, self.live) = worst;
        changed
    }
}

/// Many operations: the lines of those that stand for all of which the same is expected.
#[derive(Default)]
struct Crowd(HashMap<(Stream, Option<Reg>), usize>);

impl Crowd {
    /// The line of the operation that `new` can be taken together with, if there are too many to keep each.
    fn alike(&mut self, operations: &[Operation], new: &Operation) -> Option<usize> {
        if operations.len() < CROWD {
            return None;
        }
        if self.0.is_empty() {
            let few = operations.iter().rev().filter(|o| o.holds.is_empty() && o.memory.is_empty());
            self.0.extend(few.map(|o| ((o.stream, o.writes), o.line)));
        }
        if !new.holds.is_empty() || !new.memory.is_empty() {
            return None;
        }
        let line = *self.0.entry((new.stream, new.writes)).or_insert(new.line);
        (line != new.line).then_some(line)
    }
}

/// True if a wait for at most `value` outstanding operations surely finishes `operation`.
pub(super) fn finished(operation: &Operation, value: u8) -> bool {
    value == 0 || (!operation.mixed && operation.stream.in_order() && operation.younger >= value)
}

/// True if nothing is expected of `old` that is not expected of the younger `new` as well.
fn covers(new: &Operation, old: &Operation) -> bool {
    let registers = match (new.writes, old.writes) {
        (_, None) => true,
        (Some(reg), Some(older)) => {
            let same = reg == older && old.live & !new.live == 0;
            same || (reg.covers(older) && new.live == u32::MAX)
        }
        (None, Some(_)) => false,
    };
    let holds = old.holds.iter().all(|o| new.holds.iter().any(|n| n.covers(*o)));
    registers && holds && new.memory.contains(old.memory)
}
