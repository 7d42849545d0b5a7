//! The progress of long work, on standard error if that is a terminal.

use std::io::IsTerminal as _;
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gcn_sim::PATIENCE;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure;

/// Shorter work shows no progress.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// A progress bar.
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
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
    /// A bar that is not drawn yet, and counts `things`.
    pub fn new(things: &str) -> Bar {
        let bar = ProgressBar::hidden();
        let template = format!("{{bar:40}} {{pos}}/{{len}} {things}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Bar { bar, started: Instant::now(), shown: Once::new() }
    }

    /// Says how much is done, and draws it if the work is long.
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

    /// Runs a kernel while the bar counts its workgroups, and prints the hint if none ends for a long time.
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

    /// Waits until the run ends (false), or until no workgroup has ended for as `long` (true).
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
