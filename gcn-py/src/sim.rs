//! Kernels in the simulator, with buffers from Python.

use gcn_isa::hazards::Config;
use gcn_report::input::{self, Loadable};
use gcn_sim::launch::{Arg, Buffer, Element, Key, Prepared, Program, Spec};
use gcn_sim::{Mode, Sanitize, timed};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::options::Options;
use crate::{refused, text};

/// The largest number of sanitizer findings that are kept.
const FINDINGS: u32 = 1000;

/// A buffer of Python: name or position of its argument, type of its elements, bytes.
type Given = (String, String, Vec<u8>);

fn load(name: &str, data: Vec<u8>, options: &Options, kernel: Option<&str>) -> PyResult<Program> {
    let kernel = options.kernel.as_deref().or(kernel);
    let Loadable { bytes, lines } =
        input::one(name, data, &options.choice(), kernel, &options.folders()).map_err(refused)?;
    let program = Program::load(&bytes, kernel).map_err(|error| refused(format!("{name}: {error}")))?;
    Ok(match lines {
        Some(lines) => program.with_lines(lines),
        None => program,
    })
}

/// A spec for a kernel, as JSON, to be filled in.
#[pyfunction]
pub fn template(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| Ok(load(name, data, &options, None)?.template()))
}

/// Runs a kernel; returns the report and the buffers as they are then, in the order given.
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
        let mut report = json!({
            "kernel": program.name(),
            "target": program.target_id().to_string(),
            "grid": prepared.grid(),
            "global": prepared.global(),
            "workgroup": prepared.workgroup(),
        });
        if let (Value::Object(report), Value::Object(ran)) = (&mut report, ran) {
            report.extend(ran);
        }
        Ok((text(&report)?, outputs))
    })
}

/// A name, or a position: the spec has one kind of key or the other.
fn key(text: &str) -> Key {
    text.parse().map_or_else(|_| Key::Name(text.to_owned()), Key::Position)
}

fn run(prepared: &mut Prepared, options: &Options) -> Result<Value, String> {
    let says = |error: gcn_sim::launch::Error| error.to_string();
    if options.timed {
        let mut config = timed::Config::default();
        config.cus = options.cus.or(config.cus);
        config.max_instructions = options.limit.unwrap_or(config.max_instructions);
        for assignment in &options.set {
            config.set(assignment).map_err(|error| format!("{assignment}: {error}"))?;
        }
        return Ok(json!({ "timed": prepared.run_timed(&config).map_err(says)? }));
    }
    let mode = match options.mode.as_str() {
        "strict" => Mode::Strict,
        "faithful" => Mode::Faithful,
        _ => Mode::Functional,
    };
    let sanitize: Result<Sanitize, _> =
        options.sanitize.iter().map(|name| name.parse::<Sanitize>()).collect();
    let default = gcn_sim::Options::default();
    let how = gcn_sim::Options {
        mode,
        rules: Config::at_least(options.level),
        max_instructions: options.limit.unwrap_or(default.max_instructions),
        parallel: options.jobs.map_or_else(|| !prepared.machine().depends_on_order(), |n| n > 1),
        sanitize: sanitize.map_err(|error| error.to_string())?,
        findings: FINDINGS,
        ..default
    };
    let stats = gcn_sim::with_threads(options.jobs, || prepared.run(&how)).map_err(says)?;
    let by_class: serde_json::Map<_, _> =
        stats.by_class.iter().map(|(class, count)| (class.name().to_owned(), json!(count))).collect();
    Ok(json!({
        "waves": stats.waves,
        "instructions": stats.wave_instructions,
        "by_class": by_class,
        "stale": stats.stale,
        "findings": stats.findings.iter().map(said).collect::<Vec<_>>(),
    }))
}

/// A finding with its text.
fn said(finding: &gcn_sim::Finding) -> Value {
    let mut value = json!(finding);
    value["message"] = json!(finding.to_string());
    value["note"] = json!(finding.kind.is_note());
    value
}
