//! How far a long run is, on standard error if that is a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gcn_sim::Progress;

/// Nothing is shown of runs that are shorter than this.
const PATIENCE: Duration = Duration::from_millis(500);
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
}

impl Bar {
    /// A bar that is not drawn yet.
    pub fn new() -> Bar {
        Bar { shown: std::io::stderr().is_terminal(), started: Instant::now(), drawn: Mutex::new(None) }
    }

    /// True if there is somebody to see it.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// Draws it, now and then.
    pub fn tell(&self, at: Progress) {
        // Another thread that draws will do.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let now = Instant::now();
        let due = drawn.map_or(self.started + PATIENCE, |last| last + INTERVAL);
        if now >= due {
            *drawn = Some(now);
            let _ = write!(std::io::stderr(), "\r{}", line(at, now - self.started));
        }
    }

    /// Takes it off the screen.
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
}
