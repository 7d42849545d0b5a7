//! The progress of a long run, on standard error if that is a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gcn_sim::{PATIENCE, Progress};

use crate::failure;

/// Shorter runs show no progress.
const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);
/// Characters of the bar.
const WIDTH: u64 = 40;

/// A progress bar.
pub struct Bar {
    shown: bool,
    started: Instant,
    /// When it was last drawn.
    drawn: Mutex<Option<Instant>>,
    /// Workgroups that have ended.
    done: AtomicU64,
}

/// The hint for runs that seem to hang.
fn hint() -> String {
    format!(
        "note: no workgroup has ended for {} s; if the kernel hangs, --limit N stops a wave after N \
                    instructions and says where it was, and --sanitize deadlock finds waves that wait in vain",
        PATIENCE.as_secs()
    )
}

impl Bar {
    /// A bar that is not drawn yet.
    pub fn new() -> Bar {
        Bar {
            shown: std::io::stderr().is_terminal(),
            started: Instant::now(),
            drawn: Mutex::new(None),
            done: AtomicU64::new(0),
        }
    }

    /// Does `work`, and prints the hint if no workgroup ends for a long time.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let wait = move || {
                if self.stalls(&stopped, PATIENCE) {
                    self.clear();
                    failure::complain(&hint());
                }
            };
            let _watcher = std::thread::Builder::new().spawn_scoped(scope, wait);
            let result = work();
            drop(stop);
            result
        })
    }

    /// Waits until the run ends (false), or until no workgroup has ended for as `long` (true).
    fn stalls(&self, stopped: &Receiver<()>, long: Duration) -> bool {
        let mut before = self.done.load(Relaxed);
        while stopped.recv_timeout(long) == Err(RecvTimeoutError::Timeout) {
            let now = self.done.load(Relaxed);
            if now == before {
                return true;
            }
            before = now;
        }
        false
    }

    /// Draws the bar if it is time to.
    pub fn tell(&self, at: Progress) {
        self.done.store(at.done, Relaxed);
        if !self.shown {
            return;
        }
        // If another thread is drawing, this one need not.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let now = Instant::now();
        let due = drawn.map_or(self.started + SHOWN_AFTER, |last| last + INTERVAL);
        if now >= due {
            *drawn = Some(now);
            let _ = write!(std::io::stderr(), "\r{}", line(at, now - self.started));
        }
    }

    /// Removes the bar from the screen.
    pub fn clear(&self) {
        let drawn = self.drawn.lock().is_ok_and(|drawn| drawn.is_some());
        if drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(at: Progress, elapsed: Duration) -> String {
    let total = at.total.max(1);
    let full = (u128::from(at.done) * u128::from(WIDTH) / u128::from(total)) as usize;
    let bar = "#".repeat(full) + &" ".repeat((WIDTH as usize).saturating_sub(full));
    let left = elapsed.as_secs_f64() * (total - at.done.min(total)) as f64 / at.done.max(1) as f64;
    format!("[{bar}] {} of {} workgroups, {left:.0} s left ", at.done, at.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_with_the_workgroups() {
        let shown = line(Progress { done: 25, total: 100 }, Duration::from_secs(1));
        assert!(shown.starts_with("[##########          "), "{shown}");
        assert!(shown.ends_with("25 of 100 workgroups, 3 s left "), "{shown}");
        assert!(line(Progress { done: 0, total: 0 }, Duration::ZERO).contains("0 of 0"));
    }

    #[test]
    fn a_run_in_which_nothing_ends_is_noticed() {
        let bar = Bar::new();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        assert!(bar.stalls(&stopped, Duration::from_millis(1)));
        drop(stop);
        assert!(!bar.stalls(&stopped, PATIENCE), "the run has ended");
    }
}
