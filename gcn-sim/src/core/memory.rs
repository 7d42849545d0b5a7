//! The simulated global memory: allocations in a flat 64-bit address space.
//!
//! Words are atomics with relaxed ordering, so that workgroups may run on several host threads without locks: a kernel
//! without data races gives the same result in any order. Atomics wider than a word take a lock of their own.

pub(crate) mod room;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use crate::core::gws::Gws;
pub use room::AllocError;

/// First address handed out; low addresses, null above all, are never valid.
const FIRST_ADDRESS: u64 = 0x0000_0001_0000_0000;
/// Unmapped bytes after each allocation, so that overruns do not land in the next one.
const GUARD: u64 = 0x1_0000;
/// Alignment of allocations.
const ALIGNMENT: u64 = 0x1000;

/// Simulated global memory.
///
/// ```
/// let mut memory = gcn_sim::Memory::new();
/// let address = memory.alloc(16);
/// memory.write(address + 4, &7u32.to_le_bytes()).unwrap();
/// assert_eq!(memory.read(address, 8).unwrap(), [0, 0, 0, 0, 7, 0, 0, 0]);
/// assert!(memory.read(address + 12, 8).is_err());
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    allocations: Vec<Allocation>,
    end: u64,
    /// What has been given back.
    freed: Vec<Range>,
    wide_atomics: Mutex<()>,
    gws: Gws,
}

/// A range of addresses handed out by [`Memory::alloc`].
#[derive(Debug)]
pub(crate) struct Allocation {
    base: u64,
    bytes: u64,
    words: Box<[AtomicU32]>,
    /// Which bytes of each word have been written; empty if that does not matter.
    written: Box<[AtomicU8]>,
}

/// A range of addresses, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// Size.
    pub bytes: u64,
}

/// Host access outside every allocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no allocation holds the {bytes} bytes at address {address:#x}; use an address from `Memory::alloc` and stay within its size"
)]
pub struct MemoryError {
    /// First address of the access.
    pub address: u64,
    /// Size of the access.
    pub bytes: u64,
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory { end: FIRST_ADDRESS, ..Memory::default() }
    }

    /// Allocates `bytes` zeroed bytes, aligned to 4096. For sizes that are not known to be small there is [`Memory::try_alloc`].
    ///
    /// # Panics
    /// If the host has no room for them, as [`Vec`] does.
    pub fn alloc(&mut self, bytes: usize) -> u64 {
        let words = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        self.add(bytes, words)
    }

    /// The same, if the host has room for them.
    ///
    /// ```
    /// let mut memory = gcn_sim::Memory::new();
    /// assert!(memory.try_alloc(1 << 20).is_ok());
    /// assert!(memory.try_alloc(usize::MAX).is_err());
    /// ```
    ///
    /// # Errors
    /// [`AllocError`] otherwise.
    pub fn try_alloc(&mut self, bytes: usize) -> Result<u64, AllocError> {
        let count = bytes.div_ceil(4);
        let mut words = room::vector(count as u64)?;
        words.extend((0..count).map(|_| AtomicU32::new(0)));
        Ok(self.add(bytes, words.into_boxed_slice()))
    }

    fn add(&mut self, bytes: usize, words: Box<[AtomicU32]>) -> u64 {
        let base = self.end;
        // Mapped ranges lie above what is handed out here.
        let at = self.allocations.partition_point(|a| a.base <= base);
        self.allocations.insert(at, Allocation { base, bytes: bytes as u64, words, written: Box::default() });
        self.end = (base + bytes as u64 + GUARD).next_multiple_of(ALIGNMENT);
        base
    }

    /// Allocates `bytes` bytes that a kernel must not read before it or the host has written them; those that are read
    /// anyway are zero. [`crate::Sanitize::MEMORY`] finds such reads.
    pub fn alloc_uninit(&mut self, bytes: usize) -> u64 {
        let base = self.alloc(bytes);
        if let Some(allocation) = self.allocations.iter_mut().find(|a| a.base == base) {
            allocation.written = allocation.words.iter().map(|_| AtomicU8::new(0)).collect();
        }
        base
    }

    /// The resources of global wave sync, which are the device's as its memory is.
    pub(crate) fn gws(&self) -> &Gws {
        &self.gws
    }

    /// Allocates `bytes` zeroed bytes at a fixed, word-aligned address.
    ///
    /// # Errors
    /// [`MemoryError`] if the range is not free or the address not aligned.
    pub(crate) fn map(&mut self, base: u64, bytes: usize) -> Result<(), MemoryError> {
        let error = MemoryError { address: base, bytes: bytes as u64 };
        let end = base.checked_add(bytes as u64).ok_or_else(|| error.clone())?;
        let at = self.allocations.partition_point(|a| a.base <= base);
        let before = at.checked_sub(1).and_then(|i| self.allocations.get(i));
        let overlaps = before.is_some_and(|a| a.base + a.bytes > base)
            || self.allocations.get(at).is_some_and(|a| a.base < end);
        if overlaps || !base.is_multiple_of(4) {
            return Err(error);
        }
        let words = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        self.allocations.insert(at, Allocation { base, bytes: bytes as u64, words, written: Box::default() });
        Ok(())
    }

    /// Gives an allocation back; later accesses to it are errors. Its addresses are not used again.
    ///
    /// # Errors
    /// If `address` is not the first address of an allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let at = self.allocations.iter().position(|a| a.base == address);
        let at = at.ok_or(MemoryError { address, bytes: 0 })?;
        let freed = self.allocations.remove(at);
        self.freed.push(Range { base: freed.base, bytes: freed.bytes });
        Ok(())
    }

    /// Copies `data` to `address`.
    ///
    /// # Errors
    /// If the range is not inside one allocation.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let (allocation, offset) = self.host_range(address, data.len())?;
        // Whole words first: a buffer of gigabytes is filled byte by byte otherwise.
        let (words, rest) = data.as_chunks::<4>();
        let whole = if offset.is_multiple_of(4) { words } else { &[] };
        for (i, word) in whole.iter().enumerate() {
            allocation.store(offset + 4 * i as u64, 4, u32::from_le_bytes(*word));
        }
        let (start, rest) = if whole.is_empty() { (0, data) } else { (data.len() - rest.len(), rest) };
        for (i, byte) in rest.iter().enumerate() {
            allocation.store8(offset + (start + i) as u64, *byte);
        }
        Ok(())
    }

    /// Copies `bytes` bytes from `address`.
    ///
    /// # Errors
    /// If the range is not inside one allocation.
    pub fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, MemoryError> {
        let (allocation, offset) = self.host_range(address, bytes)?;
        let mut out = Vec::with_capacity(bytes.next_multiple_of(4));
        if offset.is_multiple_of(4) {
            let words = (0..bytes.div_ceil(4) as u64).map(|i| allocation.load(offset + 4 * i, 4));
            words.for_each(|word| out.extend(word.to_le_bytes()));
            out.truncate(bytes);
        } else {
            out.extend((0..bytes as u64).map(|i| allocation.load8(offset + i)));
        }
        Ok(out)
    }

    fn host_range(&self, address: u64, bytes: usize) -> Result<(&Allocation, u64), MemoryError> {
        let bytes = bytes as u64;
        let at = self.find(address, bytes, 0).ok_or(MemoryError { address, bytes })?;
        let allocation = &self.allocations[at];
        Ok((allocation, address - allocation.base))
    }

    /// Copies bytes without a change to any hint; false if no allocation holds them.
    pub(crate) fn peek(&self, address: u64, to: &mut [u8]) -> bool {
        let Some(at) = self.find(address, to.len() as u64, 0) else { return false };
        let allocation = &self.allocations[at];
        let offset = allocation.offset(address);
        (offset..).zip(to).for_each(|(at, byte)| *byte = allocation.load8(at));
        true
    }

    /// Writes bytes, if an allocation holds them.
    pub(crate) fn poke(&self, address: u64, from: &[u8]) {
        let Some(at) = self.find(address, from.len() as u64, 0) else { return };
        let allocation = &self.allocations[at];
        let offset = allocation.offset(address);
        (offset..).zip(from).for_each(|(at, byte)| allocation.store8(at, *byte));
    }

    /// Index of the allocation that holds the range; `hint` is tried first.
    #[inline]
    pub(crate) fn find(&self, address: u64, bytes: u64, hint: usize) -> Option<usize> {
        if self.allocations.get(hint).is_some_and(|a| a.holds(address, bytes)) {
            return Some(hint);
        }
        let after = self.allocations.partition_point(|a| a.base <= address);
        let at = after.checked_sub(1)?;
        self.allocations[at].holds(address, bytes).then_some(at)
    }

    #[inline]
    pub(crate) fn allocation(&self, at: usize) -> &Allocation {
        &self.allocations[at]
    }

    /// The allocation that ends or starts closest to `address`.
    pub(crate) fn nearest(&self, address: u64) -> Option<Range> {
        let distance = |a: &&Allocation| {
            if address < a.base { a.base - address } else { address.saturating_sub(a.base + a.bytes) }
        };
        self.allocations.iter().min_by_key(distance).map(|a| Range { base: a.base, bytes: a.bytes })
    }

    /// The former allocation that held the byte at `address`.
    pub(crate) fn freed(&self, address: u64) -> Option<Range> {
        self.freed.iter().copied().find(|r| r.base <= address && address - r.base < r.bytes)
    }

    /// The allocation that holds the byte at `address`.
    pub(crate) fn range_of(&self, address: u64) -> Option<Range> {
        let allocation = &self.allocations[self.find(address, 1, 0)?];
        Some(Range { base: allocation.base, bytes: allocation.bytes })
    }

    /// True if all bytes have been written, or need not be.
    pub(crate) fn is_written(&self, address: u64, bytes: u64) -> bool {
        let Some(at) = self.find(address, bytes, 0) else { return true };
        let allocation = &self.allocations[at];
        let offset = allocation.offset(address);
        let is_written = |at: u64| allocation.written[(at / 4) as usize].load(Relaxed) >> (at % 4) & 1 == 1;
        allocation.written.is_empty() || (offset..offset + bytes).all(is_written)
    }

    /// Runs a read-modify-write of more than one word while no other such operation runs.
    pub(crate) fn wide_atomic<T>(&self, f: impl FnOnce() -> T) -> T {
        let _guard = self.wide_atomics.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        f()
    }
}

impl Allocation {
    #[inline]
    fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address - self.base <= self.bytes
            && self.bytes - (address - self.base) >= bytes
    }

    #[inline]
    pub(crate) fn offset(&self, address: u64) -> u64 {
        address - self.base
    }

    #[inline]
    fn load8(&self, offset: u64) -> u8 {
        (self.words[(offset / 4) as usize].load(Relaxed) >> (offset % 4 * 8)) as u8
    }

    /// Notes that bytes have been written, if that matters.
    #[inline]
    fn mark(&self, offset: u64, bytes: u32) {
        if !self.written.is_empty() {
            (offset..offset + u64::from(bytes)).for_each(|at| {
                self.written[(at / 4) as usize].fetch_or(1 << (at % 4), Relaxed);
            });
        }
    }

    #[inline]
    fn store8(&self, offset: u64, byte: u8) {
        self.mark(offset, 1);
        let shift = offset % 4 * 8;
        let put = |word: u32| Some(word & !(0xff << shift) | u32::from(byte) << shift);
        // The closure never declines, so the update cannot fail.
        let _ = self.words[(offset / 4) as usize].fetch_update(Relaxed, Relaxed, put);
    }

    /// Loads up to four bytes, zero-extended.
    #[inline]
    pub(crate) fn load(&self, offset: u64, bytes: u32) -> u32 {
        if bytes == 4 && offset.is_multiple_of(4) {
            return self.words[(offset / 4) as usize].load(Relaxed);
        }
        (0..bytes).fold(0, |value, i| value | u32::from(self.load8(offset + u64::from(i))) << (8 * i))
    }

    /// Stores the low bytes of `value`.
    #[inline]
    pub(crate) fn store(&self, offset: u64, bytes: u32, value: u32) {
        if bytes == 4 && offset.is_multiple_of(4) {
            self.mark(offset, 4);
            self.words[(offset / 4) as usize].store(value, Relaxed);
            return;
        }
        for i in 0..bytes {
            self.store8(offset + u64::from(i), (value >> (8 * i)) as u8);
        }
    }

    /// Atomically replaces the word at a word-aligned offset; returns the old value.
    #[inline]
    pub(crate) fn update(&self, offset: u64, f: impl Fn(u32) -> u32) -> u32 {
        self.mark(offset, 4);
        let word = &self.words[(offset / 4) as usize];
        // The closure never declines, so both outcomes hold the old value.
        word.fetch_update(Relaxed, Relaxed, |old| Some(f(old))).unwrap_or_else(|old| old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_accesses_see_little_endian_bytes() {
        let mut memory = Memory::new();
        let base = memory.alloc(10);
        memory.write(base, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        let a = memory.allocation(memory.find(base, 10, 0).unwrap());
        assert_eq!(a.load(1, 4), 0x0504_0302);
        assert_eq!(a.load(8, 2), 0x0a09);
        a.store(3, 2, 0xbeef);
        assert_eq!(memory.read(base, 6).unwrap(), [1, 2, 3, 0xef, 0xbe, 6]);
    }

    #[test]
    fn mapped_ranges_do_not_overlap() {
        let mut memory = Memory::new();
        memory.map(1 << 40, 64).unwrap();
        let a = memory.alloc(16);
        assert!(a < 1 << 40 && memory.read(a, 16).is_ok() && memory.read((1 << 40) + 60, 4).is_ok());
        for (base, bytes) in
            [((1 << 40) - 4, 8), (1 << 40, 4), ((1 << 40) + 60, 4), (a + 8, 4), ((1 << 41) + 2, 4)]
        {
            assert!(memory.map(base, bytes).is_err(), "{base:#x}");
        }
        memory.map((1 << 40) + 64, 4).unwrap();
        memory.write((1 << 40) + 65, &[1, 2, 3]).unwrap();
        assert_eq!(memory.read((1 << 40) + 64, 4).unwrap(), [0, 1, 2, 3]);
        memory.write(1 << 40, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(memory.read((1 << 40) + 3, 5).unwrap(), [4, 5, 6, 7, 0]);
    }

    #[test]
    fn ranges_end_where_the_allocation_ends() {
        let mut memory = Memory::new();
        let (a, b) = (memory.alloc(10), memory.alloc(100));
        assert!(memory.find(a + 6, 4, 0).is_some() && memory.find(a + 7, 4, 0).is_none());
        assert_eq!(memory.find(b + 99, 1, 0), Some(1));
        assert_eq!(memory.nearest(a + 12), Some(Range { base: a, bytes: 10 }));
        memory.free(a).unwrap();
        assert!(memory.read(a, 1).is_err() && memory.free(a).is_err());
    }
}
