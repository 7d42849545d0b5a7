//! Tests differences between processors against LLVM 22.1.8: `../data/processors` and the tables of gcn-isa's tests, measured with
//! `llvm-mc`, `llc` and clang.

mod branches;
mod descriptor;
mod elf;
mod occupancy;

use std::io::Read as _;

use gcn_emit::asm::{self, Assembly, Diagnostics};
use gcn_isa::{Target, WaveSize};

/// The rows of a compressed table without its header.
fn rows(packed: &[u8]) -> Vec<Vec<String>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("test data is whole");
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The target and wave size of a row; `None` for unsupported processors.
fn machine(target: &str, wave: &str) -> Option<(Target, WaveSize)> {
    let wave = WaveSize::of_lanes(wave.parse().unwrap()).unwrap();
    Some((Target::KNOWN.into_iter().find(|known| known.name() == target)?, wave))
}

/// Assembles a file for waves of this size.
fn assemble(target: Target, wave: WaveSize, text: &str) -> Result<Assembly, Diagnostics> {
    let options = asm::Options { target: Some(target.into()), wave: Some(wave), keep_instructions: true };
    asm::assemble("k.s", text, &options)
}
