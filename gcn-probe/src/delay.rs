//! The time that a process spends waiting for a processor, because other processes use all of them. It does not count against the time limit
//! of a task; otherwise a task on a busy machine would look like one that hangs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measures how long the threads of a process wait for a processor.
#[derive(Debug)]
pub struct Delay {
    /// The folder that has a folder for each thread.
    threads: PathBuf,
    /// The time that each thread has waited since its start, in nanoseconds.
    before: HashMap<String, u64>,
}

impl Delay {
    /// For the process with this number. `proc` is the folder `/proc` of Linux, where the second number in `task/*/schedstat` of a process
    /// is the nanoseconds that a thread was ready to run but had no processor (Linux, `Documentation/scheduler/sched-stats.rst`). On other
    /// systems, every time is zero.
    pub fn of(proc: &Path, process: u32) -> Delay {
        Delay { threads: proc.join(process.to_string()).join("task"), before: HashMap::new() }
    }

    /// The time that passed since the last call without a processor for the thread that had to wait longest. Since other threads may have
    /// run meanwhile, the process may have been delayed by less.
    pub fn since(&mut self) -> Duration {
        let Ok(entries) = fs::read_dir(&self.threads) else { return Duration::ZERO };
        let now: HashMap<String, u64> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let text = fs::read_to_string(entry.path().join("schedstat")).ok()?;
                let waited = text.split_whitespace().nth(1)?.parse().ok()?;
                Some((entry.file_name().into_string().ok()?, waited))
            })
            .collect();
        let longest = now
            .iter()
            .map(|(thread, waited)| waited.saturating_sub(self.before.get(thread).copied().unwrap_or(0)))
            .max();
        self.before = now;
        Duration::from_nanos(longest.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_that_waits_longest_counts() {
        let proc = std::env::temp_dir().join(format!("gcn-probe-proc-{}", std::process::id()));
        let thread = |number: u32, text: &str| {
            let folder = proc.join("7/task").join(number.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("schedstat"), text).unwrap();
        };
        let mut delay = Delay::of(&proc, 7);
        thread(7, "900 20 3\n");
        thread(8, "100 50 2\n");
        assert_eq!(delay.since(), Duration::from_nanos(50));
        thread(7, "950 45 4\n");
        thread(8, "100 60 2\n");
        assert_eq!(delay.since(), Duration::from_nanos(25));
        assert_eq!(delay.since(), Duration::ZERO);
        // A thread has ended, another one has started.
        fs::remove_dir_all(proc.join("7/task/8")).unwrap();
        thread(9, "10 12 1\n");
        assert_eq!(delay.since(), Duration::from_nanos(12));
        assert_eq!(Delay::of(&proc, 8).since(), Duration::ZERO);
        fs::remove_dir_all(proc).unwrap();
    }
}
