//! The reasons why loads stay in their trip, and the error for a loop in which all of them do.

use std::fmt;

use gcn_isa::program::SourceLoc;

/// The reason why a load does not run ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StaysReason {
    /// The loop stores to the memory that it loads from.
    Stored(Option<SourceLoc>),
    /// The memory can be written, and the loop contains an operation after which other waves' stores may
    /// become visible.
    Ordered(&'static str, Option<SourceLoc>),
    /// The loop may end the kernel, and the load checks no bounds: the address of a later trip may be
    /// invalid.
    Traps(Option<SourceLoc>),
    /// The address depends on a value that the trip itself computes.
    Address,
    /// It is in a branch or an inner loop.
    Nested,
    /// It requests the current contents of memory (`Cache::Bypass`).
    Bypass,
    /// It reads a private array, which this lane writes.
    Private,
    /// The loop changes MODE, on which the address computation depends.
    Mode(Option<SourceLoc>),
    /// A part of the loop is a manual schedule, whose instructions keep their places.
    Manual(Option<SourceLoc>),
}

/// A load that stays in its trip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StayingLoad {
    /// Its position.
    pub at: Option<SourceLoc>,
    /// Why.
    pub reason: StaysReason,
}

/// `#[pipeline]` on a loop in which no load can run ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoLoadAhead {
    /// The attribute's position.
    pub at: Option<SourceLoc>,
    /// The loop's loads.
    pub left: Vec<StayingLoad>,
}

impl std::error::Error for NoLoadAhead {}

/// The reason why the LDS arrays of a pipelined loop keep one buffer each.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SingleReason {
    /// The attribute requests it, or gives only a number of stages.
    Asked,
    /// Second buffers would reduce the number of waves that fit onto a compute unit, and other waves hide more latency.
    Occupancy,
    /// The workgroup has no room for two: bytes needed, and bytes available.
    Room(u32, u32),
    /// The loop stores to no LDS array.
    NoArray,
    /// The kernel also uses an array outside the loop, or may do so by an explicitly named instruction.
    Elsewhere,
    /// The trip has a number of barriers other than two.
    Barriers(usize),
    /// Stores and loads do not alternate, with a barrier after each.
    Mixed,
    /// A load whose bytes are not all known to be written in the same trip.
    Older(Option<SourceLoc>),
    /// A stored value depends on the results of the trip.
    Computed(Option<SourceLoc>),
    /// The trip computes with values from global memory, and not only with values from LDS.
    Computes(Option<SourceLoc>),
    /// An operation in the loop relies on both barriers, or on its position.
    Ordered(&'static str, Option<SourceLoc>),
}

/// `#[pipeline(buffers = 2)]` on a loop whose LDS arrays cannot have a second buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneBuffer {
    /// The attribute's position.
    pub at: Option<SourceLoc>,
    /// Why.
    pub reason: SingleReason,
}

impl std::error::Error for OneBuffer {}

/// A loop that cannot be pipelined as its attribute requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No load can run ahead.
    Loads(NoLoadAhead),
    /// Its arrays cannot have two buffers.
    Buffers(OneBuffer),
}

/// Decides whether it is an error that no load runs ahead. A loop in which only `debug_assert!` prevents it stays as it
/// is, so that a kernel that builds without debugging also builds with it.
pub(super) fn check(at: Option<SourceLoc>, left: Vec<StayingLoad>) -> Result<(), NoLoadAhead> {
    match left.iter().any(|l| matches!(l.reason, StaysReason::Traps(_))) {
        true => Ok(()),
        false => Err(NoLoadAhead { at, left }),
    }
}

fn place(at: Option<SourceLoc>) -> String {
    at.map(|at| format!(" at {at}")).unwrap_or_default()
}

impl fmt::Display for StaysReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaysReason::Stored(at) => write!(
                f,
                "the loop stores to the same memory{}, which a later trip's load must see; load from a `&[T]` or from \
                 another slice than the one that is stored to",
                place(*at)
            ),
            StaysReason::Ordered(what, at) => write!(
                f,
                "its memory can be written, and after the {what}{} it may hold what other waves wrote; make the \
                 argument `&[T]`, or load before the loop",
                place(*at)
            ),
            StaysReason::Traps(at) => write!(
                f,
                "the kernel may end{} before a later trip, and the load checks no bounds; use a slice",
                place(*at)
            ),
            StaysReason::Address => f.write_str(
                "its address is computed from what the trip itself produces; compute it from the loop's variable, from \
                 what does not change, or from variables that each trip changes by what is known before it",
            ),
            StaysReason::Nested => f.write_str(
                "it stands in a branch or an inner loop; load before the branch (past the end of a slice a load gives 0), \
                 or give the inner loop the attribute",
            ),
            StaysReason::Bypass => f.write_str("`Cache::Bypass` asks for what memory holds at this place"),
            StaysReason::Private => f.write_str("a private array holds what this lane wrote itself"),
            StaysReason::Mode(at) => {
                write!(f, "the loop changes MODE{}, under which addresses are computed", place(*at))
            }
            StaysReason::Manual(at) => write!(
                f,
                "a part of the loop{} is `#[schedule(manual)]`, in which the order is the written one; start the \
                 loads of the next trip there yourself, or leave the schedule to the compiler",
                place(*at)
            ),
        }
    }
}

impl fmt::Display for StayingLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the load{} stays in its trip: {}", place(self.at), self.reason)
    }
}

impl fmt::Display for NoLoadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = SourceLoc::lead(self.at);
        write!(f, "{at}`#[pipeline]` finds no load in this loop that could run a trip ahead")?;
        if self.left.is_empty() {
            return f.write_str(": the loop loads nothing; take the attribute away");
        }
        self.left.iter().try_for_each(|left| write!(f, "\n  {left}"))
    }
}

impl fmt::Display for SingleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SingleReason::Asked => f.write_str("one buffer was asked for; `#[pipeline]` alone chooses, `buffers = 2` asks for two"),
            SingleReason::Occupancy => f.write_str("with two, fewer waves would fit onto a compute unit; `buffers = 2` asks for them"),
            SingleReason::Room(bytes, limit) => {
                write!(f, "two take {bytes} bytes, and a workgroup has {limit}; make the tile smaller")
            }
            SingleReason::NoArray => f.write_str("the loop stores to no LDS array; take `buffers` away"),
            SingleReason::Elsewhere => f.write_str(
                "the kernel uses the array outside of the loop as well, or names an instruction itself that might; declare an array for \
                 the loop alone",
            ),
            SingleReason::Barriers(n) => write!(
                f,
                "the trip has {n} barriers of its own, and it takes two: one after the stores to LDS, one after the loads"
            ),
            SingleReason::Mixed => f.write_str(
                "stores to LDS and loads from it do not take turns; store all, `barrier()`, load all, `barrier()`",
            ),
            SingleReason::Older(at) => write!(
                f,
                "the load{} may read what an earlier trip has stored: stores to all bytes of the array are needed, at places computed \
                 from `local_id()` and constants, in no branch",
                place(*at)
            ),
            SingleReason::Computed(at) => write!(
                f,
                "what is stored to LDS depends on what the trip computes{}; store what was loaded, or what is computed from it alone",
                place(*at)
            ),
            SingleReason::Computes(at) => write!(
                f,
                "the trip computes with what it loads from memory{}, a trip before that is needed; put it into LDS as well",
                place(*at)
            ),
            SingleReason::Ordered(what, at) => write!(f, "the {what}{} needs both barriers where they are", place(*at)),
        }
    }
}

impl fmt::Display for OneBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = SourceLoc::lead(self.at);
        write!(f, "{at}the LDS arrays of this loop cannot have two buffers: {}", self.reason)
    }
}
