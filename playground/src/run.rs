//! Runs launches.

use std::path::Path;
use std::str::FromStr;

use gcn_isa::hazards::Grade;
use gcn_report::launch;
use gcn_sim::launch::{Output, Prepared, Program, Spec};
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
    /// The spec, as JSON in the format of `gcn sim`.
    spec: String,
    /// The mode: `functional`, `strict` or `faithful`.
    #[serde(default)]
    mode: String,
    /// Sanitizers by name, or `all`.
    #[serde(default)]
    sanitize: String,
}

/// The maximum number of sanitizer findings that are kept.
const FINDINGS: u32 = 200;
/// The maximum number of elements of a buffer that the page gets.
const SHOWN: usize = 4096;

impl Launch {
    fn prepare(&self) -> Result<Prepared, String> {
        let spec = Spec::from_json(&self.spec).map_err(|error| format!("spec: {error}"))?;
        let program = program(&self.source, spec.kernel.as_deref())?;
        program.prepare(&spec, Path::new("")).map_err(|error| format!("spec: {error}"))
    }

    fn options(&self) -> Result<Options, String> {
        let mode =
            named::<Mode>(&self.mode).map_err(|error| format!("`{}` is not a mode: {error}", self.mode))?;
        let sanitize = named::<Sanitize>(&self.sanitize).map_err(|error| error.to_string())?;
        Ok(Options { findings: FINDINGS, ..launch::options(mode, Grade::Documented, sanitize) })
    }
}

/// Parses a value by its name; an empty name means the default.
fn named<T: FromStr + Default>(name: &str) -> Result<T, T::Err> {
    if name.is_empty() { Ok(T::default()) } else { name.parse() }
}

fn program(source: &Source, kernel: Option<&str>) -> Result<Program, String> {
    analyse::object(source)?.program(kernel).map_err(|error| error.to_string())
}

/// A spec for the kernel, to be filled in.
pub fn template(source: &Source) -> Result<Value, String> {
    Ok(json!({ "spec": program(source, None)?.template() }))
}

/// Runs the kernel; returns the buffers, and the findings of strict or faithful mode and of the sanitizers.
pub fn run(launch: &Launch) -> Result<Value, String> {
    let mut prepared = launch.prepare()?;
    let stats = prepared.run(&launch.options()?).map_err(|error| error.to_string())?;
    let outputs = prepared.outputs().map_err(|error| error.to_string())?;
    let mut answer = launch::stats(&stats);
    answer.insert("stale".to_owned(), stats.stale.iter().map(ToString::to_string).collect());
    answer.insert("findings".to_owned(), stats.findings.iter().map(ToString::to_string).collect());
    answer.insert("buffers".to_owned(), outputs.into_iter().map(buffer).collect());
    Ok(answer.into())
}

/// The first elements of a buffer, and their total number.
fn buffer(mut output: Output) -> Value {
    // A buffer that the spec would write to a file is shown as well.
    output.out = None;
    let mut shown = json!(launch::buffer(&output, SHOWN));
    shown["elements"] = json!(output.numbers().count());
    if let Some(values) = shown["values"].as_array_mut() {
        values.iter_mut().for_each(exact);
    }
    shown
}

/// Numbers in JavaScript cannot represent all 64-bit integers: those that do not fit into 32 bits become text.
fn exact(value: &mut Value) {
    let fits = value.as_i64().is_some_and(|int| i32::try_from(int).is_ok());
    if (value.is_i64() || value.is_u64()) && !fits {
        *value = json!(value.to_string());
    }
}

/// Runs the kernel on one compute unit in the timed mode; returns a page that can be zoomed, a static picture, and the summary.
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
