//! Programs in other spellings ([`super::spelling`]): iterators, orders, tuples, closures and views mean what operators and variables mean.
//!
//! `spelled_sample.rs` is made by `GCN_BLESS=1 cargo test -p gcn-dsl-tests --test random_programs spelled`. `GCN_FUZZ_SPELLED=300` takes
//! that many programs from `GCN_FUZZ_SEED` on, for a longer run after which the file is restored.

use gcn_test_support::env::setting;
use gcn_test_support::stored::assert_current;

use super::spelled_sample::SAMPLE;
use super::spelling::Spelling;
use super::through_macro::{all_run, is_suitable, source};
use super::{generate, print};

/// How many programs the sample has: rustc compiles them in every run of the tests.
const MANY: usize = 12;

#[test]
fn the_spelled_sample_is_current() {
    let seeds = (setting("GCN_FUZZ_SEED", 1100u64)..).filter(|seed| is_suitable(&generate::program(*seed)));
    let seeds = seeds.take(setting("GCN_FUZZ_SPELLED", MANY));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/random_programs/spelled_sample.rs");
    assert_current(
        path,
        &source(seeds, |program, name| print::spelled(program, name, Some(&Spelling::default()))),
    );
}

#[test]
fn other_spellings_give_what_the_interpreter_gives() {
    all_run(SAMPLE);
}
