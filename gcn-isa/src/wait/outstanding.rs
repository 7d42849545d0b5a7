//! The lattice of the waitcnt pass: the operations that may be outstanding, and for each a lower bound on the number of younger operations.
//!
//! A state has an entry for each operation that may be outstanding on some path and that still has a debt: an effect that it has yet to
//! have (`events`). The entry holds the minimum, over all paths, of the number of younger operations on its counter. If operations of
//! another stream are also outstanding, the entry records this instead, and then only a count of zero proves completion. The join is the
//! union of the entries; for an entry that is in both states, the smaller count is used. Counts saturate just below the counter's maximum,
//! so there are finitely many states and loops converge.
//!
//! Inside a block, counts are represented as stamps (the number of operations issued on the stream at that time), so that issuing an
//! operation does not require an update of older entries. [`Outstanding::seal`] converts them back into counts, so that states can be
//! compared.

use crate::Reg;
use crate::counters::{self, Counter, Event, Stream, WaitCnt};
use crate::reg::{Half, RegUnit};
use crate::target::InstructionSet;

use super::events::{self, Debt};

/// A debt of an outstanding operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The kind of debt.
    pub debt: Debt,
    /// The stream of the operation.
    pub stream: Stream,
    /// The line of the instruction that started the operation.
    pub producer: u32,
    /// The registers of [`Debt::Write`] and [`Debt::Read`]. `None` for other debts.
    pub reg: Option<Reg>,
    /// The half of `reg` that is owed, if halves count as separate registers.
    pub half: Option<Half>,
    /// The registers of `reg` that are still owed. Bit i stands for the i-th register.
    live: u32,
    /// The number of operations issued on the stream up to this one. In sealed states, it is the negated number of younger operations.
    stamp: i32,
    /// True if another stream of the counter is also outstanding and the rules do not assume the order within a stream, or if this stream
    /// has no order.
    mixed: bool,
    /// For a stream of operands ([`Stream::of_operands`]): the number of operations that were issued on the stream of results before this
    /// one. At the ends of blocks, it is the negated number of those issued from this operation on.
    results: i32,
    /// The barrier whose `s_barrier_wait` completes the operation.
    until: Option<i16>,
}

impl Entry {
    fn key(&self) -> (Debt, Stream, Option<u32>, Option<Reg>, Option<Half>) {
        // Of several debts to memory only the youngest matters, so the producer is not part of their key.
        let producer = self.reg.is_some().then_some(self.producer);
        (self.debt, self.stream, producer, self.reg, self.half)
    }

    /// The part of `reg` that is still owed and overlaps `with`. `half` restricts `with` to one half. `None` if no part of it is owed.
    pub fn owed(&self, with: Reg, half: Option<Half>) -> Option<Reg> {
        let reg = self.reg?;
        if !reg.overlaps(with) || Half::are_apart(self.half, half) {
            return None;
        }
        let hit = self.live & reg.shared_with(with);
        (hit != 0).then(|| {
            reg.slice(hit.trailing_zeros() as u8, (32 - hit.leading_zeros() - hit.trailing_zeros()) as u8)
        })
    }

    /// True if the registers have been read by the time an instruction that starts `events` writes its result to `reg`. Memory instructions
    /// of one kind read their operands in order.
    pub fn is_read_before(&self, events: &[Event], reg: Reg) -> bool {
        self.stream.in_order()
            && self.stream.of_operands().is_some()
            && events.iter().any(|e| e.stream == self.stream)
            && events.iter().any(|e| e.writes.is_some_and(|w| w.covers(reg)))
    }

    /// True if, without a wait, the result that `events` write to `reg` certainly arrives after the result that this entry owes.
    pub fn comes_before(&self, set: InstructionSet, events: &[Event], reg: Reg) -> bool {
        let mut writing = events.iter().filter(|e| e.writes.is_some_and(|w| w.covers(reg))).peekable();
        self.debt == Debt::Write
            && writing.peek().is_some()
            && writing.all(|e| counters::finishes_after(set, self.stream, e.stream))
    }
}

/// If there are more entries than this number, the entries of different producers are merged. Otherwise a program in which loads from many
/// positions join would take quadratic time and memory.
const CROWD: usize = 256;

/// A set of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Units([u64; RegUnit::COUNT.div_ceil(64)]);

impl Units {
    /// The bit mask of some registers of a tuple (bit i of `live` for the i-th register), for the word of the set in which the tuple begins
    /// and for the next word.
    fn bits(reg: Reg, live: u32) -> (usize, u128) {
        let first = RegUnit::new(reg.file, reg.index).index();
        (first / 64, u128::from(live & reg.shared_with(reg)) << (first % 64))
    }

    fn any(&self, reg: Reg) -> bool {
        let (word, bits) = Units::bits(reg, u32::MAX);
        let both = self.0[word..].iter().zip([bits as u64, (bits >> 64) as u64]);
        both.fold(0, |any, (mine, theirs)| any | mine & theirs) != 0
    }

    fn add(&mut self, reg: Reg, live: u32) {
        let (word, bits) = Units::bits(reg, live);
        let both = self.0[word..].iter_mut().zip([bits as u64, (bits >> 64) as u64]);
        both.for_each(|(mine, new)| *mine |= new);
    }
}

/// The operations that may be outstanding before an instruction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outstanding {
    /// Determines which counters exist.
    set: InstructionSet,
    /// The debts. They are sorted by [`Entry::key`] in sealed states.
    entries: Vec<Entry>,
    /// For each stream, a line whose operation may be outstanding.
    pending: [Option<u32>; Stream::ALL.len()],
    /// The same as `pending`, but only for operations that do more than invalidate a cache.
    accesses: [Option<u32>; Stream::ALL.len()],
    /// The number of operations issued on each stream since the block's start.
    issued: [i32; Stream::ALL.len()],
    /// The registers that some entry owes.
    busy: Units,
}

/// The assumptions that apply when an operation is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issue {
    /// True if operations of one stream complete in order, even while other streams are outstanding on the counter.
    pub order_is_trusted: bool,
    /// True if an instruction that would overflow a counter stalls until older operations are done.
    pub stall_is_trusted: bool,
    /// True if the halves of a register count as separate registers.
    pub halves_are_trusted: bool,
    /// True if the operation's effects on LDS and memory require waits before barriers and before accesses to LDS.
    pub orders_lds: bool,
}

impl Outstanding {
    /// The state without outstanding operations.
    pub fn none(set: InstructionSet) -> Outstanding {
        Outstanding {
            set,
            entries: Vec::new(),
            pending: Default::default(),
            accesses: Default::default(),
            issued: Default::default(),
            busy: Units::default(),
        }
    }

    /// The counter of `stream` on this instruction set.
    pub fn counter(&self, stream: Stream) -> Counter {
        stream.counter(self.set)
    }

    /// The debts.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// True if some entry owes one of these registers, that is, has yet to write or read it.
    pub fn owes(&self, reg: Reg) -> bool {
        self.busy.any(reg)
    }

    /// The line of an operation on `stream` that may be outstanding and that does more than invalidate a cache; `None` if there is none.
    pub fn access(&self, stream: Stream) -> Option<u32> {
        self.accesses[stream.index()]
    }

    /// The largest value of the entry's counter that proves that the operation is done.
    pub fn limit(&self, entry: &Entry) -> u8 {
        let most = i32::from(self.counter(entry.stream).cap(self.set));
        if entry.mixed { 0 } else { self.younger(entry).min(most) as u8 }
    }

    fn younger(&self, entry: &Entry) -> i32 {
        self.issued[entry.stream.index()] - entry.stamp
    }

    /// True if `wait` certainly finishes the entry: the wait is for the entry itself, or for a result whose operands were read after the
    /// operands of the entry.
    fn is_finished_by(&self, entry: &Entry, wait: WaitCnt) -> bool {
        let counter = self.counter(entry.stream);
        if counter.is_in(wait) && counter.of(wait) <= self.limit(entry) {
            return true;
        }
        entry.stream.of_operands().is_some_and(|(results, _)| {
            let left = self.counter(results).of(wait);
            (left == 0 || results.in_order()) && i32::from(left) < self.results_since(entry, results)
        })
    }

    fn results_since(&self, entry: &Entry, results: Stream) -> i32 {
        self.issued[results.index()] - entry.results
    }

    /// Waits until each counter is at most its value in `wait`.
    pub fn wait(&mut self, wait: WaitCnt) {
        if wait.is_none() {
            return;
        }
        for stream in Stream::ALL {
            // Only zero proves that no operation of a stream is left, because the youngest operation may be of any stream of the counter.
            if self.counter(stream).of(wait) == 0 {
                self.pending[stream.index()] = None;
                self.accesses[stream.index()] = None;
            }
        }
        let before = self.entries.len();
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|e| !self.is_finished_by(e, wait));
        self.entries = entries;
        if self.entries.len() != before {
            self.index();
        }
    }

    /// Removes the operations that are complete once the wave has waited at `barrier`.
    pub fn pass_barrier(&mut self, barrier: i16) {
        self.entries.retain(|e| e.until != Some(barrier));
        if !self.entries.iter().any(|e| e.stream == Stream::BarrierScc) {
            self.finish(Stream::BarrierScc);
        }
        self.index();
    }

    /// Starts an operation.
    pub fn issue(&mut self, event: &Event, line: usize, how: Issue) {
        let set = self.set;
        let counter = event.stream.counter(set);
        if how.stall_is_trusted {
            self.wait(counters::room(set, std::slice::from_ref(event)));
        }
        let results = event.stream.of_operands().map_or(0, |(results, others)| {
            self.finish(others);
            self.issued[results.index()]
        });
        self.issued[event.stream.index()] += i32::from(event.count);
        let beside = |s: &Stream| s.counter(set) == counter && *s != event.stream;
        let others = !how.order_is_trusted
            && Stream::ALL.iter().filter(|s| beside(s)).any(|s| self.pending[s.index()].is_some());
        if others {
            for e in self
                .entries
                .iter_mut()
                .filter(|e| e.stream.counter(set) == counter && e.stream != event.stream)
            {
                e.mixed = true;
            }
        }
        self.pending[event.stream.index()] = Some(line as u32);
        if !event.invalidates {
            self.accesses[event.stream.index()] = Some(line as u32);
        }
        let counts = |debt: Debt| how.orders_lds || matches!(debt, Debt::Write | Debt::Read | Debt::Sync);
        for (debt, reg) in events::debts(event).filter(|d| counts(d.0)) {
            let half = event.half.filter(|_| how.halves_are_trusted && debt == Debt::Write);
            self.supersede(debt, event.stream, reg, half);
            if let Some(reg) = reg {
                self.busy.add(reg, u32::MAX);
            }
            self.entries.push(Entry {
                debt,
                stream: event.stream,
                producer: line as u32,
                reg,
                half,
                live: reg.map_or(0, |r| r.shared_with(r)),
                stamp: self.issued[event.stream.index()],
                mixed: others || !event.stream.in_order(),
                results,
                until: event.until,
            });
        }
    }

    /// Records that all operations of `stream` are done.
    fn finish(&mut self, stream: Stream) {
        self.accesses[stream.index()] = None;
        if self.pending[stream.index()].take().is_some() {
            self.entries.retain(|e| e.stream != stream);
            self.index();
        }
    }

    /// Removes, from the older entries, the obligations that a younger entry of the same kind now has.
    fn supersede(&mut self, debt: Debt, stream: Stream, reg: Option<Reg>, half: Option<Half>) {
        let set = self.set;
        let same_place = |e: &Entry| e.debt == debt && e.stream.counter(set) == stream.counter(set);
        match reg {
            None => self.entries.retain(|e| !(e.debt == debt && e.stream == stream)),
            Some(reg) if self.busy.any(reg) => {
                // An obligation for half of a register does not replace an obligation for the whole register.
                let of_half = |e: &Entry| half.is_none() || half == e.half;
                for e in self.entries.iter_mut().filter(|e| same_place(e) && of_half(e)) {
                    if let Some(old) = e.reg.filter(|r| r.overlaps(reg)) {
                        e.live &= !old.shared_with(reg);
                    }
                }
                self.entries.retain(|e| e.reg.is_none() || e.live != 0);
            }
            Some(_) => {}
        }
    }

    /// Converts time stamps into numbers of operations, and sorts the entries.
    pub fn seal(&mut self) {
        for e in &mut self.entries {
            let most = i32::from(e.stream.counter(self.set).cap(self.set));
            let younger = (self.issued[e.stream.index()] - e.stamp).min(most);
            e.stamp = if e.mixed { 0 } else { -younger };
            if let Some((results, _)) = e.stream.of_operands() {
                let most = i32::from(results.counter(self.set).capacity(self.set));
                e.results = -(self.issued[results.index()] - e.results).min(most);
            }
        }
        self.issued = [0; Stream::ALL.len()];
        self.entries.sort_unstable_by_key(Entry::key);
        self.index();
    }

    /// Joins the state of another path. Both states must be sealed.
    pub fn join(&mut self, other: &Outstanding) {
        let mine = self.pending.iter_mut().chain(&mut self.accesses);
        for (mine, theirs) in mine.zip(other.pending.into_iter().chain(other.accesses)) {
            *mine = match (*mine, theirs) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        let mut merged: Vec<Entry> = Vec::with_capacity(self.entries.len().max(other.entries.len()));
        let (mut a, mut b) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        while let Some(next) = take_smaller(&mut a, &mut b) {
            match merged.last_mut().filter(|last| last.key() == next.key()) {
                Some(last) => *last = worse(last, &next),
                None => merged.push(next),
            }
        }
        self.entries = merged;
        self.index();
    }

    /// True if there are so many entries that [`Outstanding::gather`] should merge some.
    pub fn is_crowded(&self) -> bool {
        self.entries.len() > CROWD
    }

    /// Merges entries that owe the same registers on the same stream and whose producers are in the same group. The state must be sealed,
    /// and remains so.
    pub fn gather(&mut self, group: &dyn Fn(usize) -> usize) {
        let key = |e: &Entry| (e.debt, e.stream, e.reg, e.half, e.live, group(e.producer as usize));
        self.entries.sort_by_cached_key(key);
        self.entries.dedup_by(|next, one| {
            let alike = (one.debt, one.stream, one.reg, one.half, one.live)
                == (next.debt, next.stream, next.reg, next.half, next.live)
                && group(one.producer as usize) == group(next.producer as usize);
            if alike {
                *one = worse(one, next);
            }
            alike
        });
        self.entries.sort_unstable_by_key(|e| (e.key(), e.live));
        // Merge the entries of one producer that owe different parts of the producer's registers.
        self.entries.dedup_by(|next, one| {
            let same = one.key() == next.key();
            if same {
                *one = worse(one, next);
            }
            same
        });
        self.index();
    }

    fn index(&mut self) {
        self.busy = Units::default();
        for e in &self.entries {
            if let Some(reg) = e.reg {
                self.busy.add(reg, e.live);
            }
        }
    }
}

type Entries<'a> = std::iter::Peekable<std::slice::Iter<'a, Entry>>;

fn take_smaller(a: &mut Entries<'_>, b: &mut Entries<'_>) -> Option<Entry> {
    match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if y.key() < x.key() => b.next().copied(),
        (Some(_), _) => a.next().copied(),
        (None, _) => b.next().copied(),
    }
}

/// The join of one obligation on two paths.
fn worse(a: &Entry, b: &Entry) -> Entry {
    let mixed = a.mixed || b.mixed;
    Entry {
        live: a.live | b.live,
        mixed,
        stamp: if mixed { 0 } else { a.stamp.max(b.stamp) },
        results: a.results.max(b.results),
        producer: a.producer.min(b.producer),
        until: a.until.filter(|_| a.until == b.until),
        ..*a
    }
}
