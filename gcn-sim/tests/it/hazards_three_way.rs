//! Inserter, checker and simulator against each other, on random programs.
//!
//! What `gcn_isa::wait` inserts must satisfy `gcn_isa::check`, and the result must run in strict mode on any path. Then
//! each inserted wait is taken away and weakened: the checker must object every time, and the simulator exactly where the
//! path that it takes shows the hazard. Which paths those are is worked out by a fourth party, [`path`].
//!
//! `GCN_FUZZ_COUNT` sets how many programs there are for all targets together.

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

/// Programs of each target.
fn programs() -> usize {
    fuzz_count(6 * 120_usize).div_ceil(6)
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
