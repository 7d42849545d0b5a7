//! Pools of stream-ordered memory. Freed memory is returned to the device at once.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::host::Ptr;
use crate::registry::Registry;

/// A memory pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pool {
    pub device: usize,
    /// `hipMemPoolAttrReleaseThreshold`.
    pub threshold: u64,
    /// The number of bytes in use, and its maximum so far.
    pub used: u64,
    pub high: u64,
    /// The values of `hipMemPoolReuseFollowEventDependencies` and the two attributes after it.
    pub reuse: [u32; 3],
    /// The maximum size in bytes, or 0 for no limit.
    pub most: u64,
}

impl Pool {
    fn of(device: usize) -> Pool {
        Pool { device, reuse: [1; 3], ..Pool::default() }
    }
}

/// All pools.
pub(crate) struct Pools {
    all: Registry<Pool>,
    /// The pool from which each device currently allocates.
    current: BTreeMap<usize, u64>,
    /// The default pool of each device.
    first: BTreeMap<usize, u64>,
    /// The pool of each device for memory of graphs, which is not visible to programs.
    graphs: BTreeMap<usize, u64>,
    /// For each allocation, by address, its pool and size.
    of: HashMap<u64, (u64, u64)>,
}

impl Pools {
    pub(crate) fn new() -> Pools {
        Pools {
            all: Registry::new(8),
            current: BTreeMap::new(),
            first: BTreeMap::new(),
            graphs: BTreeMap::new(),
            of: HashMap::new(),
        }
    }

    /// Creates a pool of at most `most` bytes; 0 means no limit.
    pub(crate) fn create(&mut self, device: usize, most: u64) -> u64 {
        self.all.add(Pool { most, ..Pool::of(device) })
    }

    /// The default pool of a device.
    pub(crate) fn default_of(&mut self, device: usize) -> u64 {
        let Pools { all, first, .. } = self;
        *first.entry(device).or_insert_with(|| all.add(Pool::of(device)))
    }

    /// The pool for memory of graphs on a device.
    pub(crate) fn graphs_of(&mut self, device: usize) -> u64 {
        let Pools { all, graphs, .. } = self;
        *graphs.entry(device).or_insert_with(|| all.add(Pool::of(device)))
    }

    /// True if the memory at this address is allocated from a pool.
    pub(crate) fn holds(&self, at: Ptr) -> bool {
        self.of.contains_key(&at.address())
    }

    /// The pool from which a device currently allocates.
    pub(crate) fn current_of(&mut self, device: usize) -> u64 {
        self.current.get(&device).copied().unwrap_or_else(|| self.default_of(device))
    }

    pub(crate) fn set_current(&mut self, device: usize, pool: u64) -> Result {
        self.get(pool)?;
        self.current.insert(device, pool);
        Ok(())
    }

    pub(crate) fn get(&mut self, pool: u64) -> Result<&mut Pool> {
        self.all.get_mut(pool).ok_or(Error::InvalidValue)
    }

    /// Destroys a pool that is not a default pool. A device that used the pool returns to its default pool.
    pub(crate) fn destroy(&mut self, pool: u64) -> Result {
        if self.first.values().any(|first| *first == pool) {
            return Err(Error::InvalidValue);
        }
        self.all.remove(pool).ok_or(Error::InvalidValue)?;
        self.current.retain(|_, current| *current != pool);
        Ok(())
    }

    /// Records an allocation.
    pub(crate) fn allocated(&mut self, pool: u64, at: Ptr, bytes: usize) {
        let Ok(found) = self.get(pool) else { return };
        found.used += bytes as u64;
        found.high = found.high.max(found.used);
        self.of.insert(at.address(), (pool, bytes as u64));
    }

    /// Records that an allocation has been freed; does nothing if it was not from a pool.
    pub(crate) fn freed(&mut self, at: Ptr) {
        if let Some((pool, bytes)) = self.of.remove(&at.address())
            && let Ok(found) = self.get(pool)
        {
            found.used -= bytes;
        }
    }

    /// Records that all memory of a device has been freed.
    pub(crate) fn reset(&mut self, device: usize) {
        let Pools { all, of, .. } = self;
        of.retain(|_, (pool, _)| all.get(*pool).is_none_or(|pool| pool.device != device));
        all.values_mut().filter(|pool| pool.device == device).for_each(|pool| pool.used = 0);
    }
}
