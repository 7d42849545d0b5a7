//! f32 arithmetic.

use super::number::{self, number2};
use super::{Env, op1, op2, op2e, op3, op3e, round2, round3};
use crate::fp::{self, NAN32, Round, add32, mul32, soft};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    arithmetic(ops);
    multiply_add(ops);
    min_max(ops);
    rounding(ops);
    parts(ops);
    cube(ops);
}

fn soft32(f: impl Fn(Round, [u64; 3]) -> u64 + Copy, round: Round, operands: [f32; 3]) -> f32 {
    f32::from_bits(f(round, operands.map(|x| u64::from(x.to_bits()))) as u32)
}

fn soft_add(r: Round, a: f32, b: f32) -> f32 {
    soft32(|r, [a, b, _]| soft::add(soft::Format::F32, r, a, b), r, [a, b, 0.0])
}

fn soft_mul(r: Round, a: f32, b: f32) -> f32 {
    soft32(|r, [a, b, _]| soft::mul(soft::Format::F32, r, a, b), r, [a, b, 0.0])
}

fn soft_fma(r: Round, a: f32, b: f32, c: f32) -> f32 {
    soft32(|r, [a, b, c]| soft::fma(soft::Format::F32, r, a, b, c), r, [a, b, c])
}

fn arithmetic(ops: &mut Ops) {
    ops.add("v_add_f32", number2(|a: f32, b| (a + b, [a, b])).directed(round2(soft_add)));
    ops.add(
        "v_sub_f32",
        number2(|a: f32, b| (a - b, [a, -b])).directed(round2(|r, a: f32, b: f32| soft_add(r, a, -b))),
    );
    ops.add(
        "v_subrev_f32",
        number2(|a: f32, b| (b - a, [-a, b])).directed(round2(|r, a: f32, b: f32| soft_add(r, -a, b))),
    );
    ops.add("v_mul_f32", number2(|a: f32, b| (a * b, [a, b])).directed(round2(soft_mul)));
    ops.add("v_mul_legacy_f32", op2(mul_legacy).rounds());
    ops.add("v_ldexp_f32", op2(|a: f32, b: i32| ldexp32(a, b)).rounds());
}

/// By DX9 rules, the product of zero and anything is plus zero.
fn mul_legacy(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { mul32(a, b) }
}

/// By DX9 rules, if a factor is zero the result is the addend.
fn fma_legacy(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 { c } else { fp::fma32(a, b, c) }
}

/// A product for lighting computations; the most negative number if the other operands are out of range (RDNA ISA, `V_MULLIT_F32`).
fn mul_lit(a: f32, b: f32, c: f32) -> f32 {
    let out_of_range = b <= f32::MIN || b.is_nan() || c <= 0.0 || c.is_nan();
    if out_of_range { f32::MIN } else { mul_legacy(a, b) }
}

/// a * 2^e, rounded once.
pub(crate) fn ldexp32(a: f32, e: i32) -> f32 {
    // f64 represents every f32 scaled by up to 2^±600 exactly. Beyond that, the result is zero or infinite anyway.
    let scale = f64::from_bits(((e.clamp(-600, 600) + 1023) as u64) << 52);
    fp::pick_nan32([a, 0.0, 0.0], (f64::from(a) * scale) as f32)
}

/// Fused multiply-add: `order` permutes the sources to `a`, `b`, `c` in a * b + c.
fn fused(order: fn([usize; 3]) -> [usize; 3]) -> Op {
    let soft = move |r, a: f32, b: f32, c: f32| {
        let operands = [a, b, c];
        let [a, b, c] = order([0, 1, 2]).map(|i| operands[i]);
        soft_fma(r, a, b, c)
    };
    number::fused::<f32>(order([0, 1, 2])).directed(round3(soft))
}

/// a * b + c, with an additional rounding after the multiplication. These instructions always flush denormals.
fn unfused() -> Op {
    op3(|a: f32, b: f32, c: f32| {
        let [a, b, c] = [a, b, c].map(flushed);
        flushed(add32(flushed(mul32(a, b)), c))
    })
    .rounds()
}

fn flushed(x: f32) -> f32 {
    f32::from_bits(fp::flush32(x.to_bits()))
}

fn multiply_add(ops: &mut Ops) {
    for name in ["v_fma_f32", "v_fmac_f32", "v_fmaak_f32"] {
        ops.add(name, fused(|order| order));
    }
    // In the encoding, the literal comes between the factors and the addend.
    ops.add("v_fmamk_f32", fused(|[a, b, k]| [a, k, b]));
    for name in ["v_mad_f32", "v_mac_f32", "v_madak_f32"] {
        ops.add(name, unfused());
    }
    ops.add(
        "v_madmk_f32",
        op3(|a: f32, b: f32, k: f32| flushed(add32(flushed(mul32(flushed(a), flushed(k))), flushed(b))))
            .rounds(),
    );
    for name in ["v_mad_legacy_f32", "v_mac_legacy_f32"] {
        ops.add(name, op3(|a: f32, b: f32, c: f32| add32(mul_legacy(a, b), c)).rounds());
    }
    for name in ["v_fma_legacy_f32", "v_fmac_legacy_f32"] {
        ops.add(name, op3(|a: f32, b: f32, c: f32| fma_legacy(a, b, c)).rounds());
    }
    ops.add("v_mullit_f32", op3(mul_lit).rounds());
}

fn is_signaling(x: f32) -> bool {
    x.is_nan() && x.to_bits() & 0x0040_0000 == 0
}

fn quiet(x: f32) -> f32 {
    f32::from_bits(x.to_bits() | 0x0040_0000)
}

/// IEEE 754-2008 maxNum: if one operand is a quiet NaN, the other one is returned. In IEEE mode, a signaling NaN is returned, quieted. Plus
/// zero is greater than minus zero.
pub(crate) fn max32(env: Env, a: f32, b: f32) -> f32 {
    let larger = if a > b || (a == b && b.is_sign_negative()) { a } else { b };
    nan_or(env, a, b, larger)
}

/// As [`max32`], for the minimum.
pub(crate) fn min32(env: Env, a: f32, b: f32) -> f32 {
    let smaller = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
    nan_or(env, a, b, smaller)
}

/// IEEE 754-2019 minimum: a NaN operand gives NaN, and -0 is less than +0.
pub(crate) fn minimum32(a: f32, b: f32) -> f32 {
    propagating(a, b, if a < b || (a == b && a.is_sign_negative()) { a } else { b })
}

/// IEEE 754-2019 maximum.
pub(crate) fn maximum32(a: f32, b: f32) -> f32 {
    propagating(a, b, if a > b || (a == b && b.is_sign_negative()) { a } else { b })
}

/// The first signaling NaN, quieted; if there is none, the first NaN; if there is none, `number`.
fn propagating(a: f32, b: f32, number: f32) -> f32 {
    let nans = [a, b].into_iter().filter(|x| x.is_nan());
    let chosen = nans.clone().find(|x| is_signaling(*x)).or_else(|| nans.clone().next());
    chosen.map_or(number, quiet)
}

fn nan_or(env: Env, a: f32, b: f32, number: f32) -> f32 {
    if env.ieee && is_signaling(a) {
        quiet(a)
    } else if env.ieee && is_signaling(b) {
        quiet(b)
    } else if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        number
    }
}

/// The median. If any operand is NaN, the minimum of the operands (GCN3 ISA, `V_MED3_F32`).
pub(crate) fn med32(env: Env, a: f32, b: f32, c: f32) -> f32 {
    let min3 = min32(env, min32(env, a, b), c);
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min3;
    }
    max32(env, min32(env, a, b), min32(env, max32(env, a, b), c))
}

fn min_max(ops: &mut Ops) {
    ops.add("v_min_f32", op2e(min32));
    ops.add("v_max_f32", op2e(max32));
    ops.add("v_min3_f32", op3e(|e, a, b, c| min32(e, min32(e, a, b), c)));
    ops.add("v_max3_f32", op3e(|e, a, b, c| max32(e, max32(e, a, b), c)));
    ops.add("v_med3_f32", op3e(med32));
    ops.add("v_maxmin_f32", op3e(|e, a, b, c| min32(e, max32(e, a, b), c)));
    ops.add("v_minmax_f32", op3e(|e, a, b, c| max32(e, min32(e, a, b), c)));
    ops.add("v_minimum_f32", op2(minimum32));
    ops.add("v_maximum_f32", op2(maximum32));
    ops.add("v_maximumminimum_f32", op3(|a: f32, b: f32, c: f32| minimum32(maximum32(a, b), c)));
    ops.add("v_minimummaximum_f32", op3(|a: f32, b: f32, c: f32| maximum32(minimum32(a, b), c)));
    ops.add("v_minimum3_f32", op3(|a: f32, b: f32, c: f32| minimum32(minimum32(a, b), c)));
    ops.add("v_maximum3_f32", op3(|a: f32, b: f32, c: f32| maximum32(maximum32(a, b), c)));
}

fn rounding(ops: &mut Ops) {
    let keep_nan = |a: f32, r: f32| fp::pick_nan32([a, 0.0, 0.0], r);
    ops.add("v_trunc_f32", op1(move |a: f32| keep_nan(a, a.trunc())));
    ops.add("v_ceil_f32", op1(move |a: f32| keep_nan(a, a.ceil())));
    ops.add("v_floor_f32", op1(move |a: f32| keep_nan(a, a.floor())));
    ops.add("v_rndne_f32", op1(move |a: f32| keep_nan(a, a.round_ties_even())));
    // The result is always less than one, even if the subtraction would round to one.
    ops.add(
        "v_fract_f32",
        op1(move |a: f32| {
            let below_one = f32::from_bits(0x3f7f_ffff);
            let fraction = a - a.floor();
            if a.is_infinite() {
                f32::from_bits(NAN32)
            } else {
                keep_nan(a, if fraction > below_one { below_one } else { fraction })
            }
        }),
    );
}

fn parts(ops: &mut Ops) {
    ops.add(
        "v_frexp_mant_f32",
        op1(|a: f32| {
            let (mantissa, _) = frexp(f64::from(a));
            if a.is_nan() { quiet(a) } else { mantissa as f32 }
        }),
    );
    ops.add("v_frexp_exp_i32_f32", op1(|a: f32| frexp(f64::from(a)).1));
}

/// The mantissa in 0.5..1 and the exponent of a finite nonzero number. For zeros, infinities and NaNs, the exponent is 0.
pub(crate) fn frexp(a: f64) -> (f64, i32) {
    if a == 0.0 || !a.is_finite() {
        return (a, 0);
    }
    // Denormals are scaled into the normal range first.
    let (a, bias) = if a.abs() < f64::MIN_POSITIVE { (a * 2f64.powi(64), 1022 + 64) } else { (a, 1022) };
    let bits = a.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - bias;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent)
}

/// Selects a face of a cube map by the coordinate with the largest magnitude. If magnitudes are equal, z is preferred to y, and y to x.
fn cube(ops: &mut Ops) {
    ops.add(
        "v_cubeid_f32",
        op3(|x: f32, y: f32, z: f32| {
            let face = if z.abs() >= x.abs() && z.abs() >= y.abs() {
                4
            } else if y.abs() >= x.abs() {
                2
            } else {
                0
            };
            let axis = [x, y, z][face / 2];
            face as f32 + if axis < 0.0 { 1.0 } else { 0.0 }
        }),
    );
    ops.add(
        "v_cubema_f32",
        op3(|x: f32, y: f32, z: f32| {
            let axis = if z.abs() >= x.abs() && z.abs() >= y.abs() {
                z
            } else if y.abs() >= x.abs() {
                y
            } else {
                x
            };
            mul32(axis, 2.0)
        })
        .rounds(),
    );
    ops.add(
        "v_cubesc_f32",
        op3(|x: f32, y: f32, z: f32| {
            if z.abs() >= x.abs() && z.abs() >= y.abs() {
                if z < 0.0 { -x } else { x }
            } else if y.abs() >= x.abs() {
                x
            } else if x < 0.0 {
                z
            } else {
                -z
            }
        }),
    );
    ops.add(
        "v_cubetc_f32",
        op3(|x: f32, y: f32, z: f32| {
            if z.abs() >= x.abs() && z.abs() >= y.abs() {
                -y
            } else if y.abs() >= x.abs() {
                if y < 0.0 { -z } else { z }
            } else {
                -y
            }
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frexp_inverts_ldexp() {
        for x in [1.0f64, -0.75, 3e-310, 5e-324, 1.7e308, -123.456] {
            let (mantissa, exponent) = frexp(x);
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x}");
            assert_eq!(mantissa * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2), x);
        }
        assert_eq!(ldexp32(1.5, -149), f32::from_bits(2));
        assert_eq!(ldexp32(1.0, 128), f32::INFINITY);
        assert_eq!(ldexp32(f32::from_bits(1), 276), 2f32.powi(127));
    }

    #[test]
    fn min_and_max_order_zeros_and_prefer_numbers() {
        let env = Env { ieee: true };
        assert!(max32(env, -0.0, 0.0).is_sign_positive() && max32(env, 0.0, -0.0).is_sign_positive());
        assert!(min32(env, -0.0, 0.0).is_sign_negative() && min32(env, 0.0, -0.0).is_sign_negative());
        assert_eq!((max32(env, f32::NAN, 1.0), min32(env, 1.0, f32::NAN)), (1.0, 1.0));
        let signaling = f32::from_bits(0x7f80_0001);
        assert_eq!(max32(env, 1.0, signaling).to_bits(), 0x7fc0_0001);
        assert_eq!(med32(env, 3.0, -1.0, 2.0), 2.0);
    }
}
