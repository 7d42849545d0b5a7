//! The outcome of executing an instruction: the next program counter, or a fault.

use crate::core::finding::Finding;
use crate::core::gws::Queued;
use crate::core::site::{Hazard, Space};

/// Where control goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// On to the following instruction.
    Fall,
    /// To an instruction by index.
    Jump(usize),
    /// Wait for the other waves of the workgroup.
    Barrier,
    /// Wait until the other waves of the workgroup have arrived at the barrier as well, where they need not wait.
    Signals,
    /// Wait at a resource of global wave sync.
    Queue(Queued),
    /// Let other waves run.
    Yield,
    /// The wave is done.
    End,
}

/// A fault without its place, which the caller knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Unsupported(&'static str),
    OutOfBounds {
        space: Space,
        write: bool,
        lane: Option<u8>,
        address: u64,
        bytes: u32,
    },
    Misaligned {
        lane: u8,
        address: u64,
        alignment: u32,
    },
    BadBranch(u64),
    Trap(u8),
    Hazard(Box<Hazard>),
    /// A sanitizer stops the run.
    Finding(Box<Finding>),
    /// The instruction could not be resolved when the code was loaded.
    Loaded,
}

pub(crate) type Outcome = Result<Next, Fault>;
