//! The last accesses to each byte of a memory.

use std::collections::HashMap;

use gcn_isa::memory_model::Scope;

use super::clock::{Clock, Thread, WAVES};

/// How an access orders itself against others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Plain,
    /// A store that may be atomic: by a single lane, or directly after the waits of a release.
    Release,
    /// Atomic by its bits or by what it is.
    Atomic,
}

/// One access to some bytes of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub thread: Thread,
    /// The wave's clock at the time.
    pub at: u32,
    /// The instruction.
    pub step: u32,
    pub lane: Option<u8>,
    /// The accessed range: the address, and the number of bytes.
    pub range: (u64, u8),
    /// Bytes of the word.
    pub mask: u8,
    pub order: Order,
    /// The scope that it has if it is atomic.
    pub scope: Scope,
}

/// The accesses to a word that may still race with new ones.
#[derive(Clone, Debug, Default)]
struct Cell {
    writes: Vec<Epoch>,
    reads: Vec<Epoch>,
    /// Bytes that have been written.
    written: u8,
}

/// Reads that are kept for each word. More readers at once than this are all of them unordered with a later writer, or
/// none is; one that is missing matters only where the kept ones are ordered and it is not.
const READS: usize = 8;

const PAGE: u64 = 1024;

/// A memory, by word address.
#[derive(Default)]
pub(super) struct Shadow(HashMap<u64, Vec<Cell>>);

impl Shadow {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn cell(&mut self, word: u64) -> &mut Cell {
        let page = self.0.entry(word / PAGE).or_insert_with(|| vec![Cell::default(); PAGE as usize]);
        &mut page[(word % PAGE) as usize]
    }

    /// Bytes of `mask` that nothing has written.
    pub(super) fn unwritten(&mut self, word: u64, mask: u8) -> u8 {
        mask & !self.cell(word).written
    }

    pub(super) fn mark_written(&mut self, word: u64, mask: u8) {
        self.cell(word).written |= mask;
    }

    /// The wave's reads of these bytes were guesses that it has checked since.
    pub(super) fn forget_reads(&mut self, word: u64, mask: u8, thread: Thread) {
        for read in self.cell(word).reads.iter_mut().filter(|read| read.thread == thread) {
            read.mask &= !mask;
        }
    }

    /// A write by another wave of the workgroup that `is_unseen` accepts.
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

    /// Adds an access; returns an earlier one with which it races and whether that one writes.
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
        // What a newer access of the same bytes stands for need not be kept: whoever is ordered after the newer one is
        // ordered after it.
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

/// The words of a range of bytes, each with its bytes.
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

    /// Both are atomic, as far as one can tell.
    pub(super) fn are_atomic(&self, other: &Epoch) -> bool {
        self.order.max(other.order) == Order::Atomic && self.order.min(other.order) > Order::Plain
    }

    /// As atomic accesses, both have the scope that they need for each other.
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
