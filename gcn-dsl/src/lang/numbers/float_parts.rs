//! Functions on the bits of floats (`to_bits`, `is_normal`, `next_up`, …), and short methods composed of other operations (`to_degrees`, …).

use half::{bf16, f16};

use super::arithmetic::Float;
use crate::lang::{IntoDevice, S, V, and, eq, ge, gt, lt, ne, or};
use crate::scalar::Elem;

/// The smallest normal number.
fn smallest_normal(elem: Elem) -> f64 {
    match elem {
        Elem::F16 => 2f64.powi(-14),
        Elem::Bf16 | Elem::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

/// The factors of `to_degrees` and `to_radians`, with the same rounding as in Rust.
fn angles(elem: Elem) -> [f64; 2] {
    use std::f64::consts::PI;
    match elem {
        Elem::F32 => [f64::from(57.295_78_f32), f64::from(std::f32::consts::PI / 180.0)],
        _ => [180.0 / PI, PI / 180.0],
    }
}

/// Types of the bits of a float of type `T`: unsigned integers of its width, of the host or of the device.
#[diagnostic::on_unimplemented(
    message = "the bits of a `{T}` are an unsigned integer of its width, not `{Self}`",
    label = "not the bits of a `{T}`",
    note = "convert with `as u32`; those of an `f64` are a `u64`, those of an `f16` and a `bf16` a `u16`"
)]
pub trait BitsOf<T> {
    /// The type of the float: `S<T>` for an `S`, `V<T>` for a `V`, `T` for a host value.
    type Float;
    /// The float with these bits.
    fn float(self) -> Self::Float;
}

macro_rules! bits {
    ($($bits:ident $float:ident;)*) => {$(
        bits!(@one $float: $bits, $float);
        bits!(@one $float: S<$bits>, S<$float>);
        bits!(@one $float: V<$bits>, V<$float>);
    )*};
    (@one $of:ident: $bits:ty, $float:ty) => {
        impl BitsOf<$of> for $bits {
            type Float = $float;
            #[track_caller]
            fn float(self) -> $float {
                <$float>::from_bits(self)
            }
        }
    };
}
bits! { u16 f16; u16 bf16; u32 f32; u64 f64; }

/// The expansion of `f32::from_bits(x)`. The result type is a separate parameter because rustc would report a missing
/// implementation twice if it were `B::Float`.
#[track_caller]
pub fn from_bits<T, B: BitsOf<T, Float = O>, O>(bits: B) -> O {
    bits.float()
}

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Float> $handle<T> {
            /// The bits as an unsigned integer of the same width.
            #[track_caller]
            pub fn to_bits(self) -> $handle<T::Bits> {
                self.to_bits_as::<T::Bits>()
            }

            /// The float with these bits.
            #[track_caller]
            pub fn from_bits(bits: impl IntoDevice<$handle<T::Bits>>) -> Self {
                bits.into_device().to_bits_as::<T>()
            }

            /// True if the sign bit is set, including -0.0 and NaNs.
            #[track_caller]
            pub fn is_sign_negative(self) -> $handle<bool> {
                lt(Self::float(1.0).copysign(self), Self::float(0.0))
            }

            /// True if the sign bit is clear, including 0.0 and NaNs.
            #[track_caller]
            pub fn is_sign_positive(self) -> $handle<bool> {
                gt(Self::float(1.0).copysign(self), Self::float(0.0))
            }

            /// True unless the value is zero, denormal, infinite or a NaN.
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

            /// The next larger number; infinity and NaN are unchanged.
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

            /// The next smaller number; minus infinity and NaN are unchanged.
            #[track_caller]
            pub fn next_down(self) -> Self {
                -(-self).next_up()
            }

            /// Converts radians to degrees.
            #[track_caller]
            pub fn to_degrees(self) -> Self {
                self * Self::float(angles(T::ELEM)[0])
            }

            /// Converts degrees to radians.
            #[track_caller]
            pub fn to_radians(self) -> Self {
                self * Self::float(angles(T::ELEM)[1])
            }
        }
    };
}

methods!(V);
methods!(S);
