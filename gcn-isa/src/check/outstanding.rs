//! Operations that may be outstanding at one point of the program.

use smallvec::SmallVec;

use crate::counters::{Counter, Event, MemoryEffect, Stream, WaitCnt};
use crate::reg::Reg;

/// An operation that may be outstanding and of which something is expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Operation {
    /// The instruction that started it.
    pub line: usize,
    pub stream: Stream,
    /// The fewest operations of its stream that any path has started after it.
    pub younger: u8,
    /// On some path an operation of another stream of the counter was outstanding with it: they overtake each other, so
    /// that only 0 says that it is done. Until then neither is known to be.
    pub mixed: bool,
    pub writes: Option<Reg>,
    pub holds: SmallVec<[Reg; 2]>,
    pub memory: MemoryEffect,
}

/// What may be outstanding. The default is nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outstanding {
    /// By line and stream.
    operations: Vec<Operation>,
    /// By stream, the line of an operation if any may be outstanding.
    active: [Option<usize>; Stream::ALL.len()],
    /// By stream, whether an operation may be outstanding that returns nothing to a register.
    silent: [bool; Stream::ALL.len()],
}

/// More than any counter can hold.
const MANY: u8 = 64;

/// With more operations than this, those are dropped of which nothing is expected that is not expected of another one as well:
/// a missing wait is then found by way of the other. A program that waits for nothing would otherwise take time and memory
/// with the square of its length.
const CROWD: usize = 256;

/// Memory effects that something later can depend on.
const AWAITED: MemoryEffect = MemoryEffect::LDS_WRITE.union(MemoryEffect::LDS_DMA);

impl Outstanding {
    /// The operations of which something is expected.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The line of an operation that may be outstanding on `counter`.
    pub fn any_on(&self, counter: Counter) -> Option<usize> {
        Stream::ALL.into_iter().filter(|s| s.counter() == counter).find_map(|s| self.active[s.index()])
    }

    /// Starts the operation `event` of the instruction `line`.
    pub fn issue(&mut self, line: usize, event: &Event) {
        let stream = event.stream;
        let mixed = self.active_beside(stream);
        self.silent[stream.index()] |= event.writes.is_none();
        self.issue_behind(line, event);
        let new = Operation {
            line,
            stream,
            younger: 0,
            mixed,
            writes: event.writes,
            holds: event.holds.clone(),
            memory: event.memory & AWAITED,
        };
        if new.writes.is_none() && new.holds.is_empty() && new.memory.is_empty() {
            return;
        }
        // Whoever waits for the new operation waits for an older one of which nothing else is expected, too.
        self.operations.retain(|old| !(old.stream == stream && covers(&new, old)));
        let at = self.operations.partition_point(|o| (o.line, o.stream) < (line, stream));
        self.operations.insert(at, new);
    }

    /// Counts an operation of another instruction without keeping track of it.
    pub fn issue_behind(&mut self, line: usize, event: &Event) {
        for older in self.operations.iter_mut().filter(|o| o.stream.counter() == event.stream.counter()) {
            if older.stream == event.stream {
                older.younger = older.younger.saturating_add(event.count).min(MANY);
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
            self.operations.retain(|o| o.stream.counter() != counter || !finished(o, value));
            if value == 0 {
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

    /// The weakest value of `counter` that surely finishes what `line` started on it; 0 if only that is known.
    pub fn needed_of(&self, line: usize, counter: Counter) -> Option<u8> {
        let mut values = self.operations.iter().filter(|o| o.line == line && o.stream.counter() == counter);
        let first = values.next().map(|o| self.needed(o));
        match first {
            Some(value) => Some(values.map(|o| self.needed(o)).fold(value, u8::min)),
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
        for theirs in &other.operations {
            let key = (theirs.line, theirs.stream);
            match self.operations.binary_search_by_key(&key, |o| (o.line, o.stream)) {
                Ok(at) => {
                    let mine = &mut self.operations[at];
                    let worst = (mine.younger.min(theirs.younger), mine.mixed || theirs.mixed);
                    changed |= worst != (mine.younger, mine.mixed);
                    (mine.younger, mine.mixed) = worst;
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
            o.stream == operation.stream && later && (o.mixed || !operation.mixed) && covers(o, operation)
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
        (Some(new), Some(old)) => new.covers(old),
        (None, Some(_)) => false,
    };
    let holds = old.holds.iter().all(|o| new.holds.iter().any(|n| n.covers(*o)));
    registers && holds && new.memory.contains(old.memory)
}
