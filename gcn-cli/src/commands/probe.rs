//! `gcn probe`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gcn_probe::adopt::timing::TIMING;
use gcn_probe::adopt::{OBSERVED, adopt};
use gcn_probe::clock::table::{Clock, Fit};
use gcn_probe::compare::compare;
use gcn_probe::page::page;
use gcn_probe::report::{self, Header, Report, Status, Verdict};
use gcn_probe::run::{self, RunError, Work};
use gcn_probe::suite::{self, Settings};

use crate::commands;
use crate::commands::progress::Bar;
use crate::failure::{Failure, complain};
use crate::file;

/// Runs generated programs on a GPU and compares the results with the simulator and its hazard rules.
///
/// The suite `values` runs each form of the GPU's instructions that accesses only registers, LDS or a buffer of the program, with special
/// and random operands, lanes, modifiers and modes. The suite `matrix` does the same with matrix instructions. The report lists the
/// differences between the GPU and the simulator. The suite `waits` measures, for each rule about wait states, how many wait states the GPU
/// needs, and compares that number with the rule's. The suite `kernels` checks and times the lessons and the kernels of gcn-kernels. The
/// suite `clock` measures the parameters of the timed mode. See docs/probe.md.
///
/// The GPU is the one that libamdhip64.so finds. Under `gcn run` it is the simulator itself: `gcn run --faithful` for `waits`, `gcn run
/// --timed` for `clock`. Programs run in a separate process. Results are also saved in a file next to the report, so that the same command
/// continues an interrupted run.
///
/// Exit code 1 if the GPU contradicts the simulator or a rule, or if a program hung or failed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// What to measure; everything by default
    #[arg(value_enum)]
    suites: Vec<Suite>,
    /// The file for the report
    #[arg(long, value_name = "OUT.json", default_value = "probe.json", value_parser = file::name())]
    out: String,
    /// Also write the report as an HTML page
    #[arg(long, value_name = "OUT.html", value_parser = file::name())]
    page: Option<String>,
    /// Write the results of `clock` as a table of parameters, which `--params` of other commands reads
    #[arg(long, value_name = "OUT.tsv", value_parser = file::name())]
    timing: Option<String>,
    /// The GPU's number
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: u32,
    /// Also run on a GPU that drives a display; a program that hangs may freeze the display
    #[arg(long)]
    allow_display: bool,
    /// The seed of the generated programs; the same seed gives the same programs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// A short run: one program of each form instead of four, of matrix instructions two instead of 16; for each rule, one pair of
    /// instructions, measured alone on the GPU; each time measured once instead of three times
    #[arg(long)]
    quick: bool,
    /// Time limit in seconds for the programs of one form or rule; on Linux, time spent waiting for a processor does not count
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
    /// Run the programs of a suite from this task on; used for the child process, which the parent supervises
    #[arg(long, hide = true, value_name = "TASK")]
    child: Option<usize>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show where two reports differ; exit code 1 if they do
    Compare {
        /// The first report
        #[arg(value_name = "A.json", value_parser = file::name())]
        before: String,
        /// The second report
        #[arg(value_name = "B.json", value_parser = file::name())]
        after: String,
    },
    /// Writes what a report observed into a checkout of gcn-dsl, and lists the rules whose grades change
    Adopt {
        /// A report of a GPU
        #[arg(value_name = "FILE.json", value_parser = file::name())]
        report: String,
        /// The checkout
        #[arg(long, value_name = "DIR", default_value = ".")]
        checkout: PathBuf,
        /// Also accept a report of the simulator, which proves nothing about hardware
        #[arg(long)]
        simulated: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    /// What each instruction computes
    Values,
    /// What each matrix instruction computes
    Matrix,
    /// How many wait states two dependent instructions need
    Waits,
    /// Whether the lessons and the kernels of gcn-kernels compute correct results, and their times
    Kernels,
    /// The parameters of the timed mode
    Clock,
}

const EXAMPLES: &str = "\
Examples:
  gcn probe --page probe.html                      this machine's first GPU
  gcn probe values --quick --seed 7                fewer programs, others than by default
  gcn run --target gfx90a -- gcn probe values      the simulator as the GPU
  gcn run --faithful --level cautious --target gfx90a -- gcn probe waits
  gcn run --timed --target gfx90a -- gcn probe clock --timing measured.tsv
  gcn probe compare mi250.json mi300.json          where two reports differ
  gcn probe adopt mi300.json --checkout gcn-dsl    what it observed, as facts of that checkout";

/// Runs the suites and writes the report.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.action {
        Some(Action::Compare { before, after }) => return differences(before, after),
        Some(Action::Adopt { report, checkout, simulated }) => return adopted(report, checkout, *simulated),
        None => {}
    }
    let all = [Suite::Values, Suite::Matrix, Suite::Waits, Suite::Kernels, Suite::Clock];
    let is_wanted = |suite: &Suite| args.suites.is_empty() || args.suites.contains(suite);
    let wanted: Vec<Suite> = all.into_iter().filter(is_wanted).collect();
    if let Some(first) = args.child {
        let settings = Settings { seed: args.seed, quick: args.quick };
        let work = Work { device: args.device, settings, first, displays: args.allow_display };
        let out = &mut std::io::stdout().lock();
        let done = wanted.into_iter().try_for_each(|suite| match suite {
            Suite::Values => run::child::<suite::Values>(work, out),
            Suite::Matrix => run::child::<suite::Matrix>(work, out),
            Suite::Waits => run::child::<suite::Waits>(work, out),
            Suite::Kernels => run::child::<suite::Kernels>(work, out),
            Suite::Clock => run::child::<suite::Clock>(work, out),
        });
        return done.map_err(Failure::input);
    }
    // What takes long is not done in vain.
    [Some(&args.out), args.page.as_ref(), args.timing.as_ref()]
        .into_iter()
        .flatten()
        .try_for_each(|path| file::writable(path))?;
    let reserved = PathBuf::from(format!("{}.part", args.out));
    let lock = run::reserve(&reserved).map_err(Failure::input)?;
    let done = all_suites(args, &wanted);
    // It is empty, so that it does no harm if it stays.
    let _ = std::fs::remove_file(reserved);
    drop(lock);
    done
}

/// Runs the suites in processes of their own.
fn all_suites(args: &Args, wanted: &[Suite]) -> Result<(), Failure> {
    let mut report = None;
    for suite in wanted {
        let header = match suite {
            Suite::Values => {
                let Some((header, target, forms)) = one::<suite::Values>(args, "forms")? else { continue };
                let values = report::Values::new(target, forms);
                add(&mut report, header, |report| report.values = Some(values))
            }
            Suite::Matrix => {
                let Some((header, _, forms)) = one::<suite::Matrix>(args, "forms")? else { continue };
                let matrix = report::Values::of_all(forms);
                add(&mut report, header, |report| report.matrix = Some(matrix))
            }
            Suite::Waits => {
                let Some((header, _, rules)) = one::<suite::Waits>(args, "rules")? else { continue };
                add(&mut report, header, |report| report.waits = Some(report::Waits::new(rules)))
            }
            Suite::Kernels => {
                let Some((header, _, kernels)) = one::<suite::Kernels>(args, "kernels")? else { continue };
                add(&mut report, header, |report| report.kernels = Some(report::Kernels::new(kernels)))
            }
            Suite::Clock => {
                let Some((header, target, experiments)) = one::<suite::Clock>(args, "experiments")? else {
                    continue;
                };
                let clock = Clock::new(target, experiments);
                if let Some(path) = &args.timing {
                    let source = format!("gcn probe on {} ({})", header.gpu.name, header.gpu.target_id);
                    file::write(path, clock.table(target, &source).as_bytes())?;
                }
                add(&mut report, header, |report| report.clock = Some(clock))
            }
        };
        header?;
    }
    // There is always at least one suite.
    let Some(report) = report else { return Ok(()) };
    file::write(&args.out, commands::json(&report)?.as_bytes())?;
    if let Some(path) = &args.page {
        file::write(path, page(&report).as_bytes())?;
    }
    let names = [
        <suite::Values as suite::Suite>::NAME,
        <suite::Matrix as suite::Suite>::NAME,
        <suite::Waits as suite::Suite>::NAME,
        <suite::Kernels as suite::Suite>::NAME,
        <suite::Clock as suite::Suite>::NAME,
    ];
    for name in names {
        // The report now contains everything that the journals do.
        let _ = std::fs::remove_file(journal(&args.out, name));
    }
    complain(&summary(&report));
    if report.agrees() { Ok(()) } else { Err(Failure::silent(1)) }
}

/// A report of a file.
fn read(path: &str) -> Result<Report, Failure> {
    let report: Report = serde_json::from_slice(&file::read(path)?)
        .map_err(|error| Failure::input(format!("{path} is not a report of `gcn probe`: {error}")))?;
    let (schema, known) = (report.header.schema, report::SCHEMA);
    match schema > known {
        true => Err(Failure::input(format!(
            "{path} has version {schema} of the schema, and this command knows {known}: use a later gcn"
        ))),
        false => Ok(report),
    }
}

/// Writes what a report observed into a checkout, and prints what follows.
fn adopted(report: &str, checkout: &Path, simulated: bool) -> Result<(), Failure> {
    let adopted = adopt(&read(report)?, checkout, simulated).map_err(Failure::input)?;
    let (rows, grades, times) = (adopted.rows, &adopted.grades, &adopted.timing);
    complain(&format!(
        "{rows} rows of {OBSERVED} are new, {} grades change, {} rows of {TIMING} change",
        grades.len(),
        times.len()
    ));
    let grades = grades.iter().map(|grade| format!("{grade}\n"));
    file::print(grades.chain(times.iter().map(|time| format!("{time}\n"))).collect::<String>().as_bytes())
}

/// Prints what differs between two reports.
fn differences(before: &str, after: &str) -> Result<(), Failure> {
    let changes = compare(&read(before)?, &read(after)?);
    file::print(changes.iter().map(|change| format!("{change}\n")).collect::<String>().as_bytes())?;
    if changes.is_empty() { Ok(()) } else { Err(Failure::silent(1)) }
}

/// The result of running a suite: the header of its journal, the GPU's target, and the outcomes.
type Ran<S> = (Header, gcn_isa::Target, Vec<<S as suite::Suite>::Outcome>);

/// Runs a suite and returns its results. `None` if the suite has no programs for the GPU's target and was selected only by default.
fn one<S: suite::Suite>(args: &Args, unit: &'static str) -> Result<Option<Ran<S>>, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find this command: {error}")))?;
    let command = |first: usize| {
        let mut command = Command::new(&own);
        command.args([
            "probe",
            S::NAME,
            "--device",
            &args.device.to_string(),
            "--seed",
            &args.seed.to_string(),
        ]);
        command.args(["--child", &first.to_string()]).args(args.quick.then_some("--quick"));
        command.args(args.allow_display.then_some("--allow-display"));
        command
    };
    let bar = Bar::new(unit);
    let progress = |done: usize, all: usize| bar.tell(done as u64, all as u64);
    let limit = Duration::from_secs(args.limit);
    let done = run::run::<S>(command, limit, &journal(&args.out, S::NAME), progress);
    bar.clear();
    match done {
        Err(RunError::NoPrograms(why)) if args.suites.is_empty() => {
            complain(&why);
            Ok(None)
        }
        done => done.map(Some).map_err(|error| Failure::input(error.to_string())),
    }
}

/// Adds the results of a suite to the report of a run.
fn add(report: &mut Option<Report>, header: Header, add: impl FnOnce(&mut Report)) -> Result<(), Failure> {
    let report = report.get_or_insert_with(|| Report::new(header.clone()));
    if report.header != header {
        return Err(Failure::input(
            "the suites ran on different GPUs: the journals beside the report are of another run",
        ));
    }
    add(report);
    Ok(())
}

/// The journal: a file next to the report that keeps the results of a suite until it is complete.
fn journal(report: &str, suite: &str) -> PathBuf {
    format!("{report}.{suite}.part").into()
}

/// The number of results of each kind, and the first few disagreements.
fn summary(report: &Report) -> String {
    const SHOWN: usize = 10;
    let gpu = &report.header.gpu.target_id;
    let mut lines = Vec::new();
    for (name, values) in report.computed() {
        let totals = values.totals.iter().map(|(status, count)| format!("{count} {}", status.name()));
        let left_out: usize = values.left_out.values().map(Vec::len).sum();
        let left_out = (left_out > 0).then(|| format!("{left_out} left out"));
        lines.push(format!("{gpu} {name}: {}", totals.chain(left_out).collect::<Vec<_>>().join(", ")));
        for form in values.forms.iter().filter(|form| form.status >= Status::Differs).take(SHOWN) {
            let what = form.first.as_ref().map_or_else(
                || form.message.clone(),
                |first| {
                    let (place, simulated, gpu) = (&first.place, &first.simulated, &first.gpu);
                    format!("{}: {place} is {gpu}, the simulator says {simulated}", first.instruction)
                },
            );
            lines.push(format!("{}: {}: {what}", form.form, form.status.name()));
        }
    }
    if let Some(waits) = &report.waits {
        let totals = waits.totals.iter().map(|(verdict, count)| format!("{count} {}", verdict.name()));
        lines.push(format!("{gpu} waits: {}", totals.collect::<Vec<_>>().join(", ")));
        for rule in waits.rules.iter().filter(|rule| rule.verdict > Verdict::Equal).take(SHOWN) {
            let pairs = rule.pairs.iter().filter(|pair| pair.verdict() > Verdict::Equal);
            let pairs = pairs.map(|pair| {
                let measured = pair
                    .measured
                    .map_or_else(|| "never failed".to_owned(), |n| format!("needs {}", pair.in_words(n)));
                let asked = pair.in_words(pair.needed);
                format!("`{}` {measured}, {} asks for {asked}", pair.instructions, pair.needed_by)
            });
            let what = pairs.chain([rule.message.clone()]).find(|what| !what.is_empty()).unwrap_or_default();
            lines.push(format!("{}: {}: {what}", rule.rule, rule.verdict.name()));
        }
    }
    if let Some(kernels) = &report.kernels {
        let totals = kernels.totals.iter().map(|(status, count)| format!("{count} {}", status.name()));
        lines.push(format!("{gpu} kernels: {}", totals.collect::<Vec<_>>().join(", ")));
        for kernel in kernels.kernels.iter().filter(|kernel| kernel.status >= Status::Differs).take(SHOWN) {
            let wrong = kernel.sizes.iter().find(|size| !size.agrees);
            let what = wrong.map_or_else(
                || kernel.message.clone(),
                |size| {
                    let (different, elements) = (size.different, size.elements);
                    format!("{}: {different} of {elements} elements are not the reference's", size.size)
                },
            );
            lines.push(format!("{}: {}: {what}", kernel.kernel, kernel.status.name()));
        }
    }
    if let Some(clock) = &report.clock {
        let totals = clock.totals.iter().map(|(fit, count)| format!("{count} {}", fit.name()));
        lines.push(format!("{gpu} clock: {}", totals.collect::<Vec<_>>().join(", ")));
        for parameter in clock.parameters.iter().filter(|parameter| parameter.fit > Fit::Within).take(SHOWN) {
            let what = match &parameter.measured {
                Some(value) => {
                    let (unit, table, grade) = (&parameter.unit, &parameter.table, &parameter.grade);
                    format!("{value} {unit}, the table says {table} ({grade})")
                }
                None => parameter.message.clone(),
            };
            lines.push(format!("{}: {}: {what}", parameter.name, parameter.fit.name()));
        }
    }
    if std::env::var_os("GCN_HIP_FINDINGS").is_some_and(|found| Path::new(&found).exists()) {
        lines.push(
            "programs of the probe come too early on purpose; for that alone `gcn run` ends with exit code 3"
                .to_owned(),
        );
    }
    lines.join("\n")
}
