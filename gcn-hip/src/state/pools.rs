//! Pools of stream-ordered memory. They give memory back to the device at once.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::host::Ptr;
use crate::registry::Registry;

/// A pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pool {
    pub device: usize,
    /// `hipMemPoolAttrReleaseThreshold`.
    pub threshold: u64,
    /// Bytes in use, and the most that there were.
    pub used: u64,
    pub high: u64,
    /// `hipMemPoolReuseFollowEventDependencies` and the two after it.
    pub reuse: [u32; 3],
    /// The most bytes, or 0.
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
    /// The pool from which each device allocates.
    current: BTreeMap<usize, u64>,
    /// The pool that each device has from the start.
    first: BTreeMap<usize, u64>,
    /// The pool of the memory of graphs, which no program sees.
    graphs: BTreeMap<usize, u64>,
    /// The pools of allocations by their address, with their bytes.
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

    /// Makes a pool of at most `most` bytes, or without a limit if that is 0.
    pub(crate) fn create(&mut self, device: usize, most: u64) -> u64 {
        self.all.add(Pool { most, ..Pool::of(device) })
    }

    /// The pool that a device has from the start.
    pub(crate) fn default_of(&mut self, device: usize) -> u64 {
        let Pools { all, first, .. } = self;
        *first.entry(device).or_insert_with(|| all.add(Pool::of(device)))
    }

    /// The pool of the memory of graphs on a device.
    pub(crate) fn graphs_of(&mut self, device: usize) -> u64 {
        let Pools { all, graphs, .. } = self;
        *graphs.entry(device).or_insert_with(|| all.add(Pool::of(device)))
    }

    /// True if memory of a pool is in use.
    pub(crate) fn holds(&self, at: Ptr) -> bool {
        self.of.contains_key(&at.address())
    }

    /// The pool from which a device allocates.
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

    /// Destroys a pool that is not a device's first one; a device that used it uses its first one again.
    pub(crate) fn destroy(&mut self, pool: u64) -> Result {
        if self.first.values().any(|first| *first == pool) {
            return Err(Error::InvalidValue);
        }
        self.all.remove(pool).ok_or(Error::InvalidValue)?;
        self.current.retain(|_, current| *current != pool);
        Ok(())
    }

    /// Notes an allocation.
    pub(crate) fn allocated(&mut self, pool: u64, at: Ptr, bytes: usize) {
        let Ok(found) = self.get(pool) else { return };
        found.used += bytes as u64;
        found.high = found.high.max(found.used);
        self.of.insert(at.address(), (pool, bytes as u64));
    }

    /// Notes that an allocation is freed, of a pool or not.
    pub(crate) fn freed(&mut self, at: Ptr) {
        if let Some((pool, bytes)) = self.of.remove(&at.address())
            && let Ok(found) = self.get(pool)
        {
            found.used -= bytes;
        }
    }

    /// Notes that all memory of a device is freed.
    pub(crate) fn reset(&mut self, device: usize) {
        let Pools { all, of, .. } = self;
        of.retain(|_, (pool, _)| all.get(*pool).is_none_or(|pool| pool.device != device));
        all.values_mut().filter(|pool| pool.device == device).for_each(|pool| pool.used = 0);
    }
}
