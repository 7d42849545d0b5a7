//! Sine, cosine and tangent of f32 and narrower floats.
//!
//! The angle is reduced to the nearest multiple of pi/2 by Cody and Waite's method: up to 2^17 radians, three fused
//! multiply-adds with pi/2 in three parts leave a remainder with an error of at most one ulp. Larger angles take a
//! branch that multiplies by 2/pi exactly (Payne and Hanek's method, [`math64::quadrant`]). f32 polynomials compute the
//! functions of the remainder; their coefficients interpolate the functions at the Chebyshev nodes of the interval.

use super::{F, magnitude_and_sign, narrow, nearest, polynomial};
use crate::ir::Value;
use crate::lang::control::conditional::OnlyWhere;
use crate::lang::numbers::arithmetic::Float;
use crate::lang::{V, cast, eq, ge, numbers::math64, select, with};

/// pi / 2 in three parts. All are positive, so their products with `-0` are `-0` and a remainder of `-0` is preserved.
const FRAC_PI_2: [u32; 3] = [0x3fc9_0fda, 0x33a2_2168, 0x27c2_34c5];

/// The largest angle that is reduced without a branch. Up to it, the number of quarter turns (multiples of pi/2) has at
/// most 17 bits.
const LARGE: f32 = 131_072.0;

/// Coefficients of `(sin(r) - r) / r^3`, `(cos(r) - 1 + r^2 / 2) / r^4` and `(tan(r) - r) / r^3`, as polynomials in
/// `r^2`, for `|r| <= pi / 4`.
const SINE: [u32; 3] = [0xbe2a_aaa9, 0x3c08_85fb, 0xb94d_5743];
const COSINE: [u32; 3] = [0x3d2a_aaaa, 0xbab6_0955, 0x37cd_e16a];
const TANGENT: [u32; 7] =
    [0x3eaa_aaab, 0x3e08_8839, 0x3d5d_2cd6, 0x3cb0_e7ae, 0x3c24_b6f3, 0x3a88_72b2, 0x3b80_b5c5];

/// The multiple of pi/2 nearest to the angle: its number modulo 4, and the remainder of the angle. The remainder of -0
/// is -0. If the sine and the cosine of one angle are needed, they share this computation.
#[track_caller]
fn quadrant(x: F) -> (V<u32>, F) {
    const NAME: &str = "quadrant";
    let known: Option<[Value; 2]> = with(|c| c.builder.derived(NAME, x.value)?.try_into().ok());
    if let Some([n, r]) = known {
        return (V::from_value(n), V::from_value(r));
    }
    let (n, r) = reduced(x);
    with(|c| c.builder.derive(NAME, x.value, vec![n.value, r.value]));
    (n, r)
}

#[track_caller]
fn reduced(x: F) -> (V<u32>, F) {
    let (k, n) = nearest(x, std::f32::consts::FRAC_2_PI);
    let [first, second, third] = FRAC_PI_2.map(f32::from_bits);
    let r = (-k).mul_add(third, (-k).mul_add(second, (-k).mul_add(first, x)));
    let large = OnlyWhere::begin(ge(x.abs(), LARGE), (n, r));
    let (n, r, _) = math64::quadrant(cast::<f64, _>(x));
    large.end((n, cast::<f32, _>(r)))
}

/// As `quadrant`, with the remainder as a difference of two numbers, because a cotangent doubles the remainder's error.
#[track_caller]
fn quadrant_in_parts(x: F) -> (V<u32>, F, F) {
    let (k, n) = nearest(x, std::f32::consts::FRAC_2_PI);
    let [first, second, third] = FRAC_PI_2.map(f32::from_bits);
    let near = (-k).mul_add(first, x);
    let far = k * second;
    let lost = k.mul_add(third, k.mul_add(second, -far));
    let r = near - far;
    let large = OnlyWhere::begin(ge(x.abs(), LARGE), (n, r, (r - near) + far + lost));
    let (n, high, low) = math64::quadrant(cast::<f64, _>(x));
    let r = cast::<f32, _>(high);
    large.end((n, r, cast::<f32, _>(cast::<f64, _>(r) - high - low)))
}

/// The sine of `r`; `r2` is `r * r`. `r` must be positive, because the sign of a zero would be lost.
#[track_caller]
fn sine(r: F, r2: F) -> F {
    (r * r2).mul_add(polynomial(r2, &SINE), r)
}

#[track_caller]
fn cosine(r2: F) -> F {
    r2.mul_add(r2.mul_add(polynomial(r2, &COSINE), -0.5), 1.0)
}

/// Sine and cosine of the angle with quadrant `n` and remainder `r`.
#[track_caller]
fn both(n: V<u32>, r: F) -> (F, F) {
    let r2 = r * r;
    let (s, c) = (sine(r.abs(), r2), cosine(r2));
    let odd = eq(n & 1, 1u32);
    let (size, other): (F, F) = (select(odd, c, s), select(odd, s, c));
    let sign: F = r.to_bits_as();
    let (of_sine, of_cosine): (F, F) = (select(odd, 0.0, sign), select(odd, sign, 0.0));
    let turned = |sign: F, n: V<u32>| -> F { (sign.to_bits_as::<u32>() ^ n << 30).to_bits_as() };
    (magnitude_and_sign(size, turned(of_sine, n)), magnitude_and_sign(other, turned(of_cosine, n + 1)))
}

#[track_caller]
pub(in crate::lang) fn sin_cos<T: Float>(x: V<T>) -> Option<(V<T>, V<T>)> {
    let (n, r) = quadrant(narrow(x)?);
    let (s, c) = both(n, r);
    Some((cast(s), cast(c)))
}

#[track_caller]
pub(in crate::lang) fn sin<T: Float>(x: V<T>) -> Option<V<T>> {
    Some(sin_cos(x)?.0)
}

#[track_caller]
pub(in crate::lang) fn cos<T: Float>(x: V<T>) -> Option<V<T>> {
    Some(sin_cos(x)?.1)
}

/// In odd quadrants the tangent is `-1 / tan(r)`, computed by a Newton step for the reciprocal with `tan(r)` in two
/// parts.
#[track_caller]
pub(in crate::lang) fn tan<T: Float>(x: V<T>) -> Option<V<T>> {
    let (n, r, less) = quadrant_in_parts(narrow(x)?);
    let r2 = r * r;
    let rest = (r * r2).mul_add(polynomial(r2, &TANGENT), -less);
    let t = r + rest;
    let low = rest - (t - r);
    let inverse = t.approx_recip();
    let error = (-low).mul_add(inverse, (-t).mul_add(inverse, 1.0));
    let cotangent = error.mul_add(inverse, inverse);
    Some(cast(select::<f32>(eq(n & 1, 1u32), -cotangent, t)))
}
