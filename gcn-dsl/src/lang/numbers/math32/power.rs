//! `x^y` of f32 and narrower floats as `2^(y log2 x)`.
//!
//! The exponential multiplies the error of its argument by up to 150, so the logarithm is computed as a sum of two f32.
//! With the fraction `m` of `x` and the nearest `c` of four centres, `log2 m = log2 c + 2 / ln 2 (s + s^3 / 3 + …)`,
//! where `s = (m - c) / (m + c)` is at most 0.058. The terms after `s` are at most 2^-9 of it, so f32 is enough for
//! them. The inner centres are chosen such that their logarithms are within 2^-40 of an f32.

use super::{F, narrow, polynomial};
use crate::isa;
use crate::lang::numbers::arithmetic::Float;
use crate::lang::{V, and, cast, eq, lt, ne, or, select};

/// For each centre: the largest fraction for which it is the nearest centre, the centre itself, and its logarithm.
const CENTRES: [(f32, u32, u32); 3] = [
    (0.561_231, 0x3f00_0000, 0xbf80_0000),
    (std::f32::consts::FRAC_1_SQRT_2, 0x3f21_0007, 0xbf2b_48f8),
    (0.890_898_7, 0x3f4a_ea2d, 0xbeab_a885),
];

/// `2 / ln 2` as a sum of two parts.
const SCALE: [f32; 2] = [2.0 * std::f32::consts::LOG2_E, f32::from_bits(0x3325_7060)];

/// `1/3`, `1/5` and `1/7`.
const SERIES: [u32; 3] = [0x3eaa_aaab, 0x3e4c_cccd, 0x3e12_4925];

/// `a + b` and the rounding error of that sum. `a` must be 0 or the larger of the two in magnitude.
#[track_caller]
fn sum(a: F, b: F) -> (F, F) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `2 / ln 2 atanh((m - c) / (m + c))` as a sum of two parts.
#[track_caller]
fn by_centre(m: F, c: F) -> (F, F) {
    let (difference, (total, lost)) = (m - c, sum(c, m));
    let inverse = total.approx_recip();
    let s = difference * inverse;
    let rest = inverse * (-s).mul_add(lost, (-s).mul_add(total, difference));
    let s2 = s * s;
    // Propagate the error of `s` with the derivative of the series, 1 + s^2 + …
    let rest = rest.mul_add(s2, rest);
    let rest = s.mul_add(s2 * polynomial(s2, &SERIES), rest);
    let high = s * SCALE[0];
    (high, rest.mul_add(SCALE[0], s.mul_add(SCALE[1], s.mul_add(SCALE[0], -high))))
}

/// The base-2 logarithm of a non-negative number as a sum of two parts.
#[track_caller]
fn logarithm(x: F) -> (F, F) {
    let m = isa::v_frexp_mant_f32(x);
    let e = cast::<f32, _>(isa::v_frexp_exp_i32_f32(x).to_bits_as::<i32>());
    let (mut c, mut log): (F, F) = (super::constant(1.0), super::constant(0.0));
    for (most, centre, of_centre) in CENTRES.into_iter().rev() {
        let nearer = lt(m, most);
        c = select(nearer, f32::from_bits(centre), c);
        log = select(nearer, f32::from_bits(of_centre), log);
    }
    let (near, low) = by_centre(m, c);
    let (whole, lost) = sum(e, log);
    let (high, lost_too) = sum(whole, near);
    // For 0 and infinity the hardware's logarithm is correct.
    let plain = isa::v_cmp_class_f32(x, 0x260u32);
    (select(plain, x.approx_log2(), high), low + lost + lost_too)
}

/// `x^y` with Rust's special cases.
#[track_caller]
pub(in crate::lang) fn powf<T: Float>(x: V<T>, y: V<T>) -> Option<V<T>> {
    let (x, y) = (narrow(x)?, narrow(y)?);
    let (log, low) = logarithm(x.abs());
    // If the base is not 1, the magnitude of its logarithm is at least 2^-24, so for exponents beyond 2^34 every power
    // is infinite or 0.
    let within = y.max(-17_179_869_184.0).min(17_179_869_184.0);
    let high = within * log;
    let low = within.mul_add(low, within.mul_add(log, -high));
    let k = high.round_ties_even();
    // If the power is infinite or 0, `r` is meaningless and `k` alone determines the result.
    let r = ((high - k) + low).max(-2.0).min(2.0);
    let power = isa::v_ldexp_f32(r.approx_exp2(), isa::v_cvt_i32_f32(k).to_bits_as::<u32>());
    Some(cast(with_special_cases(x, y, power)))
}

/// Applies the sign and the special cases of Rust's `powf` to `power`, which is `|x|^y`.
#[track_caller]
pub(in crate::lang) fn with_special_cases<T: Float>(x: V<T>, y: V<T>, power: V<T>) -> V<T> {
    let (none, one) = (V::<T>::float(f64::NAN), V::<T>::float(1.0));
    let (size, zero) = (x.abs(), V::<T>::float(0.0));
    let whole = eq(y.trunc(), y);
    let half = y * V::<T>::float(0.5);
    let odd = and(whole, ne(half.trunc(), half));
    let rooted = and(lt(x, zero), !whole);
    // Negative finite numbers have real powers only for whole exponents; minus infinity has real powers for all
    // exponents.
    let real = V::pick(and(rooted, lt(size, V::<T>::float(f64::INFINITY))), none, power);
    let of_one = V::pick(eq(size, one), V::pick(rooted, none, one), real);
    let signed = V::pick(odd, of_one.copysign(x), of_one);
    let number = V::pick(or(ne(x, x), ne(y, y)), none, signed);
    V::pick(or(eq(y, zero), eq(x, one)), one, number)
}
