//! Integer methods that are short compositions of others: roots, logarithms, multiples, signs.

use super::arithmetic::{Integer, Signed, Unsigned};
use crate::lang::{IntoDevice, S, V, cast, eq, ge, gt, le, lt, ne, read_first_lane};

/// The largest number whose square is at most `x`. For a negative number the result is unspecified.
#[track_caller]
fn square_root<T: Integer>(x: V<T>) -> V<T> {
    let root = match T::ELEM.bytes() {
        // The float represents the integer exactly, and its correctly rounded root is always below the next integer.
        1 | 2 => return cast::<T, _>(cast::<f32, _>(x).sqrt()),
        4 => return cast::<T, _>(cast::<f64, _>(x).sqrt()),
        _ => cast::<u32, _>(cast::<f64, _>(cast::<u64, _>(x)).sqrt()),
    };
    // A 64-bit integer is rounded by the conversion to f64, so the root may be off by one. The conversion of the root
    // to `u32` saturates.
    let x: V<u64> = cast::<u64, _>(x);
    let root: V<u64> = cast::<u64, _>(root);
    let down = root - cast::<u64, _>(gt(root * root, x));
    let up = gt(x - down * down, down * 2u64);
    cast::<T, _>(down + cast::<u64, _>(up))
}

macro_rules! methods {
    ($handle:ident |$x:ident| $isqrt:expr) => {
        impl<T: Integer> $handle<T> {
            /// The number of leading ones.
            #[track_caller]
            pub fn leading_ones(self) -> $handle<u32> {
                (!self).leading_zeros()
            }

            /// The number of trailing ones.
            #[track_caller]
            pub fn trailing_ones(self) -> $handle<u32> {
                (!self).trailing_zeros()
            }

            /// Converts to big-endian byte order. The device is little-endian.
            #[track_caller]
            pub fn to_be(self) -> Self {
                self.swap_bytes()
            }

            /// Converts to little-endian byte order, the order of the device.
            #[track_caller]
            pub fn to_le(self) -> Self {
                self
            }

            /// Reinterprets the bits as a signed integer.
            #[track_caller]
            pub fn cast_signed(self) -> $handle<T::Signed>
            where
                T: Unsigned,
            {
                cast::<T::Signed, _>(self)
            }

            /// Reinterprets the bits as an unsigned integer.
            #[track_caller]
            pub fn cast_unsigned(self) -> $handle<T::Unsigned>
            where
                T: Signed,
            {
                cast::<T::Unsigned, _>(self)
            }

            /// The absolute value as an unsigned integer, which can always represent it.
            #[track_caller]
            pub fn unsigned_abs(self) -> $handle<T::Unsigned>
            where
                T: Signed,
            {
                cast::<T::Unsigned, _>(self.abs())
            }

            /// True if the number is greater than 0.
            #[track_caller]
            pub fn is_positive(self) -> $handle<bool>
            where
                T: Signed,
            {
                gt(self, Self::constant(0))
            }

            /// True if the number is less than 0.
            #[track_caller]
            pub fn is_negative(self) -> $handle<bool>
            where
                T: Signed,
            {
                lt(self, Self::constant(0))
            }

            /// The position of the highest set bit. Unspecified for 0 and negative numbers, for which Rust panics.
            #[track_caller]
            pub fn ilog2(self) -> $handle<u32> {
                Self::BITS - 1 - self.leading_zeros()
            }

            /// The base-10 logarithm, rounded down. The result is 0 for 0 and negative numbers, for which Rust panics.
            #[track_caller]
            pub fn ilog10(self) -> $handle<u32> {
                let most = u64::MAX >> (64 - Self::BITS + u32::from(T::ELEM.is_signed()));
                let mut log: $handle<u32> = 0u32.into_device();
                let mut power = 10u64;
                while power <= most {
                    log = log + cast::<u32, _>(ge(self, Self::constant(power)));
                    let Some(next) = power.checked_mul(10) else { break };
                    power = next;
                }
                log
            }

            /// The square root, rounded down. Unspecified for negative numbers, for which Rust panics.
            #[track_caller]
            pub fn isqrt(self) -> Self {
                let $x = self;
                $isqrt
            }

            /// The smallest power of two that is at least `self`; 0 if the type cannot represent it.
            #[track_caller]
            pub fn next_power_of_two(self) -> Self
            where
                T: Unsigned,
            {
                let one = Self::constant(1);
                let before = self.max(one) - one;
                let ones = Self::range()[0] >> before.leading_zeros();
                // For 0 and 1 the shift count would be the width, which the shift takes as 0.
                Self::choose(le(self, one), Self::constant(0), ones) + one
            }

            #[track_caller]
            pub(in crate::lang) fn div_ceil_alike(self, other: $handle<T>) -> Self
            where
                T: Unsigned,
            {
                let quotient = self / other;
                quotient + cast::<T, _>(ne(quotient * other, self))
            }

            #[track_caller]
            pub(in crate::lang) fn next_multiple_of_alike(self, other: $handle<T>) -> Self
            where
                T: Unsigned,
            {
                let rest = self % other;
                let zero = Self::constant(0);
                self + Self::choose(eq(rest, zero), zero, other - rest)
            }

            #[track_caller]
            pub(in crate::lang) fn is_multiple_of_alike(self, other: $handle<T>) -> $handle<bool>
            where
                T: Unsigned,
            {
                let (other, zero) = (other, Self::constant(0));
                let rest = Self::choose(eq(other, zero), self, self % other);
                eq(rest, zero)
            }
        }
    };
}

methods!(V | x | square_root(x));
methods!(S | x | read_first_lane(square_root(x.into_device())));
