//! Runs a suite. Child processes do the work, so that a program that hangs or crashes ends only its process. Each result is appended to a
//! journal, so that an interrupted run can continue where it stopped.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gcn_isa::Target;
use serde::de::DeserializeOwned;

use crate::delay::Delay;
use crate::device::{Gpu, SYS};
use crate::display;
use crate::report::{Header, SCHEMA};
use crate::suite::{Lost, Settings, Suite};

/// The parameters of a child process.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// The HIP ordinal of the GPU.
    pub device: u32,
    /// The seed and the length of the run.
    pub settings: Settings,
    /// The index of the first task to run, in [`Suite::tasks`].
    pub first: usize,
    /// True if a GPU that drives a display may be used.
    pub displays: bool,
}

/// The main function of a child process. It prints a line with the header, then a line with the result of each task from `first` on.
///
/// # Errors
/// A message: there is no GPU, it drives a display, or the parent process has closed the pipe.
pub fn child<S: Suite>(work: Work, out: &mut impl Write) -> Result<(), String> {
    let gpu = Gpu::open(work.device).map_err(|error| error.to_string())?;
    let address = if work.displays { None } else { gpu.pci_address().map_err(|error| error.to_string())? };
    if let Some(address) = address {
        display::refuse(Path::new(SYS), &address, work.device)?;
    }
    let header = Header {
        schema: SCHEMA,
        tools: env!("CARGO_PKG_VERSION").to_owned(),
        gpu: gpu.about()?,
        seed: work.settings.seed,
        quick: work.settings.quick,
    };
    say(out, &header)?;
    let target = gpu.target();
    for task in S::tasks(target).into_iter().skip(work.first) {
        let outcome = S::run(&task, target, work.settings, &gpu);
        // After a fault, this process can submit no more work to the GPU.
        let over = S::has_failed(&outcome);
        say(out, &outcome)?;
        if over {
            break;
        }
    }
    Ok(())
}

/// Why a suite has no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// It has no programs for the GPU's target.
    NoPrograms(String),
    /// No child process could run, or the journal is unusable.
    Failed(String),
}

impl From<String> for RunError {
    fn from(message: String) -> RunError {
        RunError::Failed(message)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (RunError::NoPrograms(message) | RunError::Failed(message)) = self;
        f.write_str(message)
    }
}

fn say(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), String> {
    let line = serde_json::to_string(value).map_err(|error| error.to_string())?;
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Runs all tasks of a suite in child processes, and returns the header of the run, its target, and each task's result. `command` gives the
/// command line of a process that calls [`child`] from the given task on, and a task may take at most `limit`, not counting the time for
/// which the process has to wait for a processor. Results are appended to the
/// file `journal`; tasks whose results it already contains are not run again. `progress` receives the numbers of finished and of all tasks.
///
/// # Errors
/// [`RunError`].
pub fn run<S: Suite>(
    command: impl Fn(usize) -> Command,
    limit: Duration,
    journal: &Path,
    mut progress: impl FnMut(usize, usize),
) -> Result<(Header, Target, Vec<S::Outcome>), RunError> {
    let (kept, mut results) = read::<S::Outcome>(journal)?;
    let unwritten = |error| format!("cannot write {}: {error}", journal.display());
    let mut header: Option<Header> = None;
    loop {
        let mut child = Child::start(command(results.len()))?;
        let Some(Ok(started)) = child.next::<Header>(limit) else {
            let said = child.end();
            let said = said.trim();
            let said = said.strip_prefix("error: ").unwrap_or(said);
            return Err(format!(
                "no program runs: {said}; without a GPU, `gcn run --target gfx942 -- gcn probe` probes the simulator"
            )
            .into());
        };
        if let Some(kept) = kept.as_ref().filter(|kept| **kept != started) {
            let (form, gpu) = (if kept.quick { "short" } else { "long" }, &kept.gpu.name);
            return Err(format!(
                "{} has results of another run (seed {}, the {form} form, {gpu}); remove it, or repeat that run",
                journal.display(),
                kept.seed,
            )
            .into());
        }
        let target = target(&started)?;
        let tasks = S::tasks(target);
        if tasks.is_empty() {
            child.end();
            let name = S::NAME;
            return Err(RunError::NoPrograms(format!(
                "the suite `{name}` has no programs for {target}, which lacks the instructions that the suite tests"
            )));
        }
        let mut lines = append(journal)?;
        if kept.is_none() && header.is_none() {
            say(&mut lines, &started).map_err(unwritten)?;
        }
        header = Some(started.clone());
        while let Some(task) = tasks.get(results.len()) {
            let name = S::name(task);
            let (result, lost) = match child.next::<S::Outcome>(limit) {
                Some(Ok(result)) if S::named(&result) == name => (result, false),
                Some(Ok(other)) => {
                    child.end();
                    return Err(format!("the process ran {} in place of {name}", S::named(&other)).into());
                }
                Some(Err(RecvTimeoutError::Timeout)) => {
                    let message = format!("no result after {} s; `--limit` allows more", limit.as_secs());
                    (S::lost(task, Lost::Hung, message), true)
                }
                Some(Err(RecvTimeoutError::Disconnected)) | None => {
                    // The child ended by itself because its previous task failed; the current task is not the cause.
                    if results.last().is_some_and(S::has_failed) && child.given > 1 {
                        break;
                    }
                    (S::lost(task, Lost::Failed, "the process ended".to_owned()), true)
                }
            };
            say(&mut lines, &result).map_err(unwritten)?;
            results.push(result);
            progress(results.len(), tasks.len());
            if lost {
                break;
            }
        }
        child.end();
        if results.len() >= tasks.len() {
            return Ok((started, target, results));
        }
    }
}

/// The target of the GPU in the header.
fn target(header: &Header) -> Result<Target, String> {
    let id = &header.gpu.target_id;
    let name = id.split(':').next().unwrap_or_default();
    name.parse().map_err(|_| format!("{id} is not a supported target"))
}

/// Reads the header and the results of a journal, if it exists. An incomplete last line is ignored.
fn read<T: DeserializeOwned>(journal: &Path) -> Result<(Option<Header>, Vec<T>), String> {
    let text = match std::fs::read_to_string(journal) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((None, Vec::new())),
        Err(error) => return Err(format!("{}: {error}", journal.display())),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut lines = whole.lines();
    let Some(first) = lines.next() else {
        std::fs::remove_file(journal).map_err(|error| format!("{}: {error}", journal.display()))?;
        return Ok((None, Vec::new()));
    };
    let broken = |error| format!("{} is not the journal of a run: {error}; remove it", journal.display());
    let header = serde_json::from_str(first).map_err(broken)?;
    let results = lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(broken)?;
    if whole.len() < text.len() {
        std::fs::write(journal, whole).map_err(|error| format!("{}: {error}", journal.display()))?;
    }
    Ok((Some(header), results))
}

fn append(journal: &Path) -> Result<File, String> {
    let opened = OpenOptions::new().create(true).append(true).open(journal);
    opened.map_err(|error| format!("cannot write {}: {error}", journal.display()))
}

/// Reserves the file of a report by a lock that lasts as long as the returned value. Two runs with the same file would mix their results.
///
/// # Errors
/// A message: another run has reserved the file, or the file cannot be written.
pub fn reserve(file: &Path) -> Result<File, String> {
    let opened = append(file)?;
    match opened.try_lock() {
        Err(TryLockError::WouldBlock) => Err(format!(
            "another run of `gcn probe` has {}; give this one another `--out`, or wait until that one ends",
            file.display()
        )),
        // Not each file system has locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(opened),
    }
}

/// The number of bytes of a child's standard error that are kept.
const MOST_SAID: u64 = 1 << 16;

/// The folder in which Linux describes its processes.
const PROC: &str = "/proc";
/// The time between two looks at how long a child had no processor.
const TICK: Duration = Duration::from_millis(250);

/// A child process and the lines of its standard output.
struct Child {
    process: std::process::Child,
    lines: Receiver<String>,
    /// The thread that reads the child's standard error.
    said: Option<JoinHandle<String>>,
    /// The number of lines read.
    given: usize,
    /// The time without a processor.
    delay: Delay,
}

impl Child {
    fn start(mut command: Command) -> Result<Child, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot start a process: {error}"))?;
        let (sender, lines) = channel();
        if let Some(out) = process.stdout.take() {
            std::thread::spawn(move || {
                // The thread ends with the process, or when the receiver is dropped.
                let whole = BufReader::new(out).lines().map_while(Result::ok);
                whole.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
            });
        }
        // Read to the end, so that a process with much output does not block on a full pipe.
        let said = process.stderr.take().map(|error| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let mut error = BufReader::new(error);
                // A read error only shortens the message.
                let _ = error.by_ref().take(MOST_SAID).read_to_end(&mut bytes);
                let _ = std::io::copy(&mut error, &mut std::io::sink());
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let delay = Delay::of(Path::new(PROC), process.id());
        Ok(Child { process, lines, said, given: 0, delay })
    }

    /// The next line, parsed; `None` if it cannot be parsed. The time limit does not count the time without a processor.
    fn next<T: DeserializeOwned>(&mut self, limit: Duration) -> Option<Result<T, RecvTimeoutError>> {
        let mut left = limit;
        loop {
            let start = Instant::now();
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => {
                    self.given += 1;
                    return serde_json::from_str(&line).ok().map(Ok);
                }
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {
                    let elapsed = start.elapsed();
                    left = left.saturating_sub(elapsed.saturating_sub(self.delay.since()));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Kills the process and returns its standard error.
    fn end(mut self) -> String {
        // An error means that the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.said.and_then(|said| said.join().ok()).unwrap_or_default()
    }
}
