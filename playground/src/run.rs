//! Launches.

use std::path::Path;

use gcn_isa::hazards::{Config, Grade};
use gcn_sim::launch::{Number, Output, Prepared, Program, Spec};
use gcn_sim::timeline::{self, Timeline};
use gcn_sim::{Mode, Options, Sanitize, timed};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Source, analyse};

/// A text and how to launch it.
#[derive(Deserialize)]
pub struct Launch {
    #[serde(flatten)]
    source: Source,
    /// JSON as of `gcn sim`.
    spec: String,
    /// `functional`, `strict` or `faithful`.
    #[serde(default)]
    mode: String,
    /// Sanitizers by name, or `all`.
    #[serde(default)]
    sanitize: String,
}

/// The most sanitizer findings that are kept.
const FINDINGS: u32 = 200;
/// The most elements of a buffer that the page gets.
const SHOWN: usize = 4096;

impl Launch {
    fn prepare(&self) -> Result<Prepared, String> {
        let spec = Spec::from_json(&self.spec).map_err(|error| format!("spec: {error}"))?;
        let program = program(&self.source, spec.kernel.as_deref())?;
        program.prepare(&spec, Path::new("")).map_err(|error| format!("spec: {error}"))
    }

    fn options(&self) -> Result<Options, String> {
        let mode = match self.mode.as_str() {
            "" | "functional" => Mode::Functional,
            "strict" => Mode::Strict,
            "faithful" => Mode::Faithful,
            other => return Err(format!("`{other}` is not a mode: functional, strict or faithful")),
        };
        let sanitize = match self.sanitize.as_str() {
            "" => Sanitize::empty(),
            names => names.parse().map_err(|error| format!("{error}"))?,
        };
        let rules = Config::at_least(Grade::Documented);
        Ok(Options { mode, sanitize, rules, findings: FINDINGS, ..Options::default() })
    }
}

fn program(source: &Source, kernel: Option<&str>) -> Result<Program, String> {
    let object = analyse::object(source)?;
    let program = Program::load(&object.bytes, kernel).map_err(|error| error.to_string())?;
    Ok(match object.lines {
        Some(lines) => program.with_lines(lines),
        None => program,
    })
}

/// A spec for the kernel, to be filled in.
pub fn template(source: &Source) -> Result<Value, String> {
    Ok(json!({ "spec": program(source, None)?.template() }))
}

/// Runs the kernel: buffers, and what strict or faithful mode and sanitizers found.
pub fn run(launch: &Launch) -> Result<Value, String> {
    let mut prepared = launch.prepare()?;
    let stats = prepared.run(&launch.options()?).map_err(|error| error.to_string())?;
    let outputs = prepared.outputs().map_err(|error| error.to_string())?;
    Ok(json!({
        "waves": stats.waves,
        "instructions": stats.wave_instructions,
        "stale": stats.stale.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "findings": stats.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "buffers": outputs.iter().map(buffer).collect::<Vec<_>>(),
    }))
}

fn buffer(output: &Output) -> Value {
    let values: Vec<Value> = output.numbers().take(SHOWN).map(number).collect();
    json!({
        "name": output.name,
        "type": output.element.name(),
        "shape": output.shape,
        "values": values,
        "elements": output.numbers().count(),
    })
}

/// JSON and JavaScript have no whole numbers of 64 bits, infinities and NaNs: they become text.
fn number(number: Number) -> Value {
    match number {
        Number::Int(int) => i32::try_from(int).map_or_else(|_| json!(int.to_string()), |int| json!(int)),
        Number::Float(float) if float.is_finite() => json!(float),
        Number::Float(float) => json!(float.to_string()),
        Number::Bits(bits) => json!(format!("{bits:#x}")),
    }
}

/// Runs the kernel on one compute unit with time: a page that zooms, a still picture, and the summary.
pub fn timeline(launch: &Launch) -> Result<Value, String> {
    let mut prepared = launch.prepare()?;
    let config = timed::Config {
        cus: Some(1),
        complete: false,
        timeline: timeline::EVENTS,
        ..timed::Config::default()
    };
    let report = prepared.run_timed(&config).map_err(|error| error.to_string())?;
    let object = analyse::object(&launch.source)?;
    let listing = report.listing();
    let notes = gcn_report::explain::by_address(&object.bytes);
    let timeline = Timeline::new(report).titled("kernel.s").with_notes(notes);
    Ok(json!({ "page": timeline.html(), "listing": listing }))
}
