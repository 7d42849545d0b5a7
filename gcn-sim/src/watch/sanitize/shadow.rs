//! Shadow memory: the last accesses to each byte.

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
    pub range: (u64, u8),
    /// A mask of the bytes of the dword.
    pub mask: u8,
    pub order: Order,
    /// The scope of the access, if it is atomic.
    pub scope: Scope,
}

/// The accesses to a dword that may still race with new ones.
#[derive(Clone, Debug, Default)]
struct Cell {
    // Most dwords are written, and read, by one wave.
    writes: SmallVec<[Epoch; 1]>,
    reads: SmallVec<[Epoch; 1]>,
    /// A mask of the bytes that have been written.
    written: u8,
}

/// The number of reads that are kept for each dword. If more waves read it concurrently, usually either all reads are unordered with a
/// later write or none is. A race is missed only if exactly the dropped reads are unordered.
const READS: usize = 8;

const PAGE: u64 = 1024;

/// The shadow of a memory, in pages.
#[derive(Default)]
pub(super) struct Shadow {
    /// The index of each page, by its dword address divided by the size of a page.
    numbers: HashMap<u64, usize>,
    pages: Vec<Box<[Cell]>>,
    /// The page that was looked up last, which is usually the next one, too.
    last: Option<(u64, usize)>,
}

impl Shadow {
    pub(super) fn clear(&mut self) {
        *self = Shadow::default();
    }

    fn cell(&mut self, word: u64) -> &mut Cell {
        let number = word / PAGE;
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => *self.numbers.entry(number).or_insert_with(|| {
                self.pages.push((0..PAGE).map(|_| Cell::default()).collect());
                self.pages.len() - 1
            }),
        };
        self.last = Some((number, index));
        &mut self.pages[index][(word % PAGE) as usize]
    }

    /// The bytes of `mask` that have not been written.
    pub(super) fn unwritten(&mut self, word: u64, mask: u8) -> u8 {
        mask & !self.cell(word).written
    }

    pub(super) fn mark_written(&mut self, word: u64, mask: u8) {
        self.cell(word).written |= mask;
    }

    /// Removes the wave's reads of these bytes: they were guesses, which the wave has checked since.
    pub(super) fn forget_reads(&mut self, word: u64, mask: u8, thread: Thread) {
        for read in self.cell(word).reads.iter_mut().filter(|read| read.thread == thread) {
            read.mask &= !mask;
        }
    }

    /// A write to these bytes by another wave of the workgroup for which `is_unseen` returns true, if any.
    pub(super) fn unseen(
        &mut self,
        word: u64,
        epoch: &Epoch,
        is_unseen: impl Fn(&Epoch) -> bool,
    ) -> Option<Epoch> {
        let near = |e: &&Epoch| {
            e.mask & epoch.mask != 0 && e.thread != epoch.thread && e.group() == epoch.group() && is_unseen(e)
        };
        self.cell(word).writes.iter().find(near).copied()
    }

    /// Adds an access. Returns an earlier access with which it races, if any, and whether that one is a write.
    pub(super) fn access(
        &mut self,
        word: u64,
        epoch: Epoch,
        writes: bool,
        clock: &Clock,
    ) -> Option<(Epoch, bool)> {
        let cell = self.cell(word);
        let races = |e: &&Epoch| {
            let atomics = e.are_atomic(&epoch) && e.reach(&epoch);
            e.mask & epoch.mask != 0 && e.thread != epoch.thread && !atomics && !clock.knows(e.thread, e.at)
        };
        let mut found = cell.writes.iter().find(races).map(|e| (*e, true));
        if writes && found.is_none() {
            found = cell.reads.iter().find(races).map(|e| (*e, false));
        }
        let list = if writes { &mut cell.writes } else { &mut cell.reads };
        // Drops accesses that a newer access to the same bytes subsumes: everything that is ordered after the newer access is also ordered
        // after the older one.
        for old in list.iter_mut() {
            let stands_for = old.thread == epoch.thread || clock.knows(old.thread, old.at);
            if stands_for && (writes || old.thread == epoch.thread) && old.order <= epoch.order {
                old.mask &= !epoch.mask;
            }
        }
        list.retain(|e| e.mask != 0);
        if list.len() >= READS {
            list.remove(0);
        }
        list.push(epoch);
        found
    }
}

/// The dwords of a range of bytes, each with a mask of its bytes.
pub(super) fn words(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let end = address + u64::from(bytes);
    (address / 4..end.div_ceil(4)).map(move |word| {
        let mask = (0..4).filter(|i| (address..end).contains(&(4 * word + i))).fold(0, |m, i| m | 1 << i);
        (word, mask)
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
