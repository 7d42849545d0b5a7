//! Compares floating-point vector instructions with the host's arithmetic: f32 with f64, f16 with the `half` crate.

use gcn_isa::Target;
use gcn_sim::{FloatMode, KernelState, SimError};
use half::f16;

use super::harness::{Case, state};
use super::table::Out::{F, G, H, Near, W};
use super::table::{Row, check};

fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

fn g(x: u64) -> f64 {
    f64::from_bits(x)
}

fn h(x: u32) -> f16 {
    f16::from_bits(x as u16)
}

/// An f64 rounded to f16 once: chooses between the neighbours of the value that was first rounded to f32.
fn h64(x: f64) -> f16 {
    let near = f16::from_f64(x);
    let candidates =
        [near.to_bits().wrapping_sub(1), near.to_bits(), near.to_bits().wrapping_add(1)].map(f16::from_bits);
    if x.is_nan() || x.is_infinite() || near.is_infinite() || near == f16::ZERO {
        return near;
    }
    let error = |c: &f16| (c.to_f64() - x).abs();
    let best = candidates
        .into_iter()
        .filter(|c| c.is_finite())
        .min_by(|a, b| error(a).total_cmp(&error(b)).then((a.to_bits() & 1).cmp(&(b.to_bits() & 1))));
    best.unwrap_or(near)
}

fn min_num(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) if a.to_bits() & 0x0040_0000 == 0 => f32::NAN,
        (_, true) if b.to_bits() & 0x0040_0000 == 0 => f32::NAN,
        (true, _) => b,
        (_, true) => a,
        _ if a == b => f32::from_bits(a.to_bits() | b.to_bits()),
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

fn max_num(a: f32, b: f32) -> f32 {
    -min_num(-a, -b)
}

const SINGLES: &[Row] = &[
    ("v_add_f32 v10, v1, v2", |i| F(f(i.a) + f(i.b))),
    ("v_add_f32 v10, 1.0, v2", |i| F(1.0 + f(i.b))),
    ("v_add_f32 v10, 0x42280000, v2", |i| F(42.0 + f(i.b))),
    ("v_add_f32_e64 v10, -v1, |v2|", |i| F(f(i.b).abs() - f(i.a))),
    ("v_add_f32_e64 v10, v1, -|v2| clamp", |i| {
        let r = f(i.a) - f(i.b).abs();
        F(if r.is_nan() {
            0.0
        } else if r <= 0.0 {
            0.0f32.copysign(if r == 0.0 { r } else { 1.0 }) + 0.0
        } else {
            r.min(1.0)
        })
    }),
    ("v_sub_f32 v10, v1, v2", |i| F(f(i.a) - f(i.b))),
    ("v_subrev_f32 v10, v1, v2", |i| F(f(i.b) - f(i.a))),
    ("v_mul_f32 v10, v1, v2", |i| F(f(i.a) * f(i.b))),
    ("v_fma_f32 v10, v1, v2, v3", |i| F(f(i.a).mul_add(f(i.b), f(i.c)))),
    ("v_fma_f32 v10, -v1, v2, |v3|", |i| F((-f(i.a)).mul_add(f(i.b), f(i.c).abs()))),
    ("v_fmac_f32 v10, v1, v2", |i| F(f(i.a).mul_add(f(i.b), f(i.old)))),
    ("v_min_f32 v10, v1, v2", |i| F(min_num(f(i.a), f(i.b)))),
    ("v_max_f32 v10, v1, v2", |i| F(max_num(f(i.a), f(i.b)))),
    ("v_min3_f32 v10, v1, v2, v3", |i| F(min_num(min_num(f(i.a), f(i.b)), f(i.c)))),
    ("v_max3_f32 v10, v1, v2, v3", |i| F(max_num(max_num(f(i.a), f(i.b)), f(i.c)))),
    ("v_med3_f32 v10, v1, v2, v3", |i| {
        let mut all = [f(i.a), f(i.b), f(i.c)];
        if all.iter().any(|x| x.is_nan()) {
            return F(min_num(min_num(all[0], all[1]), all[2]));
        }
        all.sort_by(f32::total_cmp);
        F(all[1])
    }),
    ("v_trunc_f32 v10, v1", |i| F(f(i.a).trunc())),
    ("v_ceil_f32 v10, v1", |i| F(f(i.a).ceil())),
    ("v_floor_f32 v10, v1", |i| F(f(i.a).floor())),
    ("v_rndne_f32 v10, v1", |i| F(f(i.a).round_ties_even())),
    ("v_fract_f32 v10, v1", |i| {
        let x = f64::from(f(i.a));
        let fraction = (x - x.floor()) as f32;
        F(if x.is_infinite() {
            f32::NAN
        } else if fraction >= 1.0 {
            1f32.next_down()
        } else {
            fraction
        })
    }),
    ("v_ldexp_f32 v10, v1, v2", |i| {
        let e = (i.b as i32).clamp(-400, 400);
        F((f64::from(f(i.a)) * 2f64.powi(e)) as f32)
    }),
    ("v_frexp_mant_f32 v10, v1", |i| {
        let x = f(i.a);
        if !x.is_finite() || x == 0.0 {
            return F(x);
        }
        let mut m = f64::from(x);
        while m.abs() >= 1.0 {
            m /= 2.0;
        }
        while m.abs() < 0.5 {
            m *= 2.0;
        }
        F(m as f32)
    }),
    ("v_frexp_exp_i32_f32 v10, v1", |i| {
        let x = f64::from(f(i.a)).abs();
        W(if !x.is_finite() || x == 0.0 { 0 } else { (x.log2().floor() as i32 + 1) as u32 })
    }),
    ("v_rcp_f32 v10, v1", |i| Near(1.0 / normal(i.a), 1.0)),
    ("v_rsq_f32 v10, v1", |i| Near(1.0 / normal(i.a).sqrt(), 1.0)),
    ("v_sqrt_f32 v10, v1", |i| Near(normal(i.a).sqrt(), 1.0)),
    ("v_exp_f32 v10, v1", |i| Near(normal(i.a).exp2(), 1.0)),
    ("v_log_f32 v10, v1", |i| Near(normal(i.a).log2(), 1.0)),
];

fn normal(x: u32) -> f64 {
    if f(x).is_subnormal() { 0f64.copysign(f64::from(f(x))) } else { f64::from(f(x)) }
}

const HALVES: &[Row] = &[
    ("v_add_f16 v10, v1, v2", |i| H(h64(h(i.a).to_f64() + h(i.b).to_f64()))),
    ("v_sub_f16 v10, v1, v2", |i| H(h64(h(i.a).to_f64() - h(i.b).to_f64()))),
    ("v_mul_f16 v10, v1, v2", |i| H(h64(h(i.a).to_f64() * h(i.b).to_f64()))),
    ("v_mul_f16 v10, 2.0, v2", |i| H(h64(2.0 * h(i.b).to_f64()))),
    ("v_trunc_f16 v10, v1", |i| H(h64(h(i.a).to_f64().trunc()))),
    ("v_floor_f16 v10, v1", |i| H(h64(h(i.a).to_f64().floor()))),
    ("v_rndne_f16 v10, v1", |i| H(h64(h(i.a).to_f64().round_ties_even()))),
    ("v_cvt_f16_f32 v10, v1", |i| H(h64(f64::from(f(i.a))))),
    ("v_cvt_f32_f16 v10, v1", |i| F(h(i.a).to_f32())),
    ("v_cvt_f16_u16 v10, v1", |i| H(h64(f64::from(i.a as u16)))),
    ("v_cvt_f16_i16 v10, v1", |i| H(h64(f64::from(i.a as i16)))),
    ("v_cvt_u16_f16 v10, v1", |i| W(u32::from(h(i.a).to_f64() as u16))),
    ("v_cvt_i16_f16 v10, v1", |i| W(u32::from(h(i.a).to_f64() as i16 as u16))),
    ("v_sqrt_f16 v10, v1", |i| H(h64(h(i.a).to_f64().sqrt()))),
    ("v_rcp_f16 v10, v1", |i| H(h64(1.0 / h(i.a).to_f64()))),
    ("v_cvt_pkrtz_f16_f32 v10, 1.0, v2", |i| {
        let x = f(i.b);
        let mut near = h64(f64::from(x));
        if near.to_f64().abs() > f64::from(x).abs() && x.is_finite() {
            near = f16::from_bits(near.to_bits() - 1);
        }
        // A NaN keeps the upper bits of its payload.
        W(0x3c00
            | if x.is_nan() {
                (x.to_bits() >> 16 & 0x8000 | 0x7e00 | x.to_bits() >> 13 & 0x1ff) << 16
            } else {
                u32::from(near.to_bits()) << 16
            })
    }),
    ("v_pack_b32_f16 v10, v1, v2", |i| W(i.a & 0xffff | i.b << 16)),
    ("v_pack_b32_f16 v10, v1, v2 op_sel:[1,1,0]", |i| W(i.a >> 16 | i.b & 0xffff_0000)),
    ("v_fma_mix_f32 v10, v1, v2, v3 op_sel_hi:[1,0,0]", |i| F(h(i.a).to_f32().mul_add(f(i.b), f(i.c)))),
    ("v_fma_mix_f32 v10, v1, v2, v3 op_sel:[1,0,1] op_sel_hi:[1,0,1]", |i| {
        F(h(i.a >> 16).to_f32().mul_add(f(i.b), h(i.c >> 16).to_f32()))
    }),
];

const DOUBLES: &[Row] = &[
    ("v_add_f64 v[10:11], v[4:5], v[6:7]", |i| G(g(i.x) + g(i.y))),
    ("v_add_f64 v[10:11], v[4:5], -|v[6:7]|", |i| G(g(i.x) - g(i.y).abs())),
    ("v_mul_f64 v[10:11], v[4:5], v[6:7]", |i| G(g(i.x) * g(i.y))),
    ("v_mul_f64 v[10:11], 0.5, v[6:7]", |i| G(0.5 * g(i.y))),
    ("v_fma_f64 v[10:11], v[4:5], v[6:7], v[8:9]", |i| G(g(i.x).mul_add(g(i.y), g(i.z)))),
    ("v_trunc_f64 v[10:11], v[4:5]", |i| G(g(i.x).trunc())),
    ("v_ceil_f64 v[10:11], v[4:5]", |i| G(g(i.x).ceil())),
    ("v_floor_f64 v[10:11], v[4:5]", |i| G(g(i.x).floor())),
    ("v_rndne_f64 v[10:11], v[4:5]", |i| G(g(i.x).round_ties_even())),
    ("v_min_f64 v[10:11], v[4:5], v[6:7]", |i| {
        G(if g(i.x) == g(i.y) { g(i.x | i.y) } else { g(i.x).min(g(i.y)) })
    }),
    ("v_max_f64 v[10:11], v[4:5], v[6:7]", |i| {
        G(if g(i.x) == g(i.y) { g(i.x & i.y) } else { g(i.x).max(g(i.y)) })
    }),
    ("v_cvt_f32_f64 v10, v[4:5]", |i| F(g(i.x) as f32)),
    ("v_cvt_f64_f32 v[10:11], v1", |i| G(f64::from(f(i.a)))),
    ("v_cvt_f64_i32 v[10:11], v1", |i| G(f64::from(i.a as i32))),
    ("v_cvt_f64_u32 v[10:11], v1", |i| G(f64::from(i.a))),
    ("v_cvt_i32_f64 v10, v[4:5]", |i| W(g(i.x) as i32 as u32)),
    ("v_cvt_u32_f64 v10, v[4:5]", |i| W(g(i.x) as u32)),
    ("v_sqrt_f64 v[10:11], v[4:5]", |i| G(g(i.x).sqrt())),
    ("v_rcp_f64 v[10:11], v[4:5]", |i| G(1.0 / g(i.x))),
    ("v_frexp_exp_i32_f64 v10, v[4:5]", |i| {
        let x = g(i.x).abs();
        if !x.is_finite() || x == 0.0 {
            return W(0);
        }
        // The exponent e for which 2^(e-1) <= x < 2^e.
        let e = (-1080..=1025)
            .find(|&e| x / 2f64.powi(e / 2) / 2f64.powi(e - e / 2) < 1.0 && x.log2() < f64::from(e) + 0.5);
        W(e.unwrap_or(0) as u32)
    }),
];

const CONVERSIONS: &[Row] = &[
    ("v_cvt_f32_i32 v10, v1", |i| F(f64::from(i.a as i32) as f32)),
    ("v_cvt_f32_u32 v10, v1", |i| F(f64::from(i.a) as f32)),
    ("v_cvt_i32_f32 v10, v1", |i| {
        W(f64::from(f(i.a)).trunc().clamp(-2_147_483_648.0, 2_147_483_647.0) as i32 as u32)
    }),
    ("v_cvt_u32_f32 v10, v1", |i| W(f64::from(f(i.a)).trunc().clamp(0.0, 4_294_967_295.0) as u32)),
    ("v_cvt_flr_i32_f32 v10, v1", |i| {
        W(f64::from(f(i.a)).floor().clamp(-2_147_483_648.0, 2_147_483_647.0) as i32 as u32)
    }),
    ("v_cvt_f32_ubyte0 v10, v1", |i| F(f32::from(i.a.to_le_bytes()[0]))),
    ("v_cvt_f32_ubyte3 v10, v1", |i| F(f32::from(i.a.to_le_bytes()[3]))),
    ("v_cvt_pk_u16_u32 v10, v1, v2", |i| W(i.a.min(65535) | i.b.min(65535) << 16)),
    ("v_cvt_pk_i16_i32 v10, v1, v2", |i| {
        let clamp = |x: u32| (x as i32).clamp(-32768, 32767) as u32 & 0xffff;
        W(clamp(i.a) | clamp(i.b) << 16)
    }),
];

#[test]
fn singles() {
    check(Target::GFX942, SINGLES, |x| x);
    // Exponents close together, for which cancellation and denormals occur.
    check(Target::GFX90A, SINGLES, |x| x & 0x80ff_ffff | 0x3f00_0000);
}

#[test]
fn halves() {
    check(Target::GFX942, HALVES, |x| x);
    check(Target::GFX90A, HALVES, |x| x & 0xbfff_bfff | 0x2000_2000);
}

#[test]
fn doubles() {
    check(Target::GFX90A, DOUBLES, |x| x);
    let fmac: &[Row] = &[("v_fmac_f64 v[8:9], v[4:5], v[6:7]\nv_mov_b32 v10, v8\nv_mov_b32 v11, v9", |i| {
        G(g(i.x).mul_add(g(i.y), g(i.z)))
    })];
    check(Target::GFX942, fmac, |x| x);
}

#[test]
fn conversions() {
    check(Target::GFX942, CONVERSIONS, |x| x);
}

/// Tests every f16 and both signs of zero, in one run per instruction: fused multiply-add rounds once.
#[test]
fn fused_half_multiply_add_rounds_once() {
    let fma: &[Row] = &[("v_mov_b32 v10, 0\nv_fma_f16 v10, v1, v2, v3", |i| {
        // f64 represents the exact sum, unless the magnitudes are far apart; even then, h64 chooses the right neighbour.
        let (p, c) = (h(i.a).to_f64() * h(i.b).to_f64(), h(i.c).to_f64());
        let sum = p + c;
        let lost = if sum.is_finite() { (p - (sum - c)) + (c - (sum - (sum - c))) } else { 0.0 };
        // The rounded sum looks like a tie but is not: move it in the direction of the lost part.
        let bump = if lost > 0.0 {
            sum.next_up()
        } else if lost < 0.0 {
            sum.next_down()
        } else {
            sum
        };
        H(h64(bump))
    })];
    check(Target::GFX942, fma, |x| x);
    check(Target::GFX942, fma, |x| x & 0xffff_bfff | 0x2000);
}

fn with_mode(float_mode: FloatMode) -> Case {
    Case { state: KernelState { float_mode, ..state() }, ..Case::new(Target::GFX942) }
}

#[test]
fn denormals_follow_the_mode() {
    let denormal = f32::from_bits(0x0000_0010);
    for (mode, input_kept, output_kept) in
        [(0, false, false), (1, true, false), (2, false, true), (3, true, true)]
    {
        let case = with_mode(FloatMode { denorm_32: mode, ..FloatMode::default() });
        let out = case.v(1, [denormal.to_bits(); 64]).v(2, [f32::MIN_POSITIVE.to_bits(); 64]).run(
            // The first instruction makes a denormal input visible by scaling it up; the second has a denormal result.
            "v_mul_f32 v10, 0x7e000000, v1\nv_mul_f32 v11, 0.5, v2\nv_mov_b32 v12, v1",
        );
        assert_eq!(out.v(10)[0] != 0, input_kept, "mode {mode}");
        assert_eq!(out.v(11)[0] != 0, output_kept, "mode {mode}");
        assert_eq!(out.v(12)[0], 0x10, "moves never flush");
    }
}

#[test]
fn mode_is_written_and_read_back() {
    // Turns f32 denormals on and off around two multiplications, as compilers do around a division.
    let out = Case::new(Target::GFX90A).v(1, [0x0080_0000; 64]).run(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nv_mul_f32 v10, 0.5, v1\ns_getreg_b32 s16, hwreg(HW_REG_MODE, 4, 4)
         s_mov_b32 s17, 3\ns_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s17\nv_mul_f32 v11, 0.5, v1\ns_getreg_b32 s17, hwreg(HW_REG_MODE, 0, 10)",
    );
    assert_eq!((out.v(10)[5], out.v(11)[5]), (0, 0x0040_0000));
    assert_eq!((out.s(16), out.s(17)), (0b1100, 0b11_1111_0000));
}

#[test]
fn directed_rounding_brackets_the_exact_result() {
    let operands = (f32::from_bits(0x3f80_0001), f32::from_bits(0x3f80_0003));
    let exact = f64::from(operands.0) * f64::from(operands.1);
    let results = [0, 1, 2, 3].map(|round_32| {
        let case = with_mode(FloatMode { round_32, denorm_32: 3, ..FloatMode::default() });
        let out = case
            .v(1, [operands.0.to_bits(); 64])
            .v(2, [operands.1.to_bits(); 64])
            .run("v_mul_f32 v10, v1, v2");
        f32::from_bits(out.v(10)[0])
    });
    let [even, up, down, zero] = results;
    assert_eq!(even, exact as f32);
    assert!(f64::from(down) < exact && exact < f64::from(up) && down == zero && up == down.next_up());
}

#[test]
fn output_modifiers_work_only_without_ieee_and_denormals() {
    let run = |ieee_mode: bool, denorm_32: u8| {
        let mut case = with_mode(FloatMode { denorm_32, ..FloatMode::default() });
        case.state.ieee_mode = ieee_mode;
        let out = case
            .v(1, [3f32.to_bits(); 64])
            .run("v_add_f32_e64 v10, v1, v1 mul:4\nv_mul_f32_e64 v11, v1, v1 div:2");
        (f32::from_bits(out.v(10)[0]), f32::from_bits(out.v(11)[0]))
    };
    assert_eq!(run(false, 0), (24.0, 4.5));
    assert_eq!(run(true, 0), (6.0, 9.0));
    assert_eq!(run(false, 3), (6.0, 9.0));
}

/// Runs LLVM's division sequence, `v_div_scale` to `v_div_fixup` with its flag in VCC, on special operands.
#[test]
fn ieee_division_on_the_machine() {
    let special = [
        0.0f32,
        -0.0,
        1.0,
        -3.0,
        7.0,
        1e-45,
        -1e-40,
        3e38,
        1e38,
        2e-38,
        f32::INFINITY,
        f32::NAN,
        1.5e-20,
        6e19,
        0.1,
        f32::MAX,
    ];
    for n in special {
        let numerators = [n.to_bits(); 64];
        let denominators = std::array::from_fn(|lane| special[lane % special.len()].to_bits());
        let out = Case::new(Target::GFX942).v(1, numerators).v(2, denominators).run(
            "v_div_scale_f32 v11, s[16:17], v2, v2, v1\nv_div_scale_f32 v12, vcc, v1, v2, v1\nv_rcp_f32 v13, v11
             v_fma_f32 v14, -v11, v13, 1.0\nv_fma_f32 v13, v14, v13, v13\nv_mul_f32 v14, v12, v13\nv_fma_f32 v15, -v11, v14, v12
             v_fma_f32 v14, v15, v13, v14\nv_fma_f32 v15, -v11, v14, v12\nv_div_fmas_f32 v16, v15, v13, v14\nv_div_fixup_f32 v10, v16, v2, v1",
        );
        for lane in 0..64 {
            let (got, want) = (f32::from_bits(out.v(10)[lane]), n / f32::from_bits(denominators[lane]));
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{n:e} / {:e}: {got:e} {want:e}",
                f32::from_bits(denominators[lane])
            );
        }
    }
}

#[test]
fn packed_singles_and_moves() {
    let v = |x: f32| [x.to_bits(); 64];
    let case = Case::new(Target::GFX90A)
        .v(2, v(1.5))
        .v(3, v(-2.0))
        .v(4, v(4.0))
        .v(5, v(0.25))
        .v(6, v(10.0))
        .v(7, v(20.0));
    let out = case.run(
        "v_pk_add_f32 v[10:11], v[2:3], v[4:5]\nv_pk_mul_f32 v[12:13], v[2:3], v[4:5] op_sel:[0,1] op_sel_hi:[1,0]
         v_pk_fma_f32 v[14:15], v[2:3], v[4:5], v[6:7] neg_lo:[1,0,0]\nv_pk_mov_b32 v[16:17], v[2:3], v[4:5] op_sel:[1,0]",
    );
    let at = |r: usize| f32::from_bits(out.v(r)[9]);
    assert_eq!((at(10), at(11)), (5.5, -1.75));
    assert_eq!((at(12), at(13)), (1.5 * 0.25, -2.0 * 4.0));
    assert_eq!((at(14), at(15)), (-1.5 * 4.0 + 10.0, -2.0 * 0.25 + 20.0));
    assert_eq!((at(16), at(17)), (-2.0, 4.0));
}

/// Constants as packed f32 operands. clang 22 emits 0 with `op_sel_hi` 1 or 0, and all other constants with `op_sel_hi` 0, so that both
/// results read the lower word.
#[test]
fn constants_of_packed_singles() {
    let v = |x: f32| [x.to_bits(); 64];
    let out = Case::new(Target::GFX942).v(2, v(1.5)).v(3, v(-2.0)).run(
        "v_pk_add_f32 v[10:11], v[2:3], 0\nv_pk_mul_f32 v[12:13], v[2:3], 0 op_sel_hi:[1,0]
         v_pk_add_f32 v[14:15], v[2:3], 1.0 op_sel_hi:[1,0]\nv_pk_fma_f32 v[16:17], v[2:3], 2.0, 0 op_sel_hi:[1,0,1]",
    );
    let at = |r: usize| f32::from_bits(out.v(r)[9]);
    assert_eq!((at(10), at(11), at(12), at(13)), (1.5, -2.0, 0.0, 0.0));
    assert_eq!((at(14), at(15), at(16), at(17)), (2.5, -1.0, 3.0, -4.0));
}

/// 1 + 2^-11 + 2^-30 is just above the midpoint of two f16 values. Rounded once, it gives the upper one. Rounded to f32 first, it becomes
/// the midpoint, which rounds to the lower one because that is even.
#[test]
fn f16_results_of_mixed_precision_are_rounded_as_asked() {
    let (b, c) = (1.0 + f32::EPSILON * 4096.0, f32::EPSILON / 128.0);
    for (target, name) in [(Target::GFX900, "v_mad_mix"), (Target::GFX942, "v_fma_mix")] {
        for (mix_rounded_twice, low_bit) in [(false, 1), (true, 0)] {
            let case = Case { mix_rounded_twice, ..Case::new(target) };
            let case = case.v(1, [b.to_bits(); 64]).v(2, [c.to_bits(); 64]).v(10, [0xabcd_abcd; 64]);
            let case = case.v(11, [0xabcd_abcd; 64]);
            let out = case.run(&format!("{name}lo_f16 v10, v1, 1.0, v2\n{name}hi_f16 v11, v1, -1.0, -v2"));
            assert_eq!(out.v(10), [0xabcd_3c00 | low_bit; 64], "{name} {mix_rounded_twice}");
            assert_eq!(out.v(11), [(0xbc00 | low_bit) << 16 | 0xabcd; 64], "{name} {mix_rounded_twice}");
        }
    }
}

/// LLVM encodes these operands, but the manuals do not say which half of them is used.
#[test]
fn modifiers_that_packed_operands_have_not_are_refused() {
    let case = Case::new(Target::GFX90A).v(1, [0x3c00_4000; 64]).v(2, [0x3c00_3c00; 64]).v(10, [0; 64]);
    for operands in ["-v1, v2", "|v1|, v2", "v1, -v2", "v1, |v2|", "v1, v2 mul:2"] {
        match case.try_run(&format!("v_pk_fmac_f16_e64 v10, {operands}")) {
            Err(SimError::Unsupported { what, .. }) => assert!(what.contains("packed operands"), "{what}"),
            _ => panic!("{operands} is not refused"),
        }
    }
    assert_eq!(case.run("v_pk_fmac_f16_e64 v10, v1, v2").v(10), [0x3c00_4000; 64]);
}

#[test]
fn packed_halves() {
    let pair = |low: f32, high: f32| {
        u32::from(f16::from_f32(low).to_bits()) | u32::from(f16::from_f32(high).to_bits()) << 16
    };
    let case = Case::new(Target::GFX942)
        .v(1, [pair(1.5, -2.0); 64])
        .v(2, [pair(4.0, 0.5); 64])
        .v(3, [pair(10.0, 20.0); 64]);
    let out = case.run(
        "v_pk_add_f16 v10, v1, v2\nv_pk_fma_f16 v11, v1, v2, v3 neg_lo:[0,0,1] neg_hi:[0,0,1]
         v_pk_mul_f16 v12, v1, 2.0 op_sel_hi:[1,0]\nv_pk_max_f16 v13, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]
         v_dot2_f32_f16 v14, v1, v2, 1.0\nv_fma_mixlo_f16 v15, v1, v2, v3 op_sel_hi:[1,1,1]",
    );
    assert_eq!(out.v(10)[0], pair(5.5, -1.5));
    assert_eq!(out.v(11)[0], pair(-4.0, -21.0));
    assert_eq!(out.v(12)[0], pair(3.0, -4.0));
    assert_eq!(out.v(13)[0], pair(4.0, 1.5));
    assert_eq!(f32::from_bits(out.v(14)[0]), 1.5 * 4.0 - 2.0 * 0.5 + 1.0);
    assert_eq!(out.v(15)[0], u32::from(f16::from_f32(16.0).to_bits()));
}
