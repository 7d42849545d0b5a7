//! Counters of outstanding operations, and the instructions that wait for them.
//!
//! Each instruction set lists its [counters](InstructionSet::counters). GFX9 has three counters in the immediate of `s_waitcnt`. GFX10 and
//! GFX11 have a fourth counter, for stores. GFX12 has seven counters and a wait instruction for each of them. gfx12.5 also counts copies to
//! LDS and operands that have yet to be read.

mod counter;
mod events;
mod wait;

use crate::target::InstructionSet;

pub use counter::Counter;
pub use events::{Event, Events, MemoryEffect, Stream, events, finishes_after, passed_barrier, room};
pub use wait::{OnSet, WaitCnt};

/// The counters of an instruction set. A [`WaitCnt`] has a value for each of them.
impl InstructionSet {
    /// The counters: first those of `s_waitcnt`, in the order in which it prints them, then those with separate instructions.
    ///
    /// ```
    /// use gcn_isa::InstructionSet;
    /// let set = InstructionSet::GFX11;
    /// let names: Vec<_> = set.counters().iter().map(|counter| counter.name(set)).collect();
    /// assert_eq!(names, ["vmcnt", "expcnt", "lgkmcnt", "vscnt"]);
    /// ```
    pub const fn counters(self) -> &'static [Counter] {
        counter::of(self)
    }
}
