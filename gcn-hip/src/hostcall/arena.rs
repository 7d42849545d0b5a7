//! Provides the memory for `malloc` in kernels.
//!
//! The device libraries manage small blocks themselves, in a state that is initially all zeros. From the host they request slabs of 2 MiB,
//! and blocks that are too large for a slab (`ockl/src/dm.cl`). They recognise a block that came from the host by its page-aligned address.

use std::collections::BTreeMap;

use crate::heap::{Heap, Kind};
use crate::host::Ptr;

/// The size of the state in bytes (`__ockl_dm_init_v1` clears it).
const STATE: usize = 128 << 10;
/// The size and alignment of a slab in bytes. The device libraries compute the address of a slab's header from the address of a block in
/// the slab.
const SLAB: u64 = 2 << 20;
const PAGE: u64 = 4096;

/// A device's memory for kernels that allocate.
pub(super) struct Arena {
    state: Ptr,
    start: u64,
    end: u64,
    /// The allocated blocks by address, with their sizes.
    taken: BTreeMap<u64, u64>,
}

impl Arena {
    /// Reserves addresses for `most` bytes; memory is used only when kernels touch it. `None` if there is not enough address space.
    pub(super) fn new(heap: &mut Heap, device: usize, most: usize) -> Option<Arena> {
        let state = heap.alloc(Kind::Pinned, device, STATE, 0).ok()?;
        let bytes = most.max(SLAB as usize);
        let start = heap.alloc(Kind::Pinned, device, bytes, 0).ok()?.address();
        Some(Arena { state, start, end: start + bytes as u64, taken: BTreeMap::new() })
    }

    /// The address of the libraries' state.
    pub(super) fn state(&self) -> u64 {
        self.state.address()
    }

    /// Handles a request of a kernel: frees the block at an address, or with address 0 allocates one. Returns 0 if there is not enough
    /// space.
    pub(super) fn request(&mut self, at: u64, bytes: u64) -> u64 {
        if at != 0 {
            self.taken.remove(&at);
            return 0;
        }
        self.allocate(bytes).unwrap_or(0)
    }

    /// Allocates from the first gap that is large enough; `None` if there is none.
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let align = if bytes < SLAB { PAGE } else { SLAB };
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE)?;
        let mut at = self.start.next_multiple_of(align);
        for (start, size) in &self.taken {
            if at.checked_add(bytes)? <= *start {
                break;
            }
            at = at.max((start + size).next_multiple_of(align));
        }
        at.checked_add(bytes).filter(|end| *end <= self.end)?;
        self.taken.insert(at, bytes);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gcn_sim::Sanitize;

    #[test]
    fn pieces_are_apart_aligned_and_used_again() {
        let mut heap = Heap::new(1 << 30, Sanitize::empty());
        let mut arena = Arena::new(&mut heap, 0, 8 << 20).unwrap();
        assert_eq!(heap.free_bytes(), (1 << 30) - (8 << 20) - STATE as u64);
        let slabs: Vec<u64> = (0..3).map(|_| arena.request(0, SLAB)).collect();
        assert!(slabs.iter().all(|at| *at != 0 && at.is_multiple_of(SLAB)), "{slabs:x?}");
        assert!(slabs.windows(2).all(|pair| pair[0] + SLAB <= pair[1]), "{slabs:x?}");
        let small = arena.request(0, 5000);
        assert!(
            small.is_multiple_of(PAGE) && slabs.iter().all(|at| small + 8192 <= *at || at + SLAB <= small)
        );
        assert_eq!((arena.request(0, 100 << 20), arena.request(0, u64::MAX)), (0, 0), "no room");
        assert_eq!(arena.request(slabs[1], 0), 0);
        assert_eq!(arena.request(0, SLAB), slabs[1]);
        assert!(Arena::new(&mut heap, 0, 2 << 30).is_none());
    }
}
