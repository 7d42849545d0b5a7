//! `gcn annotate`: samples of the program counter from a GPU, next to source, assembly and the result of the timed model.

mod arbiter;
mod csv;
mod json;
mod page;
mod profile;
mod read;
mod samples;
mod text;

use std::collections::BTreeMap;

use gcn_emit::code::Unit;
use gcn_emit::lines::SourceLines;
use gcn_report::container::code_object;
use gcn_sim::timed;

use crate::commands;
use crate::commands::launch::{Launch, failure};
use crate::commands::progress::Bar;
use crate::failure::Failure;
use crate::file;
use profile::{Model, Profile};

/// Shows where the waves of a profiled program were, and why they stalled.
///
/// SAMPLES is what `rocprofv3 --pc-sampling-beta-enabled` writes: pc_sampling_host_trap.csv, pc_sampling_stochastic.csv, or the JSON
/// results. Instructions are sorted by loss: the number of samples in which the wave did not issue, or, for the host-trap method, which
/// does not report that, all samples. With --args the kernel also runs in the timed mode of the simulator, and each instruction is shown
/// with its share of the simulated cycles and its simulated stall reasons.
///
/// CSV files identify an instruction by its text and source line. If several instructions have the same ones, the samples are counted at
/// the first, with a remark. JSON has addresses.
///
/// Exit codes: 0, done; 1, code, samples or spec are wrong, or do not match each other; 2, the command line is wrong or a file cannot be
/// read or written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    launch: Launch,
    /// The samples: CSV or JSON of rocprofv3
    #[arg(value_name = "SAMPLES")]
    samples: String,
    /// The number of this code object in the samples, if they come from several code objects
    #[arg(long, value_name = "ID")]
    code_object: Option<u64>,
    /// Count only the samples of this dispatch (its id)
    #[arg(long, value_name = "ID")]
    dispatch: Option<u64>,
    /// The number of instructions to list, or `all`
    #[arg(long, value_name = "N", default_value = "20", value_parser = limit)]
    limit: usize,
    /// List every sampled function in address order, instead of sorting by loss
    #[arg(long, conflicts_with = "limit")]
    listing: bool,
    #[command(flatten)]
    parameters: commands::Parameters,
    /// Compute units over which the timed mode distributes the grid; by default those of the device
    #[arg(long, value_name = "N", requires = "args", value_parser = clap::value_parser!(u32).range(1..))]
    cus: Option<u32>,
    /// Print the profile as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// Write a page (.html) instead of text
    #[arg(short, long, value_name = "OUT.html", value_parser = file::name())]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles \\
      --pc-sampling-interval 1048576 --output-format json -- ./program
  gcn annotate gemm.hsaco results.json                        the instructions that lose most
  gcn annotate gemm.hsaco results.json --args gemm.json       beside the timed model
  gcn annotate gemm.hsaco results.json -o gemm.html           as a page
  gcn annotate gemm.hsaco pc_sampling_host_trap.csv --listing  whole functions";

/// Parses `all` or a number.
fn limit(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().ok().filter(|n| *n > 0).ok_or("a number above 0, or `all`".to_owned()),
    }
}

/// Reads code and samples, and prints them side by side.
pub fn run(args: &Args) -> Result<(), Failure> {
    let launch = &args.launch;
    let object = launch.object()?;
    let name = launch.name();
    let read = code_object(name, &object.bytes)?;
    let unit = Unit::of_object(&read).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let lines = match &object.lines {
        Some(lines) => lines.clone(),
        None => SourceLines::of_object(&read),
    };
    let samples = read::read(&args.samples)?;
    let fit = |problem| Failure::input(format!("{}: {problem}", file::shown(&args.samples)));
    let mut profile = Profile::new(&unit, &lines);
    profile.count(&samples, args.code_object, args.dispatch).map_err(fit)?;
    if let Some(model) = model(args)? {
        profile.compare(model);
    }
    match &args.output {
        Some(output) if output != file::STANDARD && !output.ends_with(".html") => {
            Err(Failure::usage(format!("-o {output}: the name must end in .html")))
        }
        Some(output) => file::write(output, page::html(&profile, name).as_bytes()),
        None if args.json => file::print(commands::json(&profile.report())?.as_bytes()),
        None => {
            let limit = if args.listing { None } else { Some(args.limit) };
            file::print(text::render(&profile, limit).as_bytes())
        }
    }
}

/// Runs the launch in the timed mode; the result by instruction address. `None` without a spec.
fn model(args: &Args) -> Result<Option<Model>, Failure> {
    let (spec, folder) = args.launch.spec()?;
    let Some(spec) = spec else {
        return match args.parameters.are_given() {
            true => Err(Failure::usage(
                "--params and --set are for a launch that runs in timed mode: give its --args",
            )),
            false => Ok(None),
        };
    };
    let (_, program) = args.launch.load(Some(&spec))?;
    let mut prepared = args.launch.prepare(&program, &spec, &folder)?;
    let mut config = timed::Config { cus: args.cus, complete: false, ..timed::Config::default() };
    args.parameters.read()?.apply(&mut config, program.machine().target())?;
    let report = Bar::new("workgroups").watch(|| prepared.run_timed(&config));
    let report = report.map_err(|error| failure(args.launch.name(), &error))?;
    let by_address: BTreeMap<_, _> =
        report.by_instruction.into_iter().map(|line| (u64::from(line.offset), line)).collect();
    Ok(Some(Model { by_address, stalls: report.stalls }))
}
