//! Processes that run in turn, and how long each takes.

use std::process::Command;
use std::time::{Duration, Instant};

/// Elapsed and, if known, processor time of one run, and what it wrote.
pub fn timed(command: &mut Command) -> ((Duration, Option<Duration>), String) {
    let (before, start) = (children(), Instant::now());
    let out = command.output().expect("the command can be run");
    let elapsed = start.elapsed();
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    let processor = children().zip(before).map(|(after, before)| after.saturating_sub(before));
    ((elapsed, processor), String::from_utf8(out.stdout).expect("text"))
}

/// Processor time of all children that are done, where Linux says it: in hundredths of a second, so that only
/// sums over many runs mean anything.
fn children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold blanks: state, then `cutime` and `cstime` as the 14th and 15th.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(13)? + ticks(14)?)))
}

/// The runs of one process.
#[derive(Default)]
pub struct Times(Vec<(Duration, Option<Duration>)>);

impl Times {
    /// Adds one run, as [`timed`] gives it.
    pub fn add(&mut self, once: (Duration, Option<Duration>)) {
        self.0.push(once);
    }

    /// The median.
    fn elapsed(&mut self) -> Duration {
        self.0.sort_unstable();
        self.0.get(self.0.len() / 2).map_or(Duration::ZERO, |t| t.0)
    }

    /// The mean, which knows more than single runs do.
    fn processor(&self) -> Option<Duration> {
        let sum: Duration = self.0.iter().map(|t| t.1).sum::<Option<Duration>>()?;
        Some(sum / self.0.len().max(1) as u32)
    }

    /// Prints how long these processes take and those of `name`.
    pub fn print(&mut self, name: &str, theirs: &mut Times) {
        println!("  whole process, elapsed  {}", ratio(self.elapsed(), name, theirs.elapsed()));
        if let (Some(ours), Some(theirs)) = (self.processor(), theirs.processor()) {
            println!("  whole process, CPU      {}", ratio(ours, name, theirs));
        }
    }
}

/// What two times come to, theirs with the name of what takes it.
pub fn ratio(ours: Duration, name: &str, theirs: Duration) -> String {
    let times = theirs.as_secs_f64() / ours.as_secs_f64().max(1e-9);
    format!("gcn {:.1} ms, {name} {:.1} ms: {times:.1} times as fast", millis(ours), millis(theirs))
}

fn millis(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
