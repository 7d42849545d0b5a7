//! Operations that streams execute.

use gcn_sim::Grid;

use crate::host::{HostCall, Ptr};

/// A 3D box of bytes to copy or fill: rows of `width` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl Extent {
    pub(crate) fn row(width: usize) -> Extent {
        Extent { width, height: 1, depth: 1 }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// The location of rows in memory: the distances in bytes from row to row and from slice to slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pitched {
    pub at: Ptr,
    pub pitch: usize,
    pub slice: usize,
}

impl Pitched {
    pub(crate) fn row(at: Ptr) -> Pitched {
        Pitched { at, pitch: 0, slice: 0 }
    }

    /// The number of bytes from the first to the last; `None` if the number overflows or rows overlap.
    pub(crate) fn bytes(self, extent: Extent) -> Option<usize> {
        if extent.is_empty() {
            return Some(0);
        }
        let rows = self.pitch.checked_mul(extent.height - 1)?;
        let slices = self.slice.checked_mul(extent.depth - 1)?;
        let apart = extent.height == 1 || self.pitch >= extent.width;
        apart.then_some(rows.checked_add(slices)?.checked_add(extent.width)?)
    }

    pub(crate) fn rows(self, extent: Extent) -> impl Iterator<Item = Ptr> {
        let row = move |z: usize, y: usize| self.at.plus(z * self.slice + y * self.pitch);
        (0..extent.depth).flat_map(move |z| (0..extent.height).map(move |y| row(z, y)))
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The function's handle.
    pub function: u64,
    pub grid: Grid,
    pub workgroup: [u32; 3],
    pub dynamic_lds: u32,
    /// The explicit arguments, as in the kernarg segment.
    pub arguments: Vec<u8>,
    pub cooperative: bool,
}

/// Memory of a graph, whose address is fixed when its node is created.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub at: Ptr,
    pub bytes: usize,
    pub device: usize,
    /// `hipMemAllocNodeParams`, for callers that query it.
    pub parameters: Box<[u64]>,
}

/// A condition on a word in memory (`hipStreamWaitValue32` and `hipStreamWaitValue64`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub at: Ptr,
    pub bytes: usize,
    pub value: u64,
    pub mask: u64,
    /// The comparison of `hipStreamWaitValue32`, from 0 to 3.
    pub how: u32,
}

impl Until {
    pub(crate) fn holds(&self, word: &[u8]) -> bool {
        let found = word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)) & self.mask;
        match self.how {
            0 => found >= self.value,
            1 => found == self.value,
            2 => found & self.value != 0,
            _ => !(found | self.value) & self.mask != 0,
        }
    }
}

/// A task of a stream.
#[derive(Debug)]
pub(crate) enum Task {
    Op(Op),
    /// Waits for a value in memory.
    Until(Until),
    /// Frees memory in stream order.
    Release(Ptr),
    /// Stores rows of bytes. They were copied at submission, because the program may change them afterwards.
    Store {
        to: Pitched,
        bytes: Vec<u8>,
        extent: Extent,
    },
}

/// An operation of a stream or of a graph's node.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Copies a box; `kind` is the direction that the program specifies.
    Copy { to: Pitched, from: Pitched, extent: Extent, kind: u32 },
    /// Fills rows of bytes with a pattern.
    Fill { to: Pitched, pattern: Vec<u8>, extent: Extent },
    /// Runs a kernel.
    Launch(Launch),
    /// Calls a host callback.
    Call(HostCall),
    /// Records an event.
    Record(u64),
    /// Waits for an event.
    Wait(u64),
    /// Allocates memory of a graph.
    Alloc(Reserved),
    /// Frees memory of a graph.
    Free(Ptr),
    /// Does nothing.
    Nothing,
    /// Executes the operations of another graph, given by handle.
    Graph(u64),
}

impl Op {
    /// True if this operation of an instance may be replaced by `other`: it has the same kind, and a copy has the same direction.
    pub(crate) fn may_become(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Copy { kind: old, .. }, Op::Copy { kind: new, .. }) => old == new,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}
