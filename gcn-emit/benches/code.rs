//! Measures creating a program for analysis from an assembled file and from an object, for short and long files.
//!
//! `cargo bench -p gcn-emit --bench code`: if the time is linear, the number of instructions per second is constant.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::asm::{Assembly, Options, assemble};
use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [8_000, 80_000, 800_000];

/// `count` instructions, with a label and a branch for every eight.
fn source(count: usize) -> String {
    let mut text = String::new();
    for block in 0..count / 8 {
        let _ = writeln!(
            text,
            ".L{block}:\n s_nop 0\n v_mov_b32 v0, v1\n v_add_f32 v1, v0, v2\n s_mov_b32 s0, 0x12345"
        );
        let _ = writeln!(
            text,
            " ds_read_b32 v3, v4\n v_mov_b32 v5, v6\n s_cmp_eq_u32 s0, 0\n s_cbranch_scc0 .L{}",
            block / 2
        );
    }
    text + "s_endpgm\n"
}

/// A branch can reach 32,768 dwords, so a long file consists of pieces in which each branch reaches its label.
fn assembled(count: usize) -> Assembly {
    let pieces = (0..count / 8_000).map(|piece| source(8_000).replace(".L", &format!(".L{piece}_")));
    let text: String = pieces.collect();
    let options = Options {
        target: Some("gfx942".parse().expect("a target")),
        keep_instructions: true,
        ..Options::default()
    };
    assemble("t.s", &text, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

#[divan::bench(args = SIZES, sample_count = 5)]
fn of_assembly(bencher: Bencher<'_, '_>, count: usize) {
    let assembly = assembled(count);
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| Unit::of_assembly(&assembly).expect("kept").instructions());
}

#[divan::bench(args = SIZES, sample_count = 5)]
fn of_object(bencher: Bencher<'_, '_>, count: usize) {
    let bytes = assembled(count).code_object().expect("links");
    let object = read_code_object(&bytes).expect("an object");
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| Unit::of_object(&object).expect("a unit").instructions());
}
