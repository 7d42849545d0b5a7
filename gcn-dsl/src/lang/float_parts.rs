//! The parts of floats, and methods that are a few of their other operations.

use super::ops::Float;
use super::{IntoDevice, S, V, and, eq, ge, gt, lt, ne, or};
use crate::scalar::Elem;

/// The smallest normal number.
fn smallest_normal(elem: Elem) -> f64 {
    match elem {
        Elem::F16 => 2f64.powi(-14),
        Elem::Bf16 | Elem::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

/// Degrees in a radian and radians in a degree, as Rust multiplies with them.
fn angles(elem: Elem) -> [f64; 2] {
    use std::f64::consts::PI;
    match elem {
        Elem::F32 => [f64::from(57.295_78_f32), f64::from(std::f32::consts::PI / 180.0)],
        _ => [180.0 / PI, PI / 180.0],
    }
}

/// What is the bits of a float `T`: of the device, or of the host.
#[diagnostic::on_unimplemented(
    message = "the bits of `{T}` are an unsigned integer of its width, not `{Self}`",
    label = "expected the bits of `{T}`, found `{Self}`",
    note = "convert with `as u32` for an `f32`, `as u16` for an `f16`, `as u64` for an `f64`"
)]
pub trait OfBits<T> {
    /// `S<T>`, `V<T>`, or `T` for bits of the host.
    type Float;
    /// The float.
    fn float(self) -> Self::Float;
}

/// The expansion of `f32::from_bits(bits)`.
#[track_caller]
pub fn from_bits<T, B: OfBits<T>>(bits: B) -> B::Float {
    bits.float()
}

macro_rules! host_bits {
    ($($t:ty: $bits:ty;)*) => {$(
        impl OfBits<$t> for $bits {
            type Float = $t;
            fn float(self) -> $t {
                <$t>::from_bits(self)
            }
        }
    )*};
}
host_bits! { half::f16: u16; half::bf16: u16; f32: u32; f64: u64; }

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Float> OfBits<T> for $handle<T::Bits> {
            type Float = $handle<T>;
            #[track_caller]
            fn float(self) -> $handle<T> {
                $handle::<T>::from_bits(self)
            }
        }

        impl<T: Float> $handle<T> {
            /// The bits as an unsigned integer of the same width.
            #[track_caller]
            pub fn to_bits(self) -> $handle<T::Bits> {
                self.to_bits_as::<T::Bits>()
            }

            /// The float of these bits.
            #[track_caller]
            pub fn from_bits(bits: impl IntoDevice<$handle<T::Bits>>) -> Self {
                bits.into_device().to_bits_as::<T>()
            }

            /// True with a sign, also of -0.0 and of a NaN.
            #[track_caller]
            pub fn is_sign_negative(self) -> $handle<bool> {
                lt(Self::float(1.0).copysign(self), Self::float(0.0))
            }

            /// True without a sign, also of 0.0 and of a NaN.
            #[track_caller]
            pub fn is_sign_positive(self) -> $handle<bool> {
                gt(Self::float(1.0).copysign(self), Self::float(0.0))
            }

            /// True for what is neither zero, denormal, infinite nor a NaN.
            #[track_caller]
            pub fn is_normal(self) -> $handle<bool> {
                and(ge(self.abs(), Self::float(smallest_normal(T::ELEM))), self.is_finite())
            }

            /// True for denormal numbers.
            #[track_caller]
            pub fn is_subnormal(self) -> $handle<bool> {
                let size = self.abs();
                and(gt(size, Self::float(0.0)), lt(size, Self::float(smallest_normal(T::ELEM))))
            }

            /// The next number up; infinity and NaN stay.
            #[track_caller]
            pub fn next_up(self) -> Self {
                let bits = self.to_bits();
                let one = $handle::<T::Bits>::constant(1);
                let zero = Self::float(0.0);
                let next = $handle::<T::Bits>::choose(gt(self, zero), bits + one, bits - one);
                let next = Self::from_bits($handle::<T::Bits>::choose(eq(self, zero), one, next));
                let last = or(ne(self, self), eq(self, Self::float(f64::INFINITY)));
                Self::pick(last, self, next)
            }

            /// The next number down; minus infinity and NaN stay.
            #[track_caller]
            pub fn next_down(self) -> Self {
                -(-self).next_up()
            }

            /// An angle in radians as degrees.
            #[track_caller]
            pub fn to_degrees(self) -> Self {
                self * Self::float(angles(T::ELEM)[0])
            }

            /// An angle in degrees as radians.
            #[track_caller]
            pub fn to_radians(self) -> Self {
                self * Self::float(angles(T::ELEM)[1])
            }
        }
    };
}

methods!(V);
methods!(S);
