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
const BODY: &str = "\
global_load_dwordx4 v[100:103], v[200:201], off
global_load_dwordx4 v[104:107], v[200:201], off offset:16
ds_read_b128 v[108:111], v204
ds_read_b128 v[112:115], v204 offset:16
s_load_dwordx4 s[20:23], s[8:9], 0x10
v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[108:109], v[0:15]
v_mfma_f32_32x32x8_f16 v[16:31], v[102:103], v[108:109], v[16:31]
v_mfma_f32_32x32x8_f16 v[0:15], v[104:105], v[110:111], v[0:15]
v_mfma_f32_32x32x8_f16 v[16:31], v[106:107], v[112:113], v[16:31]
v_cmp_gt_u32_e64 s[30:31], s20, v205
v_cndmask_b32_e64 v120, 0, v121, s[30:31]
v_readfirstlane_b32 s24, v120
s_add_u32 s25, s24, s21
v_mov_b32_e32 v122, s25
buffer_load_dword v123, v122, s[12:15], s24 offen
v_add_f32_e32 v124, v0, v16
v_exp_f32_e32 v125, v124
v_pk_mul_f32 v[126:127], v[124:125], v[124:125]
ds_write_b64 v204, v[126:127]
v_add_u32_e32 v200, 64, v200
global_store_dwordx4 v[202:203], v[0:3], off
v_mov_b32_e32 v1, v123
";

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
