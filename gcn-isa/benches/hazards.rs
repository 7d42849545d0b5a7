//! Checker and inserter on straight and on branching code of growing length: instructions a second, which should not
//! fall with the length.

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::text::parse_program;
use gcn_isa::check::check;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Program, Target};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 3] = [10_000, 100_000, 1_000_000];

/// A piece of a matrix multiplication with what surrounds it: loads from memory and LDS, accumulation, scalar values from
/// vector instructions, packed arithmetic, stores.
const BODY: &str = include_str!("stream.s");

/// About `length` instructions, in one block or with a branch every few of them. The branches skip ahead and go back, so
/// that loops lie within loops.
fn program(length: usize, branching: bool) -> Program {
    let pieces = length / BODY.lines().count() + 1;
    let mut text = String::with_capacity(pieces * (BODY.len() + 80));
    for piece in 0..pieces {
        if branching {
            text += &format!("L{piece}:\n");
        }
        text += BODY;
        match piece % 4 {
            _ if !branching => {}
            1 => text += &format!("s_cbranch_scc1 L{}\n", piece - 1),
            2 => text += &format!("s_cbranch_vccz L{}\n", (piece + 2).min(pieces - 1)),
            3 => text += &format!("s_cbranch_scc0 L{}\n", piece - 3),
            _ => {}
        }
    }
    text += "s_endpgm\n";
    parse_program(&text, Target::GFX942, "bench").expect("the benchmark's program")
}

/// Checks a program that has its waits: nothing is found, everything is looked at.
#[divan::bench(args = LENGTHS, consts = [false, true], sample_count = 10)]
fn checker<const BRANCHING: bool>(bencher: Bencher<'_, '_>, length: usize) {
    let mut waited = program(length, BRANCHING);
    insert_waits(&mut waited, &WaitOptions::default());
    let lines = waited.lines.len();
    bencher.counter(ItemsCount::new(lines)).bench(|| check(divan::black_box(&waited)).is_clean());
}

/// Inserts every wait into a program that has none.
#[divan::bench(args = LENGTHS, consts = [false, true], sample_count = 10)]
fn inserter<const BRANCHING: bool>(bencher: Bencher<'_, '_>, length: usize) {
    let bare = program(length, BRANCHING);
    let lines = bare.lines.len();
    bencher.counter(ItemsCount::new(lines)).with_inputs(|| bare.clone()).bench_values(|mut program| {
        insert_waits(&mut program, &WaitOptions::default());
        program
    });
}

/// Blocks of a load, two branches anywhere and a use, without any wait: every load may be outstanding everywhere.
fn dense(blocks: usize) -> Program {
    let mut text = String::new();
    for block in 0..blocks {
        let (far, near) = (block * 2654435761 % blocks, block * 40503 % blocks);
        let (loaded, used) = (block % 250, block * 3 % 250);
        text += &format!("L{block}:\ns_cbranch_scc1 L{far}\nglobal_load_dword v{loaded}, v0, s[0:1]\n");
        text += &format!("s_cbranch_vccz L{near}\nv_add_f32_e32 v1, v{used}, v2\n");
    }
    text += "s_endpgm\n";
    parse_program(&text, Target::GFX942, "bench").expect("the benchmark's program")
}

/// Checks a program of dense branches in which nothing is waited for.
#[divan::bench(args = [1_250, 5_000, 20_000], sample_count = 3)]
fn checker_dense(bencher: Bencher<'_, '_>, blocks: usize) {
    let program = dense(blocks);
    let lines = program.lines.len();
    bencher.counter(ItemsCount::new(lines)).bench(|| check(divan::black_box(&program)).is_clean());
}
