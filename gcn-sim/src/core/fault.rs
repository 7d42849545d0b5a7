//! The outcome of executing an instruction: the next program counter, or a fault.

use crate::core::finding::Finding;
use crate::core::gws::Queued;
use crate::core::site::{Hazard, Space};

/// The next step of a wave after an instruction. Every variant has at most one number of 32 bits, so that the step is kept in registers: moved
/// through memory piece by piece, it took more time than most instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Next {
    /// Continue with the following instruction.
    #[default]
    Fall,
    /// Jump to the instruction with this index.
    Jump(u32),
    /// Wait at `s_barrier` for the other waves of the workgroup.
    Barrier,
    /// Wait at `s_barrier_wait` until every wave of the workgroup has signalled. Waves that have signalled need not have reached their own
    /// wait.
    Signals,
    /// Wait for a resource of global wave sync.
    Queue(Queued),
    /// Let other waves run.
    Yield,
    /// End the wave.
    End,
}

/// A fault without its position, which the caller adds.
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
    /// A sanitizer's finding, which stops the run.
    Finding(Box<Finding>),
    /// The instruction had an error when the code was loaded; see [`Machine::faults`](crate::Machine::faults).
    Loaded,
}

pub(crate) type Outcome = Result<Next, Fault>;

/// As [`Outcome`], but small.
pub(crate) type Ran = Result<Next, Box<Fault>>;

/// The outcome without the next step, which is elsewhere: small enough to be returned in a register.
pub(crate) type Done = Result<(), Box<Fault>>;

const _: () = assert!(size_of::<Done>() <= size_of::<usize>());

impl From<Box<Fault>> for Fault {
    fn from(fault: Box<Fault>) -> Fault {
        *fault
    }
}
