//! `gcn probe`.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use gcn_probe::page::page;
use gcn_probe::report::{Report, Status};
use gcn_probe::run::{self, Work};

use crate::commands;
use crate::commands::progress::Bar;
use crate::failure::{Failure, complain};
use crate::file;

/// Runs generated programs on a GPU and compares what they compute with the simulator.
///
/// The suite `values` runs each form of the GPU's instructions that touches only registers, LDS or a buffer of its own, with special and
/// random operands, lanes, modifiers and modes. The report says where the GPU and the simulator differ. docs/probe.md has more.
///
/// The GPU is the one that libamdhip64.so finds; under `gcn run` it is the simulator itself. Programs run in a process of their own. What
/// is done is kept in a file beside the report, from which the same command goes on if it was interrupted.
///
/// Exit code 1 if the GPU and the simulator differ, or a program hung or failed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to measure
    #[arg(value_enum, default_value = "values")]
    suite: Suite,
    /// Where the report goes
    #[arg(long, value_name = "OUT.json", default_value = "probe.json", value_parser = file::name())]
    out: String,
    /// Write the report as a page, too
    #[arg(long, value_name = "OUT.html", value_parser = file::name())]
    page: Option<String>,
    /// The GPU's number
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: u32,
    /// The same seed gives the same programs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// One program of each form instead of four
    #[arg(long)]
    quick: bool,
    /// Seconds that the programs of a form may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
    /// Runs programs from this form on, for the process that judges them
    #[arg(long, hide = true, value_name = "FORM")]
    child: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    /// What each instruction computes
    Values,
}

const EXAMPLES: &str = "\
Examples:
  gcn probe --page probe.html                      this machine's first GPU
  gcn probe values --quick --seed 7                fewer programs, others than by default
  gcn run --target gfx90a -- gcn probe             the simulator as the GPU";

/// Runs the suite and writes the report.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Suite::Values = args.suite;
    let variants = if args.quick { 1 } else { 4 };
    let (device, seed) = (args.device, args.seed);
    if let Some(first) = args.child {
        let work = Work { device, seed, variants, first };
        return run::child(work, &mut std::io::stdout().lock()).map_err(Failure::input);
    }
    let own = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find this command: {error}")))?;
    let command = |first: usize| {
        let mut command = Command::new(&own);
        command.args(["probe", "values", "--device", &device.to_string(), "--seed", &seed.to_string()]);
        command.args(["--child", &first.to_string()]).args(args.quick.then_some("--quick"));
        command
    };
    let journal = journal(&args.out);
    let bar = Bar::new("forms");
    let progress = |done: usize, all: usize| bar.tell(done as u64, all as u64);
    let report =
        run::run(command, Duration::from_secs(args.limit), &journal, progress).map_err(Failure::input)?;
    bar.clear();
    file::write(&args.out, commands::json(&report)?.as_bytes())?;
    if let Some(path) = &args.page {
        file::write(path, page(&report).as_bytes())?;
    }
    // The report has everything that the journal has.
    let _ = std::fs::remove_file(journal);
    complain(&summary(&report));
    if report.agrees() { Ok(()) } else { Err(Failure::silent(1)) }
}

/// The file beside the report that keeps results until all are there.
fn journal(report: &str) -> PathBuf {
    format!("{report}.part").into()
}

/// How many forms fared how, and the first that do not agree.
fn summary(report: &Report) -> String {
    const SHOWN: usize = 10;
    let values = &report.values;
    let totals: Vec<_> =
        values.totals.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    let left_out: usize = values.left_out.values().map(Vec::len).sum();
    let mut text = format!("{}: {}, {left_out} left out", report.header.gpu.target_id, totals.join(", "));
    for form in values.forms.iter().filter(|form| form.status >= Status::Differs).take(SHOWN) {
        let what = form.first.as_ref().map_or_else(
            || form.message.clone(),
            |first| {
                let (place, simulated, gpu) = (&first.place, &first.simulated, &first.gpu);
                format!("{}: {place} is {gpu}, the simulator says {simulated}", first.instruction)
            },
        );
        text += &format!("\n{}: {}: {what}", form.form, form.status.name());
    }
    text
}
