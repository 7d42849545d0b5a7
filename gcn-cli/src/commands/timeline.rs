//! `gcn timeline`.

use std::ops::Range;

use gcn_report::explain;
use gcn_sim::timed;
use gcn_sim::timeline::{self, Timeline};

use crate::commands;
use crate::commands::launch::{Launch, failure};
use crate::commands::progress::Bar;
use crate::failure::Failure;
use crate::file;

/// Draws how a kernel spends its cycles: pipelines and waves as rows, instructions and waits as bars.
///
/// The kernel runs in the timed mode of the simulator (docs/timing.md), on one compute unit unless --cus distributes the grid. Of each loop
/// only the first and the last trips are drawn in full. The page is one self-contained file; in a browser it zooms with the wheel and keys,
/// and shows for each wait what it waits for and which hazard rules need it.
///
/// Exit code 0: done; 1: the code object or the spec is wrong, or the kernel causes an error; 2: the command line is wrong or a file cannot
/// be read or written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    launch: Launch,
    /// The output: a page (.html), a static picture (.svg), or Chrome trace events (.json); `-` for a page on standard output
    #[arg(short, long, value_name = "OUT.html", value_parser = file::name())]
    output: String,
    /// Trips of a loop to show at its start and at its end, or `all`
    #[arg(long, value_name = "N", default_value = "2", value_parser = trips)]
    trips: usize,
    /// Cycles to show, for example 2000..4000
    #[arg(long, value_name = "FROM..TO", value_parser = cycles)]
    cycles: Option<Range<u64>>,
    /// Width of a static picture in pixels, at least 400; by default it follows from the number of cycles
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(400..=100_000))]
    width: Option<u32>,
    /// Compute units over which the grid is distributed; one of them is drawn
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    cus: u32,
    #[command(flatten)]
    parameters: commands::Parameters,
    /// The largest number of instructions that a wave may execute
    #[arg(long, value_name = "N", default_value_t = 1 << 40)]
    limit: u64,
}

const EXAMPLES: &str = "\
Examples:
  gcn timeline gemm.hsaco --args gemm.json --grid 1 -o gemm.html
  gcn timeline gemm.hsaco --args gemm.json --trips 1 -o gemm.svg
  gcn timeline gemm.hsaco --args gemm.json --trips all --cycles 4000..6000 --width 750 -o steady.svg
  gcn timeline gemm.hsaco --args gemm.json --set l2.latency=500 -o gemm.json";

/// Parses `all` or a number.
fn trips(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().ok().filter(|n| *n > 0).ok_or("a number above 0, or `all`".to_owned()),
    }
}

/// Parses two numbers `FROM..TO`, the first below the second.
fn cycles(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range
        .filter(|range| !range.is_empty())
        .ok_or("two numbers, the first below the second, as in 2000..4000".to_owned())
}

/// The format to write.
#[derive(Clone, Copy)]
enum Form {
    Page,
    Picture,
    Events,
}

/// The format that the extension of the output file selects.
fn form(output: &str) -> Result<Form, Failure> {
    let extension = std::path::Path::new(output).extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        _ if output == file::STANDARD => Ok(Form::Page),
        "html" | "htm" => Ok(Form::Page),
        "svg" => Ok(Form::Picture),
        "json" => Ok(Form::Events),
        _ => Err(Failure::usage(format!("-o {output}: the name must end in .html, .svg or .json"))),
    }
}

/// Runs the kernel and draws its timeline.
pub fn run(args: &Args) -> Result<(), Failure> {
    let form = form(&args.output)?;
    let (spec, folder) = args.launch.spec()?;
    let Some(spec) = spec else {
        return Err(Failure::usage("--args SPEC.json is needed; `gcn sim FILE` prints a spec to fill in"));
    };
    let (object, program) = args.launch.load(Some(&spec))?;
    let mut prepared = args.launch.prepare(&program, &spec, &folder)?;
    let mut config = timed::Config {
        cus: Some(args.cus),
        complete: false,
        timeline: timeline::EVENTS,
        max_instructions: args.limit,
        ..timed::Config::default()
    };
    args.parameters.read()?.apply(&mut config, program.machine().target())?;
    let report = Bar::new("workgroups").watch(|| prepared.run_timed(&config));
    let report = report.map_err(|error| failure(args.launch.name(), &error))?;
    let drawn = match form {
        Form::Events => report.timeline(),
        Form::Page | Form::Picture => {
            let timeline = Timeline::new(report).titled(program.name()).with_trips(args.trips);
            let mut timeline = timeline.with_notes(explain::by_address(&object.bytes));
            if let Some(cycles) = &args.cycles {
                timeline = timeline.within(cycles.clone());
            }
            if let Some(width) = args.width {
                timeline = timeline.with_width(width);
            }
            if matches!(form, Form::Page) { timeline.html() } else { timeline.svg() }
        }
    };
    file::write(&args.output, drawn.as_bytes())
}
