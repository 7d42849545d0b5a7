//! Kernels of files in the simulator: loading, options that detect faults, and results as JSON.

use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table::Class;
use gcn_sim::launch::{Error, Number, Out, Output, Prepared, Program};
use gcn_sim::{Hooks, Mode, Options, Sanitize, Stats};
use serde_json::{Map, Value, json};

use crate::input::Loadable;

/// The largest number of sanitizer findings that a run keeps.
const FINDINGS: u32 = 1000;

impl Loadable {
    /// Loads a kernel: the only one, or the one with this name. It takes the lines of the assembly file along, for its reports.
    ///
    /// # Errors
    /// Those of [`Program::load`].
    pub fn program(&mut self, kernel: Option<&str>) -> Result<Program, Error> {
        let program = Program::load(&self.bytes, kernel)?;
        Ok(match self.lines.take() {
            Some(lines) => program.with_lines(lines),
            None => program,
        })
    }
}

/// Options of a run that detects: in strict and faithful mode whatever breaks rules of at least this grade.
pub fn options(mode: Mode, level: Grade, sanitize: Sanitize) -> Options {
    Options { mode, rules: Config::at_least(level), sanitize, findings: FINDINGS, ..Options::default() }
}

/// Runs a kernel on `jobs` host threads. Without a number it runs on all processors, but on one if the order of workgroups can
/// change the result.
///
/// # Errors
/// Those of [`Prepared::run`].
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

/// The kernel and the sizes of its launch.
pub fn json(program: &Program, prepared: &Prepared) -> Map<String, Value> {
    object([
        ("kernel", json!(program.name())),
        ("target", json!(program.target_id().to_string())),
        ("grid", json!(prepared.grid())),
        ("global", json!(prepared.global())),
        ("workgroup", json!(prepared.workgroup())),
    ])
}

/// The result of a run without time: counts, and what was found.
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

/// A buffer after a run: its first `most` elements, or the file that they go to.
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

/// JSON has no infinities and NaNs: they become strings, as in specs.
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
