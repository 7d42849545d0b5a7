//! Counters of outstanding operations, and the instructions that wait for them.
//!
//! Each instruction set lists its [counters](InstructionSet::counters): GFX9 has three in the immediate of `s_waitcnt`, GFX10 and GFX11 count
//! stores on a fourth, GFX12 has seven with an instruction for each, and gfx12.5 counts copies to LDS and operands that are still to be read.

mod counter;
mod events;
mod wait;

use crate::target::InstructionSet;

pub use counter::Counter;
pub use events::{Event, Events, MemoryEffect, Stream, events, finishes_after, room};
pub use wait::{OnSet, WaitCnt};

/// The counters of an instruction set, whose values a [`WaitCnt`] holds.
impl InstructionSet {
    /// The counters, in the order in which `s_waitcnt` prints them, then those with instructions of their own.
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
