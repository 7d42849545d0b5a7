//! Waves that wait for something that does not happen.
//!
//! A wave that comes back to exactly the state it was in, while nothing in memory has changed, will do so forever unless
//! somebody else changes memory. When that is true of every wave of a workgroup that does not wait at a barrier anyway,
//! nobody will.

use crate::core::wave::{Snapshot, Wave};

/// Instructions without any change in memory after which states are compared.
const PATIENCE: u64 = 4096;

/// The state of one wave.
#[derive(Default)]
pub(super) struct Spin {
    saved: Option<Box<Snapshot>>,
    /// Instructions since memory changed last.
    quiet: u64,
    /// When the state is saved anew: twice as late each time (Brent's cycle detection).
    next: u64,
    pub stuck: bool,
}

impl Spin {
    /// Memory has changed.
    pub(super) fn reset(&mut self) {
        (self.saved, self.quiet, self.next, self.stuck) = (None, 0, PATIENCE, false);
    }

    /// An instruction has executed that changed no memory. `back`: where it jumped back to, if it did.
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
