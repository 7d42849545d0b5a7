//! Operations of streams.

use gcn_sim::Grid;

use crate::host::{HostCall, Ptr};

/// A box of bytes, to be copied or filled: rows of `width` bytes.
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

/// Rows in memory: the bytes from row to row and from slice to slice.
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

    /// Bytes from the first to the last; `None` if the number overflows, or if rows overlap.
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
    /// The arguments that the caller gives, as they are in the kernarg segment.
    pub arguments: Vec<u8>,
    pub cooperative: bool,
}

/// Memory of a graph, which has its address from when its node is made.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub at: Ptr,
    pub bytes: usize,
    pub device: usize,
    /// `hipMemAllocNodeParams`, for a caller that queries it.
    pub parameters: Box<[u64]>,
}

/// The condition on a word in memory (`hipStreamWaitValue32` and `hipStreamWaitValue64`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub at: Ptr,
    pub bytes: usize,
    pub value: u64,
    pub mask: u64,
    /// How it is compared: 0 to 3.
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

/// Something that a stream does.
#[derive(Debug)]
pub(crate) enum Task {
    Op(Op),
    /// Waits for a value in memory.
    Until(Until),
    /// Gives memory back that is freed in the order of a stream.
    Release(Ptr),
    /// Stores rows of bytes that the program may change before it is their turn.
    Store {
        to: Pitched,
        bytes: Vec<u8>,
        extent: Extent,
    },
}

/// Something that a stream does, or a node of a graph.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Copies a box; `kind` is the program's description of its sides.
    Copy { to: Pitched, from: Pitched, extent: Extent, kind: u32 },
    /// Fills rows of bytes with a pattern.
    Fill { to: Pitched, pattern: Vec<u8>, extent: Extent },
    /// Runs a kernel.
    Launch(Launch),
    /// Calls a function of the host.
    Call(HostCall),
    /// Records an event.
    Record(u64),
    /// Waits for an event.
    Wait(u64),
    /// Puts the memory of a graph into use.
    Alloc(Reserved),
    /// Takes it out of use.
    Free(Ptr),
    /// No operation.
    Nothing,
    /// The operations of another graph, by its handle.
    Graph(u64),
}

impl Op {
    /// True if an instance may do `other` instead: it is of the same kind, and a copy goes the same way.
    pub(crate) fn may_become(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Copy { kind: old, .. }, Op::Copy { kind: new, .. }) => old == new,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}
