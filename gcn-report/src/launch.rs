//! Runs kernels from files in the simulator: loads them, selects options that detect errors, and formats results as JSON.

use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table::Class;
use gcn_sim::launch::{Error, Number, Out, Output, Prepared, Program};
use gcn_sim::{Hooks, Mode, Options, Sanitize, Stats};
use serde_json::{Map, Value, json};

use crate::input::Loadable;

/// The maximum number of sanitizer findings that a run keeps.
const FINDINGS: u32 = 1000;

impl Loadable {
    /// Loads the kernel with this name, or the only one. The lines of the assembly file are moved into the program, for its reports.
    ///
    /// # Errors
    /// The errors of [`Program::load`].
    pub fn program(&mut self, kernel: Option<&str>) -> Result<Program, Error> {
        let program = Program::load(&self.bytes, kernel)?;
        Ok(match self.lines.take() {
            Some(lines) => program.with_lines(lines),
            None => program,
        })
    }
}

/// The options of a run that detects errors; strict and faithful mode apply all rules of at least this grade.
pub fn options(mode: Mode, level: Grade, sanitize: Sanitize) -> Options {
    Options { mode, rules: Config::at_least(level), sanitize, findings: FINDINGS, ..Options::default() }
}

/// Runs a kernel on `jobs` host threads. By default it uses all processors, or only one if the order of workgroups can affect the result.
///
/// # Errors
/// The errors of [`Prepared::run`].
pub fn run(
    prepared: &mut Prepared,
    options: &Options,
    jobs: Option<usize>,
    hooks: &Hooks<'_>,
) -> Result<Stats, Error> {
    let parallel = jobs.map_or_else(|| !prepared.machine().depends_on_order(), |n| n > 1);
    let options = Options { parallel, ..*options };
    gcn_sim::with_threads(jobs, || prepared.run_with(&options, hooks))
}

/// The kernel and the sizes of its launch, as JSON.
pub fn json(program: &Program, prepared: &Prepared) -> Map<String, Value> {
    object([
        ("kernel", json!(program.name())),
        ("target", json!(program.target_id().to_string())),
        ("grid", json!(prepared.grid())),
        ("global", json!(prepared.global())),
        ("workgroup", json!(prepared.workgroup())),
    ])
}

/// The result of an untimed run as JSON: counts and findings.
pub fn stats(stats: &Stats) -> Map<String, Value> {
    let class = |(class, count): &(Class, u64)| json!({ "class": class.name(), "count": count });
    object([
        ("waves", json!(stats.waves)),
        ("instructions", json!(stats.wave_instructions)),
        ("by_class", stats.by_class.iter().map(class).collect()),
        ("stale", json!(stats.stale)),
        ("findings", json!(stats.findings)),
    ])
}

/// The contents of a buffer after a run as JSON: its first `most` elements, or the file to which they are written.
pub fn buffer(output: &Output, most: usize) -> Map<String, Value> {
    object([
        ("name", json!(output.name)),
        ("type", json!(output.element.name())),
        ("shape", json!(output.shape)),
        match &output.out {
            Some(Out::File(path)) => ("file", json!(path)),
            _ => ("values", output.numbers().take(most).map(number).collect()),
        },
    ])
}

/// A number as JSON. JSON has no infinities and NaNs: they become strings, as in specs.
fn number(number: Number) -> Value {
    match number {
        Number::Int(int) => u64::try_from(int).map_or_else(|_| json!(int as i64), |int| json!(int)),
        Number::Float(float) if float.is_finite() => json!(float),
        Number::Float(float) => json!(float.to_string()),
        Number::Bits(bits) => json!(format!("{bits:#x}")),
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
