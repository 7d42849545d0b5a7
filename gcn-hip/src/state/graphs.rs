//! Resources of graphs: memory and user objects.

use std::collections::BTreeMap;

use super::{DEVICE, State};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{HostCall, Ptr};
use crate::work::{Op, Reserved};

/// `hipGraphInstantiateFlagAutoFreeOnLaunch`.
const AUTO_FREE: u64 = 1;

/// A user object, which exists as long as the program or a graph has a reference to it.
#[derive(Debug)]
pub(crate) struct Object {
    /// The destructor, which is called after the last reference has been released.
    pub destroy: HostCall,
    pub references: u64,
    /// The number of references that each graph has, included in the total.
    pub graphs: BTreeMap<u64, u64>,
}

impl State {
    /// Reserves memory for a node of a graph. The memory stays reserved while the node or an instance with that node exists, or while it is
    /// in use.
    pub(crate) fn reserve(&mut self, device: usize, bytes: usize) -> Result<Ptr> {
        let at = self.heap.alloc(Kind::Device, device, bytes, 0)?;
        self.reserved.insert(at);
        Ok(at)
    }

    /// Marks memory of a graph as in use.
    pub(super) fn use_reserved(&mut self, memory: &Reserved) {
        let pool = self.pools.graphs_of(memory.device);
        self.pools.allocated(pool, memory.at, memory.bytes);
    }

    /// Marks memory of a graph as no longer in use.
    pub(super) fn free_reserved(&mut self, at: Ptr) -> Result {
        if !self.pools.holds(at) {
            return Err(Error::InvalidValue);
        }
        self.pools.freed(at);
        self.sweep();
        Ok(())
    }

    /// Frees memory that is not in use and that no graph can allocate any more.
    pub(crate) fn sweep(&mut self) {
        if self.reserved.is_empty() {
            return;
        }
        let named = self.graphs.reserved();
        let idle = |at: &Ptr| !named.contains(at) && !self.pools.holds(*at);
        for at in self.reserved.iter().copied().filter(idle).collect::<Vec<_>>() {
            self.reserved.remove(&at);
            // An error means that a reset of the device has already freed it.
            let _ = self.heap.free(at, DEVICE, Error::InvalidValue);
        }
    }

    /// The operations to launch for an instance. An error if memory that an earlier launch allocated has not been freed. It counts as freed
    /// if the operation that frees it is pending, or if the instance frees it automatically.
    pub(super) fn begin(&mut self, instance: u64, stream: u64) -> Result<Vec<Op>> {
        let found = self.graphs.instances.get(instance).ok_or(Error::InvalidValue)?;
        let frees = found.flags & AUTO_FREE != 0 || !self.before(stream)?.is_empty();
        let ops = found.work();
        for op in &ops {
            if let Op::Alloc(memory) = op
                && self.pools.holds(memory.at)
            {
                if !frees {
                    return Err(Error::InvalidValue);
                }
                self.pools.freed(memory.at);
            }
        }
        Ok(ops)
    }

    /// Destroys a graph; returns the destructors of objects to which nothing else refers.
    pub(crate) fn destroy_graph(&mut self, graph: u64) -> Result<Vec<HostCall>> {
        self.graphs.destroy(graph)?;
        self.sweep();
        let held = |(object, found): (u64, &Object)| found.graphs.get(&graph).map(|count| (object, *count));
        let held: Vec<_> = self.objects.iter().filter_map(held).collect();
        Ok(held
            .into_iter()
            .filter_map(|(object, count)| self.release_of_graph(graph, object, count))
            .collect())
    }

    /// Releases references to an object. Returns the destructor, which the caller must call, if these were the last references. As in ROCm,
    /// excess references and nonexistent objects are ignored.
    pub(crate) fn release(&mut self, object: u64, count: u64) -> Option<HostCall> {
        let found = self.objects.get_mut(object)?;
        found.references = found.references.checked_sub(count)?;
        if found.references > 0 {
            return None;
        }
        self.objects.remove(object).map(|object| object.destroy)
    }

    /// As [`release`](Self::release), for references that a graph has.
    pub(crate) fn release_of_graph(&mut self, graph: u64, object: u64, count: u64) -> Option<HostCall> {
        let found = self.objects.get_mut(object)?;
        if found.references < count {
            return None;
        }
        let share = found.graphs.get_mut(&graph)?;
        *share = share.saturating_sub(count);
        if *share == 0 {
            found.graphs.remove(&graph);
        }
        self.release(object, count)
    }
}
