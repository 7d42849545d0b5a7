//! Compares packed-byte instructions, the truth-table instruction, IEEE 754-2019 minimum and maximum, and various scalar instructions with
//! their definitions, bit by bit.

use gcn_isa::Target;

use super::harness::Case;
use super::table::Out::{D, F, H, W};
use super::table::{In, Row, check};

fn byte(x: u64, i: u32) -> i64 {
    (x >> (8 * i) & 0xff) as i64
}

/// The sum of absolute differences between four bytes of `x`, from byte `from` on, and those of `b`. If `masked`, bytes that are 0 in `b`
/// are omitted.
fn sad(x: u64, from: u32, b: u32, masked: bool) -> i64 {
    (0..4)
        .filter(|&i| !masked || byte(u64::from(b), i) != 0)
        .map(|i| (byte(x, from + i) - byte(u64::from(b), i)).abs())
        .sum()
}

fn halves(i: In, masked: bool, clamp: bool) -> u64 {
    (0..4)
        .map(|n| {
            let sum = sad(i.x, n, i.b, masked) + (i.y >> (16 * n) & 0xffff) as i64;
            let kept = if clamp { sum.min(0xffff) } else { sum % 0x1_0000 };
            (kept as u64) << (16 * n)
        })
        .sum()
}

fn saturated(x: u32, by: u32, low: i64, high: i64) -> u32 {
    let shifted = i64::from(x as i32).div_euclid(1 << (by % 32));
    (shifted.clamp(low, high) & 0xff) as u32
}

fn table_bits(table: u32, a: u32, b: u32, c: u32, width: u32) -> u32 {
    (0..width).map(|n| (table >> (4 * (a >> n & 1) + 2 * (b >> n & 1) + (c >> n & 1)) & 1) << n).sum()
}

const BYTES: &[Row] = &[
    ("v_qsad_pk_u16_u8 v[10:11], v[4:5], v2, v[6:7]", |i| D(halves(i, false, false))),
    ("v_qsad_pk_u16_u8 v[10:11], v[4:5], v2, v[6:7] clamp", |i| D(halves(i, false, true))),
    ("v_mqsad_pk_u16_u8 v[10:11], v[4:5], v2, v[6:7]", |i| D(halves(i, true, false))),
    ("v_mqsad_pk_u16_u8 v[10:11], v[4:5], v2, v[6:7] clamp", |i| D(halves(i, true, true))),
    (
        "v_mov_b32 v20, v1\nv_mov_b32 v21, v2\nv_mov_b32 v22, v3\nv_mov_b32 v23, -2\nv_mqsad_u32_u8 v[20:23], v[4:5], v2, v[20:23]\nv_mov_b32 v10, v20\nv_mov_b32 v11, v23",
        |i| {
            let first = (sad(i.x, 0, i.b, true) + i64::from(i.a)) as u32;
            let last = (sad(i.x, 3, i.b, true) + 0xffff_fffe) as u32;
            D(u64::from(first) | u64::from(last) << 32)
        },
    ),
    (
        "v_mov_b32 v20, v1\nv_mov_b32 v21, v2\nv_mov_b32 v22, v3\nv_mov_b32 v23, -2\nv_mqsad_u32_u8 v[24:27], v[4:5], v2, v[20:23] clamp\nv_mov_b32 v10, v26\nv_mov_b32 v11, v27",
        |i| {
            let third = (sad(i.x, 2, i.b, true) + i64::from(i.c)).min(0xffff_ffff) as u64;
            let last = (sad(i.x, 3, i.b, true) + 0xffff_fffe).min(0xffff_ffff) as u64;
            D(third | last << 32)
        },
    ),
    ("v_cvt_pk_u8_f32 v10, -v1, v2, v3", |i| {
        let shift = i.b % 4 * 8;
        let x = -f32::from_bits(i.a);
        let rounded = if x.is_nan() { 0.0 } else { f64::from(x).round_ties_even().clamp(0.0, 255.0) };
        W(i.c & !(0xff << shift) | (rounded as u32) << shift)
    }),
    ("v_cvt_pkaccum_u8_f32 v10, v1, v2", |i| {
        let shift = i.b % 4 * 8;
        let x = f32::from_bits(i.a);
        let rounded = if x.is_nan() { 0.0 } else { f64::from(x).round_ties_even().clamp(0.0, 255.0) };
        W(i.old & !(0xff << shift) | (rounded as u32) << shift)
    }),
];

const BYTES_950: &[Row] = &[
    ("v_ashr_pk_i8_i32 v10, v1, v2, v3", |i| {
        W(saturated(i.a, i.c, -128, 127) | saturated(i.b, i.c, -128, 127) << 8 | i.old & 0xffff_0000)
    }),
    ("v_ashr_pk_u8_i32 v10, v1, v2, v3 op_sel:[0,0,0,1]", |i| {
        W((saturated(i.a, i.c, 0, 255) | saturated(i.b, i.c, 0, 255) << 8) << 16 | i.old & 0xffff)
    }),
    ("v_bitop3_b32 v10, v1, v2, v3 bitop3:0x6c", |i| W(table_bits(0x6c, i.a, i.b, i.c, 32))),
    ("v_bitop3_b32 v10, v1, v2, v3 bitop3:0xe4", |i| W(table_bits(0xe4, i.a, i.b, i.c, 32))),
    ("v_bitop3_b32 v10, v1, v2, v3", |_| W(0)),
    ("v_bitop3_b16 v10, v1, v2, v3 bitop3:0x2b", |i| {
        W(table_bits(0x2b, i.a, i.b, i.c, 16) | i.old & 0xffff_0000)
    }),
    ("v_bitop3_b16 v10, v1, v2, v3 bitop3:0x96 op_sel:[1,0,1,1]", |i| {
        W(table_bits(0x96, i.a >> 16, i.b, i.c >> 16, 16) << 16 | i.old & 0xffff)
    }),
    ("v_minimum3_f32 v10, v1, v2, v3", |i| F(extreme3([i.a, i.b, i.c], false))),
    ("v_maximum3_f32 v10, v1, v2, v3", |i| F(extreme3([i.a, i.b, i.c], true))),
    ("v_maximum3_f32 v10, -v1, |v2|, v3", |i| F(extreme3([i.a ^ 1 << 31, i.b & 0x7fff_ffff, i.c], true))),
    ("v_pk_minimum3_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| H(half3(i, false))),
    ("v_pk_maximum3_f16 v10, v1, v2, v3\nv_lshrrev_b32 v10, 16, v10", |i| {
        H(half3(In { a: i.a >> 16, b: i.b >> 16, c: i.c >> 16, ..i }, true))
    }),
];

/// NaN if an operand is NaN; otherwise the minimum or maximum in the total order, in which -0 is less than +0.
fn extreme3(bits: [u32; 3], largest: bool) -> f32 {
    let mut x = bits.map(f32::from_bits);
    if x.iter().any(|x| x.is_nan()) {
        return f32::NAN;
    }
    x.sort_by(f32::total_cmp);
    if largest { x[2] } else { x[0] }
}

fn half3(i: In, largest: bool) -> half::f16 {
    let mut x = [i.a, i.b, i.c].map(|x| half::f16::from_bits(x as u16));
    if x.iter().any(|x| x.is_nan()) {
        return half::f16::NAN;
    }
    x.sort_by(half::f16::total_cmp);
    if largest { x[2] } else { x[0] }
}

#[test]
fn sums_of_differences_and_truth_tables() {
    for target in [Target::GFX900, Target::GFX90A, Target::GFX942] {
        check(target, BYTES, |x| x);
    }
    check(Target::GFX950, BYTES_950, |x| x);
    // The shift amounts are such that some results saturate.
    check(Target::GFX950, &BYTES_950[..2], |x| if x > 31 { x >> 20 } else { x });
}

/// Some conversions to pairs of 16 bits, and the conversion that rounds half up, ignore MODE and others follow it, as in AMD's pseudo-code.
#[test]
fn conversions_that_set_their_own_rounding() {
    let values: [u32; 64] =
        std::array::from_fn(|i| (1.0f32 + (i as f32 + 0.5) / 1024.0).to_bits() + i as u32 % 3);
    for mode in 0..4 {
        let case = Case::new(Target::GFX950).v(1, values);
        let out = case.run(&format!(
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {}\nv_cvt_pk_f16_f32 v10, v1, v1\nv_cvt_pk_bf16_f32 v11, v1, v1\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
            mode * 5
        ));
        for lane in 0..64 {
            let x = f32::from_bits(values[lane]);
            let (h, b) =
                (u32::from(half::f16::from_f32(x).to_bits()), u32::from(half::bf16::from_f32(x).to_bits()));
            assert_eq!((out.v(10)[lane], out.v(11)[lane]), (h * 0x1_0001, b * 0x1_0001), "mode {mode}");
        }
    }
    let below_half = 0.5f32.next_down();
    let inputs = [0.5, -0.5, below_half, -1.5, 2.5, 8_388_609.0, f32::NAN, 3e9, -3e9, f32::NEG_INFINITY];
    let lanes: [u32; 64] = std::array::from_fn(|i| inputs.get(i).map_or(0, |x| x.to_bits()));
    let out = Case::new(Target::GFX942).v(1, lanes).run("v_cvt_rpi_i32_f32 v10, v1");
    // The sum of 0.5 and the number just below it is rounded to 1, and the sum of 2^23 + 1 and 0.5 to 2^23 + 2.
    let expected = [1, 0, 1, -1, 3, 8_388_610, 0, i32::MAX, i32::MIN, i32::MIN];
    for (lane, expected) in expected.into_iter().enumerate() {
        assert_eq!(out.v(10)[lane] as i32, expected, "{}", inputs[lane]);
    }
}

/// Tests each rounding mode of f32, and values that do not fit into a byte.
#[test]
fn bytes_are_rounded_as_mode_says() {
    let inputs = [1.5f32, 2.5, 2.25, 254.75, 255.5, 300.0, -0.75, -3.0, f32::NAN, -f32::NAN, f32::INFINITY];
    let lanes: [u32; 64] = std::array::from_fn(|i| inputs.get(i).map_or(0, |x| x.to_bits()));
    let expected: [(u32, [u32; 11]); 4] = [
        (0, [2, 2, 2, 255, 255, 255, 0, 0, 0, 0, 255]),
        (1, [2, 3, 3, 255, 255, 255, 0, 0, 0, 0, 255]),
        (2, [1, 2, 2, 254, 255, 255, 0, 0, 0, 0, 255]),
        (3, [1, 2, 2, 254, 255, 255, 0, 0, 0, 0, 255]),
    ];
    for (mode, expected) in expected {
        let text = format!(
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), {mode}\nv_mov_b32 v11, 0\nv_cvt_pk_u8_f32 v10, v1, 1, 0\n\
             v_cvt_pkaccum_u8_f32 v11, v1, 1\nv_cvt_flr_i32_f32 v12, v1"
        );
        let out = Case::new(Target::GFX942).v(1, lanes).run(&text);
        for (lane, byte) in expected.into_iter().enumerate() {
            assert_eq!((out.v(10)[lane], out.v(11)[lane]), (byte << 8, byte << 8), "{} {mode}", inputs[lane]);
        }
        // The result is rounded down in every mode; a NaN of either sign gives 0.
        let floors = [1, 2, 2, 254, 255, 300, -1, -3, 0, 0, i32::MAX];
        assert_eq!(out.v(12)[..11], floors.map(|x| x as u32));
    }
}

#[test]
fn skipping_vector_instructions() {
    let case = Case::new(Target::GFX908).v(1, [7; 64]).s(16, 4).s(17, 2);
    let out = case.run(
        "v_mov_b32 v10, 1\nv_mov_b32 v11, 1\ns_setvskip s16, s17\nv_mov_b32 v10, 2\nv_readfirstlane_b32 s20, v1\ns_mov_b32 s21, 9\ns_setvskip 0, 0\nv_mov_b32 v11, 2",
    );
    assert_eq!((out.v(10), out.v(11)), ([1; 64], [2; 64]));
    assert_eq!((out.s(20), out.s(21)), (0, 9));
}

#[test]
fn messages_and_cache_hints_do_nothing() {
    let out = Case::new(Target::GFX90A).s(16, 1).run(
        "s_mov_b32 s20, 3\ns_sendmsg sendmsg(MSG_INTERRUPT)\ns_sendmsghalt sendmsg(MSG_INTERRUPT)\ns_dcache_discard s[0:1], 0x0\ns_dcache_discard_x2 s[0:1], 0x0\ns_atc_probe 1, s[0:1], 0x0\ns_atc_probe_buffer 1, s[0:3], 0x0\ns_add_u32 s20, s20, s16",
    );
    assert_eq!(out.s(20), 4);
}

/// A fork executes the smaller half of the lanes first, and a join then executes the other half: MI100 ISA 4.6.
#[test]
fn forks_run_both_paths() {
    // A call immediately before `there` has the address of `there` as its return address.
    for (fork, prepare) in [
        ("s_cbranch_i_fork s[24:25], there", "main:"),
        ("s_cbranch_g_fork s[24:25], s[26:27]", "s_branch before\nmain:"),
    ] {
        for mask in [0u64, 0xff, !0xff, u64::MAX, 0x5555_5555_5555_5555] {
            let body = format!(
                "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\ns_mov_b32 s20, 0\ns_getreg_b32 s28, hwreg(HW_REG_MODE, 29, 3)\n{prepare}s_mov_b32 s24, {:#x}\ns_mov_b32 s25, {:#x}\n{fork}
                 v_mov_b32 v10, 1\ns_lshl_b32 s20, s20, 4\ns_or_b32 s20, s20, 1\ns_branch meet
                 before: s_call_b64 s[26:27], main
                 there: v_mov_b32 v11, 1\ns_lshl_b32 s20, s20, 4\ns_or_b32 s20, s20, 2
                 meet: s_cbranch_join s28",
                mask as u32,
                (mask >> 32) as u32
            );
            let out = Case::new(Target::GFX900).run(&body);
            for lane in 0..64 {
                let pass = mask >> lane & 1 == 1;
                assert_eq!(
                    (out.v(10)[lane], out.v(11)[lane]),
                    (u32::from(!pass), u32::from(pass)),
                    "{mask:#x}"
                );
            }
            // 1: the fall-through path has executed; 2: the target. The smaller set of lanes comes first; if both are equal, the target
            // does.
            let order = match mask.count_ones() {
                0 => 1,
                64 => 2,
                n if 64 - n < n => 0x12,
                _ => 0x21,
            };
            assert_eq!(out.s(20), order, "{fork} {mask:#x}");
            assert_eq!(
                out.exec(),
                if order < 16 {
                    u64::MAX
                } else if order == 0x12 {
                    mask
                } else {
                    !mask
                }
            );
        }
    }
}
