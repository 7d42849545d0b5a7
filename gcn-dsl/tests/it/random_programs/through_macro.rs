//! The same programs as source text: what `gcn_kernel!` makes of a program means what the program means.
//!
//! `sample.rs` is made of [`print`](super::print) by `GCN_BLESS=1 cargo test -p gcn-dsl --test it random_programs::through_macro`.

use std::fmt::Write;
use std::path::Path;

use gcn_dsl::prelude::Target;
use gcn_dsl::{BuildError, BuiltKernel};

use super::data::Data;
use super::run::{TARGETS, simulate};
use super::sample::SAMPLE;
use super::{generate, interpret, print};

/// A kernel of the sample: the program's number, and what builds the kernel.
pub type Sampled = (u64, fn(Target) -> Result<BuiltKernel, BuildError>);

/// How many programs the sample has, and how large each is at most, for the sake of what rustc needs for them.
const COUNT: usize = 40;
const LARGEST: usize = 150;

/// The programs of the sample: the first that mean something.
fn chosen() -> impl Iterator<Item = u64> {
    let means_something = |seed: &u64| {
        let program = generate::program(*seed);
        program.size() <= LARGEST && interpret::run(&program, &Data::new(&program)).is_ok()
    };
    (0..).filter(means_something).take(COUNT)
}

fn source() -> String {
    let mut out = String::from("//! Made from random programs; see `through_macro.rs`.\n\n");
    out.push_str("use gcn_dsl::prelude::*;\n\nuse super::through_macro::Sampled;\n\ngcn_kernel! {\n");
    let (mut kernels, mut list) = (String::new(), String::new());
    for seed in chosen() {
        kernels += &print::kernel(&generate::program(seed), &format!("program_{seed}"));
        kernels.push('\n');
        _ = writeln!(list, "    ({seed}, |target| program_{seed}.build(target)),");
    }
    for line in kernels.trim_end().lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        _ = writeln!(out, "{indent}{line}");
    }
    _ = write!(out, "}}\n\npub const SAMPLE: [Sampled; {COUNT}] = [\n{list}];\n");
    out
}

#[test]
fn the_sample_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/random_programs/sample.rs");
    let source = source();
    if std::env::var_os("GCN_BLESS").is_some() {
        std::fs::write(&path, &source).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == source, "sample.rs is not what the generator makes; run this test with GCN_BLESS=1");
}

#[test]
fn the_macro_gives_what_the_interpreter_gives() {
    for (seed, build) in SAMPLE {
        let program = generate::program(seed);
        let data = Data::new(&program);
        let want = interpret::run(&program, &data).unwrap();
        for target in TARGETS {
            let built = build(target).unwrap_or_else(|e| panic!("program {seed} on {target}: {e}"));
            let got = simulate(&program, &built, &data);
            let got = got.unwrap_or_else(|e| panic!("program {seed} on {target}: {e}"));
            if let Some(what) = got.difference(&want) {
                panic!("program {seed} through the macro on {target}: {what}");
            }
        }
    }
}
