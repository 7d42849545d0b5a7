//! Elementary functions of f32 and narrower floats, based on the hardware's exponential, logarithm and reciprocal.
//!
//! `v_exp_f32`, `v_log_f32` and `v_rcp_f32` are accurate within one ulp and flush denormals. The f32 arithmetic around
//! them keeps the total error below two ulps: arguments are scaled so that no denormal reaches an instruction that
//! flushes it, and intermediate values whose error would be magnified are computed as sums of two parts.
//! `tests/types/short.rs` bounds the error over all arguments, assuming that the hardware's results are off by up to
//! one ulp in either direction. For narrower types the error is far below that of the final rounding.

mod power;
mod trig;

pub(in crate::lang) use power::{powf, with_special_cases};
pub(in crate::lang) use trig::{cos, sin, sin_cos, tan};

use super::arithmetic::Float;
use crate::isa;
use crate::lang::{IntoDevice, V, cast, gt, lt, select};
use crate::scalar::Elem;

type F = V<f32>;

/// `log2(e)` as the nearest f32 plus a remainder.
const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, f32::from_bits(0x32a5_7060)];

/// The logarithms of 2 and of e to some base, each as a sum of two parts. The first part of the logarithm of 2 has so
/// few bits that its product with an exponent is exact.
type Base = [u32; 4];
const LN: Base = [0x3f31_7200, 0x35bf_be8e, 0x3f80_0000, 0];
const LOG10: Base = [0x3e9a_2000, 0x369a_84fc, 0x3ede_5bd9, 0xb22d_91af];
/// Coefficients of `(ln((1 + s) / (1 - s)) / s - 2) / s^2` as a polynomial in `s^2`, for `(1 + s) / (1 - s)` from
/// `sqrt(1/2)` to `sqrt(2)`.
const LOGARITHM: [u32; 3] = [0x3f2a_aaae, 0x3ecc_bdfb, 0x3e97_783c];
/// `ln(2)` as the nearest f32 plus a remainder.
const LN_2_NEAREST: [f32; 2] = [std::f32::consts::LN_2, f32::from_bits(0xb102_e308)];

/// Coefficients of `(e^r - 1 - r) / r^2` for `|r| <= ln(2) / 2`, and of `(tanh(x) - x) / x^3` in `x^2` for `x <= 0.8`,
/// interpolated at Chebyshev nodes.
const EXPONENTIAL: [u32; 5] = [0x3f00_0000, 0x3e2a_aa6e, 0x3d2a_aa8c, 0x3c09_065d, 0x3ab6_892a];
const TANGENT: [u32; 6] = [0xbeaa_aaaa, 0x3e08_87d3, 0xbd5c_d91d, 0x3cb0_4d8e, 0xbbfd_7161, 0x3ae7_1058];

/// `x` as f32; `None` for f64.
#[track_caller]
fn narrow<T: Float>(x: V<T>) -> Option<F> {
    if T::ELEM == Elem::F64 { None } else { Some(cast::<f32, _>(x)) }
}

/// True for f16, which needs no corrections: as f32 its arguments and results are never denormal, and f32 has enough
/// additional bits.
fn is_f16<T: Float>() -> bool {
    T::ELEM == Elem::F16
}

#[track_caller]
fn constant(x: f32) -> F {
    x.into_device()
}

/// `c[0] + c[1] x + c[2] x^2 + …`, where `coefficients` are the bits of the `c`.
#[track_caller]
fn polynomial(x: F, coefficients: &[u32]) -> F {
    let mut coefficients = coefficients.iter().rev().map(|bits| f32::from_bits(*bits));
    let mut sum = constant(coefficients.next().unwrap_or(0.0));
    for c in coefficients {
        sum = sum.mul_add(x, c);
    }
    sum
}

/// The integer nearest to `x * factor`, whose magnitude must be at most 2^21: as a float that is never -0, and as a
/// word of which only the low bits are valid.
#[track_caller]
fn nearest(x: F, factor: f32) -> (F, V<u32>) {
    // Floats of the magnitude of `middle` have an ulp of 1, so the addition rounds to an integer.
    let middle = 1.5 * 2f32.powi(23);
    let sum = x.mul_add(factor, middle);
    (sum - middle, sum.to_bits_as())
}

/// `size` with its sign replaced by that of `sign`.
#[track_caller]
fn magnitude_and_sign(size: F, sign: F) -> F {
    isa::v_bfi_b32(0x7fff_ffffu32, size.to_bits_as::<u32>(), sign.to_bits_as::<u32>()).to_bits_as()
}

/// 2 to the power of `x`. If the result is denormal, computes the exponential of `x + 64` and scales it down.
#[track_caller]
pub(in crate::lang) fn exp2<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    if is_f16::<T>() {
        return Some(cast(x.approx_exp2()));
    }
    let low = lt(x, -126.0);
    let up: F = select(low, 64.0, 0.0);
    let down: V<u32> = select(low, -64i32 as u32, 0u32);
    Some(cast(isa::v_ldexp_f32((x + up).approx_exp2(), down)))
}

/// `e^x = 2^k 2^r` with `k + r = x log2(e)`, where the product is computed in two parts to keep its low bits.
#[track_caller]
pub(in crate::lang) fn exp<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    let high = x * LOG2_E[0];
    if is_f16::<T>() {
        return Some(cast(high.approx_exp2()));
    }
    let low = x.mul_add(LOG2_E[1], x.mul_add(LOG2_E[0], -high));
    let k = high.round_ties_even();
    // For large and infinite arguments only the sign matters, since `high - k` would be meaningless or NaN.
    let far = gt(x.abs(), 1000.0);
    let r: F = select(far, x, (high - k) + low);
    Some(cast(isa::v_ldexp_f32(r.approx_exp2(), isa::v_cvt_i32_f32(k).to_bits_as::<u32>())))
}

/// The base-2 logarithm in f32. Denormal arguments are scaled up.
#[track_caller]
fn logarithm<T: Float>(x: V<T>) -> Option<F> {
    let x = narrow(x)?;
    if is_f16::<T>() {
        return Some(x.approx_log2());
    }
    let small = lt(x, f32::MIN_POSITIVE);
    let up: V<u32> = select(small, 32u32, 0u32);
    let down: F = select(small, 32.0, 0.0);
    Some(isa::v_ldexp_f32(x, up).approx_log2() - down)
}

#[track_caller]
pub(in crate::lang) fn log2<T: Float>(x: V<T>) -> Option<V<T>> {
    let log = logarithm(x)?;
    Some(cast(log))
}

/// A logarithm to another base. For f32 it is not the hardware's logarithm times a factor, whose error would reach 2.22
/// ulps where the logarithm crosses a power of two. Instead, with the fraction `1 + f` near 1 and `s = f / (2 + f)`:
/// `ln(1 + f) = f - s (f - s^2 (2/3 + …))`, in which `f` is exact.
#[track_caller]
fn natural<T: Float>(x: V<T>, [two, two_low, scale, scale_low]: Base) -> Option<V<T>> {
    let x = narrow(x)?;
    let (two, scale) = (f32::from_bits(two), f32::from_bits(scale));
    if T::ELEM != Elem::F32 {
        return Some(cast(logarithm(x)? * (two + f32::from_bits(two_low))));
    }
    // Choose the exponent such that the fraction is from sqrt(1/2) to sqrt(2). For the smallest denormal the fraction
    // is 1/2.
    let e = isa::v_frexp_exp_i32_f32(x * std::f32::consts::FRAC_1_SQRT_2);
    let m = isa::v_ldexp_f32(x, (-e).to_bits_as::<u32>());
    let e = cast::<f32, _>(e);
    let f = m - 1.0;
    let s = f * (m + 1.0).approx_recip();
    let s2 = s * s;
    let rest = s * s2.mul_add(polynomial(s2, &LOGARITHM), -f);
    let two_low = f32::from_bits(two_low);
    let low = if scale_low == 0 {
        e.mul_add(two_low, rest)
    } else {
        rest.mul_add(scale, e.mul_add(two_low, f * f32::from_bits(scale_low)))
    };
    let log = e.mul_add(two, f.mul_add(scale, low));
    // If the argument is not positive and finite, use the hardware's logarithm of the fraction: the fraction has the
    // argument's sign and is not denormal.
    let ordinary = isa::v_cmp_class_f32(x, 0x180u32);
    let result: F = select(ordinary, log, m.approx_log2());
    Some(cast(result))
}

#[track_caller]
pub(in crate::lang) fn ln<T: Float>(x: V<T>) -> Option<V<T>> {
    natural(x, LN)
}

#[track_caller]
pub(in crate::lang) fn log10<T: Float>(x: V<T>) -> Option<V<T>> {
    natural(x, LOG10)
}

/// `e^x - 1 = 2^k (e^r - 1) + (2^k - 1)`. Half of it is computed first, since 2^128 is not representable.
#[track_caller]
pub(in crate::lang) fn exp_m1<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    // For arguments below this range the result is -1, above it infinity.
    let inside = x.max(-17.5).min(89.0);
    let (k, bits) = nearest(inside, LOG2_E[0]);
    let r = (-k).mul_add(LN_2_NEAREST[1], (-k).mul_add(LN_2_NEAREST[0], inside));
    let tail = (r * r).mul_add(polynomial(r, &EXPONENTIAL), r);
    let power: F = ((bits << 23) + (126 << 23)).to_bits_as();
    let half = power.mul_add(tail, power - 0.5);
    // Zeros keep their sign, and NaNs stay NaNs.
    let plain = isa::v_cmp_class_f32(x, 0x63u32);
    let result: F = select(plain, x, half + half);
    Some(cast(result))
}

/// Computes small arguments by a polynomial, others by `1 - 2 / (e^2x + 1)`, in which from 0.8 on the error of the
/// exponential shrinks to at most one ulp.
#[track_caller]
pub(in crate::lang) fn tanh<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    let (size, x2) = (x.abs(), x * x);
    let near = (size * x2).mul_add(polynomial(x2, &TANGENT), size);
    let power = (size * (2.0 * LOG2_E[0])).approx_exp2();
    let far = (power + 1.0).approx_recip().mul_add(-2.0, 1.0);
    let result: F = select(lt(size, 0.8), near, far);
    Some(cast(magnitude_and_sign(result, x)))
}
