//! Compares the vector ALU instructions that no other table covers with wider arithmetic.

use gcn_isa::Target;
use gcn_isa::target::WaveSize;
use gcn_sim::{KernelState, Machine, Memory, Options};

use super::harness::{assemble, state, words};
use super::table::Out::{F, G, H, Near, W};
use super::table::{In, Row, check};

fn byte(x: u32, n: u32) -> u32 {
    x >> (8 * n) & 0xff
}

fn s16(x: u32) -> i64 {
    i64::from(x as u16 as i16)
}

fn u16s(x: u32) -> i64 {
    i64::from(x & 0xffff)
}

fn low16(x: i64) -> u32 {
    x as u32 & 0xffff
}

/// Applies an operation to both halves.
fn packed(i: In, f: fn(u32, u32, u32) -> i64) -> u32 {
    low16(f(i.a & 0xffff, i.b & 0xffff, i.c & 0xffff)) | low16(f(i.a >> 16, i.b >> 16, i.c >> 16)) << 16
}

fn nibble(x: u32, n: u32) -> i64 {
    i64::from((x >> (4 * n) << 28) as i32 >> 28)
}

fn middle(mut x: [i64; 3]) -> i64 {
    x.sort_unstable();
    x[1]
}

const INTEGERS: &[Row] = &[
    ("v_nop\nv_clrexcp\nv_mov_b32 v10, v1", |i| W(i.a)),
    ("v_lerp_u8 v10, v1, v2, v3", |i| {
        W((0..4).map(|n| ((byte(i.a, n) + byte(i.b, n) + byte(i.c, n) % 2) / 2) << (8 * n)).sum())
    }),
    ("v_msad_u8 v10, v1, v2, v3", |i| {
        let sum: u32 =
            (0..4).filter(|n| byte(i.b, *n) != 0).map(|n| byte(i.a, n).abs_diff(byte(i.b, n))).sum();
        W(sum.wrapping_add(i.c))
    }),
    ("v_sad_hi_u8 v10, v1, v2, v3", |i| {
        let sum: u32 = (0..4).map(|n| byte(i.a, n).abs_diff(byte(i.b, n))).sum();
        W((sum * 0x1_0000).wrapping_add(i.c))
    }),
    (
        "v_max3_i32 v10, v1, v2, v3",
        |i| W([i.a, i.b, i.c].into_iter().map(|x| x as i32).max().unwrap() as u32),
    ),
    ("v_min3_u32 v10, v1, v2, v3", |i| W([i.a, i.b, i.c].into_iter().min().unwrap())),
    ("v_max3_i16 v10, v1, v2, v3", |i| kept(i, s16(i.a).max(s16(i.b)).max(s16(i.c)))),
    ("v_min3_i16 v10, v1, v2, v3", |i| kept(i, s16(i.a).min(s16(i.b)).min(s16(i.c)))),
    ("v_max3_u16 v10, v1, v2, v3", |i| kept(i, u16s(i.a).max(u16s(i.b)).max(u16s(i.c)))),
    ("v_min3_u16 v10, v1, v2, v3", |i| kept(i, u16s(i.a).min(u16s(i.b)).min(u16s(i.c)))),
    ("v_med3_u16 v10, v1, v2, v3", |i| kept(i, middle([u16s(i.a), u16s(i.b), u16s(i.c)]))),
    ("v_max_i16 v10, v1, v2", |i| W(low16(s16(i.a).max(s16(i.b))))),
    ("v_min_u16 v10, v1, v2", |i| W(low16(u16s(i.a).min(u16s(i.b))))),
    ("v_sub_i16 v10, v1, v2", |i| kept(i, s16(i.a) - s16(i.b))),
    ("v_sub_i16 v10, v1, v2 clamp", |i| kept(i, (s16(i.a) - s16(i.b)).clamp(-0x8000, 0x7fff))),
    ("v_pk_add_i16 v10, v1, v2", |i| W(packed(i, |a, b, _| s16(a) + s16(b)))),
    ("v_pk_sub_u16 v10, v1, v2 clamp", |i| W(packed(i, |a, b, _| (u16s(a) - u16s(b)).max(0)))),
    ("v_pk_mad_u16 v10, v1, v2, v3", |i| W(packed(i, |a, b, c| u16s(a) * u16s(b) + u16s(c)))),
    ("v_pk_max_u16 v10, v1, v2", |i| W(packed(i, |a, b, _| u16s(a).max(u16s(b))))),
    ("v_pk_min_i16 v10, v1, v2", |i| W(packed(i, |a, b, _| s16(a).min(s16(b))))),
    ("v_pk_lshrrev_b16 v10, v1, v2", |i| W(packed(i, |a, b, _| u16s(b) / (1 << (a % 16))))),
    ("v_subrev_co_u32 v10, vcc, v1, v2", |i| W((i64::from(i.b) - i64::from(i.a)) as u32)),
    ("s_mov_b64 vcc, -1\nv_subbrev_co_u32 v10, vcc, v1, v2, vcc", |i| {
        W((i64::from(i.b) - i64::from(i.a) - 1) as u32)
    }),
];

/// A 16-bit result in VOP3, which keeps the other half of the register.
fn kept(i: In, x: i64) -> super::table::Out {
    W(i.old & 0xffff_0000 | low16(x))
}

const LEGACY_INTEGERS: &[Row] = &[
    ("v_mad_legacy_u16 v10, v1, v2, v3", |i| W(low16(u16s(i.a) * u16s(i.b) + u16s(i.c)))),
    ("v_mad_legacy_i16 v10, v1, v2, v3", |i| W(low16(s16(i.a) * s16(i.b) + s16(i.c)))),
];

const DOTS: &[Row] = &[
    ("v_dot2_u32_u16 v10, v1, v2, v3", |i| {
        W((u16s(i.a) * u16s(i.b) + u16s(i.a >> 16) * u16s(i.b >> 16) + i64::from(i.c)) as u32)
    }),
    ("v_mov_b32 v10, v3\nv_dot2c_i32_i16 v10, v1, v2", |i| {
        W((s16(i.a) * s16(i.b) + s16(i.a >> 16) * s16(i.b >> 16) + i64::from(i.c as i32)) as u32)
    }),
    ("v_mov_b32 v10, v3\nv_dot8c_i32_i4 v10, v1, v2", |i| {
        W(((0..8).map(|n| nibble(i.a, n) * nibble(i.b, n)).sum::<i64>() + i64::from(i.c as i32)) as u32)
    }),
];

fn h(x: u32) -> half::f16 {
    half::f16::from_bits(x as u16)
}

fn d(x: u32) -> f64 {
    f64::from(h(x))
}

fn round(x: f64) -> super::table::Out {
    H(half::f16::from_f64(x))
}

/// The maximum or minimum. A number is preferred to a quiet NaN, but not to a signaling one. -0 is less than +0.
fn extreme(a: half::f16, b: half::f16, largest: bool) -> half::f16 {
    let signals = |x: half::f16| x.is_nan() && x.to_bits() & 0x200 == 0;
    if signals(a) || signals(b) {
        return half::f16::NAN;
    }
    if a.is_nan() {
        return b;
    }
    if b.is_nan() || (a.total_cmp(&b).is_gt() == largest) { a } else { b }
}

fn s(x: u32) -> f32 {
    f32::from_bits(x)
}

const HALVES: &[Row] = &[
    ("v_min_f16 v10, v1, v2", |i| H(extreme(h(i.a), h(i.b), false))),
    ("v_max_f16 v10, v1, v2", |i| H(extreme(h(i.a), h(i.b), true))),
    ("v_min3_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| {
        H(extreme(extreme(h(i.a), h(i.b), false), h(i.c), false))
    }),
    ("v_max3_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| {
        H(extreme(extreme(h(i.a), h(i.b), true), h(i.c), true))
    }),
    ("v_ceil_f16 v10, v1", |i| round(d(i.a).ceil())),
    ("v_subrev_f16 v10, v1, v2", |i| round(d(i.b) - d(i.a))),
    ("v_pk_min_f16 v10, v1, v2\nv_and_b32 v10, 0xffff, v10", |i| H(extreme(h(i.a), h(i.b), false))),
    ("v_sin_f16 v10, 0.5\nv_and_b32 v10, 0x7fff, v10", |_| H(half::f16::ZERO)),
    ("v_cos_f16 v10, 1.0", |_| round(1.0)),
    ("v_exp_f16 v10, 4.0", |_| round(16.0)),
    ("v_log_f16 v10, 4.0", |_| round(2.0)),
    ("v_rsq_f16 v10, 4.0", |_| round(0.5)),
];

const SINGLES: &[Row] = &[
    // The instruction treats denormals as zero.
    ("v_rcp_iflag_f32 v10, v1", |i| {
        let x = s(i.a);
        if x.is_subnormal() { F(f32::INFINITY.copysign(x)) } else { Near(1.0 / f64::from(x), 1.0) }
    }),
    ("v_sin_f32 v10, 0.5", |_| F(0.0)),
    ("v_cos_f32 v10, 0.5", |_| F(-1.0)),
    ("v_cubema_f32 v10, v1, v2, v3", |i| F(2.0 * cube(i)[3])),
    ("v_cubeid_f32 v10, v1, v2, v3", |i| F(cube(i)[0])),
    ("v_cubesc_f32 v10, v1, v2, v3", |i| F(cube(i)[1])),
    ("v_cubetc_f32 v10, v1, v2, v3", |i| F(cube(i)[2])),
];

/// The face, coordinates and major axis of a direction, according to AMD's pseudo-code for each face.
fn cube(i: In) -> [f32; 4] {
    let (x, y, z) = (s(i.a), s(i.b), s(i.c));
    let face = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { 5 } else { 4 }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { 3 } else { 2 }
    } else if x < 0.0 {
        1
    } else {
        0
    };
    let (sc, tc, major) = [(-z, -y, x), (z, -y, x), (x, z, y), (x, -z, y), (x, -y, z), (-x, -y, z)][face];
    [face as f32, sc, tc, major]
}

const DOUBLES: &[Row] = &[
    ("v_fract_f64 v[10:11], v[4:5]", |i| {
        let x = f64::from_bits(i.x);
        G(if !x.is_finite() { f64::NAN } else { (x - x.floor()).min(1f64.next_down()) })
    }),
    ("v_ldexp_f64 v[10:11], v[4:5], 3", |i| G(f64::from_bits(i.x) * 8.0)),
    (
        "v_frexp_mant_f64 v[10:11], v[4:5]\nv_frexp_exp_i32_f64 v12, v[4:5]\nv_ldexp_f64 v[10:11], v[10:11], v12",
        |i| G(f64::from_bits(i.x)),
    ),
    ("v_rsq_f64 v[10:11], 4.0", |_| G(0.5)),
    ("v_div_fixup_f64 v[10:11], -4.0, 2.0, 1.0", |_| G(4.0)),
    ("v_div_fixup_f64 v[10:11], v[4:5], 0, -1.0", |_| G(f64::NEG_INFINITY)),
    ("s_mov_b64 vcc, 0\nv_div_fmas_f64 v[10:11], v[4:5], v[6:7], v[8:9]", |i| {
        G(f64::from_bits(i.x).mul_add(f64::from_bits(i.y), f64::from_bits(i.z)))
    }),
    ("v_div_scale_f64 v[10:11], vcc, 2.0, 2.0, 4.0", |_| G(2.0)),
];

#[test]
fn integers() {
    for target in [Target::GFX900, Target::GFX942] {
        check(target, INTEGERS, |x| x);
    }
    check(Target::GFX900, LEGACY_INTEGERS, |x| x);
    check(Target::GFX908, DOTS, |x| x);
}

#[test]
fn floats() {
    check(Target::GFX942, HALVES, |x| x);
    check(Target::GFX90A, SINGLES, |x| x);
    check(Target::GFX908, DOUBLES, |x| x);
}

/// a * b, rounded, plus c.
fn unfused(a: u32, b: u32, c: u32) -> super::table::Out {
    F(s(a) * s(b) + s(c))
}

fn fused(a: u32, b: u32, c: u32) -> super::table::Out {
    F(s(a).mul_add(s(b), s(c)))
}

fn unfused_half(a: u32, b: u32, c: u32) -> super::table::Out {
    round(f64::from(half::f16::from_f64(d(a) * d(b))) + d(c))
}

fn fused_half(a: u32, b: u32, c: u32) -> super::table::Out {
    round(d(a).mul_add(d(b), d(c)))
}

/// For operands between 1 and 2, or -2 and -1, so that there are no special values and only the number of roundings matters.
const ROUNDED_TWICE: &[Row] = &[
    ("v_mov_b32 v10, v3\nv_mac_f32 v10, v1, v2", |i| unfused(i.a, i.b, i.c)),
    ("v_mad_f32 v10, v1, v2, v3", |i| unfused(i.a, i.b, i.c)),
    ("v_madak_f32 v10, v1, v2, 0x3fc00001", |i| unfused(i.a, i.b, 0x3fc0_0001)),
    ("v_madmk_f32 v10, v1, 0x3fc00001, v3", |i| unfused(i.a, 0x3fc0_0001, i.c)),
    ("v_mad_mix_f32 v10, v1, v2, v3", |i| fused(i.a, i.b, i.c)),
];

const HALVES_ROUNDED: &[Row] = &[
    ("v_mov_b32 v10, v3\nv_mac_f16 v10, v1, v2\nv_and_b32 v10, 0xffff, v10", |i| unfused_half(i.a, i.b, i.c)),
    ("v_mad_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| unfused_half(i.a, i.b, i.c)),
    ("v_mad_legacy_f16 v10, v1, v2, v3", |i| unfused_half(i.a, i.b, i.c)),
    ("v_madak_f16 v10, v1, v2, 0x3e01", |i| unfused_half(i.a, i.b, 0x3e01)),
    ("v_madmk_f16 v10, v1, 0x3e01, v3", |i| unfused_half(i.a, 0x3e01, i.c)),
    ("v_fma_legacy_f16 v10, v1, v2, v3", |i| fused_half(i.a, i.b, i.c)),
    ("v_mad_mixlo_f16 v10, v1, v2, v3 op_sel_hi:[1,1,1]\nv_and_b32 v10, 0xffff, v10", |i| {
        fused_half(i.a, i.b, i.c)
    }),
    ("v_mad_mixhi_f16 v10, v1, v2, v3 op_sel_hi:[1,1,1]\nv_lshrrev_b32 v10, 16, v10", |i| {
        fused_half(i.a, i.b, i.c)
    }),
    ("v_ldexp_f16 v10, v1, 3", |i| round(d(i.a) * 8.0)),
    ("v_fract_f16 v10, v1", |i| round(d(i.a) - d(i.a).floor())),
    ("v_frexp_mant_f16 v10, v1", |i| round(d(i.a) / 2.0)),
    ("v_frexp_exp_i16_f16 v10, v1", |_| W(1)),
    ("v_med3_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| {
        let mut x = [d(i.a), d(i.b), d(i.c)];
        x.sort_by(f64::total_cmp);
        round(x[1])
    }),
    ("v_div_fixup_f16 v10, v1, v2, v3\nv_and_b32 v10, 0xffff, v10", |i| {
        round(d(i.a).abs().copysign(d(i.b) * d(i.c)))
    }),
    ("v_div_fixup_legacy_f16 v10, v1, v2, v3", |i| round(d(i.a).abs().copysign(d(i.b) * d(i.c)))),
];

const FUSED: &[Row] = &[
    ("v_fmaak_f32 v10, v1, v2, 0x3fc00001", |i| fused(i.a, i.b, 0x3fc0_0001)),
    ("v_fmamk_f32 v10, v1, 0x3fc00001, v3", |i| fused(i.a, 0x3fc0_0001, i.c)),
    ("v_log_legacy_f32 v10, 4.0", |_| F(2.0)),
    ("v_exp_legacy_f32 v10, 4.0", |_| F(16.0)),
    (
        "v_trig_preop_f64 v[10:11], 1.0, 0\nv_mul_f64 v[10:11], v[10:11], 2.0\nv_cvt_f32_f64 v10, v[10:11]",
        |_| F(std::f64::consts::FRAC_2_PI as f32 * 2.0),
    ),
];

const HALVES_FUSED: &[Row] = &[
    ("v_fma_mixhi_f16 v10, v1, v2, v3 op_sel_hi:[1,1,1]\nv_lshrrev_b32 v10, 16, v10", |i| {
        fused_half(i.a, i.b, i.c)
    }),
    ("v_mov_b32 v10, v3\nv_pk_fmac_f16 v10, v1, v2\nv_lshrrev_b32 v10, 16, v10", |i| {
        fused_half(i.a >> 16, i.b >> 16, i.c >> 16)
    }),
    // Products of halves are exact in f32, and here their sums are exact as well.
    ("v_mov_b32 v10, 1.0\nv_dot2c_f32_f16 v10, v1, v2", |i| {
        F((d(i.a) * d(i.b) + d(i.a >> 16) * d(i.b >> 16) + 1.0) as f32)
    }),
];

const BFLOATS: &[Row] = &[
    ("v_mov_b32 v10, 1.0\nv_dot2c_f32_bf16 v10, v1, v2", |i| F(bfloat_dot(i))),
    ("v_dot2_f32_bf16 v10, v1, v2, 1.0", |i| F(bfloat_dot(i))),
];

fn bfloat_dot(i: In) -> f32 {
    let b = |x: u32| f64::from(half::bf16::from_bits(x as u16));
    (b(i.a) * b(i.b) + b(i.a >> 16) * b(i.b >> 16) + 1.0) as f32
}

#[test]
fn multiply_adds_round_once_or_twice() {
    let single = |x: u32| x & 0x807f_ffff | 0x3f80_0000;
    let half = |x: u32| x & 0x83ff_83ff | 0x3c00_3c00;
    check(Target::GFX900, ROUNDED_TWICE, single);
    check(Target::GFX900, HALVES_ROUNDED, half);
    check(Target::GFX942, FUSED, single);
    check(Target::GFX90A, HALVES_FUSED, half);
    check(Target::GFX950, BFLOATS, |x| x & 0x807f_807f | 0x3f80_3f80);
}

/// Instructions for which tinygrad's emulator differs. The expected results were computed by hand from the ISA documents.
#[test]
fn what_an_emulator_has_otherwise_follows_the_documents() {
    const NAN: u32 = 0x7fc0_0000;
    let cases: [(Target, &str, [u32; 3], u32); 7] = [
        // -224 * 0.21875 - 0.01953125 * 56 - 0.0625 * -192 - 3.25 * -1.5, in the OCP formats of fp8 and bf8.
        (
            Target::GFX1201,
            "v_dot4_f32_fp8_bf8 v10, v1, v2, v3",
            [0xc598_8af6, 0xbeda_5333, 0],
            (-33.21875f32).to_bits(),
        ),
        // minimum and maximum return a NaN operand, minimum_num and maximum_num do not.
        (Target::GFX1201, "v_maximumminimum_f32 v10, v1, v2, v3", [0x3f80_0000, NAN, 0x4000_0000], NAN),
        (Target::GFX1201, "v_minimummaximum_f32 v10, v1, v2, v3", [NAN, 0x3f80_0000, 0x4000_0000], NAN),
        // Signed products of 24 bits: -0x46ab2 * -0x7bb4b0 + 0x9b1321dd.
        (
            Target::GFX1100,
            "v_mad_i32_i24 v10, v1, v2, v3",
            [0x44fb_954e, 0x5f84_4b50, 0x9b13_21dd],
            0xfca7_a43d,
        ),
        (
            Target::GFX1201,
            "v_mad_i32_i24 v10, v1, v2, v3",
            [0x44fb_954e, 0x5f84_4b50, 0x9b13_21dd],
            0xfca7_a43d,
        ),
        // -100000 and 70000 exceed 16 bits.
        (Target::GFX1100, "v_cvt_pk_i16_i32 v10, v1, v2", [0xfffe_7960, 70_000, 0], 0x7fff_8000),
        // The low four bits, 9, stand for -7/16.
        (Target::GFX1201, "v_cvt_off_f32_i4 v10, v1", [0xc197_d329, 0, 0], (-0.4375f32).to_bits()),
    ];
    for (target, inst, [a, b, c], expected) in cases {
        let wait = if target == Target::GFX1201 { "s_wait_kmcnt 0x0" } else { "s_waitcnt lgkmcnt(0)" };
        let text = format!(
            "s_load_b64 s[2:3], s[0:1], 0x0\n{wait}\nv_mov_b32 v0, 0\nv_mov_b32 v1, {a:#x}\nv_mov_b32 v2, {b:#x}\n\
             v_mov_b32 v3, {c:#x}\n{inst}\nglobal_store_b32 v0, v10, s[2:3]\ns_endpgm"
        );
        assert_eq!(one_word(target, &text), expected, "{target} {inst}");
    }
}

/// The word that a kernel of one work-item stores at the address in its only argument.
fn one_word(target: Target, text: &str) -> u32 {
    let kernel = KernelState { vgprs: 16, wave_size: WaveSize::W32, ..state() };
    let machine = Machine::new(target, &assemble(target, text), kernel).unwrap();
    let mut memory = Memory::new();
    let out = memory.alloc(4);
    gcn_sim::run(&machine, &mut memory, [1; 3], [1; 3], &out.to_le_bytes(), &Options::default()).unwrap();
    words(&memory.read(out, 4).unwrap())[0]
}

/// Sources: RDNA3 ISA and RDNA4 ISA, `D0.b16 = { SAT8(…), SAT8(…) }`, and LLVM 22, which writes `v0.l` from gfx11 on; on earlier targets
/// the result is a whole register.
#[test]
fn two_saturated_bytes_are_half_a_register_from_rdna_3_on() {
    let cases = [
        (
            Target::GFX1030,
            "s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)",
            "v_sat_pk_u8_i16 v2, v1",
            0x00ff,
        ),
        (
            Target::GFX1100,
            "s_load_b64 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)",
            "v_sat_pk_u8_i16 v2.l, v1",
            0xabcd_00ff,
        ),
        (
            Target::GFX1100,
            "s_load_b64 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)",
            "v_sat_pk_u8_i16 v2.h, v1",
            0x00ff_1234,
        ),
        (
            Target::GFX1201,
            "s_load_b64 s[2:3], s[0:1], 0x0\ns_wait_kmcnt 0x0",
            "v_sat_pk_u8_i16 v2.h, v1",
            0x00ff_1234,
        ),
    ];
    for (target, load, inst, expected) in cases {
        let store = if target == Target::GFX1030 { "global_store_dword" } else { "global_store_b32" };
        let text = format!(
            "{load}\nv_mov_b32 v0, 0\nv_mov_b32 v1, 0xfffe0123\nv_mov_b32 v2, 0xabcd1234\n{inst}\n{store} v0, v2, s[2:3]\ns_endpgm"
        );
        assert_eq!(one_word(target, &text), expected, "{target} {inst}");
    }
}
