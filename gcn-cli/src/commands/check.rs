//! `gcn check`.

mod sarif;
pub mod show;
mod snippet;

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gcn_isa::hazards::{Config, Grade};
use gcn_report::check::{Checked, Summary, json};

use crate::commands::code::{self, Broken, Input};
use crate::commands::container::{self, Choice};
use crate::commands::progress::Bar;
use crate::commands::rule_set::Shown;
use crate::failure::{self, Failure};
use crate::{colour, commands, file};

/// Checks code against every hazard rule on every path, and kernels against their descriptors.
///
/// FILE is assembly (.s), a relocatable object (.o), a code object (.hsaco, .co), a bundle of them,
/// compressed or not, a host library or program of HIP, any of them gzipped, or a folder with such files.
/// Lines of assembly with errors are left out and listed, as is everything else that was not checked.
///
/// Exit code 0: clean; 1: there are findings of grade `certain` or `documented`, listed or not; 2: there are none, but not everything was
/// checked: a file could not be read or had nothing to check, lines have errors, code could not be decoded, or paths could not be followed.
/// Findings of grade `cautious`, which rest on LLVM alone or on the most conservative reading of a manual, do not affect the exit code.
/// Text output only counts them; `--level cautious` lists them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files and folders; `-` for standard input
    #[arg(value_name = "FILE", required = true, value_parser = file::name())]
    files: Vec<String>,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    choice: Choice,
    /// Also show waits that are stronger than any rule requires
    #[arg(long)]
    advice: bool,
    #[command(flatten)]
    includes: file::Includes,
    /// Print one line per file, and all rules in a table at the end
    #[arg(long)]
    summary: bool,
    /// Do not exit with code 2 because of code or lines that could not be read, or paths that could not be followed
    #[arg(long)]
    allow_unread: bool,
    /// The largest number of findings shown per file; of each rule in a kernel only the first five are shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// The number of files checked at the same time, at most 256; by default the number of processors
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Print the findings as SARIF 2.1.0, for code review tools
    #[arg(long, conflicts_with_all = ["json", "summary", "advice"])]
    sarif: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn check kernel.s                        assembly: both instructions of each finding
  gcn check kernel.hsaco --level cautious   also list findings that do not count
  gcn check kernel.s --advice               waits that could be weaker, too
  gcn check build/ --summary                every file below a folder, one line each
  gcn check build/ --sarif > gcn.sarif      for code review tools
  clang -S kernel.cl -o - | gcn check -";

/// The result for a file.
#[derive(Default)]
struct Outcome {
    /// Text for standard output.
    text: String,
    /// Lines for standard error: why the file, or some of its code objects, could not be checked.
    complaints: Vec<String>,
    /// The file's result as JSON, or those of the entries of a bundle.
    json: Vec<serde_json::Value>,
    summary: Summary,
}

/// Checks files; the findings determine the exit code.
pub fn run(args: &Args) -> Result<(), Failure> {
    let file::Expanded { files, unreadable } = file::expand(&args.files);
    unreadable.iter().for_each(|complaint| failure::complain(complaint));
    if files.is_empty() {
        return Err(Failure::usage(format!("{}: no file with code", args.files.join(", "))));
    }
    if args.choice.list {
        return files.iter().try_for_each(|file| container::list(file, &args.choice, args.json));
    }
    let rules = args.shown.config()?;
    let outcomes = in_parallel(&files, jobs(args), |file| outcome(args, rules, file));
    let mut total = Summary { unreadable: unreadable.len(), ..Summary::default() };
    let mut text = String::new();
    let mut all = Vec::new();
    let mut complaints = unreadable;
    for outcome in outcomes {
        outcome.complaints.iter().for_each(|complaint| failure::complain(complaint));
        complaints.extend(outcome.complaints);
        text += &outcome.text;
        all.extend(outcome.json);
        total += outcome.summary;
    }
    let code = total.exit_code(args.allow_unread);
    if args.json {
        let report = json::whole(all, &total);
        file::print(commands::json(&report)?.as_bytes())?;
    } else if args.sarif {
        file::print(commands::json(&sarif::whole(all, &complaints, code))?.as_bytes())?;
    } else {
        if total.files > 1 || args.summary {
            text += &total.render_total(args.level());
        }
        file::print(text.as_bytes())?;
    }
    if code == 2 && !total.is_complete() {
        failure::complain("exit code 2: not everything was checked; `--allow-unread` accepts that");
    }
    match code {
        0 => Ok(()),
        code => Err(Failure::silent(code)),
    }
}

impl Args {
    /// The lowest grade that is listed. By default, JSON and SARIF list all grades.
    fn level(&self) -> Grade {
        let default = if self.json || self.sarif { Grade::Cautious } else { Grade::Documented };
        self.shown.level.unwrap_or(default)
    }
}

fn jobs(args: &Args) -> usize {
    let available = || std::thread::available_parallelism().ok();
    args.jobs.or_else(available).map_or(1, NonZeroUsize::get).min(commands::MOST_JOBS)
}

/// Calls `work` for each file on `jobs` threads, and returns the results in the order of the files.
pub fn in_parallel<T: Send>(files: &[String], jobs: usize, work: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let bar = Bar::new("files");
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(files.len()));
    std::thread::scope(|scope| {
        let worker = || {
            while let Some((index, file)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                files.get(index).map(|file| (index, file))
            } {
                let result = work(file);
                let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                done.push((index, result));
                bar.tell(done.len() as u64, files.len() as u64);
            }
        };
        // If a thread cannot be started, the existing threads process the files.
        let started =
            (1..jobs.min(files.len())).map(|_| std::thread::Builder::new().spawn_scoped(scope, worker));
        let _threads: Vec<_> = started.take_while(Result::is_ok).collect();
        worker();
    });
    bar.clear();
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|d| d.0);
    done.into_iter().map(|d| d.1).collect()
}

fn outcome(args: &Args, rules: Config, name: &str) -> Outcome {
    let mut outcome = Outcome::default();
    // True as long as every object in the file is empty or has only kernels of 0 bytes.
    let mut all_empty = true;
    let read = code::each(name, &args.choice, Broken::LeaveOut, &args.includes.folders(), |input| {
        all_empty &= input.unit.instructions() == 0 && input.unit.kernels.is_empty();
        one(args, rules, &input, &mut outcome);
    });
    let complaint = match read {
        Err(failure) => failure.message(),
        Ok(()) if all_empty => format!("error: {name}: it contains no instruction to check"),
        Ok(()) => return outcome,
    };
    // The results of objects before the faulty one are reported as well.
    if all_empty {
        (outcome.text, outcome.json) = (String::new(), Vec::new());
        outcome.summary = Summary::default();
    }
    outcome.complaints.push(complaint);
    outcome.summary.unreadable += 1;
    outcome
}

fn one(args: &Args, rules: Config, input: &Input, outcome: &mut Outcome) {
    let checked = Checked::new(
        input,
        args.level(),
        rules.with_xnack(args.shown.xnack.counts(input.unit.target_id)),
        args.advice,
    );
    let summary = Summary::of(&checked);
    if args.json {
        outcome.json.push(json::file(&checked));
    } else if args.sarif {
        outcome.json.push(sarif::file(&checked));
    } else if args.summary {
        outcome.text += &summary.render_line(&input.name);
    } else {
        outcome.text += &show::file(&checked, &summary, args.limit, colour::of_output());
    }
    outcome.summary += summary;
}
