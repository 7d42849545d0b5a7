//! Powers with whole exponents, which are known when the kernel is built or computed on the device.

use super::arithmetic::Integer;
use crate::lang::control::while_any::WhileAny;
use crate::lang::values::literal::{Literal, Whole};
use crate::lang::{IntoDevice, S, V, ne};

/// Exponents of type `N` that are known when the kernel is built.
#[diagnostic::on_unimplemented(
    message = "this exponent is known when the kernel is built, a `{N}`; found `{Self}`",
    label = "expected a `{N}` of the host, found `{Self}`",
    note = "`pow` takes an exponent of the device, too; for floats use `powf(n as f32)`"
)]
pub trait KnownExponent<N> {
    /// The exponent.
    fn known(self) -> N;
}
macro_rules! known {
    ($($n:ident)*) => {$(
        impl KnownExponent<$n> for $n {
            fn known(self) -> $n {
                self
            }
        }
        impl KnownExponent<$n> for Literal<Whole> {
            fn known(self) -> $n {
                self.0.0 as $n
            }
        }
    )*};
}
known!(u32 i32);

/// Exponents of [`pow`](S::pow), for a base of type `X`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an exponent of a `{X}`",
    label = "expected a `u32`, found `{Self}`",
    note = "the exponent of `pow` is a `u32`, of the host or of the device: `n as u32`"
)]
pub trait Exponent<X> {
    /// The type of the power: varying if base or exponent is.
    type Power;
    /// `base` to the power of `self`; wraps around.
    fn power_of(self, base: X) -> Self::Power;
}

macro_rules! powers {
    ($($handle:ident)*) => {$(
        impl<T: Integer> Exponent<$handle<T>> for u32 {
            type Power = $handle<T>;
            #[track_caller]
            fn power_of(self, base: $handle<T>) -> $handle<T> {
                base.power(self, &mut |a, b| a * b)
            }
        }

        impl<T: Integer> Exponent<$handle<T>> for Literal<Whole> {
            type Power = $handle<T>;
            #[track_caller]
            fn power_of(self, base: $handle<T>) -> $handle<T> {
                KnownExponent::<u32>::known(self).power_of(base)
            }
        }

        impl<T: Integer> Exponent<$handle<T>> for $handle<u32> {
            type Power = $handle<T>;
            #[track_caller]
            fn power_of(self, base: $handle<T>) -> $handle<T> {
                let mut trips = WhileAny::begin(($handle::<T>::constant(1), base, self));
                let rest = trips.values().2;
                trips.test(ne(rest, 0u32).value);
                let (power, square, rest) = trips.values();
                let power = $handle::<T>::choose(ne(rest & 1u32, 0u32), power * square, power);
                trips.end((power, square * square, rest >> 1u32)).0
            }
        }
    )*};
}
powers!(S V);

impl<T: Integer> Exponent<S<T>> for V<u32> {
    type Power = V<T>;
    #[track_caller]
    fn power_of(self, base: S<T>) -> V<T> {
        self.power_of(IntoDevice::<V<T>>::into_device(base))
    }
}

impl<T: Integer> Exponent<V<T>> for S<u32> {
    type Power = V<T>;
    #[track_caller]
    fn power_of(self, base: V<T>) -> V<T> {
        IntoDevice::<V<u32>>::into_device(self).power_of(base)
    }
}
