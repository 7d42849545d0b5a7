//! Detects waves that wait for something that never happens.
//!
//! A wave that returns to exactly the same state while nothing in memory has changed will do so forever, unless another wave changes
//! memory. If that holds for every wave of a workgroup that is not waiting at a barrier, the workgroup hangs, because none of its waves
//! will change memory.

use crate::core::wave::{Snapshot, Wave};

/// The number of instructions without a change in memory after which states are compared.
const PATIENCE: u64 = 4096;

/// The search for a repeated state of one wave.
#[derive(Default)]
pub(super) struct Spin {
    saved: Option<Box<Snapshot>>,
    /// The number of instructions since memory last changed.
    quiet: u64,
    /// The value of `quiet` at which the state is saved again; it doubles each time (Brent's cycle detection).
    next: u64,
    pub stuck: bool,
}

impl Spin {
    /// Called when memory has changed.
    pub(super) fn reset(&mut self) {
        (self.saved, self.quiet, self.next, self.stuck) = (None, 0, PATIENCE, false);
    }

    /// Called after an instruction that changed no memory. If the instruction was a backward jump, `back` is its target.
    pub(super) fn step(&mut self, wave: &Wave, back: Option<usize>) {
        self.quiet += 1;
        let Some(pc) = back.filter(|_| self.quiet > PATIENCE) else { return };
        if self.saved.as_ref().is_some_and(|saved| saved.is(wave, pc)) {
            self.stuck = true;
        } else if self.quiet >= self.next {
            self.next = 2 * self.quiet;
            self.saved = Some(Box::new(Snapshot::of(wave, pc)));
        }
    }
}
