//! Methods of floats that need no polynomial, and the hardware's approximate functions.

use std::panic::Location;

use super::arithmetic::Float;
use crate::ir::{Inst, Un};
use crate::isa;
use crate::lang::numbers::power::KnownExponent;
use crate::lang::{IntoDevice, S, V, eq, gt, lt, ne, read_first_lane, select, with};
use crate::scalar::{Elem, Number, Scalar};

/// Floats for which the hardware has approximate functions: f16, bf16 (through f32) and f32.
#[diagnostic::on_unimplemented(
    message = "there is no approximate function for `{Self}`",
    label = "f16, bf16 and f32 only",
    note = "f64 has `exp`, `ln`, `sin` and the like without `approx_`"
)]
pub trait Approximate: Float {}
impl Approximate for half::f16 {}
impl Approximate for half::bf16 {}
impl Approximate for f32 {}

/// The bits of the constant `x`, rounded to the element type.
pub(in crate::lang) fn bits_of(elem: Elem, x: f64) -> u64 {
    match elem {
        Elem::F16 => Scalar::to_bits(half::f16::from_f64(x)),
        Elem::Bf16 => Scalar::to_bits(half::bf16::from_f64(x)),
        Elem::F32 => Scalar::to_bits(x as f32),
        _ => Scalar::to_bits(x),
    }
}

/// The correctly rounded square root of an f32.
///
/// `v_sqrt_f32` is off by at most one ulp, so the correct result is that of the instruction or one of its two neighbours.
/// Residuals, computed by fused multiply-adds, tell which. Small arguments are scaled up, since their residuals would be
/// denormal.
#[track_caller]
fn sqrt_f32(x: V<f32>) -> V<f32> {
    let small = lt(x, f32::from_bits(0x0f80_0000)); // 2^-96
    let scaled: V<f32> = select(small, x * 4294967296.0f32, x);
    let near = isa::v_sqrt_f32(scaled);
    let word: V<u32> = near.to_bits_as();
    let (down, up): (V<f32>, V<f32>) = ((word - 1).to_bits_as(), (word + 1).to_bits_as());
    let residual = |s: V<f32>| (-s).mul_add(near, scaled);
    let lower: V<f32> = select(crate::lang::le(residual(down), 0.0f32), down, near);
    let root: V<f32> = select(gt(residual(up), 0.0f32), up, lower);
    let back: V<f32> = select(small, root * (1.0 / 65536.0), root);
    // Zeros and infinity are their own square roots; for NaN and negative numbers the instruction returns NaN. Keep
    // these results.
    let plain = isa::v_cmp_class_f32(scaled, 0x260u32);
    let result: V<f32> = select(plain, scaled, back);
    select(isa::v_cmp_class_f32(scaled, 0x1fu32), near, result)
}

/// The correctly rounded square root of an f64, by Goldschmidt's iteration starting with `v_rsq_f64`.
#[track_caller]
fn sqrt_f64(x: V<f64>) -> V<f64> {
    let small = lt(x, 2f64.powi(-767));
    let up: V<u32> = select(small, 256u32, 0u32);
    let down: V<u32> = select(small, -128i32 as u32, 0u32);
    let a = isa::v_ldexp_f64(x, up);
    let y = isa::v_rsq_f64(a);
    let (mut g, mut h) = (a * y, y * 0.5);
    let r = (-h).mul_add(g, 0.5);
    (g, h) = (g.mul_add(r, g), h.mul_add(r, h));
    for _ in 0..2 {
        let d = (-g).mul_add(g, a);
        g = d.mul_add(h, g);
    }
    let root = isa::v_ldexp_f64(g, down);
    let plain = isa::v_cmp_class_f64(a, 0x260u32);
    select(plain, a, root)
}

#[track_caller]
pub(in crate::lang) fn sqrt<T: Float>(x: V<T>) -> V<T> {
    let loc = Location::caller();
    let cast = |value, elem| with(|c| c.value(Inst::Cast(value), crate::ir::Type::varying(elem), loc));
    match T::ELEM {
        Elem::F64 => V::from_value(sqrt_f64(V::from_value(x.value)).value),
        Elem::F32 => V::from_value(sqrt_f32(V::from_value(x.value)).value),
        // f32 has enough additional bits that rounding its square root again gives the correctly rounded root of the
        // narrower type.
        elem => {
            let wide = sqrt_f32(V::from_value(cast(x.value, Elem::F32)));
            V::from_value(cast(wide.value, elem))
        }
    }
}

macro_rules! methods {
    ($handle:ident |$x:ident| $sqrt:expr) => {
        impl<T: Number> $handle<T> {
            /// `self` with the sign of `sign`.
            #[track_caller]
            pub(in crate::lang) fn with_sign_of(self, sign: Self) -> Self {
                let loc = Location::caller();
                let (a, b) = (self, sign);
                let word = crate::ir::Type { elem: Elem::U32, ..Self::TYPE };
                let top: u32 = if T::ELEM.bytes() == 2 { 0x8000 } else { 0x8000_0000 };
                let value = with(|c| {
                    let mut of = |v, mask: u32, i| {
                        let inst = if T::ELEM.dwords() == 2 {
                            Inst::Extract { from: v, dword: i }
                        } else {
                            Inst::Bitcast(v)
                        };
                        let bits = c.value(inst, word, loc);
                        let mask = c.builder.constant(u64::from(mask), word);
                        c.value(Inst::Bin(crate::ir::Bin::And, bits, mask), word, loc)
                    };
                    let last = T::ELEM.dwords() - 1;
                    let (magnitude, sign) = (of(a.value, !top, last), of(b.value, top, last));
                    let joined = c.value(Inst::Bin(crate::ir::Bin::Or, magnitude, sign), word, loc);
                    if last == 0 {
                        return c.value(Inst::Bitcast(joined), Self::TYPE, loc);
                    }
                    let low = c.value(Inst::Extract { from: a.value, dword: 0 }, word, loc);
                    c.value(Inst::Concat([low, joined].into_iter().collect()), Self::TYPE, loc)
                });
                Self::from_value(value)
            }
        }

        impl<T: Float> $handle<T> {
            /// A constant of this type.
            pub(in crate::lang) fn float(x: f64) -> Self {
                Self::from_value(with(|c| c.builder.constant(bits_of(T::ELEM, x), Self::TYPE)))
            }

            #[track_caller]
            pub(in crate::lang) fn pick(condition: $handle<bool>, a: Self, b: Self) -> Self {
                Self::emit(Inst::Select(condition.value, a.value, b.value), Location::caller())
            }

            /// The square root, correctly rounded. [`approx_sqrt`](Self::approx_sqrt) is a single instruction.
            #[track_caller]
            pub fn sqrt(self) -> Self {
                let $x = self;
                $sqrt
            }

            /// `1.0 / self`, correctly rounded.
            #[track_caller]
            pub fn recip(self) -> Self {
                Self::float(1.0) / self
            }

            /// The hardware's square root, one instruction: within 1 ulp for f32 and f16, about 24 bits for f64.
            #[track_caller]
            pub fn approx_sqrt(self) -> Self {
                Self::emit(Inst::Un(Un::Sqrt, self.value), Location::caller())
            }

            /// The hardware's reciprocal, one instruction: within 1 ulp for f32 and f16, about 24 bits for f64.
            #[track_caller]
            pub fn approx_recip(self) -> Self {
                Self::emit(Inst::Un(Un::Rcp, self.value), Location::caller())
            }

            /// The hardware's `1.0 / sqrt(self)`, one instruction: within 1 ulp for f32 and f16, about 24 bits for f64.
            #[track_caller]
            pub fn approx_rsqrt(self) -> Self {
                Self::emit(Inst::Un(Un::Rsq, self.value), Location::caller())
            }

            /// Rounds to the nearest integer, ties away from zero. [`round_ties_even`](Self::round_ties_even) is a
            /// single instruction.
            #[track_caller]
            pub fn round(self) -> Self {
                let whole = self.trunc();
                let up = crate::lang::ge((self - whole).abs(), Self::float(0.5));
                whole + Self::pick(up, Self::float(1.0), Self::float(0.0)).copysign(self)
            }

            /// The fractional part, with the sign of `self`.
            #[track_caller]
            pub fn fract(self) -> Self {
                self - self.trunc()
            }

            #[track_caller]
            pub(in crate::lang) fn copysign_alike(self, sign: $handle<T>) -> Self {
                self.with_sign_of(sign)
            }

            /// True for a NaN.
            #[track_caller]
            pub fn is_nan(self) -> $handle<bool> {
                ne(self, self)
            }

            /// True for the infinities.
            #[track_caller]
            pub fn is_infinite(self) -> $handle<bool> {
                eq(self.abs(), Self::float(f64::INFINITY))
            }

            /// True unless the value is a NaN or an infinity.
            #[track_caller]
            pub fn is_finite(self) -> $handle<bool> {
                lt(self.abs(), Self::float(f64::INFINITY))
            }

            /// `self` to the power of `n` by repeated multiplication; `n` is known when the kernel is built.
            #[track_caller]
            pub fn powi(self, n: impl KnownExponent<i32>) -> Self {
                let n = n.known();
                let (mut result, mut square, mut rest) = (None, self, n.unsigned_abs());
                while rest > 0 {
                    if rest & 1 == 1 {
                        result = Some(result.map_or(square, |r: Self| r * square));
                    }
                    rest >>= 1;
                    if rest > 0 {
                        square = square * square;
                    }
                }
                let power = result.unwrap_or_else(|| Self::float(1.0));
                if n < 0 { power.recip() } else { power }
            }
        }

        impl<T: Approximate> $handle<T> {
            /// The hardware's 2 to the power of `self` (`v_exp_*`), one instruction: within 1 ulp. Denormal f32 results
            /// flush to zero.
            #[track_caller]
            pub fn approx_exp2(self) -> Self {
                Self::emit(Inst::Un(Un::Exp2, self.value), Location::caller())
            }

            /// The hardware's base-2 logarithm (`v_log_*`), one instruction: within 1 ulp. For a denormal f32 it is
            /// minus infinity.
            #[track_caller]
            pub fn approx_log2(self) -> Self {
                Self::emit(Inst::Un(Un::Log2, self.value), Location::caller())
            }

            /// `e` to the power of `self` as `approx_exp2(self * log2(e))`: two instructions. The relative error grows with
            /// `|self|`.
            #[track_caller]
            pub fn approx_exp(self) -> Self {
                (self * Self::float(std::f64::consts::LOG2_E)).approx_exp2()
            }

            /// The natural logarithm as `approx_log2(self) * ln(2)`: two instructions.
            #[track_caller]
            pub fn approx_ln(self) -> Self {
                self.approx_log2() * Self::float(std::f64::consts::LN_2)
            }

            /// The hardware's sine (`v_sin_*` of the angle in turns): two instructions. The absolute error grows with
            /// `|self|`; beyond 256 turns the result is 0 on hardware.
            #[track_caller]
            pub fn approx_sin(self) -> Self {
                let turns = self * Self::float(0.5 * std::f64::consts::FRAC_1_PI);
                Self::emit(Inst::Un(Un::Sin, turns.value), Location::caller())
            }

            /// The hardware's cosine (`v_cos_*` of the angle in turns): two instructions. The absolute error grows with
            /// `|self|`; beyond 256 turns the result is 1 on hardware.
            #[track_caller]
            pub fn approx_cos(self) -> Self {
                let turns = self * Self::float(0.5 * std::f64::consts::FRAC_1_PI);
                Self::emit(Inst::Un(Un::Cos, turns.value), Location::caller())
            }
        }

        impl<T: super::arithmetic::Arithmetic> $handle<T> {
            #[track_caller]
            pub(in crate::lang) fn clamp_alike(self, least: $handle<T>, most: $handle<T>) -> Self {
                let inside = self.max(least).min(most);
                if !T::ELEM.is_float() {
                    return inside;
                }
                let nan = ne(self, self);
                Self::emit(Inst::Select(nan.value, self.value, inside.value), Location::caller())
            }
        }
    };
}

methods!(V | x | sqrt(x));
methods!(S | x | read_first_lane(sqrt(x.into_device())));
