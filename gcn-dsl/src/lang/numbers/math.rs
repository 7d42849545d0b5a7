//! Exponentials, logarithms and trigonometric functions as methods.
//!
//! `math64` implements them for f64, `math32` for narrower types. The measured errors are in the guide to types.

use super::arithmetic::Float;
use super::math64::*;
use crate::lang::lanes::wave::first_unless_varying;
use crate::lang::numbers::math32;
use crate::lang::values::operand::{At, Operand};
use crate::lang::{IntoDevice, S, V, cast, read_first_lane};

type D = V<f64>;

/// Converts `x` to f64.
#[track_caller]
fn wide<T: Float>(x: V<T>) -> D {
    cast::<f64, _>(x)
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl<T: Float> V<T> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self) -> Self {
                    if let Some(result) = math32::$name(self) {
                        return result;
                    }
                    cast::<T, _>($name(wide(self)))
                }
            )*

            /// Sine and cosine, with a single reduction of the angle.
            #[track_caller]
            pub fn sin_cos(self) -> (Self, Self) {
                if let Some(both) = math32::sin_cos(self) {
                    return both;
                }
                let (s, c) = sin_cos(wide(self));
                (cast::<T, _>(s), cast::<T, _>(c))
            }

            /// `sqrt(self * self + other * other)` without intermediate overflow.
            #[track_caller]
            pub fn hypot(self, other: impl IntoDevice<V<T>>) -> Self {
                cast::<T, _>(hypot::<T>(wide(self), wide(other.into_device())))
            }
        }

        impl<T: Float> S<T> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self) -> Self {
                    let x: V<T> = self.into_device();
                    read_first_lane(x.$name())
                }
            )*

            /// Sine and cosine, with a single reduction of the angle.
            #[track_caller]
            pub fn sin_cos(self) -> (Self, Self) {
                let x: V<T> = self.into_device();
                let (s, c) = x.sin_cos();
                (read_first_lane(s), read_first_lane(c))
            }

            /// `sqrt(self * self + other * other)` without intermediate overflow.
            #[track_caller]
            pub fn hypot<A: Operand<T>>(self, other: A) -> At<A::Place, T> {
                let x: V<T> = self.into_device();
                first_unless_varying::<A::Place, T>(x.hypot(other.varying()))
            }
        }
    };
}

methods! {
    /// `e` to the power of `self`.
    exp;
    /// 2 to the power of `self`.
    exp2;
    /// `exp(self) - 1`, precise near zero, too.
    exp_m1;
    /// The natural logarithm.
    ln;
    /// The logarithm to base 2.
    log2;
    /// The logarithm to base 10.
    log10;
    /// The sine of an angle in radians, of any size.
    sin;
    /// The cosine of an angle in radians, of any size.
    cos;
    /// The tangent of an angle in radians, of any size.
    tan;
    /// The hyperbolic tangent.
    tanh;
}
