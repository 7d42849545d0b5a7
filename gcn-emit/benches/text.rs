//! Measures the time to parse an instruction: `cargo bench -p gcn-emit --bench text`.
//!
//! Uses two inputs: the golden vectors of gfx942, which contain every form, and a loop body as compilers write it.

use std::io::Read as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::text::{ExprValue, Scope, parse_inst_in};
use gcn_isa::Target;

fn main() {
    divan::main();
}

/// A scope without symbols.
struct Nothing;

impl Scope for Nothing {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        Err((0, format!("`{expr}` is unknown")))
    }
}

/// The inner loop of a matrix multiplication, with the address arithmetic around it.
const LOOP: &str = "\
s_waitcnt vmcnt(4) lgkmcnt(0)
v_mfma_f32_32x32x8_f16 a[0:15], v[16:17], v[18:19], a[0:15]
ds_read_b64 v[20:21], v4 offset:1024
ds_write_b128 v5, v[8:11] offset:16
buffer_load_dwordx4 v[8:11], v6, s[8:11], 0 offen offset:64
global_load_dwordx2 v[12:13], v[2:3], off offset:8
v_add_u32_e32 v6, s4, v6
v_lshlrev_b32_e32 v7, 2, v0
v_cvt_pkrtz_f16_f32 v14, v15, v16
v_fma_f32 v1, -v2, |v3|, 1.0
v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
v_add_co_u32_e32 v2, vcc, s6, v2
s_add_i32 s4, s4, 0x100
s_cmp_lt_i32 s4, s5
s_and_saveexec_b64 s[12:13], vcc
s_load_dwordx2 s[6:7], s[0:1], 0x24";

fn golden() -> Vec<String> {
    let packed: &[u8] = include_bytes!("../tests/data/encodings.tsv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    let rows = text.lines().filter_map(|line| line.strip_prefix("gfx942\t"));
    rows.filter_map(|row| row.split('\t').next().map(str::to_owned)).collect()
}

fn parse_all(bencher: Bencher<'_, '_>, lines: &[String]) {
    let parsed = |line: &String| parse_inst_in(line, Target::GFX942, &mut Nothing);
    assert!(lines.iter().all(|line| parsed(line).is_ok()));
    bencher
        .counter(ItemsCount::new(lines.len()))
        .bench(|| lines.iter().filter_map(|line| parsed(line).ok()).map(|p| p.code.len()).sum::<usize>());
}

#[divan::bench]
fn golden_vectors(bencher: Bencher<'_, '_>) {
    parse_all(bencher, &golden());
}

#[divan::bench]
fn loop_body(bencher: Bencher<'_, '_>) {
    parse_all(bencher, &LOOP.lines().map(str::to_owned).collect::<Vec<_>>());
}
