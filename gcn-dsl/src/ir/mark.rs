//! What the user says about the order, on its way from the kernel's body to the finished program.

use gcn_isa::counters::Counter;

use super::class::Classes;

/// A place in a kernel that says something about the order of what is around it. A mark is no instruction: it keeps its
/// place among those that stay in order and is gone in the finished program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// From here on instructions keep the written order, until the matching [`Mark::ManualEnd`] in layout order.
    ManualBegin,
    /// The end of such a stretch.
    ManualEnd,
    /// What follows, up to the [`Mark::Issued`] of the same number, is one asynchronous operation.
    Issue(u32),
    /// Its end.
    Issued(u32),
    /// The `s_waitcnt` after this mark waits for an operation; its value is computed when registers are known.
    Wait {
        /// The operation's number.
        op: u32,
        /// The counter that it moves.
        counter: Counter,
    },
    /// The `s_waitcnt` after this mark is the compiler's own, for this reason.
    Because(&'static str),
    /// Reads of LDS may be outstanding at the `s_barrier` after this mark.
    ReadsPass,
    /// Nothing but these classes is moved across.
    Fence(Classes),
    /// The stretch of code around this mark is to be emitted in turns of these groups.
    Interleave(Box<[Group]>),
}

/// So many instructions of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// How many.
    pub count: u8,
    /// Of which class (or group of classes).
    pub class: Classes,
}

impl Mark {
    /// True if nothing may be moved across.
    pub fn is_boundary(&self) -> bool {
        match self {
            Mark::Fence(classes) => classes.is_empty(),
            Mark::Interleave(_) => false,
            _ => true,
        }
    }
}
