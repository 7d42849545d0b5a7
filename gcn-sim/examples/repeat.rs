//! Runs a kernel many times on one thread, so that a profiler sees the simulator rather than its start; `benches/programs.py` uses it.
//!
//! `cargo run --release -p gcn-sim --example repeat -- OBJECT SPEC TIMES [strict|faithful|sanitize]` prints the number of executed wave
//! instructions. OBJECT is an ELF code object, SPEC a file as for `gcn sim --args`. Each run works on what the run before has left in
//! memory.

use std::path::Path;

use gcn_sim::launch::{Program, Spec};
use gcn_sim::{Options, Sanitize};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [object, spec, times, mode @ ..] = &args[..] else {
        return Err("usage: repeat OBJECT SPEC TIMES [strict|faithful|sanitize]".into());
    };
    let options = match mode.first().map(String::as_str) {
        None => Options::default(),
        Some("strict") => Options::strict(),
        Some("faithful") => Options::faithful(),
        Some("sanitize") => Options { sanitize: Sanitize::all(), findings: 1000, ..Options::default() },
        Some(other) => return Err(format!("there is no mode `{other}`").into()),
    };
    let folder = Path::new(spec).parent().unwrap_or(Path::new("."));
    let spec = Spec::from_json(&std::fs::read_to_string(spec)?)?;
    let program = Program::load(&std::fs::read(object)?, spec.kernel.as_deref())?;
    let mut launch = program.prepare(&spec, folder)?;
    let mut instructions = 0;
    for _ in 0..times.parse::<u64>()? {
        instructions += launch.run(&options)?.wave_instructions;
    }
    println!("{instructions}");
    Ok(())
}
