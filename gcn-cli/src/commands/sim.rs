//! `gcn sim`.

mod found;
mod object;
mod progress;
mod show;
mod trust;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gcn_isa::hazards::Config;
use gcn_sim::launch::{Error, Out, Output, Prepared, Program, Spec};
use gcn_sim::{Options, SimError, Stats, timed};

use crate::commands::container::{self, Choice};
use crate::commands::detection::Detection;
use crate::failure::{self, Failure};
use crate::{commands, file};

/// Runs a kernel of a code object on the CPU.
///
/// The kernel's arguments come from a JSON file, the spec (docs/sim.md has the format); without it, the
/// command prints a template for the kernel. Output buffers of the spec are written to files or shown.
///
/// Exit code 0: it ran; 1: the code object or the spec is wrong, or the kernel makes an error; 2: the command
/// line is wrong or a file cannot be read or written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, host library or program of HIP, or
    /// assembly (.s), gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco")]
    file: String,
    /// The kernel, if there are several
    #[arg(long, value_name = "K")]
    kernel: Option<String>,
    /// Workgroups in x, y and z; omitted ones are 1
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions)]
    grid: Option<[u32; 3]>,
    /// Work-items in x, y and z instead of --grid; if not a multiple of the workgroup, the last workgroup is
    /// partial
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions, conflicts_with = "grid")]
    global: Option<[u32; 3]>,
    /// Work-items of a workgroup
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions)]
    workgroup: Option<[u32; 3]>,
    /// The spec: arguments and launch parameters
    #[arg(long, value_name = "SPEC.json")]
    args: Option<String>,
    /// Launch like hipLaunchCooperativeKernel: all workgroups must fit on the device at once, and may wait
    /// for each other
    #[arg(long, conflicts_with = "timed")]
    cooperative: bool,
    /// LDS bytes of a workgroup beyond those of the descriptor
    #[arg(long, value_name = "BYTES")]
    dynamic_lds: Option<u32>,
    /// Scratch bytes of a work-item instead of those of the descriptor
    #[arg(long, value_name = "BYTES")]
    scratch: Option<u32>,
    #[command(flatten)]
    detection: Detection,
    /// Round v_fma_mixlo_f16 and v_fma_mixhi_f16 to f32 first, then to f16; by default once. Sources disagree
    /// (--fidelity)
    #[arg(long)]
    mix_rounded_twice: bool,
    /// Count cycles by the model of docs/timing.md
    #[arg(long, conflicts_with_all = ["strict", "faithful", "sanitize", "fidelity", "profile", "jobs"])]
    timed: bool,
    /// Set a parameter of the timed mode
    #[arg(long, value_name = "NAME=VALUE", requires = "timed")]
    set: Vec<String>,
    /// Compute units over which the grid is distributed; by default those of the device
    #[arg(long, value_name = "N", requires = "timed", value_parser = clap::value_parser!(u32).range(1..))]
    cus: Option<u32>,
    /// Write the timeline to a file, as Chrome trace events
    #[arg(long, value_name = "FILE", requires = "timed")]
    timeline: Option<String>,
    /// Print a spec for the kernel, to be filled in
    #[arg(long)]
    template: bool,
    /// Also list the executed instructions with their counts
    #[arg(long)]
    profile: bool,
    /// Also list the executed opcodes with the witness for the meaning of each, and its inexactness, if any
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
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    includes: file::Includes,
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

/// The largest number of sanitizer findings that are kept.
const FINDINGS: u32 = 1000;
/// The largest number of events in a timeline.
const EVENTS: usize = 1_000_000;

/// `X`, `X,Y` or `X,Y,Z`.
fn dimensions(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > sizes.len() {
        return Err("at most three numbers, as in 64,1,1".to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size =
            part.trim().parse().map_err(|_| format!("`{part}` is not a number; write for example 64,1,1"))?;
    }
    Ok(sizes)
}

/// Runs the kernel, or prints a template.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.choice.list {
        return container::list(&args.file, &args.choice, args.json);
    }
    let name = file::shown(&args.file);
    let (spec, folder) = spec(args)?;
    let kernel = args.kernel.as_deref().or(spec.as_ref().and_then(|s| s.kernel.as_deref()));
    let object = object::read(&args.file, &args.choice, kernel, &args.includes.folders())?;
    let program = Program::load(&object.bytes, kernel).map_err(|error| failure(name, &error))?;
    let mut program = program.with_mix_rounded_twice(args.mix_rounded_twice);
    if let Some(lines) = object.lines {
        program = program.with_lines(lines);
    }
    let Some(mut spec) = spec.filter(|_| !args.template) else {
        return file::print(program.template().as_bytes());
    };
    override_sizes(args, &mut spec);
    let place = args.args.as_deref().unwrap_or(name);
    let mut prepared = program.prepare(&spec, &folder).map_err(|error| failure(place, &error))?;
    let started = Instant::now();
    let ran = simulate(args, &mut prepared)?.map_err(|error| failure(name, &error))?;
    let seconds = started.elapsed().as_secs_f64();
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
        outputs: &outputs,
        seconds,
        profile,
        fidelity,
    };
    file::print(if args.json { report.json(args.seconds)? } else { report.text() }.as_bytes())?;
    match &ran {
        Ran::Untimed(stats) if !ran.is_clean() => Err(Failure::shown(found::text(stats))),
        // Notes do not change the exit code.
        Ran::Untimed(stats) if !stats.findings.is_empty() => {
            failure::complain(&found::text(stats));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The result of a run.
pub enum Ran {
    /// Of functional mode.
    Untimed(Stats),
    /// Of timed mode.
    Timed(Box<timed::Report>),
}

impl Ran {
    /// True if nothing was read too early and no sanitizer found a fault.
    fn is_clean(&self) -> bool {
        match self {
            Ran::Untimed(stats) => stats.stale.is_empty() && stats.findings.iter().all(|f| f.kind.is_note()),
            Ran::Timed(_) => true,
        }
    }
}

/// The spec, and the folder to which its file names are relative.
fn spec(args: &Args) -> Result<(Option<Spec>, PathBuf), Failure> {
    let Some(path) = &args.args else { return Ok((None, PathBuf::new())) };
    if path == file::STANDARD && args.file == file::STANDARD {
        return Err(Failure::usage("code object and spec cannot both be standard input"));
    }
    let bytes = file::read(path)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Failure::input(format!("{}: the spec is not UTF-8", file::shown(path))))?;
    let spec = Spec::from_json(&text).map_err(|error| failure(file::shown(path), &error))?;
    let folder = Path::new(path).parent().filter(|_| path != file::STANDARD);
    Ok((Some(spec), folder.map(Path::to_path_buf).unwrap_or_default()))
}

/// The command line overrides the spec.
fn override_sizes(args: &Args, spec: &mut Spec) {
    spec.workgroup = args.workgroup.or(spec.workgroup);
    spec.dynamic_lds = args.dynamic_lds.unwrap_or(spec.dynamic_lds);
    spec.scratch = args.scratch.or(spec.scratch);
    if args.grid.is_some() || args.global.is_some() {
        (spec.grid, spec.global) = (args.grid, args.global);
    }
}

fn simulate(args: &Args, prepared: &mut Prepared) -> Result<Result<Ran, Error>, Failure> {
    if args.timed {
        let (bar, config) = (progress::Bar::new(), timing(args)?);
        return Ok(bar.watch(|| prepared.run_timed(&config)).map(|report| Ran::Timed(Box::new(report))));
    }
    let jobs = args.jobs.map(|jobs| jobs.get().min(commands::MOST_JOBS));
    let options = Options {
        mode: args.detection.mode(),
        rules: Config::at_least(args.detection.level),
        max_instructions: args.limit,
        turn: args.turn,
        parallel: jobs.map_or_else(|| !prepared.machine().depends_on_order(), |n| n > 1),
        sanitize: args.detection.sanitize(),
        findings: FINDINGS,
        cooperative: args.cooperative,
        ..Options::default()
    };
    let bar = progress::Bar::new();
    let tell = |at| bar.tell(at);
    let result = bar.watch(|| gcn_sim::with_threads(jobs, || prepared.run_with(&options, Some(&tell))));
    bar.clear();
    Ok(result.map(Ran::Untimed))
}

/// The configuration of the timed mode from the command line.
fn timing(args: &Args) -> Result<timed::Config, Failure> {
    let timeline = if args.timeline.is_some() { EVENTS } else { 0 };
    let mut config =
        timed::Config { cus: args.cus, timeline, max_instructions: args.limit, ..timed::Config::default() };
    for assignment in &args.set {
        config.set(assignment).map_err(|error| Failure::usage(format!("--set {assignment}: {error}")))?;
    }
    Ok(config)
}

/// Writes the output files of the spec.
fn write_back(outputs: &[Output], folder: &Path) -> Result<(), Failure> {
    for output in outputs {
        if let Some(Out::File(path)) = &output.out {
            file::write(&folder.join(path).to_string_lossy(), &output.file(path))?;
        }
    }
    Ok(())
}

/// Unreadable files are errors of the command line (exit code 2), others errors of the input (1).
fn failure(place: &str, error: &Error) -> Failure {
    let limit =
        matches!(error, Error::Sim { error, .. } if matches!(**error, SimError::InstructionLimit { .. }));
    let message = format!("{place}: {error}{}", if limit { " with --limit" } else { "" });
    if matches!(error, Error::File { .. }) { Failure::usage(message) } else { Failure::input(message) }
}
