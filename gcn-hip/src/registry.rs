//! Handles: C code gets a number for an object instead of an address, so that invalid handles are detected.

use std::collections::BTreeMap;

/// Objects by handle. Registries with different tags have different handles, and no handle is reused.
pub(crate) struct Registry<T> {
    tag: u64,
    next: u64,
    items: BTreeMap<u64, T>,
}

/// Handles start in a part of the address space where nothing is mapped, and look like aligned pointers.
const HANDLES: u64 = 0x6a00_0000_0000;

impl<T> Registry<T> {
    pub(crate) fn new(tag: u64) -> Registry<T> {
        Registry { tag, next: 1, items: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, item: T) -> u64 {
        let handle = HANDLES | self.tag << 36 | self.next << 4;
        self.next += 1;
        self.items.insert(handle, item);
        handle
    }

    /// Adds an object under a given handle.
    pub(crate) fn insert(&mut self, handle: u64, item: T) {
        self.items.insert(handle, item);
    }

    pub(crate) fn get(&self, handle: u64) -> Option<&T> {
        self.items.get(&handle)
    }

    pub(crate) fn get_mut(&mut self, handle: u64) -> Option<&mut T> {
        self.items.get_mut(&handle)
    }

    pub(crate) fn remove(&mut self, handle: u64) -> Option<T> {
        self.items.remove(&handle)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(handle, item)| (*handle, item))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.values_mut()
    }
}
