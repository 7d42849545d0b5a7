//! Launches our kernel or clang's in the timed simulator, with the arguments of a pair.

use std::fmt::Write;

use gcn_isa::table::Class;
use gcn_sim::launch::{Number, Output, Prepared, Program, Spec};
use gcn_sim::timed::Config;
use gcn_sim::{Mode, Options};

use crate::pairs::Pair;

/// The simulated memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Near-ideal memory, with which the code determines the time.
    Ideal,
    /// The share of the HBM bandwidth that one of 304 busy compute units has.
    Hbm,
}

impl Memory {
    /// The simulator parameters that docs/compared.md states.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Memory::Ideal => &[
                "l2.latency=120",
                "memory.latency=120",
                "mall.latency=120",
                "l1.latency=60",
                "memory.bandwidth=100000",
                "l2.bandwidth=100000",
                "mall.bandwidth=100000",
            ],
            Memory::Hbm => &["l2.bandwidth=54", "memory.bandwidth=8", "mall.bandwidth=27"],
        }
    }
}

/// A kernel to launch.
pub struct Launch<'a> {
    pub name: &'static str,
    pub object: &'a [u8],
    /// True if a slice is passed as an address and a length, and not as an address alone.
    pub slices: bool,
}

/// The time that a run took, and the memory that it wrote.
pub struct Measured {
    pub cycles: u64,
    pub instructions: u64,
    buffers: Vec<Output>,
}

/// What a run without timing executed, and the memory that it wrote.
pub struct Counted {
    /// The number of instructions that all waves executed.
    pub instructions: u64,
    pub by_class: Vec<(Class, u64)>,
    buffers: Vec<Output>,
}

impl Launch<'_> {
    /// Runs the kernel on one compute unit.
    pub fn run(&self, pair: &Pair, memory: Memory) -> Measured {
        let mut prepared = self.prepare(pair);
        let mut config = Config { cus: Some(1), ..Config::default() };
        memory.parameters().iter().for_each(|parameter| config.set(parameter).unwrap());
        let report = prepared.run_timed(&config).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let buffers = self.buffers(pair, &prepared);
        Measured { cycles: report.cycles, instructions: report.instructions, buffers }
    }

    /// Runs the kernel without timing.
    pub fn count(&self, pair: &Pair, mode: Mode) -> Result<Counted, String> {
        let mut prepared = self.prepare(pair);
        let options = Options { mode, ..Options::default() };
        let stats = prepared.run(&options).map_err(|error| format!("{}: {error}", self.name))?;
        Ok(Counted {
            instructions: stats.wave_instructions,
            by_class: stats.by_class,
            buffers: self.buffers(pair, &prepared),
        })
    }

    fn prepare(&self, pair: &Pair) -> Prepared {
        let spec = self.spec(pair);
        let spec = Spec::from_json(&spec).unwrap_or_else(|error| panic!("{}: {error}: {spec}", self.name));
        let program = Program::load(self.object, Some(self.name)).unwrap();
        program.prepare(&spec, ".".as_ref()).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// The contents of the slices after a run.
    fn buffers(&self, pair: &Pair, prepared: &Prepared) -> Vec<Output> {
        let buffer = |(position, _)| prepared.buffer_at(position);
        let arguments = pair.arguments.split_whitespace().flat_map(|argument| {
            // The length of a slice is another argument.
            let parts = if self.slices && argument.ends_with(']') { 2 } else { 1 };
            (0..parts).map(move |part| (part, argument))
        });
        arguments.enumerate().filter(|(_, (part, _))| *part == 0).filter_map(buffer).collect()
    }

    /// The arguments as JSON. In the pair, `n:u32=8 x:f32[64]` is a number and a slice of 64 random elements.
    fn spec(&self, pair: &Pair) -> String {
        let mut args = Vec::new();
        for argument in pair.arguments.split_whitespace() {
            let (name, ty) = argument.split_once(':').expect("an argument has a type");
            // clang's arguments have no names, so their index identifies them.
            let key = if self.slices { name.to_owned() } else { args.len().to_string() };
            if let Some((ty, value)) = ty.split_once('=') {
                args.push(format!("\"{key}\": {{\"{ty}\": {value}}}"));
            } else {
                let (ty, count) = ty.trim_end_matches(']').split_once('[').expect("a slice has a length");
                args.push(format!(
                    "\"{key}\": {{\"buffer\": \"{ty}\", \"count\": {count}, \"init\": \"random\"}}"
                ));
                if self.slices {
                    args.push(format!("\"{key}.len\": {{\"u32\": {count}}}"));
                }
            }
        }
        let ([x, y], [w, h]) = (pair.grid, pair.workgroup);
        let mut spec = String::new();
        let _ = write!(
            spec,
            "{{\"args\": {{{}}}, \"grid\": [{x}, {y}, 1], \"workgroup\": [{w}, {h}, 1]}}",
            args.join(", ")
        );
        spec
    }
}

/// Checks that the buffers of two runs are equal: integers exactly, floats within `tolerance`, relative to the larger
/// of the two and 1.
fn equal(ours: &[Output], clangs: &[Output], tolerance: f64) -> Result<(), String> {
    assert_eq!(ours.len(), clangs.len());
    for (a, b) in ours.iter().zip(clangs) {
        for (at, (x, y)) in a.numbers().zip(b.numbers()).enumerate() {
            let same = match (x, y) {
                (Number::Float(x), Number::Float(y)) => {
                    x == y
                        || x.is_nan() && y.is_nan()
                        || (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0)
                }
                (x, y) => x == y,
            };
            if !same {
                return Err(format!("{}[{at}] is {x} here and {y} of clang's", a.name));
            }
        }
    }
    Ok(())
}

impl Measured {
    /// Checks that both runs wrote the same.
    pub fn equals(&self, other: &Measured, tolerance: f64) -> Result<(), String> {
        equal(&self.buffers, &other.buffers, tolerance)
    }
}

impl Counted {
    /// Checks that both runs wrote the same.
    pub fn equals(&self, other: &Counted, tolerance: f64) -> Result<(), String> {
        equal(&self.buffers, &other.buffers, tolerance)
    }
}
