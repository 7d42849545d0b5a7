//! A million instructions take about as long for each as a few.

use std::fmt::Write as _;
use std::time::Instant;

use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;

/// `count` instructions with a label and a branch for each eight.
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

#[test]
fn time_is_linear() {
    let count = if std::env::var_os("GCN_FUZZ_COUNT").is_some() { 1_000_000 } else { 160_000 };
    let mut each = Vec::new();
    // A branch reaches 32,768 dwords; the destinations here are farther, so they are laid out in pieces.
    for count in [count / 8, count] {
        let pieces = count / 8_000;
        let mut text = String::new();
        for piece in 0..pieces.max(1) {
            text += &source(8_000).replace(".L", &format!(".L{piece}_"));
        }
        let assembly = super::assembled(&text);
        let start = Instant::now();
        let unit = Unit::of_assembly(&assembly).expect("kept");
        let of_assembly = start.elapsed();
        let bytes = assembly.code_object().expect("links");
        let object = read_code_object(&bytes).expect("an object");
        let start = Instant::now();
        let read = Unit::of_object(&object).expect("a unit");
        let of_object = start.elapsed();
        assert_eq!(unit.instructions(), read.instructions());
        println!("{} instructions: assembly {of_assembly:.1?}, object {of_object:.1?}", unit.instructions());
        each.push((of_assembly + of_object).as_secs_f64() / unit.instructions() as f64);
    }
    assert!(
        each[1] < 6.0 * each[0] + 1e-7,
        "{each:?} seconds for an instruction of a short and of a long program"
    );
}
