//! Small kernels, each written in the DSL and in OpenCL C. Both must compute the same. In the timed simulator, our
//! kernel must take at most 1.05 times the cycles of the code that clang 22 generates for the OpenCL kernel with `-O3`.
//!
//! `GCN_BLESS=1 cargo test -p gcn-examples --test compared` writes the table of `docs/compared.md`; otherwise the test
//! compares that table with its measurements. `GCN_COMPARED=name,name` selects kernels and prints their rows.

mod dual;
mod floats;
mod halves;
mod images;
mod integers;
mod lanes;
mod launch;
mod layers;
mod pairs;
mod physics;
mod rdna;
mod rows;
mod searches;
mod streams;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use gcn_isa::Target;
use gcn_isa::target::Subtarget;
use gcn_test_support::llvm;
use launch::{Measured, Memory};
use pairs::{PAIRS, Pair};
use table::Row;

/// The maximum ratio of our cycles to clang's, with near-ideal memory.
const LIMIT: f64 = 1.05;

/// True if `GCN_COMPARED` selects the pair. Without the variable, all pairs are selected.
fn is_asked(pair: &Pair) -> bool {
    let only = std::env::var("GCN_COMPARED").ok();
    only.is_none_or(|only| only.split(',').any(|name| name == pair.name))
}

/// The object file that clang generates from its kernels for a target; `None` without clang.
fn clang(target: Target) -> Option<PathBuf> {
    let clang = llvm::tool("clang")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compared");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compared-{target}.hsaco"));
    let options = "-O3 -x cl -cl-std=CL2.0 -cl-fp32-correctly-rounded-divide-sqrt \
                   -target amdgcn-amd-amdhsa -nogpulib -o";
    let mut command = Command::new(clang);
    command.args(options.split_whitespace()).arg(&object);
    // The waves in clang's code have as many lanes as the target prefers.
    command.arg(format!("-DWS={}", Subtarget::from(target).wave.lanes()));
    command.arg(format!("-mcpu={target}")).arg(folder.join("kernels.cl"));
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(object)
}

/// The ratios of a pair, and an error if they exceed their limits or the results differ.
fn measure(pair: &Pair, clang: &[u8]) -> (Row, Result<(), String>) {
    let ours = launch::Launch { name: pair.name, object: &(pair.object)(), slices: true };
    let clangs = launch::Launch { name: pair.name, object: clang, slices: false };
    let [ideal, hbm] =
        [Memory::Ideal, Memory::Hbm].map(|memory| [&ours, &clangs].map(|launch| launch.run(pair, memory)));
    let cycles = |[a, b]: &[Measured; 2]| a.cycles as f64 / b.cycles as f64;
    let instructions = ideal[0].instructions as f64 / ideal[1].instructions as f64;
    let ratios = [cycles(&ideal), cycles(&hbm), instructions];
    let mut verdict = ideal[0].equals(&ideal[1], pair.tolerance);
    if ratios[0] > pair.limit {
        verdict =
            verdict.and(Err(format!("{:.3} of clang's cycles are more than {}", ratios[0], pair.limit)));
    }
    (Row { name: pair.name, ratios }, verdict.map_err(|why| format!("{}: {why}", pair.name)))
}

#[test]
fn small_kernels_are_as_fast_as_clangs_and_compute_the_same() {
    let Some(clang) = clang(Target::GFX942).map(|file| std::fs::read(file).unwrap()) else { return };
    let all = std::env::var_os("GCN_COMPARED").is_none();
    let (rows, verdicts): (Vec<Row>, Vec<Result<(), String>>) =
        PAIRS.iter().filter(|pair| is_asked(pair)).map(|pair| measure(pair, &clang)).unzip();
    if !all {
        print!("{}", table::GFX942.text(&rows));
    }
    let mut wrong: Vec<String> = verdicts.into_iter().filter_map(Result::err).collect();
    wrong.extend(table::GFX942.held(&rows, all));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
