//! Runs processes alternately and measures their times.

use std::process::Command;
use std::time::{Duration, Instant};

/// Runs a command; returns the elapsed time, the processor time if known, and the output.
pub fn timed(command: &mut Command) -> ((Duration, Option<Duration>), String) {
    let (before, start) = (children(), Instant::now());
    let out = command.output().expect("the command can be run");
    let elapsed = start.elapsed();
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    let processor = children().zip(before).map(|(after, before)| after.saturating_sub(before));
    ((elapsed, processor), String::from_utf8(out.stdout).expect("text"))
}

/// The processor time of all child processes that have ended; `None` if the system does not report it. Its resolution is a hundredth of a
/// second, so only sums over many runs are meaningful.
fn children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, which may contain blanks, is followed by the state; `cutime` and `cstime` are the 14th and 15th field after the name.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(13)? + ticks(14)?)))
}

/// The measured runs of one program.
#[derive(Default)]
pub struct Times(Vec<(Duration, Option<Duration>)>);

impl Times {
    /// Adds a run with the times that [`timed`] returned.
    pub fn add(&mut self, once: (Duration, Option<Duration>)) {
        self.0.push(once);
    }

    /// The median of the elapsed times.
    fn elapsed(&mut self) -> Duration {
        self.0.sort_unstable();
        self.0.get(self.0.len() / 2).map_or(Duration::ZERO, |t| t.0)
    }

    /// The mean of the processor times, which is more precise than a median of such coarse values; `None` if they are not known.
    fn processor(&self) -> Option<Duration> {
        let sum: Duration = self.0.iter().map(|t| t.1).sum::<Option<Duration>>()?;
        Some(sum / self.0.len().max(1) as u32)
    }

    /// Prints these times next to those of the program `name`.
    pub fn print(&mut self, name: &str, theirs: &mut Times) {
        println!("  whole process, elapsed  {}", ratio(self.elapsed(), name, theirs.elapsed()));
        if let (Some(ours), Some(theirs)) = (self.processor(), theirs.processor()) {
            println!("  whole process, CPU      {}", ratio(ours, name, theirs));
        }
    }
}

/// The ratio of two times as text; `name` is the program that took the time `theirs`.
pub fn ratio(ours: Duration, name: &str, theirs: Duration) -> String {
    let times = theirs.as_secs_f64() / ours.as_secs_f64().max(1e-9);
    format!("gcn {:.1} ms, {name} {:.1} ms: {times:.1} times as fast", millis(ours), millis(theirs))
}

fn millis(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
