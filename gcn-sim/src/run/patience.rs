//! Detects that a launch may hang.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The time without the end of a workgroup after which a launch is reported as possibly hanging, by
/// [`Hooks::stalled`](crate::Hooks::stalled).
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Detects, once per launch, that no workgroup has ended for [`PATIENCE`].
pub(super) struct Patience {
    long: Duration,
    started: Instant,
    /// The time in milliseconds from the start of the launch to the last end of a workgroup.
    moved: AtomicU64,
    lost: AtomicBool,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::of(PATIENCE)
    }
}

impl Patience {
    fn of(long: Duration) -> Patience {
        Patience { long, started: Instant::now(), moved: AtomicU64::new(0), lost: AtomicBool::new(false) }
    }

    /// Records that a workgroup has ended.
    pub(super) fn renew(&self) {
        self.moved.store(self.started.elapsed().as_millis() as u64, Relaxed);
    }

    /// True on the first call after the time without the end of a workgroup has exceeded the limit; false on later calls.
    pub(super) fn ends(&self) -> bool {
        let waited = self.started.elapsed().saturating_sub(Duration::from_millis(self.moved.load(Relaxed)));
        waited >= self.long && !self.lost.swap(true, Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_once() {
        let none = Patience::of(Duration::ZERO);
        assert!(none.ends() && !none.ends());
        let much = Patience::of(Duration::from_secs(3600));
        much.renew();
        assert!(!much.ends());
    }
}
