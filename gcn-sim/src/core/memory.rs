//! The simulated global memory: allocations in a flat 64-bit address space.
//!
//! Workgroups may access memory from several host threads without locks: a kernel without data races gives the same result in any order.
//! [`allocation`] defines which accesses are atomic.

pub(crate) mod allocation;
pub(crate) mod room;

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;

use crate::core::gws::Gws;
use allocation::Words;
pub(crate) use allocation::{Allocation, Combined};
pub use room::AllocError;

/// The first address that is allocated. Lower addresses, including null, are never valid.
const FIRST_ADDRESS: u64 = 0x0000_0001_0000_0000;
/// The number of unmapped bytes after each allocation, so that an access past its end does not hit the next allocation.
const GUARD: u64 = 0x1_0000;
/// The number of freed ranges that are remembered for messages.
const REMEMBERED: usize = 4096;
/// The alignment of allocations.
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
    /// Recently freed ranges, oldest first.
    freed: VecDeque<Range>,
    gws: Gws,
}

/// A range of addresses, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// Size.
    pub bytes: u64,
}

/// A host access outside every allocation.
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

    /// Allocates `bytes` zeroed bytes, aligned to 4096 bytes. If the size may be large, use [`Memory::try_alloc`].
    ///
    /// # Panics
    /// If the host does not have enough memory, as for [`Vec`].
    pub fn alloc(&mut self, bytes: usize) -> u64 {
        self.try_alloc(bytes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Memory::alloc`], but returns an error if the host does not have enough memory.
    ///
    /// ```
    /// let mut memory = gcn_sim::Memory::new();
    /// assert!(memory.try_alloc(1 << 20).is_ok());
    /// assert!(memory.try_alloc(usize::MAX).is_err());
    /// ```
    ///
    /// # Errors
    /// [`AllocError`] if the host does not have enough memory.
    pub fn try_alloc(&mut self, bytes: usize) -> Result<u64, AllocError> {
        let words = room::zeros(bytes.div_ceil(8) as u64)?;
        Ok(self.add(bytes, words))
    }

    fn add(&mut self, bytes: usize, words: Box<[AtomicU64]>) -> u64 {
        let base = self.end;
        // Ranges mapped with [`Memory::map`] may lie above the addresses that are allocated here.
        let at = self.allocations.partition_point(|a| a.base <= base);
        self.allocations.insert(at, Allocation::new(base, bytes as u64, Words::Own(words)));
        self.end = (base + bytes as u64 + GUARD).next_multiple_of(ALIGNMENT);
        base
    }

    /// Allocates `bytes` bytes that count as uninitialized until the host or a kernel writes them; [`crate::Sanitize::MEMORY`] reports
    /// reads before that. The bytes are zero.
    pub fn alloc_uninit(&mut self, bytes: usize) -> u64 {
        let base = self.alloc(bytes);
        self.track_writes(base);
        base
    }

    /// Sets whether one thread runs all workgroups of a kernel, so that no other thread accesses memory that is not shared with the host.
    pub(crate) fn set_alone(&mut self, alone: bool) {
        self.allocations.iter_mut().for_each(|allocation| allocation.set_alone(alone));
    }

    /// The resources of global wave sync, which are stored here because they belong to the device, as its memory does.
    pub(crate) fn gws(&self) -> &Gws {
        &self.gws
    }

    /// Allocates `bytes` zeroed bytes at a fixed, word-aligned address.
    ///
    /// # Errors
    /// [`MemoryError`] if the range is not free or the address not aligned.
    pub(crate) fn map(&mut self, base: u64, bytes: usize) -> Result<(), MemoryError> {
        let words = (0..allocation::words(base, bytes)).map(|_| AtomicU64::new(0)).collect();
        self.insert(base, bytes, Words::Own(words))?;
        Ok(())
    }

    /// Maps `bytes` bytes of the host's memory at the address `base`, a multiple of 4, so that the host and kernels see each other's
    /// writes. The first element of `words` corresponds to `base` rounded down to a multiple of 8. Kernels do not change bytes of `words`
    /// outside the range.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    ///
    /// static SHARED: [AtomicU64; 2] = [AtomicU64::new(7), AtomicU64::new(8)];
    /// let mut memory = gcn_sim::Memory::new();
    /// memory.share((1 << 40) + 4, &SHARED, 8)?;
    /// SHARED[1].store(9, Relaxed);
    /// assert_eq!(memory.read((1 << 40) + 4, 8)?, [0, 0, 0, 0, 9, 0, 0, 0]);
    /// assert!(memory.read(1 << 40, 4).is_err());
    /// # Ok::<(), gcn_sim::MemoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError`] if the range is not free, `base` is not aligned, or `words` is too short.
    pub fn share(&mut self, base: u64, words: &'static [AtomicU64], bytes: usize) -> Result<(), MemoryError> {
        if words.len() < allocation::words(base, bytes) {
            return Err(MemoryError { address: base, bytes: bytes as u64 });
        }
        self.insert(base, bytes, Words::Shared(words))?;
        Ok(())
    }

    /// Enables the detection by [`crate::Sanitize::MEMORY`] of reads of uninitialized bytes in the allocation at `address`. Bytes count as
    /// written if they are written through this memory; a host that writes them in another way has to call [`Memory::mark_written`].
    pub fn track_writes(&mut self, address: u64) {
        if let Some(allocation) = self.allocations.iter_mut().find(|a| a.base == address) {
            allocation.track_writes();
        }
    }

    /// Marks bytes as written by the host, if one allocation contains them all.
    pub fn mark_written(&self, address: u64, bytes: usize) {
        let Some(at) = self.find(address, bytes as u64, 0) else { return };
        let allocation = &self.allocations[at];
        let offset = allocation.offset(address);
        allocation.mark(offset, bytes as u64);
    }

    fn insert(&mut self, base: u64, bytes: usize, words: Words) -> Result<usize, MemoryError> {
        let error = MemoryError { address: base, bytes: bytes as u64 };
        let end = base.checked_add(bytes as u64).ok_or_else(|| error.clone())?;
        let at = self.allocations.partition_point(|a| a.base <= base);
        let before = at.checked_sub(1).and_then(|i| self.allocations.get(i));
        let overlaps = before.is_some_and(|a| a.base + a.bytes > base)
            || self.allocations.get(at).is_some_and(|a| a.base < end);
        if overlaps || !base.is_multiple_of(4) {
            return Err(error);
        }
        // This range replaces freed allocations at the same addresses, so accesses to them are no longer reported as use after free.
        self.freed.retain(|r| r.base >= end || r.base + r.bytes <= base);
        self.allocations.insert(at, Allocation::new(base, bytes as u64, words));
        Ok(at)
    }

    /// Frees an allocation; later accesses to it are errors. Its addresses are not reused.
    ///
    /// # Errors
    /// If `address` is not the first address of an allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let freed = self.remove(address)?;
        if self.freed.len() == REMEMBERED {
            self.freed.pop_front();
        }
        self.freed.push_back(freed);
        Ok(())
    }

    /// Frees an allocation without remembering it as freed. If it is the newest allocation of [`Memory::alloc`], its addresses are reused.
    /// So launches that allocate temporary buffers in a long-lived memory neither use up addresses nor grow the list of freed ranges.
    pub(crate) fn take_back(&mut self, address: u64) -> Result<(), MemoryError> {
        let taken = self.remove(address)?;
        if (taken.base + taken.bytes + GUARD).next_multiple_of(ALIGNMENT) == self.end {
            self.end = taken.base;
        }
        Ok(())
    }

    fn remove(&mut self, address: u64) -> Result<Range, MemoryError> {
        let at = self.allocations.binary_search_by_key(&address, |a| a.base);
        let at = at.map_err(|_| MemoryError { address, bytes: 0 })?;
        let removed = self.allocations.remove(at);
        Ok(Range { base: removed.base, bytes: removed.bytes })
    }

    /// Copies `data` to `address`.
    ///
    /// # Errors
    /// If no allocation contains the whole range.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let (allocation, offset) = self.host_range(address, data.len())?;
        allocation.write(offset, data);
        Ok(())
    }

    /// Copies `bytes` bytes from `address`.
    ///
    /// # Errors
    /// If no allocation contains the whole range.
    pub fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, MemoryError> {
        let (allocation, offset) = self.host_range(address, bytes)?;
        let mut out = vec![0; bytes];
        allocation.read(offset, &mut out);
        Ok(out)
    }

    fn host_range(&self, address: u64, bytes: usize) -> Result<(&Allocation, u64), MemoryError> {
        let bytes = bytes as u64;
        let at = self.find(address, bytes, 0).ok_or(MemoryError { address, bytes })?;
        let allocation = &self.allocations[at];
        Ok((allocation, allocation.offset(address)))
    }

    /// Copies bytes without changing the state of any wave. Returns false if no single allocation contains all bytes.
    pub(crate) fn peek(&self, address: u64, to: &mut [u8]) -> bool {
        let Some(at) = self.find(address, to.len() as u64, 0) else { return false };
        let allocation = &self.allocations[at];
        allocation.read(allocation.offset(address), to);
        true
    }

    /// Writes bytes, if a single allocation contains them all; otherwise does nothing.
    pub(crate) fn poke(&self, address: u64, from: &[u8]) {
        let Some(at) = self.find(address, from.len() as u64, 0) else { return };
        let allocation = &self.allocations[at];
        allocation.write(allocation.offset(address), from);
    }

    /// Atomically replaces the eight bytes at a multiple of 8, also with respect to atomics of running kernels; returns the old bytes.
    ///
    /// # Errors
    /// [`MemoryError`] if no allocation contains them, or the address is not a multiple of 8.
    pub fn swap(&self, address: u64, value: u64) -> Result<u64, MemoryError> {
        let at = self.find(address, 8, 0).filter(|_| address.is_multiple_of(8));
        let allocation = &self.allocations[at.ok_or(MemoryError { address, bytes: 8 })?];
        Ok(allocation.update_pair(allocation.offset(address), |_| value))
    }

    /// The index of the allocation that contains the whole range, if one does; tries the index `hint` first.
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

    /// The allocation whose start or end is closest to `address`.
    pub(crate) fn nearest(&self, address: u64) -> Option<Range> {
        let distance = |a: &&Allocation| {
            if address < a.base { a.base - address } else { address.saturating_sub(a.base + a.bytes) }
        };
        self.allocations.iter().min_by_key(distance).map(|a| Range { base: a.base, bytes: a.bytes })
    }

    /// The freed allocation that contained the byte at `address`, if any.
    pub(crate) fn freed(&self, address: u64) -> Option<Range> {
        self.freed.iter().copied().find(|r| r.base <= address && address - r.base < r.bytes)
    }

    /// The allocation that contains the byte at `address`, if any.
    pub(crate) fn range_of(&self, address: u64) -> Option<Range> {
        let allocation = &self.allocations[self.find(address, 1, 0)?];
        Some(Range { base: allocation.base, bytes: allocation.bytes })
    }

    /// True if all bytes have been written, or if their writes are not tracked.
    pub(crate) fn is_written(&self, address: u64, bytes: u64) -> bool {
        let Some(at) = self.find(address, bytes, 0) else { return true };
        let allocation = &self.allocations[at];
        allocation.is_written(allocation.offset(address), bytes)
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
        assert_eq!(a.load(6, 4), 0x0a09_0807);
        assert_eq!(a.load(8, 2), 0x0a09);
        a.store(3, 2, 0xbeef);
        a.store(7, 2, 0xfaded);
        assert_eq!(memory.read(base, 10).unwrap(), [1, 2, 3, 0xef, 0xbe, 6, 7, 0xed, 0xad, 10]);
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
