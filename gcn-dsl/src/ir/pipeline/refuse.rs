//! The reasons why loads cannot run ahead, and the error for a loop in which none can.

use std::fmt;

use gcn_isa::program::SourceLoc;

/// The reason why a load cannot run ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StaysReason {
    /// The loop stores to the memory from which it loads.
    Stored(Option<SourceLoc>),
    /// Other waves may write the memory, and the loop contains an operation after which their stores may become
    /// visible.
    Ordered(&'static str, Option<SourceLoc>),
    /// The loop may end the kernel, and the load has no bounds check, so the address of a later trip may be invalid.
    Traps(Option<SourceLoc>),
    /// The address depends on a value that the trip itself computes.
    Address,
    /// The load is in a branch or an inner loop.
    Nested,
    /// The load requests the current contents of memory (`Cache::Bypass`).
    Bypass,
    /// The load reads a private array, which the lane itself writes.
    Private,
    /// The loop changes MODE, on which the address computation depends.
    Mode(Option<SourceLoc>),
    /// A part of the loop is a manual schedule, whose instructions stay in place.
    Manual(Option<SourceLoc>),
}

/// A load that cannot run ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StayingLoad {
    /// The load's location.
    pub at: Option<SourceLoc>,
    /// The reason.
    pub reason: StaysReason,
}

/// The error for a `#[pipeline]` loop in which no load can run ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoLoadAhead {
    /// The location of the attribute.
    pub at: Option<SourceLoc>,
    /// The loop's loads, with the reasons.
    pub left: Vec<StayingLoad>,
}

impl std::error::Error for NoLoadAhead {}

/// The reason why the LDS arrays of a pipelined loop are not double-buffered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SingleReason {
    /// The attribute requests single buffering, or specifies only the number of stages.
    Asked,
    /// Double buffering would reduce the number of waves that fit on a compute unit, which would cost more latency
    /// hiding than it gains.
    Occupancy,
    /// Double buffers do not fit into LDS: the number of bytes needed, and the number available.
    Room(u32, u32),
    /// The loop stores to no LDS array.
    NoArray,
    /// The kernel also uses an array outside the loop, or a machine instruction that it names may use one.
    Elsewhere,
    /// A trip has this number of barriers instead of two.
    Barriers(usize),
    /// A trip does not have one phase of stores and one of loads, each followed by a barrier.
    Mixed,
    /// A load may read bytes that the same trip has not written.
    Older(Option<SourceLoc>),
    /// A stored value depends on results of the same trip.
    Computed(Option<SourceLoc>),
    /// The trip also computes with values from global memory, not only with values from LDS.
    Computes(Option<SourceLoc>),
    /// An operation in the loop relies on both barriers, or its position matters.
    Ordered(&'static str, Option<SourceLoc>),
}

/// The error for a `#[pipeline(buffers = 2)]` loop whose LDS arrays cannot be double-buffered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneBuffer {
    /// The location of the attribute.
    pub at: Option<SourceLoc>,
    /// The reason.
    pub reason: SingleReason,
}

impl std::error::Error for OneBuffer {}

/// The error for a loop that cannot be pipelined as its attribute requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No load can run ahead.
    Loads(NoLoadAhead),
    /// The arrays cannot be double-buffered.
    Buffers(OneBuffer),
}

/// Decides whether it is an error that no load can run ahead. If `debug_assert!` is the only reason, the loop stays as
/// it is without an error, so that a kernel that builds without debugging also builds with it.
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
