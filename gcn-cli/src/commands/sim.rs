//! `gcn sim`.

mod found;
mod show;
mod trust;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use gcn_report::launch;
use gcn_sim::launch::{Error, Prepared, Program, Spec};
use gcn_sim::{Hooks, MatrixArithmetic, Options, Progress, Stats, timed};

use crate::commands::container;
use crate::commands::detection::Detection;
use crate::commands::launch::{Launch, failure, write_back};
use crate::commands::progress::Bar;
use crate::failure::{self, Failure};
use crate::{commands, file};

/// Runs a kernel of a code object on the CPU.
///
/// The kernel's arguments come from a JSON file, the spec (for its format see docs/sim.md); without it, the command prints a template for
/// the kernel. Output buffers of the spec are written to files or shown.
///
/// Exit code 0: the kernel ran; 1: the code object or the spec is wrong, or the kernel causes an error; 2: the command line is wrong or a
/// file cannot be read or written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    launch: Launch,
    /// Launch like hipLaunchCooperativeKernel: all workgroups must fit on the device at once, and may wait
    /// for each other
    #[arg(long, conflicts_with = "timed")]
    cooperative: bool,
    #[command(flatten)]
    detection: Detection,
    /// Round v_fma_mixlo_f16 and v_fma_mixhi_f16 once, to f16; by default they round to f32 first and then to f16. Sources disagree
    /// (--fidelity)
    #[arg(long)]
    mix_rounded_once: bool,
    /// How matrix instructions add products: like the hardware, where a model of it was validated (--fidelity says where), or as a chain of
    /// fused multiply-adds, which is faster
    #[arg(long, value_name = "hardware|chain", default_value_t)]
    matrix: MatrixArithmetic,
    /// Count cycles by the model of docs/timing.md
    #[arg(long, conflicts_with_all = ["strict", "faithful", "sanitize", "fidelity", "profile", "jobs"])]
    timed: bool,
    #[command(flatten)]
    parameters: commands::Parameters,
    /// Compute units over which the grid is distributed; by default those of the device
    #[arg(long, value_name = "N", requires = "timed", value_parser = clap::value_parser!(u32).range(1..))]
    cus: Option<u32>,
    /// Compute units to simulate with time, starting with those that share an L2; `l2` for all of one L2, `all` for all of --cus. They
    /// share the L2's and the Infinity Cache's contents
    #[arg(long, value_name = "N", requires = "timed", default_value = "1", value_parser = simulated)]
    simulated_cus: Simulated,
    /// Do not run the workgroups of compute units that are not simulated; buffers then lack their results
    #[arg(long, requires = "timed")]
    simulated_only: bool,
    /// Also print an estimate of the clock and the time, from clocks that were measured under a load of matrix products: f16, bf16 or fp8
    /// on gfx942. The estimate is not part of the model
    #[arg(long, value_name = "LOAD", requires = "timed")]
    estimate_clock: Option<String>,
    /// Also print the interval of results over the ranges of the assumed parameters, and which of the parameters matter; takes about fifty
    /// runs
    #[arg(long, requires = "timed")]
    ranges: bool,
    /// Write the timeline to a file, as Chrome trace events
    #[arg(long, value_name = "FILE", requires = "timed", value_parser = file::name())]
    timeline: Option<String>,
    /// Print a spec for the kernel, to be filled in
    #[arg(long)]
    template: bool,
    /// Also list the executed instructions with their counts
    #[arg(long)]
    profile: bool,
    /// Also list the executed opcodes, each with the evidence for its semantics and, if it is inexact, in what way
    #[arg(long)]
    fidelity: bool,
    /// Host threads, at most 256; by default the number of processors, but 1 if the order of workgroups can
    /// change the result
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The largest number of instructions that a wave may execute
    #[arg(long, value_name = "N", default_value_t = 1 << 40)]
    limit: u64,
    /// Instructions that a wave executes before the next wave's turn; 1 interleaves the waves of a workgroup,
    /// which exposes data races
    #[arg(long, value_name = "N", default_value_t = Options::default().turn)]
    turn: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Also print the elapsed seconds, in JSON
    #[arg(long, requires = "json")]
    seconds: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn sim saxpy.hsaco > spec.json                      a spec to fill in
  gcn sim saxpy.hsaco --args spec.json --grid 16       16 workgroups
  gcn sim saxpy.s --args spec.json --strict --json     missing waits are errors
  gcn sim lib.co --kernel gemm --args gemm.json --jobs 1";

/// The largest number of events in a timeline.
const EVENTS: usize = 1_000_000;

/// The compute units to simulate.
#[derive(Clone, Copy)]
enum Simulated {
    Number(u32),
    /// All that share one L2.
    L2,
    All,
}

fn simulated(text: &str) -> Result<Simulated, String> {
    match text {
        "l2" => Ok(Simulated::L2),
        "all" => Ok(Simulated::All),
        _ => {
            let number = text.parse().ok().filter(|n| *n > 0);
            number.map(Simulated::Number).ok_or("a number above 0, `l2` or `all`".to_owned())
        }
    }
}

/// Runs the kernel, or prints a template.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.parameters.are_given() && !args.timed {
        return Err(Failure::usage("--params and --set are for --timed"));
    }
    let launch = &args.launch;
    if launch.choice.list {
        return container::list(&launch.file, &launch.choice, args.json);
    }
    let name = launch.name();
    let (spec, folder) = launch.spec()?;
    let program = launch.load(spec.as_ref())?.1;
    let program = program.with_mix_rounded_twice(!args.mix_rounded_once).with_matrix(args.matrix);
    let Some(spec) = spec.filter(|_| !args.template) else {
        return file::print(program.template().as_bytes());
    };
    let mut prepared = launch.prepare(&program, &spec, &folder)?;
    let started = Instant::now();
    let ran = simulate(args, &mut prepared)?.map_err(|error| failure(name, &error))?;
    let seconds = started.elapsed().as_secs_f64();
    let ranges = match &ran {
        Ran::Timed(report) if args.ranges => Some(vary(args, &program, &spec, &folder, report)?),
        _ => None,
    };
    let outputs = prepared.outputs().map_err(|error| failure(name, &error))?;
    write_back(&outputs, &folder)?;
    if let (Some(path), Ran::Timed(report)) = (&args.timeline, &ran) {
        file::write(path, report.timeline().as_bytes())?;
    }
    let (profile, fidelity) = (args.profile, args.fidelity);
    let report = show::Report {
        program: &program,
        prepared: &prepared,
        ran: &ran,
        ranges: ranges.as_ref(),
        estimate: match (&ran, &args.estimate_clock) {
            (Ran::Timed(report), Some(load)) => report.estimate_clock(load).ok(),
            _ => None,
        },
        outputs: &outputs,
        seconds,
        profile,
        fidelity,
    };
    file::print(if args.json { report.json(args.seconds)? } else { report.text() }.as_bytes())?;
    match &ran {
        Ran::Untimed(stats) if !ran.is_clean() => Err(Failure::shown(found::text(stats))),
        // If all findings are notes, they do not change the exit code.
        Ran::Untimed(stats) if !stats.findings.is_empty() => {
            failure::complain(&found::text(stats));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The result of a run.
pub enum Ran {
    /// A run in a mode that does not count cycles.
    Untimed(Stats),
    /// A run in timed mode.
    Timed(Box<timed::TimedReport>),
}

impl Ran {
    /// True if no stale value was read and no sanitizer reported an error.
    fn is_clean(&self) -> bool {
        match self {
            Ran::Untimed(stats) => stats.stale.is_empty() && stats.findings.iter().all(|f| f.kind.is_note()),
            Ran::Timed(_) => true,
        }
    }
}

fn simulate(args: &Args, prepared: &mut Prepared) -> Result<Result<Ran, Error>, Failure> {
    if args.timed {
        let (bar, config) = (Bar::new("workgroups"), timing(args, prepared.machine().target())?);
        return Ok(bar.watch(|| prepared.run_timed(&config)).map(|report| Ran::Timed(Box::new(report))));
    }
    let jobs = args.jobs.map(|jobs| jobs.get().min(commands::MOST_JOBS));
    let options = Options {
        max_instructions: args.limit,
        turn: args.turn,
        cooperative: args.cooperative,
        ..args.detection.options()
    };
    let bar = Bar::new("workgroups");
    let tell = |at: Progress| bar.tell(at.done, at.total);
    let hooks = Hooks { progress: Some(&tell), ..Hooks::default() };
    let result = bar.watch(|| launch::run(prepared, &options, jobs, &hooks));
    Ok(result.map(Ran::Untimed))
}

/// Repeats the timed run over the ranges of the assumed parameters.
fn vary(
    args: &Args,
    program: &Program,
    spec: &Spec,
    folder: &Path,
    report: &timed::TimedReport,
) -> Result<timed::Ranges, Failure> {
    let config = timing(args, program.machine().target())?;
    let run = |config: &timed::Config| {
        let mut prepared = args.launch.prepare(program, spec, folder)?;
        prepared.run_timed(config).map_err(|error| failure(args.launch.name(), &error))
    };
    timed::ranges(report, &config, run)
}

/// The configuration of the timed mode, from the command line.
fn timing(args: &Args, target: gcn_isa::Target) -> Result<timed::Config, Failure> {
    let timeline = if args.timeline.is_some() { EVENTS } else { 0 };
    let mut config =
        timed::Config { cus: args.cus, timeline, max_instructions: args.limit, ..timed::Config::default() };
    args.parameters.read()?.apply(&mut config, target)?;
    if let Some(load) = &args.estimate_clock {
        timed::check_load(target, load)
            .map_err(|error| Failure::usage(format!("--estimate-clock: {error}")))?;
    }
    config.complete = !args.simulated_only;
    config.simulated_cus = match args.simulated_cus {
        Simulated::Number(cus) => cus,
        Simulated::L2 => config.cus_of_an_l2(target),
        Simulated::All => u32::MAX,
    };
    Ok(config)
}
