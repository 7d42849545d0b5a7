//! Shadow memory: the last accesses to each byte.
//!
//! Most dwords are written by one wave, so a page has room for one write of each dword and for one read by each of a few waves. Lists of
//! accesses exist only for other dwords ([`Cell`]). Accesses of a wave to a row of dwords are checked and added together ([`Shadow::row`]),
//! if nothing speaks against it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use gcn_isa::memory_model::Scope;
use gcn_isa::table::NameHasher;
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

    /// The same access of another lane, at the same place in that lane's datum.
    pub(super) fn of_lane(self, lane: Option<u8>) -> Packed {
        let (first, bits) = How::LANE;
        let others = self.how & !(((1 << bits) - 1) << first);
        Packed { how: others | u32::from(lane.unwrap_or(NO_LANE)) << first, ..self }
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
    reads: SmallVec<[Packed; READS]>,
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

    /// True if a page has room for these accesses: one write at most, and one read at most of each wave.
    fn is_simple(&self) -> bool {
        let is_first =
            |(n, read): (usize, &Packed)| self.reads[..n].iter().all(|other| other.who != read.who);
        self.writes.len() <= 1 && self.reads.iter().enumerate().all(is_first)
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

/// The last write of each dword of a page, and reads of it by different waves: the fields of [`Packed`], one after the other, first of the
/// writes and then of the reads in each *row of reads*, of which a page has as many as are needed. After the fields of a read there is the
/// time at which it was recorded. (With all dwords of a field beside each other, the compiler uses vectors for rows of dwords.)
type Page = Vec<u32>;

/// The first fields of writes and of the first row of reads in a page.
const WRITES: usize = 0;
const READ: usize = 4;

/// Pages with smaller numbers are found without a map.
const NEAR: usize = 256;

/// The number of fields of a row of reads.
const FIELDS: usize = 5;
/// The field of the time, after those of [`Packed`].
const TIME: usize = 4;

/// The number of fields of a page with one row of reads.
const LEAST: usize = READ + FIELDS;

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

/// The first field of each row of reads of a page.
fn rows(page: &Page) -> impl Iterator<Item = usize> + use<> {
    (READ..page.len() / PAGE).step_by(FIELDS)
}

/// The reads of a dword in the order in which they were recorded.
fn reads(page: &Page, at: usize) -> SmallVec<[Packed; READS]> {
    let mut all: SmallVec<[(u32, Packed); READS]> = SmallVec::new();
    for row in rows(page) {
        let read = get(page, row, at);
        if read.is_there() {
            all.push((page[(row + TIME) * PAGE + at], read));
        }
    }
    all.sort_unstable_by_key(|(time, _)| *time);
    all.into_iter().map(|(_, read)| read).collect()
}

/// The accesses that are ordered before those of a wave at some time.
pub(super) struct Known<'c> {
    /// The value of [`Packed::who`] of the wave itself.
    me: u32,
    /// What the wave knows of others; `None` if that does not count.
    clock: Option<&'c Clock>,
    /// The wave that was looked up last, with a time of it that is known.
    last: (u32, u32),
}

impl<'c> Known<'c> {
    pub(super) fn new(thread: Thread, clock: Option<&'c Clock>) -> Known<'c> {
        Known { me: thread + 1, clock, last: (NOBODY, 0) }
    }

    #[inline]
    fn has(&mut self, who: u32, at: u32) -> bool {
        who == NOBODY || who == self.me || (who, at) == self.last || self.looked_up(who, at)
    }

    #[inline(never)]
    fn looked_up(&mut self, who: u32, at: u32) -> bool {
        let known = who != MANY && self.clock.is_some_and(|clock| clock.knows(who - 1, at));
        if known {
            self.last = (who, at);
        }
        known
    }

    /// True if all accesses to a row of dwords are ordered.
    #[inline]
    fn has_all(&mut self, who: &[u32], at: &[u32]) -> bool {
        let me = self.me;
        let others = who.iter().fold(false, |others, who| others | (*who != NOBODY && *who != me));
        !others || who.iter().zip(at).all(|(who, at)| self.has(*who, *at))
    }
}

/// A map whose keys are words or other places of memory. No attacker can choose these, so a fast hasher is safe.
pub(super) type ByPlace<T> = HashMap<u64, T, BuildHasherDefault<NameHasher>>;

/// The shadow of a memory, in pages.
#[derive(Default)]
pub(super) struct Shadow {
    /// The index of each page, by its number: its dword address divided by the size of a page.
    numbers: ByPlace<usize>,
    /// The index plus one of each page with a small number, as those of LDS have; 0 if there is no such page.
    near: Vec<usize>,
    pages: Vec<Page>,
    /// The page that was looked up last, which is usually the next one, too.
    last: Option<(u64, usize)>,
    /// The time, which each recorded read advances.
    time: u32,
    /// The accesses to dwords of which more must be kept than there is room for in a page.
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
        for page in &mut self.pages {
            page.truncate(LEAST * PAGE);
            page.fill(0);
        }
        self.many.clear();
        self.spare.clear();
        self.written.clear();
    }

    #[inline]
    fn page(&mut self, word: u64) -> (&mut Page, usize) {
        let number = word / PAGE as u64;
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => self.index(number),
        };
        (&mut self.pages[index], (word % PAGE as u64) as usize)
    }

    /// The index of a page, which is added if there is none.
    #[inline(never)]
    fn index(&mut self, number: u64) -> usize {
        let next = self.pages.len();
        let pages = &mut self.pages;
        let mut add = || {
            pages.push(vec![0; LEAST * PAGE]);
            next
        };
        let index = match usize::try_from(number) {
            Ok(near) if near < NEAR => {
                if self.near.len() <= near {
                    self.near.resize(near + 1, 0);
                }
                if self.near[near] == 0 {
                    self.near[near] = add() + 1;
                }
                self.near[near] - 1
            }
            _ => *self.numbers.entry(number).or_insert_with(add),
        };
        self.last = Some((number, index));
        index
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
        let write = get(page, WRITES, at);
        if write.who == MANY {
            let reads = &mut self.many[write.at as usize].reads;
            reads.iter_mut().filter(|old| old.who == thread + 1).for_each(|old| *old = old.without(mask));
            reads.retain(|old| old.is_there());
            return;
        }
        for row in rows(page) {
            let read = get(page, row, at);
            if read.who == thread + 1 {
                put(page, row, at, read.without(mask));
            }
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
        let (page, at) = self.page(word);
        let (write, read) = (get(page, WRITES, at), get(page, READ, at));
        if write.who == MANY {
            let cell = &mut self.many[write.at as usize];
            let found = cell.access(word, new, writes, clock);
            if cell.is_simple() {
                let cell = std::mem::take(cell);
                self.spare.push(write.at);
                self.put_cell(word, &cell);
            }
            return found;
        }
        let others = rows(page).skip(1).any(|row| page[row * PAGE + at] != NOBODY);
        let (first, old) = if writes { (WRITES, write) } else { (READ, read) };
        if !others && (!old.is_there() || !old.past(new, writes, clock).is_there()) {
            put(page, first, at, new);
            if writes && read.is_there() {
                put(page, READ, at, read.before_write(new, clock));
            }
            let found =
                |old: Packed, is_write| old.races(word, new, clock).then(|| (old.epoch(word), is_write));
            let found = found(write, true).or_else(|| if writes { found(read, false) } else { None });
            if !writes {
                self.tell_time(word, READ);
            }
            return found;
        }
        let mut cell = Cell { writes: SmallVec::new(), reads: reads(page, at) };
        cell.writes.extend(Some(write).filter(|write| write.is_there()));
        let found = cell.access(word, new, writes, clock);
        if cell.is_simple() {
            self.put_cell(word, &cell);
            return found;
        }
        let index = self.spare.pop().unwrap_or(self.many.len() as u32);
        let (page, at) = self.page(word);
        put(page, WRITES, at, Packed { who: MANY, at: index, ..Packed::default() });
        rows(page).for_each(|row| put(page, row, at, Packed::default()));
        match self.many.get_mut(index as usize) {
            Some(place) => *place = cell,
            None => self.many.push(cell),
        }
        found
    }

    /// Puts the accesses to a dword into its page, which has room for them.
    fn put_cell(&mut self, word: u64, cell: &Cell) {
        let (page, at) = self.page(word);
        put(page, WRITES, at, cell.writes.first().copied().unwrap_or_default());
        let least = (READ + FIELDS * cell.reads.len()) * PAGE;
        if page.len() < least {
            page.resize(least, 0);
        }
        for (n, row) in rows(page).enumerate() {
            put(page, row, at, cell.reads.get(n).copied().unwrap_or_default());
        }
        (0..cell.reads.len()).for_each(|n| self.tell_time(word, READ + FIELDS * n));
    }

    /// Notes that the read of a dword in this row of reads is the last one now.
    fn tell_time(&mut self, word: u64, row: usize) {
        self.time = self.time.wrapping_add(1);
        let time = self.time;
        let (page, at) = self.page(word);
        page[(row + TIME) * PAGE + at] = time;
    }

    /// The number of dwords from `word` on that a call of [`Shadow::row`] can take.
    pub(super) fn room(word: u64) -> usize {
        PAGE - (word % PAGE as u64) as usize
    }

    /// Adds plain accesses of a wave to whole dwords from `word` on, one for each of `hows`; `new` has what they share. Returns false and
    /// does nothing if an access may race, or cannot be added to the page together with the others.
    pub(super) fn row(
        &mut self,
        word: u64,
        new: Packed,
        hows: &[u32],
        writes: bool,
        known: &mut Known<'_>,
    ) -> bool {
        self.time = self.time.wrapping_add(1);
        let time = self.time;
        let (page, at) = self.page(word);
        let row = |field: usize| field * PAGE + at..field * PAGE + at + hows.len();
        let is_plain = |page: &Page, first: usize| {
            page[row(first + 3)].iter().fold(0, |all, how| all | how) & ORDER_BITS == 0
        };
        if !known.has_all(&page[row(WRITES)], &page[row(WRITES + 1)]) {
            return false;
        }
        let place = if writes {
            // The reads before must be ordered, too; then the write stands for them.
            let mut are_known = |first: usize| known.has_all(&page[row(first)], &page[row(first + 1)]);
            if !is_plain(page, WRITES) || !rows(page).all(&mut are_known) {
                return false;
            }
            for first in rows(page) {
                if page[row(first)].iter().fold(NOBODY, |all, who| all | who) != NOBODY {
                    page[row(first)].fill(NOBODY);
                    page[row(first + 3)].fill(0);
                }
            }
            WRITES
        } else {
            let Some(place) = place_of_reads(page, &row, new.who) else { return false };
            if page.len() == place * PAGE {
                page.resize((place + FIELDS) * PAGE, 0);
            } else if !is_plain(page, place) {
                return false;
            }
            page[row(place + TIME)].fill(time);
            place
        };
        page[row(place)].fill(new.who);
        page[row(place + 1)].fill(new.at);
        page[row(place + 2)].fill(new.step);
        page[row(place + 3)].copy_from_slice(hows);
        true
    }

    /// As [`Shadow::row`], for an access to a single dword.
    #[inline]
    pub(super) fn one(&mut self, word: u64, new: Packed, writes: bool, known: &mut Known<'_>) -> bool {
        self.time = self.time.wrapping_add(1);
        let time = self.time;
        let (page, at) = self.page(word);
        let Some(field) = page.get_mut(at..) else { return false };
        if !known.has(field[WRITES], field[PAGE]) {
            return false;
        }
        if writes {
            if field[3 * PAGE] & ORDER_BITS != 0 {
                return false;
            }
            let mut rest = &mut field[READ * PAGE..];
            let mut are_known = true;
            while let [who, ..] = rest {
                are_known &= known.has(*who, rest[PAGE]);
                rest = rest.get_mut(FIELDS * PAGE..).unwrap_or_default();
            }
            if !are_known {
                return false;
            }
            let mut rest = &mut field[READ * PAGE..];
            while let [who, ..] = rest {
                *who = NOBODY;
                rest[3 * PAGE] = 0;
                rest = rest.get_mut(FIELDS * PAGE..).unwrap_or_default();
            }
            put(page, WRITES, at, new);
            return true;
        }
        let (mut place, mut next) = (None, READ * PAGE + at);
        while let Some(who) = page.get(next) {
            if *who == new.who {
                place = Some(next);
                break;
            } else if *who == NOBODY && place.is_none() {
                place = Some(next);
            }
            next += FIELDS * PAGE;
        }
        let fields = place.and_then(|place| page.get_mut(place..)?.first_chunk_mut::<{ TIME * PAGE + 1 }>());
        let Some(fields) = fields.filter(|fields| fields[3 * PAGE] & ORDER_BITS == 0) else { return false };
        (fields[0], fields[PAGE], fields[2 * PAGE]) = (new.who, new.at, new.step);
        (fields[3 * PAGE], fields[TIME * PAGE]) = (new.how, time);
        true
    }
}

/// The bits of [`How::ORDER`].
const ORDER_BITS: u32 = ((1 << How::ORDER.1) - 1) << How::ORDER.0;

/// The row of reads for those of a wave to a row of dwords: the one with earlier reads of the wave, or a free one, which may be the next
/// after those of the page. `None` if the dwords differ in it, or all are in use.
fn place_of_reads(page: &Page, row: &impl Fn(usize) -> Range<usize>, me: u32) -> Option<usize> {
    let (mut free, mut mine) = (None, None);
    for first in rows(page) {
        let all = page[row(first)].iter();
        let (with_me, with_others) = all.fold((false, false), |(with_me, with_others), who| {
            (with_me | (*who == me), with_others | (*who != me && *who != NOBODY))
        });
        match (with_me, with_others) {
            (true, false) if mine.is_none() => mine = Some(first),
            (true, _) => return None,
            (false, false) => free = free.or(Some(first)),
            (false, true) => {}
        }
    }
    let next = page.len() / PAGE;
    mine.or(free).or((next < READ + READS * FIELDS).then_some(next))
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
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn unaligned_ranges_cover_parts_of_words() {
        assert!(words(4, 8).eq([(1, 15), (2, 15)]));
        assert!(words(7, 2).eq([(1, 8), (2, 1)]));
        assert!(words(5, 1).eq([(1, 2)]));
    }

    /// Random accesses, in rows and alone, are found to race as if a list were kept for each dword.
    #[test]
    fn pages_find_the_races_that_lists_find() {
        let mut random = 1u64;
        let mut below = |end: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) % end
        };
        let (mut shadow, mut cells) = (Shadow::default(), HashMap::<u64, Cell>::new());
        let mut clocks: Vec<Clock> = (0..12).map(|wave| Clock::new(0, wave)).collect();
        let (mut races, mut rows) = (0, 0);
        for n in 0..60_000 {
            // Phases with many barriers have few races; in those with many waves and few barriers, reads are forgotten.
            let (waves, turn, parts) = [(4, 5, 50), (12, 60, 5), (5, 500, 5)][n / 500 % 3];
            let wave = below(waves) as usize;
            if n % turn == 0 {
                let mut all = Clock::nothing(0);
                clocks.iter().for_each(|clock| all.join(clock));
                for (wave, clock) in clocks.iter_mut().enumerate() {
                    clock.join(&all);
                    clock.advance(wave);
                }
                continue;
            }
            if below(6) == 0 {
                let other = clocks[below(waves) as usize].clone();
                clocks[wave].join(&other);
                clocks[wave].advance(wave);
                continue;
            }
            let (writes, clock) = (below(8) == 0, clocks[wave].clone());
            let (start, count) = (240 + below(40), 1 + below(24));
            let epoch = |word: u64, mask: u8, order: Order| Epoch {
                thread: wave as u32,
                at: clock.now(wave),
                step: n as u32,
                lane: Some((word % 64) as u8),
                range: (4 * word, 4),
                mask,
                order,
                scope: Scope::Workgroup,
            };
            if below(parts) == 0 {
                let (mask, order) = (1 + below(15) as u8, ORDERS[below(3) as usize]);
                let new = Packed::new(start, &epoch(start, mask, order));
                let found = shadow.access(start, new, writes, &clock);
                let wanted = cells.entry(start).or_default().access(start, new, writes, &clock);
                assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "access {n}");
                races += usize::from(found.is_some());
                continue;
            }
            let packed = |word: u64| Packed::new(word, &epoch(word, WHOLE, Order::Plain));
            let hows: Vec<u32> = (start..start + count).map(|word| packed(word).how()).collect();
            let mut known = Known::new(wave as u32, Some(&clock));
            let count = count.min(Shadow::room(start) as u64);
            let in_row = shadow.row(start, packed(start), &hows[..count as usize], writes, &mut known);
            rows += usize::from(in_row);
            for word in start..start + count {
                let (new, cell) = (packed(word), cells.entry(word).or_default());
                let wanted = cell.access(word, new, writes, &clock);
                let found = if in_row || shadow.one(word, new, writes, &mut known) {
                    None
                } else {
                    shadow.access(word, new, writes, &clock)
                };
                assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "access {n} to {word}");
                races += usize::from(found.is_some());
            }
        }
        assert!(races > 1000 && rows > 200, "{races} races, {rows} rows");
    }
}
