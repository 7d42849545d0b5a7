//! f16 arithmetic. Operands are widened to f32, and the result is rounded once to f16 (see [`Half`]).

use super::float32::{frexp, max32, maximum32, med32, min32, minimum32};
use super::{op1, op2, op2e, op3, op3e, round2, round3};
use crate::core::value::{Half, HalfBits};
use crate::fp::{self, Round, add32, fma16, mul32, soft};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    arithmetic(ops);
    multiply_add(ops);
    min_max(ops);
    rounding(ops);
}

fn soft_add(r: Round, a: HalfBits, b: HalfBits) -> HalfBits {
    HalfBits(soft::add(soft::Format::F16, r, u64::from(a.0), u64::from(b.0)) as u16)
}

fn soft_mul(r: Round, a: HalfBits, b: HalfBits) -> HalfBits {
    HalfBits(soft::mul(soft::Format::F16, r, u64::from(a.0), u64::from(b.0)) as u16)
}

fn soft_fma(r: Round, a: HalfBits, b: HalfBits, c: HalfBits) -> HalfBits {
    HalfBits(soft::fma(soft::Format::F16, r, u64::from(a.0), u64::from(b.0), u64::from(c.0)) as u16)
}

fn negated(a: HalfBits) -> HalfBits {
    HalfBits(a.0 ^ 0x8000)
}

fn arithmetic(ops: &mut Ops) {
    ops.add("v_add_f16", op2(|a: Half, b: Half| Half(add32(a.0, b.0))).directed(round2(soft_add)));
    ops.add(
        "v_sub_f16",
        op2(|a: Half, b: Half| Half(add32(a.0, -b.0))).directed(round2(|r, a, b| soft_add(r, a, negated(b)))),
    );
    ops.add(
        "v_subrev_f16",
        op2(|a: Half, b: Half| Half(add32(-a.0, b.0))).directed(round2(|r, a, b| soft_add(r, negated(a), b))),
    );
    ops.add("v_mul_f16", op2(|a: Half, b: Half| Half(mul32(a.0, b.0))).directed(round2(soft_mul)));
    // The exponent is a signed 16-bit integer.
    ops.add(
        "v_ldexp_f16",
        op2(|a: Half, b: i16| Half(super::float32::ldexp32(a.0, i32::from(b).clamp(-60, 60)))).rounds(),
    );
}

fn fused() -> Op {
    op3(|a: Half, b: Half, c: Half| HalfBits(fma16(a.0, b.0, c.0))).directed(round3(soft_fma))
}

/// a * b + c, with an additional rounding to f16 after the multiplication.
fn unfused(a: Half, b: Half, c: Half) -> Half {
    Half(add32(rounded(mul32(a.0, b.0)), c.0))
}

fn rounded(x: f32) -> f32 {
    fp::f16_to_f32(fp::f32_to_f16(x))
}

fn multiply_add(ops: &mut Ops) {
    for name in ["v_fma_f16", "v_fma_legacy_f16", "v_fmac_f16", "v_fmaak_f16"] {
        ops.add(name, fused());
    }
    // In the encoding, the literal comes between the factors and the addend.
    ops.add(
        "v_fmamk_f16",
        op3(|a: Half, b: Half, k: Half| HalfBits(fma16(a.0, k.0, b.0)))
            .directed(round3(|r, a, b, k| soft_fma(r, a, k, b))),
    );
    for name in ["v_mad_f16", "v_mad_legacy_f16", "v_mac_f16", "v_madak_f16"] {
        ops.add(name, op3(unfused).rounds());
    }
    ops.add("v_madmk_f16", op3(|a: Half, b: Half, k: Half| unfused(a, k, b)).rounds());
}

fn min_max(ops: &mut Ops) {
    ops.add("v_min_f16", op2e(|e, a: Half, b: Half| Half(min32(e, a.0, b.0))));
    ops.add("v_max_f16", op2e(|e, a: Half, b: Half| Half(max32(e, a.0, b.0))));
    ops.add("v_min3_f16", op3e(|e, a: Half, b: Half, c: Half| Half(min32(e, min32(e, a.0, b.0), c.0))));
    ops.add("v_max3_f16", op3e(|e, a: Half, b: Half, c: Half| Half(max32(e, max32(e, a.0, b.0), c.0))));
    ops.add("v_maxmin_f16", op3e(|e, a: Half, b: Half, c: Half| Half(min32(e, max32(e, a.0, b.0), c.0))));
    ops.add("v_minmax_f16", op3e(|e, a: Half, b: Half, c: Half| Half(max32(e, min32(e, a.0, b.0), c.0))));
    ops.add("v_minimum_f16", op2(|a: Half, b: Half| Half(minimum32(a.0, b.0))));
    ops.add("v_maximum_f16", op2(|a: Half, b: Half| Half(maximum32(a.0, b.0))));
    let three = |f: fn(f32, f32, f32) -> f32| op3(move |a: Half, b: Half, c: Half| Half(f(a.0, b.0, c.0)));
    ops.add("v_minimum3_f16", three(|a, b, c| minimum32(minimum32(a, b), c)));
    ops.add("v_maximum3_f16", three(|a, b, c| maximum32(maximum32(a, b), c)));
    ops.add("v_maximumminimum_f16", three(|a, b, c| minimum32(maximum32(a, b), c)));
    ops.add("v_minimummaximum_f16", three(|a, b, c| maximum32(minimum32(a, b), c)));
    ops.add("v_med3_f16", op3e(|e, a: Half, b: Half, c: Half| Half(med32(e, a.0, b.0, c.0))));
}

fn rounding(ops: &mut Ops) {
    ops.add("v_trunc_f16", op1(|a: Half| Half(a.0.trunc())));
    ops.add("v_ceil_f16", op1(|a: Half| Half(a.0.ceil())));
    ops.add("v_floor_f16", op1(|a: Half| Half(a.0.floor())));
    ops.add("v_rndne_f16", op1(|a: Half| Half(a.0.round_ties_even())));
    ops.add(
        "v_fract_f16",
        op1(|a: Half| {
            // The largest f16 below one.
            let below_one = 1.0 - 2f32.powi(-11);
            let fraction = rounded(a.0 - a.0.floor());
            Half(if a.0.is_infinite() {
                f32::from_bits(fp::NAN32)
            } else if fraction > below_one {
                below_one
            } else {
                fraction
            })
        }),
    );
    ops.add("v_frexp_mant_f16", op1(|a: Half| Half(frexp(f64::from(a.0)).0 as f32)));
    ops.add("v_frexp_exp_i16_f16", op1(|a: Half| frexp(f64::from(a.0)).1 as i16));
}
