//! Compares AMD's hand-written kernels from the `amd-aiter` wheel with references in plain Rust.
//!
//! The kernels are not in this repository. Unpack the wheel (`unzip amd_aiter-*.whl -d W`, or the source distribution) and run the tests
//! with `GCN_AITER=W/aiter_meta/hsa`. The meaning of the arguments follows from their names in the metadata, from the `.csv` files next to
//! the kernels, and from the project's host code (`csrc/py_itfs_cu/asm_*.cu`).

mod attention;
mod gemm;
mod topk;

use std::path::PathBuf;

use gcn_sim::Options;
use gcn_sim::launch::{Buffer, Element, Output, Prepared, Program, Spec};
use gcn_test_support::{Random, skipped};

/// The folder of the unpacked kernels; `None` if `GCN_AITER` is not set.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("GCN_AITER").map(PathBuf::from);
    if folder.is_none() {
        let remedy = "set GCN_AITER to the folder `aiter_meta/hsa` of the unpacked amd-aiter wheel";
        skipped("GCN_AITER is not set", remedy);
    }
    folder
}

/// The kernel files of a folder such as `gfx942/bf16gemm`, sorted by name; empty if the folder does not exist.
fn files(folder: &str) -> Vec<PathBuf> {
    let Some(root) = self::folder() else { return Vec::new() };
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
        .map(|entries| entries.map(|e| e.unwrap().path()).collect())
        .unwrap_or_default();
    files.retain(|f| f.extension().is_some_and(|e| e == "co"));
    files.sort();
    assert!(!files.is_empty(), "no kernel in {folder}");
    files
}

/// Prepares a launch of the file's only kernel.
fn prepare(file: &std::path::Path, spec: &Spec) -> Prepared {
    let program = Program::load(&std::fs::read(file).unwrap(), None)
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    program.prepare(spec, ".".as_ref()).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Runs a kernel.
fn run(file: &std::path::Path, spec: &Spec) -> Prepared {
    run_with(file, spec, &Options { parallel: true, ..Options::default() })
}

fn run_with(file: &std::path::Path, spec: &Spec, options: &Options) -> Prepared {
    let mut launch = prepare(file, spec);
    let stats = launch.run(options).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    println!("{}: {} wave instructions", file.file_name().unwrap().display(), stats.wave_instructions);
    launch
}

fn name(file: &std::path::Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

fn output(launch: &Prepared, name: &str) -> Vec<f64> {
    let output: Output = launch.buffer(name).unwrap();
    output.numbers().map(|n| n.to_string().parse().unwrap()).collect()
}

/// Adds a 32-bit argument.
fn uint(spec: Spec, name: &str, value: usize) -> Spec {
    spec.int(name, Element::U32, value as i128)
}

/// Small integers, which are exact in bf16, and whose sums are exact in f32.
fn integers(seed: u64, count: usize, most: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.next_u64() % (2 * most + 1)) as f64 - most as f64).collect()
}

/// Numbers from -1 to 1.
fn fractions(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.next_u64() >> 40) as f64 / (1u64 << 23) as f64 - 1.0).collect()
}

/// The number rounded to bf16.
fn bf16(x: f64) -> f64 {
    half::bf16::from_f64(x).to_f64()
}

fn bf16_buffer(values: &[f64]) -> Buffer {
    Buffer::floats(Element::Bf16, values.iter().copied())
}
