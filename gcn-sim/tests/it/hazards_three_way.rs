//! Compares the inserter, the checker and the simulator with each other, on random programs.
//!
//! Programs with the waits that `gcn_isa::wait` inserts must satisfy `gcn_isa::check`, and must run in strict mode on any path. Then each
//! inserted wait is removed or weakened. The checker must then report a violation in every case, and the simulator exactly if the executed
//! path contains the hazard. A fourth implementation, [`path`], independently determines which paths do.
//!
//! `GCN_FUZZ_COUNT` sets the total number of programs for all targets.

mod draw;
mod faithful;
mod mutants;
mod operands;
mod path;
mod program;
mod property;
mod run;
mod shrink;

use gcn_isa::Target;
use gcn_test_support::env::fuzz_count;

use draw::Palette;
use program::Writer;
use property::Totals;

/// The number of programs for each target.
fn programs() -> usize {
    fuzz_count(6 * 60_usize).div_ceil(6)
}

fn three_way(target: Target) {
    let palette = Palette::new(target, |inst| run::is_simulated(target, inst));
    let mut writer = Writer::new(target, &palette, 0x6863_7721 ^ target as u64);
    let mut totals = Totals::default();
    let mut kind = faithful::Totals::default();
    for number in 0..programs() {
        let (program, prologue) = writer.next();
        if let Err(fault) = faithful::holds(&program, number, &mut kind) {
            panic!("{target}, program {number}, faithful: {fault}\n{}", shrink::shown(&program, prologue));
        }
        if let Err(fault) = property::holds(&program, number, &mut totals) {
            let (small, fault) = shrink::shrink(&program, prologue, number, fault);
            panic!("{target}, program {number}: {fault}\n{}", shrink::shown(&small, prologue));
        }
    }
    faithful::is_substantial(target, &kind);
    println!("{target}: {} rows drawn from; {totals}", palette.rows());
    totals.are_substantial(programs());
}

#[test]
fn gfx900() {
    three_way(Target::GFX900);
}

#[test]
fn gfx906() {
    three_way(Target::GFX906);
}

#[test]
fn gfx908() {
    three_way(Target::GFX908);
}

#[test]
fn gfx90a() {
    three_way(Target::GFX90A);
}

#[test]
fn gfx942() {
    three_way(Target::GFX942);
}

#[test]
fn gfx950() {
    three_way(Target::GFX950);
}
