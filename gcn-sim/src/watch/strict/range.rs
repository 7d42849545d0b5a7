//! Ranges of LDS bytes.

use crate::core::trace::{Path, Touch};

/// The LDS bytes that an instruction accessed, as one range; empty if `end` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct LdsRange {
    pub start: u32,
    pub end: u32,
}

impl LdsRange {
    pub(crate) fn of(touches: &[Touch]) -> LdsRange {
        let mut range = LdsRange::default();
        for touch in touches.iter().filter(|t| t.space == Path::Lds) {
            range.add(touch);
        }
        range
    }

    /// Extends the range by the bytes that a lane has accessed.
    pub(crate) fn add(&mut self, touch: &Touch) {
        let (address, bytes) = (touch.address as u32, u32::from(touch.bytes));
        if self.end == 0 {
            self.start = address;
        }
        self.start = self.start.min(address);
        self.end = self.end.max(address.saturating_add(bytes));
    }

    pub(crate) fn overlaps(&self, other: &LdsRange) -> bool {
        self.start < other.end && other.start < self.end
    }
}
