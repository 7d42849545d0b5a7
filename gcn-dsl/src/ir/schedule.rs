//! IR instructions for instruction order and waits.

use gcn_isa::counters::Counter;

use super::Inst;
use crate::ir::mark::Mark;

/// A scheduling statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// A point that restricts reordering.
    Mark(Mark),
    /// Waits for an asynchronous operation.
    Wait {
        /// The operation's number.
        op: u32,
        /// The counter that counts the operation.
        counter: Counter,
    },
    /// Waits until a counter is zero.
    WaitAll(Counter),
    /// Sets the wave's priority, 0 to 3.
    Priority(u8),
}

impl Inst {
    /// Updates `open`, the number of open manual schedules, to the number after this instruction.
    pub(crate) fn count_manual(&self, open: &mut u32) {
        if let Inst::Schedule(what) = self {
            match **what {
                Schedule::Mark(Mark::ManualBegin) => *open += 1,
                Schedule::Mark(Mark::ManualEnd) => *open = open.saturating_sub(1),
                _ => {}
            }
        }
    }
}
