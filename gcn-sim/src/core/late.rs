//! Pending loads to LDS: their data has been read from memory but not yet written to LDS.

use std::collections::VecDeque;

/// The time at which the data of a load to LDS is written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// When the load is issued.
    #[default]
    Issued,
    /// When the wave waits for the load with a wait instruction.
    Waited,
    /// In a cycle that the timed mode determines after the load is issued ([`Late::done_at`]).
    Done,
}

/// The pending loads to LDS of a wave.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub when: When,
    /// The number of operations issued so far that the counter of copies counts.
    pub issued: u64,
    /// The pending loads, oldest first.
    pub copies: VecDeque<Copy>,
}

/// A pending load to LDS.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The number of counted operations issued before this load.
    pub number: u64,
    /// The cycle in which the load completes.
    pub done: u64,
    /// For each piece: its LDS address, its size in bytes, the lane, and the data.
    pub pieces: Vec<(u32, u8, u8, u32)>,
}

impl Late {
    /// Sets the cycle in which the newest operation completes.
    pub(crate) fn done_at(&mut self, cycle: u64) {
        let newest = self.issued.wrapping_sub(1);
        if let Some(copy) = self.copies.back_mut().filter(|copy| copy.number == newest) {
            copy.done = cycle;
        }
    }

    /// Resets the state for the next workgroup.
    pub(crate) fn clear(&mut self) {
        self.issued = 0;
        self.copies.clear();
    }
}
