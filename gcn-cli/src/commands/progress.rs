//! A progress bar for long work, on standard error if that is a terminal.

use std::io::IsTerminal as _;
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gcn_sim::PATIENCE;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure;

/// Work that takes less time shows no progress.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// A progress bar, invisible at first.
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
}

/// The note that is printed if a run seems to hang.
fn hint() -> String {
    format!(
        "note: no workgroup has ended for {} s; if the kernel hangs, --limit N stops a wave after N \
                    instructions and says where it was, and --sanitize deadlock finds waves that wait in vain",
        PATIENCE.as_secs()
    )
}

impl Bar {
    /// A hidden bar that counts `things`.
    pub fn new(things: &str) -> Bar {
        let bar = ProgressBar::hidden();
        let template = format!("{{bar:40}} {{pos}}/{{len}} {things}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Bar { bar, started: Instant::now(), shown: Once::new() }
    }

    /// Updates the bar, and makes it visible if the work has taken long enough.
    pub fn tell(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if self.started.elapsed() >= SHOWN_AFTER {
            self.shown.call_once(|| {
                if std::io::stderr().is_terminal() {
                    self.bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            });
        }
    }

    /// Removes the bar from the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Runs a kernel. Prints the hint if no workgroup ends for a long time, according to the bar's count.
    pub fn watch<T>(&self, run: impl FnOnce() -> T) -> T {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let result = std::thread::scope(|scope| {
            let wait = move || {
                if self.stalls(&stopped, PATIENCE) {
                    self.bar.suspend(|| failure::complain(&hint()));
                }
            };
            let _watcher = std::thread::Builder::new().spawn_scoped(scope, wait);
            let result = run();
            drop(stop);
            result
        });
        self.clear();
        result
    }

    /// Waits until the run ends, and returns false; or until no workgroup has ended for the time `long`, and returns true.
    fn stalls(&self, stopped: &Receiver<()>, long: Duration) -> bool {
        let mut before = self.bar.position();
        while stopped.recv_timeout(long) == Err(RecvTimeoutError::Timeout) {
            let now = self.bar.position();
            if now == before {
                return true;
            }
            before = now;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_which_nothing_ends_is_noticed() {
        let bar = Bar::new("workgroups");
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        assert!(bar.stalls(&stopped, Duration::from_millis(1)));
        drop(stop);
        assert!(!bar.stalls(&stopped, PATIENCE), "the run has ended");
    }
}
