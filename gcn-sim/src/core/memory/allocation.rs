//! An allocation, and which accesses to it are atomic.
//!
//! Memory is an array of eight-byte words, which are accessed as atomics with relaxed ordering. An access within one word is indivisible:
//! no other thread sees a part of its effect. The same holds for aligned accesses of 1, 2, 4 and 8 bytes, and for each aligned group of
//! eight bytes in a wider access. Hardware guarantees the same: its 64-bit atomic loads and stores are `global_load_dwordx2` and
//! `global_store_dwordx2` (LLVM AMDGPU guide, memory model of GFX90A and GFX942).
//!
//! A store of less than a word is a compare-and-swap, which costs several times as much as a plain store. [`Combined`] avoids most
//! compare-and-swaps, because the lanes of a store usually fill whole words. If one thread runs the whole grid, no other thread accesses
//! the memory, except for that of the host, and no compare-and-swap is needed ([`Memory::set_alone`]).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::Memory;

/// The size of a word in bytes.
const WORD: u64 = 8;

/// The number of words that contain `bytes` bytes from `base` on; words start at multiples of their size.
pub(super) fn words(base: u64, bytes: usize) -> usize {
    ((base % WORD) as usize + bytes).div_ceil(WORD as usize)
}

/// A range of addresses.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(super) base: u64,
    pub(super) bytes: u64,
    words: Words,
    /// True if no other thread accesses the words while a kernel runs.
    alone: bool,
    /// For each word, a bit mask of its written bytes; empty if writes are not tracked.
    written: Box<[AtomicU8]>,
}

/// The words of an allocation: owned by the allocation, or shared with the host.
#[derive(Debug)]
pub(super) enum Words {
    Own(Box<[AtomicU64]>),
    Shared(&'static [AtomicU64]),
}

impl std::ops::Deref for Words {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        match self {
            Words::Own(words) => words,
            Words::Shared(words) => words,
        }
    }
}

/// The words of an allocation, in a form for loads only.
#[derive(Clone, Copy)]
pub(crate) struct Loads<'a>(&'a [AtomicU64]);

impl Loads<'_> {
    /// Loads up to four bytes, zero-extended.
    #[inline(always)]
    pub(crate) fn load(self, offset: u64, bytes: u32) -> u32 {
        let (index, at) = ((offset / WORD) as usize, offset % WORD);
        let low = self.0[index].load(Relaxed) >> (8 * at);
        let inside = WORD - at;
        if u64::from(bytes) <= inside {
            return (low & mask(0, bytes)) as u32;
        }
        let high = self.0[index + 1].load(Relaxed) << (8 * inside);
        ((low | high) & mask(0, bytes)) as u32
    }

    /// Loads the dword at a multiple of 4.
    #[inline(always)]
    pub(crate) fn load_dword(self, offset: u64) -> u32 {
        (self.load_pair(offset) >> (8 * (offset % WORD))) as u32
    }

    /// Loads the word that holds the byte at `offset`.
    #[inline(always)]
    pub(crate) fn load_pair(self, offset: u64) -> u64 {
        self.0[(offset / WORD) as usize].load(Relaxed)
    }

    /// Loads consecutive dwords; two dwords that form a word are read in one access.
    #[inline(always)]
    pub(crate) fn load_words<const N: usize>(self, offset: u64) -> [u32; N] {
        let mut words = [0; N];
        let mut i = 0;
        while i < N {
            let at = offset + 4 * i as u64;
            if i + 1 < N && at.is_multiple_of(WORD) {
                let pair = self.load_pair(at);
                (words[i], words[i + 1]) = (pair as u32, (pair >> 32) as u32);
                i += 2;
            } else {
                words[i] = self.load(at, 4);
                i += 1;
            }
        }
        words
    }
}

/// A mask for `bytes` bytes (at most 8) of a word, from byte `at` on. Bytes past the end of the word are left out.
#[inline]
fn mask(at: u64, bytes: u32) -> u64 {
    (u64::MAX >> (64 - 8 * bytes)) << (8 * at)
}

/// The words of a range of bytes, each with a mask of its bytes.
#[inline]
fn byte_masks(offset: u64, bytes: u64) -> impl Iterator<Item = (usize, u8)> {
    let end = offset + bytes;
    (offset / WORD..end.div_ceil(WORD)).map(move |word| {
        let (first, last) = (offset.max(word * WORD) - word * WORD, end.min((word + 1) * WORD) - word * WORD);
        (word as usize, (u8::MAX << first) & u8::MAX >> (WORD - last))
    })
}

impl Allocation {
    pub(super) fn new(base: u64, bytes: u64, words: Words) -> Allocation {
        Allocation { base, bytes, words, alone: false, written: Box::default() }
    }

    /// Sets whether only one thread runs kernels. The host may still access memory that it shares.
    pub(super) fn set_alone(&mut self, alone: bool) {
        self.alone = alone && matches!(self.words, Words::Own(_));
    }

    /// Starts to track which bytes are written.
    pub(super) fn track_writes(&mut self) {
        self.written = self.words.iter().map(|_| AtomicU8::new(0)).collect();
    }

    #[inline]
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address - self.base <= self.bytes
            && self.bytes - (address - self.base) >= bytes
    }

    /// The offset of an address from the start of the first word.
    #[inline]
    pub(crate) fn offset(&self, address: u64) -> u64 {
        address - self.base / WORD * WORD
    }

    /// The address with offset 0.
    #[inline]
    pub(crate) fn first(&self) -> u64 {
        self.base / WORD * WORD
    }

    /// True if all bytes have been written, or if writes are not tracked.
    pub(super) fn is_written(&self, offset: u64, bytes: u64) -> bool {
        let is_written = |(word, mask): (usize, u8)| self.written[word].load(Relaxed) & mask == mask;
        self.written.is_empty() || byte_masks(offset, bytes).all(is_written)
    }

    /// Marks bytes as written, if writes are tracked.
    pub(super) fn mark(&self, offset: u64, bytes: u64) {
        if !self.written.is_empty() {
            byte_masks(offset, bytes).for_each(|(word, mask)| match mask {
                u8::MAX => self.written[word].store(mask, Relaxed),
                _ => _ = self.written[word].fetch_or(mask, Relaxed),
            });
        }
    }

    /// Loads up to four bytes, zero-extended.
    #[inline]
    pub(crate) fn load(&self, offset: u64, bytes: u32) -> u32 {
        self.loads().load(offset, bytes)
    }

    /// Loads the word that holds the byte at `offset`.
    #[inline]
    pub(crate) fn load_pair(&self, offset: u64) -> u64 {
        self.loads().load_pair(offset)
    }

    /// The words, for a sequence of loads; avoids checking before each load whether the words are owned or shared.
    #[inline]
    pub(crate) fn loads(&self) -> Loads<'_> {
        Loads(&self.words)
    }

    /// The first address and the size in bytes.
    #[inline]
    pub(crate) fn extent(&self) -> (u64, u64) {
        (self.base, self.bytes)
    }

    /// The words that contain `bytes` bytes from `offset` on; `None` if the range does not consist of whole words of the allocation.
    #[inline]
    fn whole_words(&self, offset: u64, bytes: u64) -> Option<&[AtomicU64]> {
        if !(offset | bytes).is_multiple_of(WORD) {
            return None;
        }
        self.words.get((offset / WORD) as usize..((offset + bytes) / WORD) as usize)
    }

    /// Loads consecutive pairs of dwords. Returns false if the pairs are not whole words of the allocation.
    #[inline]
    pub(crate) fn load_pairs(&self, offset: u64, to: &mut [[u32; 2]]) -> bool {
        let Some(words) = self.whole_words(offset, to.len() as u64 * WORD) else { return false };
        for (to, word) in to.iter_mut().zip(words) {
            let pair = word.load(Relaxed);
            *to = [pair as u32, (pair >> 32) as u32];
        }
        true
    }

    /// Stores consecutive pairs of dwords. Returns false if the pairs are not whole words of the allocation, or if writes are tracked.
    #[inline]
    pub(crate) fn store_pairs(&self, offset: u64, pairs: &[[u32; 2]]) -> bool {
        let Some(words) = self.whole_words(offset, pairs.len() as u64 * WORD) else { return false };
        if !self.written.is_empty() {
            return false;
        }
        for (word, pair) in words.iter().zip(pairs) {
            word.store(u64::from(pair[0]) | u64::from(pair[1]) << 32, Relaxed);
        }
        true
    }

    /// Stores the low bytes of `value`, at most four.
    #[inline]
    pub(crate) fn store(&self, offset: u64, bytes: u32, value: u32) {
        let (index, at, value) = ((offset / WORD) as usize, offset % WORD, u64::from(value));
        self.merge(index, mask(at, bytes), value << (8 * at));
        let inside = WORD - at;
        if u64::from(bytes) > inside {
            self.merge(index + 1, mask(0, bytes - inside as u32), value >> (8 * inside));
        }
    }

    /// Replaces the bits of a word that are set in `mask`, which covers whole bytes.
    #[inline]
    fn merge(&self, index: usize, mask: u64, value: u64) {
        if !self.written.is_empty() {
            let bits = (0..WORD).fold(0, |bits, at| bits | ((mask >> (8 * at) & 1) << at) as u8);
            self.written[index].fetch_or(bits, Relaxed);
        }
        if mask == u64::MAX {
            return self.words[index].store(value, Relaxed);
        }
        self.replace(index, |old| old & !mask | value & mask);
    }

    /// Copies bytes to the allocation; each whole word is stored in one access.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let start = data.len().min((offset.next_multiple_of(WORD) - offset) as usize);
        let (start, data) = data.split_at(start);
        let (words, rest) = data.as_chunks::<8>();
        let part = |offset: u64, bytes: &[u8]| {
            if !bytes.is_empty() {
                let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                let (at, bytes) = (offset % WORD, bytes.len() as u32);
                self.merge((offset / WORD) as usize, mask(at, bytes), value << (8 * at));
            }
        };
        part(offset, start);
        let index = offset.div_ceil(WORD) as usize;
        for (index, word) in (index..).zip(words) {
            self.merge(index, u64::MAX, u64::from_le_bytes(*word));
        }
        part((index + words.len()) as u64 * WORD, rest);
    }

    /// Copies bytes from the allocation; each whole word is loaded in one access.
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) {
        let start = to.len().min((offset.next_multiple_of(WORD) - offset) as usize);
        let (start, to) = to.split_at_mut(start);
        let (words, rest) = to.as_chunks_mut::<8>();
        let part = |offset: u64, to: &mut [u8]| {
            if !to.is_empty() {
                let (word, at) = (self.load_pair(offset).to_le_bytes(), (offset % WORD) as usize);
                to.copy_from_slice(&word[at..at + to.len()]);
            }
        };
        part(offset, start);
        let index = offset.div_ceil(WORD) as usize;
        for (to, word) in words.iter_mut().zip(&self.words[index..]) {
            *to = word.load(Relaxed).to_le_bytes();
        }
        part((index + words.len()) as u64 * WORD, rest);
    }

    /// Atomically replaces the four bytes at an aligned offset; returns the old value.
    #[inline]
    pub(crate) fn update(&self, offset: u64, f: impl Fn(u32) -> u32) -> u32 {
        let (shift, bits) = (8 * (offset % WORD), mask(offset % WORD, 4));
        let new = |old: u64| old & !bits | u64::from(f((old >> shift) as u32)) << shift;
        self.mark(offset, 4);
        (self.replace((offset / WORD) as usize, new) >> shift) as u32
    }

    /// Atomically replaces the eight bytes at an aligned offset; returns the old value.
    #[inline]
    pub(crate) fn update_pair(&self, offset: u64, f: impl Fn(u64) -> u64) -> u64 {
        self.mark(offset, 8);
        self.replace((offset / WORD) as usize, f)
    }

    /// Atomically replaces a word; returns the old value.
    #[inline]
    fn replace(&self, index: usize, f: impl Fn(u64) -> u64) -> u64 {
        let word = &self.words[index];
        if self.alone {
            let old = word.load(Relaxed);
            word.store(f(old), Relaxed);
            return old;
        }
        // The closure always returns `Some`; in both cases the result is the old value.
        word.fetch_update(Relaxed, Relaxed, |old| Some(f(old))).unwrap_or_else(|old| old)
    }
}

/// Write combining: collects consecutive stores of one instruction to the same word, and performs them as one access.
#[derive(Default)]
pub(crate) struct Combined {
    /// The index of the allocation, and of the word in it.
    allocation: usize,
    word: usize,
    /// The bits of the word that are to be stored; 0 if no store is pending.
    mask: u64,
    value: u64,
}

impl Combined {
    /// Stores the low bytes of `value`, at most four, to an allocation that contains them.
    #[inline]
    pub(crate) fn store(&mut self, memory: &Memory, allocation: usize, offset: u64, bytes: u32, value: u32) {
        let (word, at) = ((offset / WORD) as usize, offset % WORD);
        if (self.allocation, self.word) != (allocation, word) {
            self.flush(memory);
            (self.allocation, self.word) = (allocation, word);
        }
        if at + u64::from(bytes) > WORD {
            self.flush(memory);
            return memory.allocation(allocation).store(offset, bytes, value);
        }
        let mask = mask(at, bytes);
        self.mask |= mask;
        self.value = self.value & !mask | u64::from(value) << (8 * at) & mask;
    }

    /// Stores two dwords that form a word.
    #[inline]
    pub(crate) fn store_pair(&mut self, memory: &Memory, allocation: usize, offset: u64, pair: [u32; 2]) {
        self.flush(memory);
        let value = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        memory.allocation(allocation).merge((offset / WORD) as usize, u64::MAX, value);
    }

    /// Performs the pending store.
    #[inline]
    pub(crate) fn flush(&mut self, memory: &Memory) {
        if self.mask != 0 {
            memory.allocation(self.allocation).merge(self.word, self.mask, self.value);
            self.mask = 0;
        }
    }
}
