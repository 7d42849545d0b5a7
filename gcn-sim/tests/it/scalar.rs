//! Compares the results and SCC of scalar instructions with arithmetic in wider types.

use gcn_isa::Target;
use gcn_test_support::Random;

use super::harness::Case;

/// The result of an instruction: a word or pair, and SCC (`None` if unchanged).
type Result = (u64, Option<bool>);
type Row = (&'static str, fn(In) -> Result);

/// The operands: `s16`, `s17`, `s[24:25]`, `s[26:27]`, and SCC.
#[derive(Clone, Copy)]
struct In {
    a: u32,
    b: u32,
    x: u64,
    y: u64,
    c: bool,
}

fn nonzero(x: u64) -> Result {
    (x, Some(x != 0))
}

fn signed(x: u32) -> i64 {
    i64::from(x as i32)
}

fn fits(x: i64) -> bool {
    i64::from(x as i32) == x
}

fn low(x: i64) -> u64 {
    u64::from(x as u32)
}

const ROWS: &[Row] = &[
    ("s_add_u32 s20, s16, s17", |In { a, b, .. }| {
        (u64::from(a.wrapping_add(b)), Some(u64::from(a) + u64::from(b) > 0xffff_ffff))
    }),
    ("s_sub_u32 s20, s16, s17", |In { a, b, .. }| (u64::from(a.wrapping_sub(b)), Some(b > a))),
    ("s_add_i32 s20, s16, s17", |In { a, b, .. }| {
        (low(signed(a) + signed(b)), Some(!fits(signed(a) + signed(b))))
    }),
    ("s_sub_i32 s20, s16, s17", |In { a, b, .. }| {
        (low(signed(a) - signed(b)), Some(!fits(signed(a) - signed(b))))
    }),
    ("s_addc_u32 s20, s16, s17", |In { a, b, c, .. }| {
        let sum = u64::from(a) + u64::from(b) + u64::from(c);
        (sum & 0xffff_ffff, Some(sum >> 32 == 1))
    }),
    ("s_subb_u32 s20, s16, s17", |In { a, b, c, .. }| {
        let d = i128::from(a) - i128::from(b) - i128::from(c);
        (d as u64 & 0xffff_ffff, Some(d < 0))
    }),
    ("s_mul_i32 s20, s16, s17", |In { a, b, .. }| (low(signed(a) * signed(b)), None)),
    ("s_mul_hi_u32 s20, s16, s17", |In { a, b, .. }| ((u64::from(a) * u64::from(b)) >> 32, None)),
    ("s_mul_hi_i32 s20, s16, s17", |In { a, b, .. }| (low((signed(a) * signed(b)) >> 32), None)),
    ("s_min_i32 s20, s16, s17", |In { a, b, .. }| {
        (low(signed(a).min(signed(b))), Some(signed(a) < signed(b)))
    }),
    ("s_max_u32 s20, s16, s17", |In { a, b, .. }| (u64::from(a.max(b)), Some(a >= b))),
    ("s_abs_i32 s20, s16", |In { a, .. }| nonzero(low(signed(a).abs()))),
    ("s_absdiff_i32 s20, s16, s17", |In { a, b, .. }| {
        nonzero(low(i64::from((signed(a) - signed(b)) as i32).abs()))
    }),
    ("s_lshl2_add_u32 s20, s16, s17", |In { a, b, .. }| {
        let sum = u64::from(a) * 4 + u64::from(b);
        (sum & 0xffff_ffff, Some(sum > 0xffff_ffff))
    }),
    ("s_and_b32 s20, s16, s17", |In { a, b, .. }| nonzero(u64::from(a & b))),
    ("s_orn2_b32 s20, s16, s17", |In { a, b, .. }| nonzero(u64::from(a | !b))),
    ("s_xnor_b32 s20, s16, s17", |In { a, b, .. }| nonzero(u64::from(!(a ^ b)))),
    ("s_not_b32 s20, s16", |In { a, .. }| nonzero(u64::from(!a))),
    ("s_and_b64 s[20:21], s[24:25], s[26:27]", |In { x, y, .. }| nonzero(x & y)),
    ("s_andn2_b64 s[20:21], s[24:25], s[26:27]", |In { x, y, .. }| nonzero(x & !y)),
    ("s_nor_b64 s[20:21], s[24:25], s[26:27]", |In { x, y, .. }| nonzero(!(x | y))),
    ("s_lshl_b32 s20, s16, s17", |In { a, b, .. }| nonzero(u64::from(a) << (b % 32) & 0xffff_ffff)),
    ("s_ashr_i32 s20, s16, s17", |In { a, b, .. }| nonzero(low(signed(a) >> (b % 32)))),
    ("s_lshr_b64 s[20:21], s[24:25], s17", |In { b, x, .. }| nonzero(x >> (b % 64))),
    ("s_lshl_b64 s[20:21], s[24:25], s17", |In { b, x, .. }| nonzero(x << (b % 64))),
    ("s_ashr_i64 s[20:21], s[24:25], s17", |In { b, x, .. }| nonzero((x as i64 >> (b % 64)) as u64)),
    // The bit field extracts write SCC (Mesa's errata).
    ("s_bfe_u32 s20, s16, 0x50003", |In { a, .. }| nonzero(u64::from(a >> 3 & 31))),
    ("s_bfe_i32 s20, s16, 0x50003", |In { a, .. }| nonzero(low(i64::from(a as i32) << 56 >> 59))),
    ("s_bfe_u64 s[20:21], s[24:25], 0x140010", |In { x, .. }| nonzero(x >> 16 & 0xf_ffff)),
    ("s_bfm_b32 s20, s16, s17", |In { a, b, .. }| (((1u64 << (a % 32)) - 1) << (b % 32) & 0xffff_ffff, None)),
    ("s_brev_b32 s20, s16", |In { a, .. }| (u64::from(a.reverse_bits()), None)),
    ("s_bcnt1_i32_b64 s20, s[24:25]", |In { x, .. }| nonzero((0..64).map(|n| x >> n & 1).sum())),
    ("s_ff1_i32_b32 s20, s16", |In { a, .. }| {
        ((0..32).find(|n| a >> n & 1 == 1).unwrap_or(0xffff_ffff), None)
    }),
    ("s_ff1_i32_b64 s20, s[24:25]", |In { x, .. }| {
        ((0..64).find(|n| x >> n & 1 == 1).unwrap_or(0xffff_ffff), None)
    }),
    ("s_flbit_i32_b32 s20, s16", |In { a, .. }| {
        ((0..32).find(|n| a >> (31 - n) & 1 == 1).unwrap_or(0xffff_ffff), None)
    }),
    ("s_flbit_i32 s20, s16", |In { a, .. }| {
        ((1..32).find(|n| a >> (31 - n) & 1 != a >> 31).unwrap_or(0xffff_ffff), None)
    }),
    ("s_sext_i32_i8 s20, s16", |In { a, .. }| (low(i64::from(a as u8 as i8)), None)),
    ("s_sext_i32_i16 s20, s16", |In { a, .. }| (low(i64::from(a as u16 as i16)), None)),
    ("s_wqm_b32 s20, s16", |In { a, .. }| {
        nonzero((0..8).map(|q| if a >> (4 * q) & 15 != 0 { 15u64 << (4 * q) } else { 0 }).sum())
    }),
    ("s_quadmask_b32 s20, s16", |In { a, .. }| {
        nonzero((0..8).map(|q| u64::from(a >> (4 * q) & 15 != 0) << q).sum())
    }),
    ("s_bitreplicate_b64_b32 s[20:21], s16", |In { a, .. }| {
        ((0..32).map(|n| (u64::from(a >> n & 1) * 3) << (2 * n)).sum(), None)
    }),
    ("s_pack_lh_b32_b16 s20, s16, s17", |In { a, b, .. }| (u64::from(a % 65536 + (b >> 16 << 16)), None)),
    ("s_cselect_b32 s20, s16, s17", |In { a, b, c, .. }| (u64::from(if c { a } else { b }), None)),
    ("s_cselect_b64 s[20:21], s[24:25], s[26:27]", |In { x, y, c, .. }| (if c { x } else { y }, None)),
    ("s_movk_i32 s20, 0xff80", |_| (0xffff_ff80, None)),
    ("s_mov_b32 s20, s16\ns_addk_i32 s20, 0x8000", |In { a, .. }| {
        (low(signed(a) - 32768), Some(!fits(signed(a) - 32768)))
    }),
    ("s_mov_b32 s20, s16\ns_mulk_i32 s20, 0xfffe", |In { a, .. }| (low(signed(a) * -2), None)),
    ("s_mov_b32 s20, s16\ns_bitset1_b32 s20, s17", |In { a, b, .. }| (u64::from(a | 1 << (b % 32)), None)),
    ("s_mov_b64 s[20:21], s[24:25]\ns_bitset0_b64 s[20:21], s17", |In { b, x, .. }| {
        (x & !(1 << (b % 64)), None)
    }),
    ("s_mov_b64 s[20:21], -7", |_| (-7i64 as u64, None)),
    ("s_mov_b64 s[20:21], 1.0", |_| (0x3ff0_0000_0000_0000, None)),
];

const COMPARES: &[(&str, fn(In) -> bool)] = &[
    ("s_cmp_eq_i32 s16, s17", |In { a, b, .. }| a == b),
    ("s_cmp_lg_u32 s16, s17", |In { a, b, .. }| a != b),
    ("s_cmp_gt_i32 s16, s17", |In { a, b, .. }| signed(a) > signed(b)),
    ("s_cmp_ge_u32 s16, s17", |In { a, b, .. }| a >= b),
    ("s_cmp_lt_i32 s16, s17", |In { a, b, .. }| signed(a) < signed(b)),
    ("s_cmp_le_u32 s16, s17", |In { a, b, .. }| a <= b),
    ("s_cmp_eq_u64 s[24:25], s[26:27]", |In { x, y, .. }| x == y),
    ("s_cmp_lg_u64 s[24:25], s[24:25]", |_| false),
    ("s_cmpk_lt_i32 s16, 0xfffe", |In { a, .. }| signed(a) < -2),
    ("s_cmpk_gt_u32 s16, 0xfffe", |In { a, .. }| a > 65534),
    ("s_bitcmp1_b32 s16, s17", |In { a, b, .. }| a >> (b % 32) & 1 == 1),
    ("s_bitcmp0_b64 s[24:25], s17", |In { b, x, .. }| x >> (b % 64) & 1 == 0),
];

#[test]
fn results_and_condition_codes() {
    let mut random = Random::new(9);
    let special = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 31, 33];
    for round in 0..24 {
        let words = random.words::<64>(&special);
        let [a, b, x0, x1, y0, y1, ..] = words;
        let (x, y) = (u64::from(x0) | u64::from(x1) << 32, u64::from(y0) | u64::from(y1) << 32);
        let scc = round % 2 == 1;
        let case = Case::new(Target::GFX942).s(16, a).s(17, b).s(24, x0).s(25, x1).s(26, y0).s(27, y1);
        let before = format!("s_cmp_eq_u32 0, {}\n", if scc { 0 } else { 1 });
        for (text, meaning) in ROWS {
            let out = case.run(&(before.clone() + text));
            let (value, flag) = meaning(In { a, b, x, y, c: scc });
            let got = if text.contains("s[20:21]") { out.s_pair(20) } else { u64::from(out.s(20)) };
            assert_eq!(
                (got, out.scc),
                (value, flag.unwrap_or(scc)),
                "{text}: a {a:#x} b {b:#x} x {x:#x} y {y:#x} scc {scc}"
            );
        }
        for (text, holds) in COMPARES {
            assert_eq!(
                case.run(text).scc,
                holds(In { a, b, x, y, c: scc }),
                "{text}: a {a:#x} b {b:#x} x {x:#x} y {y:#x}"
            );
        }
    }
}

#[test]
fn exec_masks_are_saved_and_combined() {
    let text = "s_mov_b32 s16, 0xff00ff00\ns_mov_b32 s17, 0\ns_mov_b64 exec, 0xffff";
    let run = |op: &str| Case::new(Target::GFX90A).run(&format!("{text}\n{op} s[20:21], s[16:17]"));
    let out = run("s_and_saveexec_b64");
    assert_eq!((out.s_pair(20), out.exec(), out.scc), (0xffff, 0xff00, true));
    assert_eq!(run("s_or_saveexec_b64").exec(), 0xff00_ffff);
    assert_eq!(run("s_xor_saveexec_b64").exec(), 0xff00_00ff);
    assert_eq!(run("s_andn2_saveexec_b64").exec(), 0xff00_0000);
    assert_eq!(run("s_andn1_saveexec_b64").exec(), 0x00ff);
    let written = run("s_andn2_wrexec_b64");
    assert_eq!((written.s_pair(20), written.exec()), (0xff00_0000, 0xff00_0000));
}

#[test]
fn relative_moves_and_special_sources() {
    let out = Case::new(Target::GFX942).s(16, 1).s(18, 33).run(
        "s_mov_b32 m0, 2\ns_movrels_b32 s20, s16\ns_movreld_b32 s20, s18\ns_mov_b64 vcc, 0\ns_nop 4
         s_mov_b32 s23, src_vccz\ns_cmp_eq_u32 0, 0\ns_mov_b32 s24, src_scc\ns_getpc_b64 s[26:27]\ns_getpc_b64 s[28:29]",
    );
    assert_eq!([20, 22, 23, 24].map(|r| out.s(r)), [33, 33, 1, 1]);
    assert_eq!(out.s_pair(28) - out.s_pair(26), 4);
}
