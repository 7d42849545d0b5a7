//! Loads to LDS that have not written it yet, as a part of the state of a wave.

use std::collections::VecDeque;

/// When loads to LDS write it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// When they are issued.
    #[default]
    Issued,
    /// When their wave has waited for them.
    Waited,
    /// At a time that is given later ([`Late::done_at`]).
    Done,
}

/// Data that a wave's loads to LDS have read and not yet written.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub when: When,
    /// Operations issued that vmcnt counts.
    pub issued: u64,
    /// Oldest first.
    pub copies: VecDeque<Copy>,
}

/// A load to LDS that has not written it.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The number of operations issued before.
    pub number: u64,
    /// The cycle in which it is done.
    pub done: u64,
    /// LDS address, lane and dword.
    pub dwords: Vec<(u32, u8, u32)>,
}

impl Late {
    /// The newest operation is done in this cycle.
    pub(crate) fn done_at(&mut self, cycle: u64) {
        let newest = self.issued.wrapping_sub(1);
        if let Some(copy) = self.copies.back_mut().filter(|copy| copy.number == newest) {
            copy.done = cycle;
        }
    }

    /// For the next workgroup.
    pub(crate) fn clear(&mut self) {
        self.issued = 0;
        self.copies.clear();
    }
}
