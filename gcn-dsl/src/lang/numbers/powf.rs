//! `powf`: `x^y` as `e^(y ln x)`.
//!
//! Types of up to 32 bits have a separate implementation, in `math32`. For f64, the exponential multiplies an error of
//! the logarithm by up to 745. Therefore the logarithm, its product with `y` and the argument of the exponential are
//! sums of two f64 with a relative error of at most 2^-66, and only the last addition rounds to f64.

use super::arithmetic::Float;
use super::math32::with_special_cases;
use super::math64::{LN_2, exponent, inverse_factorial, polynomial, two_sum};
use crate::isa;
use crate::lang::lanes::wave::first_unless_varying;
use crate::lang::values::operand::{At, Operand};
use crate::lang::{IntoDevice, S, V, cast, eq, lt, numbers::math32, select};

type D = V<f64>;

/// An unevaluated sum of two f64: the nearest f64 to a number, and the rest.
#[derive(Clone, Copy)]
struct Pair(D, D);

/// ln(2), 1/3 and 1/5 as pairs.
const LN_2_PAIR: [f64; 2] = [std::f64::consts::LN_2, f64::from_bits(0x3c7a_bc9e_3b39_803f)];
const THIRD: [f64; 2] = [1.0 / 3.0, f64::from_bits(0x3c75_5555_5555_5555)];
const FIFTH: [f64; 2] = [1.0 / 5.0, f64::from_bits(0xbc69_9999_9999_999a)];

impl Pair {
    /// `a + b`, where `a` is 0 or the larger one in magnitude (Dekker's fast two-sum).
    #[track_caller]
    fn fast(a: D, b: D) -> Pair {
        let sum = a + b;
        Pair(sum, b - (sum - a))
    }

    #[track_caller]
    fn constant(c: [f64; 2]) -> Pair {
        Pair(c[0].into_device(), c[1].into_device())
    }

    /// The product; the lowest bits of its second part are lost.
    #[track_caller]
    fn times(self, other: Pair) -> Pair {
        let high = self.0 * other.0;
        let low = self.0.mul_add(other.0, -high) + self.0.mul_add(other.1, self.1 * other.0);
        Pair::fast(high, low)
    }

    /// `self + other`, where `self` is the larger one in magnitude.
    #[track_caller]
    fn plus(self, other: Pair) -> Pair {
        let Pair(sum, lost) = Pair::fast(self.0, other.0);
        Pair::fast(sum, lost + (self.1 + other.1))
    }
}

/// The natural logarithm of a positive number.
#[track_caller]
fn logarithm(x: D) -> Pair {
    let half = isa::v_frexp_mant_f64(x);
    let small = lt(half, std::f64::consts::FRAC_1_SQRT_2);
    let one: V<u32> = select(small, 1u32, 0u32);
    let m = isa::v_ldexp_f64(half, one);
    let e: V<u32> = isa::v_frexp_exp_i32_f64(x).to_bits_as::<u32>() - one;
    let e = isa::v_cvt_f64_i32(e.to_bits_as::<i32>());
    // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + …) with s = (m - 1) / (m + 1), at most 0.172.
    let f = m - 1.0;
    let (sum, lost) = two_sum(m, 1.0.into_device());
    let quotient = f / sum;
    let rest = (-quotient).mul_add(lost, (-quotient).mul_add(sum, f));
    let s = Pair::fast(quotient, rest / sum);
    let s2 = s.times(s);
    // From s^7 on, plain f64 is precise enough, since those terms are at most 2^-18 of the result.
    let tail = polynomial(s2.0, (0..12).map(|i| 1.0 / (2 * i + 7) as f64)) * s2.0;
    let fifth = Pair::constant(FIFTH);
    let inner = Pair::fast(fifth.0, tail);
    let inner = Pair::fast(inner.0, inner.1 + fifth.1);
    let series = s2.times(Pair::constant(THIRD).plus(s2.times(inner)));
    let log = s.plus(s.times(series));
    let whole = Pair(e, 0.0.into_device()).times(Pair::constant(LN_2_PAIR));
    let (high, lost) = two_sum(whole.0, log.0 * 2.0);
    Pair::fast(high, lost + log.1.mul_add(2.0, whole.1))
}

/// `e^x`; infinity or 0 outside the range of f64.
#[track_caller]
fn exponential(x: Pair) -> D {
    let inside = lt(x.0.abs(), 1100.0);
    let high = x.0.max(-1100.0).min(1100.0);
    let low: D = select(inside, x.1, 0.0);
    let k = (high * std::f64::consts::LOG2_E).round_ties_even();
    // The product with the first part of ln 2 is exact, and so is the subtraction. After it, the remainders are added
    // with two-sums, because they are no longer small compared to what is left of `high`.
    let first = (-k).mul_add(LN_2[0], high);
    let (r, lost) = two_sum(first, -(k * LN_2[1]));
    let (r, lost_too) = two_sum(r, low);
    let low = lost + lost_too;
    let series = polynomial(r, (2..=13).map(inverse_factorial));
    let Pair(sum, lost) = Pair::fast(1.0.into_device(), r);
    // e^(r + low) = 1 + r + r^2 (1/2 + …) + low e^r
    let rest = (r * r).mul_add(series, low.mul_add(r, low) + lost);
    isa::v_ldexp_f64(sum + rest, exponent(k))
}

/// `size^y` for a positive f64 `size`.
#[track_caller]
fn of_f64(size: D, y: D) -> D {
    let log = logarithm(size);
    // If the base is not 1, the magnitude of its logarithm is at least 2^-53, so for exponents beyond 2^64 every power
    // is infinite or 0.
    let y = y.max(-(2f64.powi(64))).min(2f64.powi(64));
    let high = y * log.0;
    let low = y.mul_add(log.0, -high) + y * log.1;
    let power = exponential(Pair(high, low));
    let falling = lt(y, 0.0);
    let of_zero: D = select(falling, f64::INFINITY, 0.0);
    let of_infinity: D = select(falling, 0.0, f64::INFINITY);
    let finite: D = select(eq(size, f64::INFINITY), of_infinity, power);
    select(eq(size, 0.0), of_zero, finite)
}

#[track_caller]
fn powf(x: D, y: D) -> D {
    with_special_cases(x, y, of_f64(x.abs(), y))
}

impl<T: Float> V<T> {
    /// `self` to the power of `n`, with Rust's special cases: `x.powf(0.0)` and `1.0.powf(n)` are 1 even for a NaN;
    /// powers of negative numbers are NaN unless `n` is a whole number.
    ///
    /// The largest measured error is 0.571 ulp for f64 and 1.27 ulp for f32; the guide to types describes the
    /// measurement.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     fn gamma(x: &mut [f64], by: f64) {
    ///         let i = global_id().x;
    ///         x[i] = x[i].powf(by);
    ///     }
    /// }
    /// let mut x: Vec<f64> = (0..64).map(f64::from).collect();
    /// gamma.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&mut x, 8.0))?;
    /// assert_eq!((x[0], x[7], x[63]), (0.0, 5764801.0, 248155780267521.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn powf(self, n: impl IntoDevice<V<T>>) -> Self {
        let n = n.into_device();
        if let Some(result) = math32::powf(self, n) {
            return result;
        }
        let wide = |x: V<T>| cast::<f64, _>(x);
        cast::<T, _>(powf(wide(self), wide(n)))
    }
}

impl<T: Float> S<T> {
    /// `self` to the power of `n`, with Rust's special cases.
    #[track_caller]
    pub fn powf<N: Operand<T>>(self, n: N) -> At<N::Place, T> {
        let x: V<T> = self.into_device();
        first_unless_varying::<N::Place, T>(x.powf(n.varying()))
    }
}
