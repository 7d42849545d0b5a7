//! Pending copies between memory and LDS: loads to LDS whose data have been read from memory but not yet written to LDS, and asynchronous
//! stores that have yet to read LDS.

use std::collections::VecDeque;

/// The time at which a copy accesses LDS.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// When the copy is issued.
    #[default]
    Issued,
    /// When the wave waits for the copy with a wait instruction.
    Waited,
    /// For a load: in a cycle that the timed mode determines after the load is issued ([`Late::done_at`]). For a store: when it is issued.
    Done,
}

/// The pending copies of a wave.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub when: When,
    /// The number of operations issued so far that the counter of copies counts.
    pub issued: u64,
    /// The pending copies, oldest first.
    pub copies: VecDeque<Copy>,
}

/// A pending copy.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The number of counted operations issued before this copy.
    pub number: u64,
    /// The cycle in which the copy completes.
    pub done: u64,
    pub pieces: Vec<Piece>,
}

/// A part of a copy.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The address in LDS.
    pub lds: u32,
    pub bytes: u8,
    pub lane: u8,
    pub other: Other,
}

/// The other side of a copy.
#[derive(Debug)]
pub(crate) enum Other {
    /// These data from memory are written to LDS.
    Data(u32),
    /// The data in LDS are written to this address in memory.
    To(u64),
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
