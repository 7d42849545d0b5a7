//! The memory that the current instruction has accessed.
//!
//! Functional mode has no trace: the memory functions then pay one branch that is always taken the same way.

use crate::core::fault::Fault;

/// Which memory an access went to, and by which path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// Global memory by a vector instruction.
    Global,
    /// LDS.
    Lds,
    /// A lane's scratch.
    Scratch,
    /// Global memory by a scalar instruction.
    Scalar,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Reads and writes at one moment.
    Atomic,
}

/// One access of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub space: Path,
    /// `None` for scalar memory.
    pub lane: Option<u8>,
    /// Global address, LDS byte address, or byte address in the lane's scratch.
    pub address: u64,
    /// At most 16.
    pub bytes: u8,
    pub kind: Kind,
}

/// The accesses of one instruction, in the order in which they happen. An access that is out of bounds is among them.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub touches: Vec<Touch>,
    /// Keep what each write to LDS or global memory replaces in [`Trace::replaced`], and atomics in [`Trace::updated`].
    pub keep: bool,
    /// The replaced bytes of each [`Kind::Write`] to LDS or global memory, in order.
    pub replaced: Vec<u8>,
    /// Those of each [`Kind::Atomic`].
    pub updated: Vec<u8>,
    /// Go on after a bad access (reads give 0, writes are dropped) and keep its fault in [`Trace::faults`].
    pub lenient: bool,
    /// Bad accesses so far.
    pub faults: Vec<Fault>,
    /// Stores are put down here, with their bytes, and memory stays as it is.
    pub stored: Option<Vec<(Touch, u128)>>,
}

impl Trace {
    /// Forgets the accesses; the settings stay.
    pub(crate) fn clear(&mut self) {
        self.touches.clear();
        self.replaced.clear();
        self.updated.clear();
        self.faults.clear();
    }
}
