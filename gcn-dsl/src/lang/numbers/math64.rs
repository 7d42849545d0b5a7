//! Exponentials, logarithms and trigonometric functions of f64, as Taylor polynomials with fused multiply-adds.

use super::arithmetic::Float;
use crate::isa;
use crate::lang::{IntoDevice, V, eq, gt, lt, ne, select};
use crate::scalar::Elem;

type D = V<f64>;

/// `ln(2)` as a sum of two parts. The first has 32 bits, so its product with an exponent is exact.
pub(super) const LN_2: [f64; 2] =
    [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];
/// pi / 2 as a sum of two parts.
const FRAC_PI_2: [f64; 2] = [std::f64::consts::FRAC_PI_2, f64::from_bits(0x3c91_a626_3314_5c07)];

/// `c[0] + c[1] x + c[2] x^2 + …`.
#[track_caller]
pub(super) fn polynomial(x: D, coefficients: impl DoubleEndedIterator<Item = f64>) -> D {
    let mut coefficients = coefficients.rev();
    let first = coefficients.next().unwrap_or(0.0);
    let mut sum: D = first.into_device();
    for c in coefficients {
        sum = sum.mul_add(x, c);
    }
    sum
}

/// 1 / n!
pub(super) fn inverse_factorial(n: usize) -> f64 {
    1.0 / (1..=n).map(|k| k as f64).product::<f64>()
}

/// For `x = k ln 2 + r`, returns `k` and `e^r - 1`, from which the caller computes `e^x - 1`.
#[track_caller]
fn exponential(x: D, n: usize) -> (V<u32>, D) {
    let k = (x * std::f64::consts::LOG2_E).round_ties_even();
    let r = (-k).mul_add(LN_2[1], (-k).mul_add(LN_2[0], x));
    (exponent(k), tail(r, n))
}

/// `e^r - 1` for `|r| <= ln(2) / 2`. The largest term, `r`, is added last to limit rounding errors.
#[track_caller]
fn tail(r: D, n: usize) -> D {
    (r * r).mul_add(polynomial(r, (2..=n).map(inverse_factorial)), r)
}

#[track_caller]
pub(super) fn exponent(k: D) -> V<u32> {
    isa::v_cvt_i32_f64(k).to_bits_as()
}

/// Limits `x` to a range outside of which every result is infinite or zero.
#[track_caller]
fn bounded(x: D) -> D {
    x.max(-1100.0).min(1100.0)
}

/// `result`; where `x` is a NaN, that NaN.
#[track_caller]
fn keep_nan(x: D, result: D) -> D {
    select(ne(x, x), x, result)
}

#[track_caller]
pub(super) fn exp(x: D) -> D {
    let (k, e) = exponential(bounded(x), 13);
    keep_nan(x, isa::v_ldexp_f64(e + 1.0, k))
}

#[track_caller]
pub(super) fn exp2(x: D) -> D {
    let inside = bounded(x);
    let k = inside.round_ties_even();
    let e = tail((inside - k) * std::f64::consts::LN_2, 13);
    keep_nan(x, isa::v_ldexp_f64(e + 1.0, exponent(k)))
}

#[track_caller]
pub(super) fn exp_m1(x: D) -> D {
    let (k, e) = exponential(bounded(x), 13);
    let power = isa::v_ldexp_f64(1.0, k);
    // The result is 2^k (e^r - 1) + (2^k - 1), which for k = 0 is e^r - 1 itself. For large x, 2^k may not be
    // representable, but there the -1 is negligible.
    let near = power.mul_add(e, power - 1.0);
    let far: D = select(gt(x, 700.0), isa::v_ldexp_f64(e + 1.0, k), near);
    // Return a zero unchanged, to preserve its sign.
    let result: D = select(eq(x, 0.0), x, far);
    keep_nan(x, result)
}

/// The exponent, and the natural logarithm of the mantissa, which is normalised to be between `sqrt(1/2)` and
/// `sqrt(2)`.
#[track_caller]
fn logarithm(x: D, n: usize) -> (D, D) {
    let half = isa::v_frexp_mant_f64(x);
    let small = lt(half, std::f64::consts::FRAC_1_SQRT_2);
    let one: V<u32> = select(small, 1u32, 0u32);
    let m = isa::v_ldexp_f64(half, one);
    let e: V<u32> = isa::v_frexp_exp_i32_f64(x).to_bits_as::<u32>() - one;
    // ln(m) = 2 atanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + …)
    let f = m - 1.0;
    let s = f / (m + 1.0);
    let s2 = s * s;
    let series = polynomial(s2, (0..n).map(|i| 2.0 / (2 * i + 3) as f64)) * s2;
    // 2 s = f - s f; the leading f is exact.
    let log = f - s * (f - series);
    (isa::v_cvt_f64_i32(e.to_bits_as::<i32>()), log)
}

/// Applies the special cases of logarithms, which are 0, infinity and negative numbers.
#[track_caller]
fn special_log(x: D, log: D) -> D {
    let finite: D = select(eq(x, 0.0), f64::NEG_INFINITY, log);
    let positive: D = select(eq(x, f64::INFINITY), f64::INFINITY, finite);
    let number: D = select(lt(x, 0.0), f64::NAN, positive);
    keep_nan(x, number)
}

#[track_caller]
pub(super) fn ln(x: D) -> D {
    let (e, log) = logarithm(x, 11);
    special_log(x, e.mul_add(LN_2[0], e.mul_add(LN_2[1], log)))
}

#[track_caller]
pub(super) fn log2(x: D) -> D {
    let (e, log) = logarithm(x, 11);
    special_log(x, log.mul_add(std::f64::consts::LOG2_E, e))
}

#[track_caller]
pub(super) fn log10(x: D) -> D {
    let (e, log) = logarithm(x, 11);
    special_log(x, e.mul_add(std::f64::consts::LOG10_2, log * std::f64::consts::LOG10_E))
}

/// The sum and its rounding error (Knuth's two-sum).
#[track_caller]
pub(super) fn two_sum(a: D, b: D) -> (D, D) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

/// The quadrant of an angle, and the remainder, from -pi/4 to pi/4, as a sum of two parts.
///
/// The angle is multiplied by 2/pi, of which `v_trig_preop_f64` provides the 159 bits that matter at the angle's
/// magnitude. Whole turns cancel exactly.
#[track_caller]
pub(super) fn quadrant(x: D) -> (V<u32>, D, D) {
    let huge = crate::lang::ge(x.abs(), 2f64.powi(945));
    let down: V<u32> = select(huge, -128i32 as u32, 0u32);
    let scaled = isa::v_ldexp_f64(x, down);
    let segment = |i: u32| isa::v_trig_preop_f64(x, i);
    let (s0, s1, s2) = (segment(0), segment(1), segment(2));
    let a = scaled * s0;
    let a_low = scaled.mul_add(s0, -a);
    let b = scaled * s1;
    let b_low = scaled.mul_add(s1, -b);
    let quarter = a * 0.25;
    // Subtract the nearest number of turns, not the next lower one, so that tiny negative angles are preserved.
    let turns = (quarter - quarter.round_ties_even()) * 4.0;
    let n = (turns + (a_low + b)).round_ties_even();
    let (first, lost) = two_sum(turns - n, a_low);
    let (second, lost_too) = two_sum(first, b);
    let rest = scaled.mul_add(s2, b_low) + (lost + lost_too);
    let (high, low) = two_sum(second, rest);
    let r = high * FRAC_PI_2[0];
    let r_low = high.mul_add(FRAC_PI_2[0], -r) + high.mul_add(FRAC_PI_2[1], low * FRAC_PI_2[0]);
    (exponent(n), r, r_low)
}

/// Sine and cosine of the remainder `r + low`.
#[track_caller]
fn sine_cosine(r: D, low: D) -> (D, D) {
    let signed =
        |n: usize, i: usize| if i.is_multiple_of(2) { inverse_factorial(n) } else { -inverse_factorial(n) };
    let r2 = r * r;
    // sin = r - r^3/3! + …, cos = 1 - r^2/2! + …; the low part is needed to first order only.
    let cubic = polynomial(r2, (1..=8).map(|i| signed(2 * i + 1, i))) * (r2 * r);
    let sine = r + (cubic + low * (1.0 - 0.5 * r2));
    let quartic = polynomial(r2, (2..=9).map(|i| signed(2 * i, i))) * (r2 * r2);
    let half = r2 * 0.5;
    let near = 1.0 - half;
    let cosine = near + (((1.0 - near) - half) + (quartic - r * low));
    (sine, cosine)
}

/// Sine and cosine of `x`.
#[track_caller]
pub(super) fn sin_cos(x: D) -> (D, D) {
    let (n, r, low) = quadrant(x);
    let (s, c) = sine_cosine(r, low);
    let odd = eq(n & 1, 1u32);
    let (sine, cosine): (D, D) = (select(odd, c, s), select(odd, s, c));
    let negated = |x: D, when: V<bool>| -> D { select(when, -x, x) };
    let sine = negated(sine, eq(n & 2, 2u32));
    let cosine = negated(cosine, eq((n + 1) & 2, 2u32));
    let none: D = select(lt(x.abs(), f64::INFINITY), 0.0, f64::NAN);
    // A tiny angle is its own sine; computing the sine of a denormal one would lose bits. Adding `none`, which is a NaN
    // if the angle is not finite, makes the result a NaN.
    let tiny = lt(x.abs(), 2f64.powi(-27));
    (select(tiny, x, sine + none), cosine + none)
}

#[track_caller]
pub(super) fn sin(x: D) -> D {
    sin_cos(x).0
}

#[track_caller]
pub(super) fn cos(x: D) -> D {
    sin_cos(x).1
}

#[track_caller]
pub(super) fn tan(x: D) -> D {
    let (s, c) = sin_cos(x);
    s / c
}

#[track_caller]
pub(super) fn tanh(x: D) -> D {
    // From 22 on, the hyperbolic tangent rounds to 1 in f64.
    let e = exp_m1(x.abs().min(22.0) * 2.0);
    keep_nan(x, (e / (e + 2.0)).copysign(x))
}

#[track_caller]
pub(super) fn hypot<T: Float>(x: D, y: D) -> D {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = (x.max(y), x.min(y));
    let plain = if T::ELEM == Elem::F64 {
        let ratio: D = select(eq(large, 0.0), 0.0, small / large);
        large * ratio.mul_add(ratio, 1.0).sqrt()
    } else {
        // In f64, squares of numbers with 24 bits are exact.
        x.mul_add(x, y * y).sqrt()
    };
    let nan = crate::lang::or(ne(x, x), ne(y, y));
    let number: D = select(nan, f64::NAN, plain);
    // If one argument is infinite, the result is infinite, even if the other argument is a NaN.
    select(eq(large, f64::INFINITY), f64::INFINITY, number)
}
