//! Runs kernels in the simulator, with buffers from Python.

use gcn_report::{input, launch};
use gcn_sim::launch::{Arg, Buffer, Element, Key, Prepared, Program, Spec};
use gcn_sim::{Hooks, Sanitize, timed};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::options::Options;
use crate::{refused, text};

/// A buffer from Python: name or position of its argument, type of its elements, bytes.
type Given = (String, String, Vec<u8>);

fn load(name: &str, data: Vec<u8>, options: &Options, kernel: Option<&str>) -> PyResult<Program> {
    let kernel = options.kernel.as_deref().or(kernel);
    let mut object =
        input::one(name, data, &options.choice(), kernel, &options.folders()).map_err(refused)?;
    object.program(kernel).map_err(|error| refused(format!("{name}: {error}")))
}

/// Returns a spec for a kernel as JSON, to be filled in.
#[pyfunction]
pub fn template(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| Ok(load(name, data, &options, None)?.template()))
}

/// Runs a kernel; returns the report and the final contents of the buffers, in the given order.
#[pyfunction]
pub fn sim(
    py: Python<'_>,
    name: &str,
    data: Vec<u8>,
    spec: &str,
    buffers: Vec<Given>,
    options: &str,
) -> PyResult<(String, Vec<Vec<u8>>)> {
    let options = Options::read(options)?;
    py.detach(|| {
        let mut spec = Spec::from_json(spec).map_err(refused)?;
        let program = load(name, data, &options, spec.kernel.as_deref())?;
        let keys: Vec<Key> = buffers.iter().map(|given| key(&given.0)).collect();
        for (key, (_, element, bytes)) in keys.iter().zip(buffers) {
            let element: Element = element.parse().map_err(refused)?;
            let argument = spec.args.iter_mut().find(|(known, _)| known == key);
            let Some((_, argument)) = argument else { return Err(refused(format!("no argument {key}"))) };
            *argument = Arg::Buffer(Buffer::bytes(element, bytes));
        }
        let mut prepared =
            program.prepare(&spec, &options.folder).map_err(|error| refused(format!("{name}: {error}")))?;
        let ran = run(&mut prepared, &options).map_err(|error| refused(format!("{name}: {error}")))?;
        let back = |key: &Key| match key {
            Key::Name(name) => prepared.buffer(name),
            Key::Position(position) => prepared.buffer_at(*position),
        };
        let outputs =
            keys.iter().map(|key| back(key).map(|output| output.bytes).unwrap_or_default()).collect();
        let mut report = launch::json(&program, &prepared);
        report.extend(ran);
        Ok((text(&report)?, outputs))
    })
}

/// Parses a name or a position; a spec identifies its arguments by one or the other.
fn key(text: &str) -> Key {
    text.parse().map_or_else(|_| Key::Name(text.to_owned()), Key::Position)
}

fn run(prepared: &mut Prepared, options: &Options) -> Result<Map<String, Value>, String> {
    let says = |error: gcn_sim::launch::Error| error.to_string();
    if options.timed {
        let mut config = timed::Config::default();
        config.cus = options.cus.or(config.cus);
        config.max_instructions = options.limit.unwrap_or(config.max_instructions);
        for assignment in &options.set {
            config.set(assignment).map_err(|error| format!("{assignment}: {error}"))?;
        }
        let report = prepared.run_timed(&config).map_err(says)?;
        return Ok(Map::from_iter([("timed".to_owned(), json!(report))]));
    }
    let sanitize: Result<Sanitize, _> =
        options.sanitize.iter().map(|name| name.parse::<Sanitize>()).collect();
    let sanitize = sanitize.map_err(|error| error.to_string())?;
    let mut how = launch::options(options.mode, options.level, sanitize);
    how.max_instructions = options.limit.unwrap_or(how.max_instructions);
    let stats = launch::run(prepared, &how, options.jobs, &Hooks::default()).map_err(says)?;
    let mut report = launch::stats(&stats);
    report.insert("findings".to_owned(), stats.findings.iter().map(said).collect());
    Ok(report)
}

/// A finding as JSON, with its message.
fn said(finding: &gcn_sim::Finding) -> Value {
    let mut value = json!(finding);
    value["message"] = json!(finding.to_string());
    value["note"] = json!(finding.kind.is_note());
    value
}
