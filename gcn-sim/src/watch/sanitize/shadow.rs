//! Shadow memory: the last accesses to each byte.
//!
//! Most dwords are written, and read, by one wave, so a page has room for one write and one read of each dword. Lists of accesses exist only
//! for other dwords ([`Cell`]). Accesses of a wave to a row of dwords are checked and added together ([`Shadow::row`]), if nothing speaks
//! against it.

use std::collections::HashMap;

use gcn_isa::memory_model::Scope;
use smallvec::SmallVec;

use super::clock::{Clock, Thread, WAVES};

/// How an access is ordered with respect to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Plain,
    /// A store that may be atomic: it is made by a single lane, or directly after the waits of a release.
    Release,
    /// An atomic access, according to its cache bits or its opcode.
    Atomic,
}

/// An access to some bytes of a dword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub thread: Thread,
    /// The wave's clock value at the time of the access.
    pub at: u32,
    /// The index of the instruction.
    pub step: u32,
    pub lane: Option<u8>,
    /// The accessed range: address and number of bytes.
    pub range: (u64, u16),
    /// A mask of the bytes of the dword.
    pub mask: u8,
    pub order: Order,
    /// The scope of the access, if it is atomic.
    pub scope: Scope,
}

/// An [`Epoch`] in few bytes, without the number of its dword.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    /// The thread plus one; [`NOBODY`] if there is no access.
    who: u32,
    at: u32,
    step: u32,
    /// The other fields, see [`How`].
    how: u32,
}

/// The value of [`Packed::who`] without an access.
const NOBODY: u32 = 0;
/// The value of [`Packed::who`] in a write if the accesses to the dword are in [`Shadow::many`], at the index in [`Packed::at`].
const MANY: u32 = u32::MAX;

const ORDERS: [Order; 3] = [Order::Plain, Order::Release, Order::Atomic];

/// The fields of [`Packed::how`], each with its first bit and its number of bits.
struct How;

impl How {
    const MASK: (u32, u32) = (0, 4);
    const ORDER: (u32, u32) = (4, 2);
    const SCOPE: (u32, u32) = (6, 3);
    /// The offset of the dword from the first byte of the access, plus 3.
    const START: (u32, u32) = (9, 5);
    const BYTES: (u32, u32) = (14, 5);
    const LANE: (u32, u32) = (19, 8);

    const fn get(how: u32, (first, bits): (u32, u32)) -> u32 {
        how >> first & ((1 << bits) - 1)
    }
}

/// The value of [`How::LANE`] without a lane.
const NO_LANE: u8 = u8::MAX;

impl Packed {
    pub(super) fn new(word: u64, epoch: &Epoch) -> Packed {
        let Epoch { thread, at, step, lane, range: (address, bytes), mask, order, scope } = *epoch;
        let start = (4 * word + 3).wrapping_sub(address) as u32;
        let how = u32::from(mask) << How::MASK.0
            | (order as u32) << How::ORDER.0
            | (scope as u32) << How::SCOPE.0
            | start << How::START.0
            | u32::from(bytes) << How::BYTES.0
            | u32::from(lane.unwrap_or(NO_LANE)) << How::LANE.0;
        Packed { who: thread + 1, at, step, how }
    }

    /// What differs between the accesses of two lanes to dwords of their own.
    pub(super) fn how(self) -> u32 {
        self.how
    }

    /// The same access at another dword of its row, this number of dwords after the one here.
    pub(super) fn ahead(self, dwords: u32) -> Packed {
        Packed { how: self.how + ((4 * dwords) << How::START.0), ..self }
    }

    pub(super) fn epoch(self, word: u64) -> Epoch {
        let field = |field| How::get(self.how, field);
        let address = (4 * word + 3).wrapping_sub(u64::from(field(How::START)));
        Epoch {
            thread: self.who - 1,
            at: self.at,
            step: self.step,
            lane: Some(field(How::LANE) as u8).filter(|lane| *lane != NO_LANE),
            range: (address, field(How::BYTES) as u16),
            mask: self.mask(),
            order: self.order(),
            scope: Scope::ALL[field(How::SCOPE) as usize],
        }
    }

    fn is_there(self) -> bool {
        self.who != NOBODY
    }

    fn mask(self) -> u8 {
        How::get(self.how, How::MASK) as u8
    }

    fn order(self) -> Order {
        ORDERS[How::get(self.how, How::ORDER) as usize]
    }

    /// This access without some bytes; no access if none are left.
    fn without(self, mask: u8) -> Packed {
        let left = Packed { how: self.how & !u32::from(mask), ..self };
        if left.mask() == 0 { Packed::default() } else { left }
    }

    /// True if a later access may race with this one.
    #[inline]
    fn races(self, word: u64, later: Packed, clock: &Clock) -> bool {
        if !self.is_there()
            || self.who == later.who
            || self.mask() & later.mask() == 0
            || clock.knows(self.who - 1, self.at)
        {
            return false;
        }
        let (earlier, later) = (self.epoch(word), later.epoch(word));
        !(earlier.are_atomic(&later) && earlier.reach(&later))
    }

    /// This access without the bytes for which a later access stands for it, too: everything that is ordered after the later access is
    /// also ordered after this one.
    #[inline]
    fn past(self, later: Packed, writes: bool, clock: &Clock) -> Packed {
        let stands_for = self.who == later.who || writes && clock.knows(self.who - 1, self.at);
        if stands_for && self.order() <= later.order() { self.without(later.mask()) } else { self }
    }

    /// This read without the bytes for which a later write stands for it: another write that races with the read races with that write as
    /// well, which is what is reported. (An atomic write does not race with other atomic ones.)
    #[inline]
    fn before_write(self, write: Packed, clock: &Clock) -> Packed {
        let known = self.who == write.who || clock.knows(self.who - 1, self.at);
        if known && write.order() == Order::Plain { self.without(write.mask()) } else { self }
    }

    /// This access of a row, for the dword of which `how` is.
    pub(super) fn with(self, how: u32) -> Packed {
        Packed { how, ..self }
    }
}

/// The accesses to a dword that may still race with new ones, if there are several for which [`Page`] has no room.
#[derive(Debug, Default)]
struct Cell {
    writes: SmallVec<[Packed; 2]>,
    reads: SmallVec<[Packed; 4]>,
}

impl Cell {
    fn access(&mut self, word: u64, new: Packed, writes: bool, clock: &Clock) -> Option<(Epoch, bool)> {
        let Cell { writes: written, reads } = self;
        let of = |list: &[Packed], is_write: bool| {
            let found = list.iter().find(|old| old.races(word, new, clock));
            found.map(|old| (old.epoch(word), is_write))
        };
        let found = of(written, true).or_else(|| of(reads, false).filter(|_| writes));
        if writes {
            add(written, new, writes, clock);
            reads.iter_mut().for_each(|old| *old = old.before_write(new, clock));
            reads.retain(|old| old.is_there());
        } else {
            add(reads, new, writes, clock);
        }
        found
    }

    /// The last write and the last read, if there are no more accesses.
    fn few(&self) -> Option<[Packed; 2]> {
        let last = |list: &[Packed]| match list {
            [] => Some(Packed::default()),
            [one] => Some(*one),
            _ => None,
        };
        Some([last(&self.writes)?, last(&self.reads)?])
    }
}

fn add<const N: usize>(list: &mut SmallVec<[Packed; N]>, new: Packed, writes: bool, clock: &Clock)
where
    [Packed; N]: smallvec::Array<Item = Packed>,
{
    list.iter_mut().for_each(|old| *old = old.past(new, writes, clock));
    list.retain(|old| old.is_there());
    if list.len() >= READS {
        list.remove(0);
    }
    list.push(new);
}

/// The number of reads that are kept for each dword. If more waves read it concurrently, usually either all reads are unordered with a
/// later write or none is. A race is missed only if exactly the dropped reads are unordered.
const READS: usize = 8;

/// The number of dwords in a page.
const PAGE: usize = 256;

/// The last write and the last read of each dword of a page: for each of the two, the fields of [`Packed`], one after the other. (With all
/// dwords of a field beside each other, the compiler uses vectors for rows of dwords.)
type Page = Box<[u32]>;

/// The first fields of writes and reads in a page.
const WRITES: usize = 0;
const READ: usize = 4;

fn get(page: &Page, first: usize, at: usize) -> Packed {
    let field = |field: usize| page[(first + field) * PAGE + at];
    Packed { who: field(0), at: field(1), step: field(2), how: field(3) }
}

fn put(page: &mut Page, first: usize, at: usize, access: Packed) {
    let Packed { who, at: time, step, how } = access;
    for (field, value) in [who, time, step, how].into_iter().enumerate() {
        page[(first + field) * PAGE + at] = value;
    }
}

/// True if none of the accesses to a row of dwords races with a new one: they are those of the same wave, or all of one wave at a time that
/// `known` has.
#[inline]
fn are_ordered(who: &[u32], at: &[u32], me: u32, known: Option<&Clock>) -> bool {
    let others = who.iter().fold(false, |others, who| others | (*who != NOBODY && *who != me));
    if !others {
        return true;
    }
    let (Some(clock), Some((first, time))) = (known, who.first().zip(at.first())) else { return false };
    let same = who.iter().zip(at).fold(true, |same, (who, at)| same & (who == first && at == time));
    same && *first != MANY && clock.knows(first - 1, *time)
}

/// The shadow of a memory, in pages.
#[derive(Default)]
pub(super) struct Shadow {
    /// The index of each page, by its dword address divided by the size of a page.
    numbers: HashMap<u64, usize>,
    pages: Vec<Page>,
    /// The page that was looked up last, which is usually the next one, too.
    last: Option<(u64, usize)>,
    /// The accesses to dwords of which more must be kept than the last ones.
    many: Vec<Cell>,
    /// The indices of those that are not used any more.
    spare: Vec<u32>,
    /// For each dword of LDS, a mask of the bytes that have been written.
    written: Vec<u8>,
}

/// The mask of all bytes of a dword.
pub(super) const WHOLE: u8 = 0xf;

impl Shadow {
    pub(super) fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| page.fill(0));
        self.many.clear();
        self.spare.clear();
        self.written.clear();
    }

    fn page(&mut self, word: u64) -> (&mut Page, usize) {
        let number = word / PAGE as u64;
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => *self.numbers.entry(number).or_insert_with(|| {
                self.pages.push(vec![0; 2 * READ * PAGE].into_boxed_slice());
                self.pages.len() - 1
            }),
        };
        self.last = Some((number, index));
        (&mut self.pages[index], (word % PAGE as u64) as usize)
    }

    /// The bytes of `mask` that have not been written.
    pub(super) fn unwritten(&self, word: u64, mask: u8) -> u8 {
        mask & !self.written.get(word as usize).copied().unwrap_or(0)
    }

    /// True if all bytes of a range have been written.
    pub(super) fn is_written(&self, address: u64, bytes: u64) -> bool {
        let whole = (address / 4) as usize..(address + bytes).div_ceil(4) as usize;
        let all = |masks: &[u8]| masks.iter().fold(WHOLE, |all, mask| all & mask) == WHOLE;
        self.written.get(whole).is_some_and(all)
            || words(address, bytes).all(|(word, mask)| self.unwritten(word, mask) == 0)
    }

    pub(super) fn mark_written(&mut self, address: u64, bytes: u64) {
        let end = (address + bytes).div_ceil(4) as usize;
        if self.written.len() < end {
            self.written.resize(end, 0);
        }
        if (address | bytes).is_multiple_of(4) {
            return self.written[(address / 4) as usize..end].fill(WHOLE);
        }
        words(address, bytes).for_each(|(word, mask)| self.written[word as usize] |= mask);
    }

    /// Removes the wave's reads of these bytes: they were guesses, which the wave has checked since.
    pub(super) fn forget_reads(&mut self, word: u64, mask: u8, thread: Thread) {
        let (page, at) = self.page(word);
        let (write, read) = (get(page, WRITES, at), get(page, READ, at));
        if write.who == MANY {
            let reads = &mut self.many[write.at as usize].reads;
            reads.iter_mut().filter(|old| old.who == thread + 1).for_each(|old| *old = old.without(mask));
            reads.retain(|old| old.is_there());
        } else if read.who == thread + 1 {
            put(page, READ, at, read.without(mask));
        }
    }

    /// A write to these bytes by another wave of the workgroup for which `is_unseen` returns true, if any.
    pub(super) fn unseen(
        &mut self,
        word: u64,
        epoch: &Epoch,
        is_unseen: impl Fn(&Epoch) -> bool,
    ) -> Option<Epoch> {
        let (page, at) = self.page(word);
        let write = get(page, WRITES, at);
        let near = |e: &Epoch| {
            e.mask & epoch.mask != 0 && e.thread != epoch.thread && e.group() == epoch.group() && is_unseen(e)
        };
        let one = [write];
        let writes = if write.who == MANY { &self.many[write.at as usize].writes[..] } else { &one };
        writes.iter().filter(|old| old.is_there()).map(|old| old.epoch(word)).find(near)
    }

    /// Adds an access. Returns an earlier access with which it races, if any, and whether that one is a write.
    pub(super) fn access(
        &mut self,
        word: u64,
        new: Packed,
        writes: bool,
        clock: &Clock,
    ) -> Option<(Epoch, bool)> {
        let next = self.spare.last().copied().unwrap_or(self.many.len() as u32);
        let (page, at) = self.page(word);
        let (write, read) = (get(page, WRITES, at), get(page, READ, at));
        if write.who == MANY {
            let cell = &mut self.many[write.at as usize];
            let found = cell.access(word, new, writes, clock);
            if let Some([write_left, read_left]) = cell.few() {
                let (page, at) = self.page(word);
                put(page, WRITES, at, write_left);
                put(page, READ, at, read_left);
                self.spare.push(write.at);
            }
            return found;
        }
        let (first, old) = if writes { (WRITES, write) } else { (READ, read) };
        if !old.is_there() || !old.past(new, writes, clock).is_there() {
            put(page, first, at, new);
            if writes && read.is_there() {
                put(page, READ, at, read.before_write(new, clock));
            }
            let found =
                |old: Packed, is_write| old.races(word, new, clock).then(|| (old.epoch(word), is_write));
            return found(write, true).or_else(|| if writes { found(read, false) } else { None });
        }
        put(page, WRITES, at, Packed { who: MANY, at: next, ..Packed::default() });
        let there = |access: Packed| access.is_there().then_some(access);
        let mut cell =
            Cell { writes: there(write).into_iter().collect(), reads: there(read).into_iter().collect() };
        let found = cell.access(word, new, writes, clock);
        match self.spare.pop() {
            Some(at) => self.many[at as usize] = cell,
            None => self.many.push(cell),
        }
        found
    }

    /// The number of dwords from `word` on that a call of [`Shadow::row`] can take.
    pub(super) fn room(word: u64) -> usize {
        PAGE - (word % PAGE as u64) as usize
    }

    /// Adds plain accesses of a wave to whole dwords from `word` on, one for each of `hows`; `new` has what they share. Returns false and
    /// does nothing if an access races, or must be kept beside an earlier one. With `known`, accesses of another wave may be ordered by it.
    pub(super) fn row(
        &mut self,
        word: u64,
        new: Packed,
        hows: &[u32],
        writes: bool,
        known: Option<&Clock>,
    ) -> bool {
        let (page, at) = self.page(word);
        let row = |field: usize| field * PAGE + at..field * PAGE + at + hows.len();
        let first = if writes { WRITES } else { READ };
        let order = How::get(u32::MAX, How::ORDER) << How::ORDER.0;
        let plain = page[row(first + 3)].iter().fold(0, |all, how| all | how) & order == 0;
        let ordered =
            |first: usize, known| are_ordered(&page[row(first)], &page[row(first + 1)], new.who, known);
        // A read does not stand for one of another wave.
        if !plain || !ordered(WRITES, known) || !ordered(READ, known.filter(|_| writes)) {
            return false;
        }
        page[row(first)].fill(new.who);
        page[row(first + 1)].fill(new.at);
        page[row(first + 2)].fill(new.step);
        page[row(first + 3)].copy_from_slice(hows);
        if writes {
            // The reads before are ordered, too.
            (0..READ).for_each(|field| page[row(READ + field)].fill(0));
        }
        true
    }
}

/// The dwords of a range of bytes, each with a mask of its bytes.
pub(super) fn words(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = address + bytes;
    (address / 4..end.div_ceil(4)).map(move |word| {
        let (first, last) = (address.max(4 * word) - 4 * word, end.min(4 * word + 4) - 4 * word);
        (word, (WHOLE << first) & WHOLE >> (4 - last))
    })
}

impl Epoch {
    pub(super) fn wave(&self) -> u32 {
        self.thread % WAVES
    }

    pub(super) fn group(&self) -> u32 {
        self.thread / WAVES
    }

    /// True if both accesses are atomic, as far as can be determined.
    pub(super) fn are_atomic(&self, other: &Epoch) -> bool {
        self.order.max(other.order) == Order::Atomic && self.order.min(other.order) > Order::Plain
    }

    /// True if, assuming that both accesses are atomic, the scope of each is wide enough for the other.
    pub(super) fn reach(&self, other: &Epoch) -> bool {
        self.group() == other.group() || self.scope.min(other.scope) >= Scope::Agent
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn unaligned_ranges_cover_parts_of_words() {
        assert!(words(4, 8).eq([(1, 15), (2, 15)]));
        assert!(words(7, 2).eq([(1, 8), (2, 1)]));
        assert!(words(5, 1).eq([(1, 2)]));
    }
}
