//! Manages allocations and looks up addresses in them.

use std::collections::BTreeMap;

use gcn_sim::Sanitize;

use crate::error::{Error, Result};
use crate::host::{self, Host, Ptr};

/// The kind of a memory range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `hipMalloc`.
    Device,
    /// `hipHostMalloc`.
    Pinned,
    /// `hipMallocManaged`.
    Managed,
    /// `hipHostRegister`.
    Registered,
    /// The image of a code object, with its variables.
    Image,
}

impl Kind {
    /// True for device memory in the sense of HIP's documentation.
    pub(crate) fn is_device(self) -> bool {
        matches!(self, Kind::Device | Kind::Managed | Kind::Image)
    }

    /// True for host memory that `hipHostGetDevicePointer` and related functions accept.
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Kind::Pinned | Kind::Registered)
    }
}

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub base: Ptr,
    pub bytes: usize,
    pub kind: Kind,
    pub device: usize,
    /// The flags that the allocating function was given.
    pub flags: u32,
}

/// All memory that kernels may use.
pub(crate) struct Heap {
    pub host: Host,
    allocations: BTreeMap<u64, Allocation>,
    /// The maximum total size of all allocations in bytes.
    capacity: u64,
    used: u64,
    /// True if writes are tracked in order to detect reads of uninitialised memory.
    track: bool,
}

impl Heap {
    pub(crate) fn new(capacity: u64, sanitize: Sanitize) -> Heap {
        let track = sanitize.contains(Sanitize::MEMORY);
        let exact = sanitize.contains(Sanitize::ACCESSES);
        Heap { host: Host::new(exact), allocations: BTreeMap::new(), capacity, used: 0, track }
    }

    /// The number of free bytes.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }

    pub(crate) fn alloc(&mut self, kind: Kind, device: usize, bytes: usize, flags: u32) -> Result<Ptr> {
        if bytes as u64 > self.free_bytes() {
            return Err(Error::OutOfMemory);
        }
        let base = self.host.alloc(bytes).ok_or(Error::OutOfMemory)?;
        // Pinned and managed memory are not tracked, because host code can write to them without the simulator noticing.
        if self.track && kind == Kind::Device {
            self.host.memory().track_writes(base.address());
        }
        self.add(Allocation { base, bytes, kind, device, flags });
        Ok(base)
    }

    /// Makes memory that the program owns accessible to kernels.
    pub(crate) fn register(&mut self, at: Ptr, bytes: usize, device: usize, flags: u32) -> Result {
        if at.is_null() || bytes == 0 || !host::is_mapped(at, bytes) {
            return Err(Error::InvalidValue);
        }
        if !self.host.register(at, bytes) {
            return Err(Error::HostMemoryAlreadyRegistered);
        }
        self.add(Allocation { base: at, bytes, kind: Kind::Registered, device, flags });
        Ok(())
    }

    fn add(&mut self, allocation: Allocation) {
        self.used += allocation.bytes as u64;
        self.allocations.insert(allocation.base.address(), allocation);
    }

    /// Frees an allocation of one of these kinds; `otherwise` is the error if there is none at the address.
    pub(crate) fn free(&mut self, at: Ptr, kinds: &[Kind], otherwise: Error) -> Result {
        let found = self.allocations.get(&at.address()).filter(|a| kinds.contains(&a.kind));
        let Allocation { bytes, .. } = *found.ok_or(otherwise)?;
        self.allocations.remove(&at.address());
        self.host.free(at);
        self.used -= bytes as u64;
        Ok(())
    }

    /// Frees all allocations of a device except images.
    pub(crate) fn reset(&mut self, device: usize) {
        let of = |a: &&Allocation| a.device == device && a.kind != Kind::Image;
        let bases: Vec<_> = self.allocations.values().filter(of).map(|a| (a.base, a.kind)).collect();
        for (base, kind) in bases {
            // Cannot fail, because the allocation was just found.
            let _ = self.free(base, &[kind], Error::InvalidValue);
        }
    }

    /// True if an address is inside an allocation, or between its end and the end of its last page.
    pub(crate) fn covers(&self, at: u64) -> bool {
        let before = self.allocations.range(..=at).next_back();
        before.is_some_and(|(base, found)| {
            at < base + (found.bytes as u64).next_multiple_of(host::ALIGN as u64)
        })
    }

    /// The allocation that starts at an address; `None` if none does.
    pub(crate) fn allocation(&self, base: u64) -> Option<&Allocation> {
        self.allocations.get(&base)
    }

    /// The allocation that contains an address; an allocation's end address does not count as inside. `None` if none does.
    pub(crate) fn find(&self, at: Ptr) -> Option<&Allocation> {
        let (_, found) = self.allocations.range(..=at.address()).next_back()?;
        let inside = at.address() - found.base.address();
        (inside < found.bytes.max(1) as u64).then_some(found)
    }

    /// The allocation that contains a range which the caller wants to use; `None` if the range is the program's own memory, which the
    /// runtime does not know.
    pub(crate) fn range(&self, at: Ptr, bytes: usize) -> Result<Option<&Allocation>> {
        if at.is_null() {
            return Err(Error::InvalidValue);
        }
        let end = at.address().checked_add(bytes as u64).ok_or(Error::InvalidValue)?;
        match self.find(at) {
            Some(a) if end <= a.base.address() + a.bytes as u64 => Ok(Some(a)),
            Some(_) => Err(Error::InvalidValue),
            // The address is in the reserved region, but in no allocation: a stale or invalid pointer.
            None if self.host.reserves(at, bytes) => Err(Error::InvalidValue),
            // A range that starts in memory of the program and extends into an allocation is invalid.
            None if self.allocations.range(at.address()..end).next().is_some() => Err(Error::InvalidValue),
            None => Ok(None),
        }
    }

    /// As [`range`](Self::range), but memory that the runtime does not know is an error.
    pub(crate) fn own(&self, at: Ptr, bytes: usize) -> Result<&Allocation> {
        self.range(at, bytes)?.ok_or(Error::InvalidValue)
    }
}
