//! Small kernels, each in this language and in OpenCL C: both must compute the same, and ours must not take more than 1.05 times as
//! many cycles in the timed simulator as what clang 22 makes of the other one with `-O3`.
//!
//! `GCN_BLESS=1 cargo test -p gcn-examples --test compared` writes the table of `docs/compared.md`; `GCN_COMPARED=name,name` runs some
//! of them and prints their rows.

mod floats;
mod halves;
mod images;
mod integers;
mod launch;
mod pairs;
mod physics;
mod rows;
mod searches;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use gcn_test_support::{env, llvm, stored};
use launch::{Measured, Memory};
use pairs::{PAIRS, Pair};

/// Cycles of ours over those of clang's, with near-ideal memory, that are allowed.
const LIMIT: f64 = 1.05;

/// The lines of the document between which the table is.
const TABLE: [&str; 2] = ["<!-- compared: begin -->\n", "<!-- compared: end -->"];

fn clang() -> Option<Vec<u8>> {
    let clang = llvm::tool("clang")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compared");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compared.hsaco");
    let options = "-O3 -x cl -cl-std=CL2.0 -cl-fp32-correctly-rounded-divide-sqrt \
                   -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -o";
    let mut command = Command::new(clang);
    command.args(options.split_whitespace()).arg(&object).arg(folder.join("kernels.cl"));
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(std::fs::read(object).unwrap())
}

fn row(pair: &Pair, clang: &[u8]) -> (String, Result<(), String>) {
    let ours = launch::Launch { name: pair.name, object: &(pair.object)(), slices: true };
    let clangs = launch::Launch { name: pair.name, object: clang, slices: false };
    let mut ratios = Vec::new();
    let mut verdict = Ok(());
    for memory in [Memory::Ideal, Memory::Hbm] {
        let [a, b]: [Measured; 2] = [&ours, &clangs].map(|launch| launch.run(pair, memory));
        ratios.push(a.cycles as f64 / b.cycles as f64);
        if memory == Memory::Ideal {
            ratios.push(a.instructions as f64 / b.instructions as f64);
            verdict = a.equals(&b, pair.tolerance);
        }
    }
    let [ideal, instructions, hbm] = ratios[..] else { unreachable!("two runs give three ratios") };
    if ideal > pair.limit {
        verdict = verdict.and(Err(format!("{ideal:.3} of clang's cycles are more than {}", pair.limit)));
    }
    let row = format!("| {} | {ideal:.2} | {hbm:.2} | {instructions:.2} |\n", pair.name);
    (row, verdict.map_err(|why| format!("{}: {why}", pair.name)))
}

#[test]
fn small_kernels_are_as_fast_as_clangs_and_compute_the_same() {
    let Some(clang) = clang() else { return };
    let only = std::env::var("GCN_COMPARED").ok();
    let asked = |pair: &&Pair| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == pair.name));
    let mut table = String::from("| kernel | ideal memory | HBM | instructions |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    for pair in PAIRS.iter().filter(asked) {
        let (row, verdict) = row(pair, &clang);
        let _ = write!(table, "{row}");
        wrong.extend(verdict.err());
    }
    if only.is_some() {
        print!("{table}");
    } else if env::bless() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compared.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once(TABLE[0]).unwrap();
        let (_, after) = rest.split_once(TABLE[1]).unwrap();
        stored::assert_current(&path, &format!("{before}{}{table}{}{after}", TABLE[0], TABLE[1]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
