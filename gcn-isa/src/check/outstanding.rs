//! Operations that may be outstanding at one point of the program.

use smallvec::SmallVec;

use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
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
    pub fn is_done_by_order(&self) -> bool {
        self.by_order == DONE
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

/// With more operations than this, those are dropped of which nothing is expected that is not expected of another one as well:
/// a missing wait is then found by way of the other. A program that waits for nothing would otherwise take time and memory
/// with the square of its length.
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
        for older in self.operations.iter_mut().filter(|o| o.stream.counter() == event.stream.counter()) {
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
        for theirs in &other.operations {
            let key = (theirs.line, theirs.stream);
            match self.operations.binary_search_by_key(&key, |o| (o.line, o.stream)) {
                Ok(at) => {
                    let mine = &mut self.operations[at];
                    let worst = (
                        mine.younger.min(theirs.younger),
                        mine.mixed || theirs.mixed,
                        mine.by_order.min(theirs.by_order),
                        mine.live | theirs.live,
                    );
                    changed |= worst != (mine.younger, mine.mixed, mine.by_order, mine.live);
                    (mine.younger, mine.mixed, mine.by_order, mine.live) = worst;
                }
                Err(_) if self.operations.len() >= CROWD && self.represents(theirs) => {}
                Err(at) => {
                    self.operations.insert(at, theirs.clone());
                    changed = true;
                }
            }
        }
        changed
    }

    /// True if another operation stays outstanding wherever `operation` does, and is expected to do as much.
    fn represents(&self, operation: &Operation) -> bool {
        let longer = |o: &Operation| {
            let later = o.younger <= operation.younger || !o.stream.in_order() || o.mixed;
            let mixed = (o.mixed || !operation.mixed) && o.by_order <= operation.by_order;
            o.stream == operation.stream && later && mixed && covers(o, operation)
        };
        self.operations.iter().any(longer)
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
