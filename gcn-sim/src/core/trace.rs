//! A record of the memory accesses of the current instruction.
//!
//! Functional mode keeps no record, so the cost for each memory access is a single well-predicted branch. Strict mode needs only the accesses
//! to LDS, so that it performs other accesses as functional mode does.

use crate::core::fault::Fault;

/// A kind of memory, and the path by which it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// Global memory, by a vector instruction.
    Global,
    /// LDS.
    Lds,
    /// The scratch of a lane.
    Scratch,
    /// Global memory, by a scalar instruction.
    Scalar,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Reads and writes atomically.
    Atomic,
}

/// An access of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub space: Path,
    /// The lane; `None` for scalar memory.
    pub lane: Option<u8>,
    /// A global address, an offset in LDS, or an offset in the lane's scratch.
    pub address: u64,
    /// The size in bytes: at most 16, or more if [`Trace::only_lds`] is set.
    pub bytes: u16,
    pub kind: Kind,
}

impl Touch {
    /// True if both accesses are of the same kind and size, and to the same memory.
    pub(crate) fn is_like(&self, other: &Touch) -> bool {
        (self.space, self.kind, self.bytes) == (other.space, other.kind, other.bytes)
    }
}

/// The accesses of one instruction in the order in which they happen, including those out of bounds.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub touches: Vec<Touch>,
    /// If true, the bytes that each write to LDS or global memory replaces are recorded in [`Trace::replaced`], and the old values of
    /// atomics in [`Trace::updated`].
    pub keep: bool,
    /// If true, only accesses to LDS need be recorded, those of consecutive lanes to consecutive bytes as one access, and accesses of one instruction to other memory may be performed together.
    pub only_lds: bool,
    /// If true, accesses of one instruction may be performed together if all of them have been recorded before.
    pub at_once: bool,
    /// The replaced bytes of each [`Kind::Write`] to LDS or global memory, in order.
    pub replaced: Vec<u8>,
    /// The old bytes of each [`Kind::Atomic`], in order.
    pub updated: Vec<u8>,
    /// If true, the run continues after a bad access (reads give 0, writes are dropped), and the fault is recorded in [`Trace::faults`].
    pub lenient: bool,
    /// The faults of bad accesses so far.
    pub faults: Vec<Fault>,
    /// If present, stores are recorded here with their data instead of changing memory.
    pub stored: Option<Vec<(Touch, u128)>>,
}

impl Trace {
    /// True if nothing has been recorded.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.touches.is_empty() && self.faults.is_empty()
    }

    /// Removes the recorded accesses; keeps the settings.
    pub(crate) fn clear(&mut self) {
        self.touches.clear();
        self.replaced.clear();
        self.updated.clear();
        self.faults.clear();
    }
}
