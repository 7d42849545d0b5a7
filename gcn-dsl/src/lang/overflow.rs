//! What integers' operations do beyond the range, by name: `wrapping_*`, `saturating_*`, `overflowing_*` and `unbounded_*`,
//! but for the common ones, which are in `integer`.

use std::panic::Location;

use super::ops::{Integer, Signed, Unsigned};
use super::{IntoDevice, S, V, and, cast, eq, ge, lt, ne, or};
use crate::ir::{Bin, Inst};

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Integer> $handle<T> {
            /// `self / other`; the smallest integer by -1 is itself.
            #[track_caller]
            pub fn wrapping_div(self, other: impl IntoDevice<$handle<T>>) -> Self {
                self / other.into_device()
            }

            /// `self % other`; of the smallest integer by -1 nothing is left.
            #[track_caller]
            pub fn wrapping_rem(self, other: impl IntoDevice<$handle<T>>) -> Self {
                self % other.into_device()
            }

            /// [`div_euclid`](Self::div_euclid), which wraps; for code that says so.
            #[track_caller]
            pub fn wrapping_div_euclid(self, other: impl IntoDevice<$handle<T>>) -> Self {
                self.div_euclid(other)
            }

            /// [`rem_euclid`](Self::rem_euclid), which wraps; for code that says so.
            #[track_caller]
            pub fn wrapping_rem_euclid(self, other: impl IntoDevice<$handle<T>>) -> Self {
                self.rem_euclid(other)
            }

            /// `self << n`, the count modulo the width; for code that says so.
            #[track_caller]
            pub fn wrapping_shl(self, n: impl IntoDevice<$handle<u32>>) -> Self {
                Self::emit(Inst::Bin(Bin::Shl, self.value, n.into_device().value), Location::caller())
            }

            /// `self >> n`, the count modulo the width; for code that says so.
            #[track_caller]
            pub fn wrapping_shr(self, n: impl IntoDevice<$handle<u32>>) -> Self {
                Self::emit(Inst::Bin(Bin::Shr, self.value, n.into_device().value), Location::caller())
            }

            /// [`pow`](Self::pow), which wraps; for code that says so.
            #[track_caller]
            pub fn wrapping_pow(self, n: u32) -> Self {
                self.pow(n)
            }

            /// `self << n`, and whether `n` is the width or more.
            #[track_caller]
            pub fn overflowing_shl(self, n: impl IntoDevice<$handle<u32>>) -> (Self, $handle<bool>) {
                let n = n.into_device();
                (self.wrapping_shl(n), ge(n, Self::BITS))
            }

            /// `self >> n`, and whether `n` is the width or more.
            #[track_caller]
            pub fn overflowing_shr(self, n: impl IntoDevice<$handle<u32>>) -> (Self, $handle<bool>) {
                let n = n.into_device();
                (self.wrapping_shr(n), ge(n, Self::BITS))
            }

            /// `self << n`, where all bits are gone if `n` is the width or more.
            #[track_caller]
            pub fn unbounded_shl(self, n: impl IntoDevice<$handle<u32>>) -> Self {
                let (shifted, beyond) = self.overflowing_shl(n);
                Self::choose(beyond, Self::constant(0), shifted)
            }

            /// `self >> n`, where only the sign is left if `n` is the width or more.
            #[track_caller]
            pub fn unbounded_shr(self, n: impl IntoDevice<$handle<u32>>) -> Self {
                let (shifted, beyond) = self.overflowing_shr(n);
                let rest = if T::ELEM.is_signed() { self.sign() } else { Self::constant(0) };
                Self::choose(beyond, rest, shifted)
            }

            /// `-self`, and whether that wrapped around.
            #[track_caller]
            pub fn overflowing_neg(self) -> (Self, $handle<bool>) {
                let wraps = if T::ELEM.is_signed() {
                    eq(self, Self::range()[1])
                } else {
                    ne(self, Self::constant(0))
                };
                (-self, wraps)
            }

            /// True where a quotient wraps around: the smallest integer by -1.
            #[track_caller]
            fn quotient_wraps(self, other: Self) -> $handle<bool> {
                and(eq(self, Self::range()[1]), eq(other, Self::whole(-1)))
            }

            /// The quotient, and whether it wrapped around: the smallest integer by -1.
            #[track_caller]
            pub fn overflowing_div(self, other: impl IntoDevice<$handle<T>>) -> (Self, $handle<bool>) {
                let other = other.into_device();
                let never = false.into_device();
                (self / other, if T::ELEM.is_signed() { self.quotient_wraps(other) } else { never })
            }

            /// The remainder, and whether the quotient wrapped around: the smallest integer by -1.
            #[track_caller]
            pub fn overflowing_rem(self, other: impl IntoDevice<$handle<T>>) -> (Self, $handle<bool>) {
                let other = other.into_device();
                let never = false.into_device();
                (self % other, if T::ELEM.is_signed() { self.quotient_wraps(other) } else { never })
            }

            /// The quotient; the largest integer for the smallest by -1.
            #[track_caller]
            pub fn saturating_div(self, other: impl IntoDevice<$handle<T>>) -> Self {
                let (quotient, wraps) = self.overflowing_div(other);
                if T::ELEM.is_signed() { Self::choose(wraps, Self::range()[0], quotient) } else { quotient }
            }

            /// `self` to the power of `n`, known when the kernel is built, and whether it wrapped around.
            #[track_caller]
            pub fn overflowing_pow(self, n: u32) -> (Self, $handle<bool>) {
                let mut over: $handle<bool> = false.into_device();
                let mut times = |a: Self, b: Self| {
                    let (product, beyond) = a.overflowing_mul(b);
                    over = or(over, beyond);
                    product
                };
                let power = self.power(n, &mut times);
                (power, over)
            }

            /// `self` to the power of `n`, known when the kernel is built, or the nearer end of the range.
            #[track_caller]
            pub fn saturating_pow(self, n: u32) -> Self {
                self.power(n, &mut |a: Self, b: Self| a.saturating_mul(b))
            }

            /// `self` to the power of `n` by products that `times` makes.
            pub(super) fn power(self, n: u32, times: &mut dyn FnMut(Self, Self) -> Self) -> Self {
                let (mut result, mut square, mut rest) = (None, self, n);
                while rest > 0 {
                    if rest & 1 == 1 {
                        result = Some(result.map_or(square, |r: Self| times(r, square)));
                    }
                    rest >>= 1;
                    if rest > 0 {
                        square = times(square, square);
                    }
                }
                result.unwrap_or_else(|| Self::constant(1))
            }

            /// `self + other` of an unsigned and a signed integer, which wraps.
            #[track_caller]
            pub fn wrapping_add_signed(self, other: impl IntoDevice<$handle<T::Signed>>) -> Self
            where
                T: Unsigned,
            {
                self + cast::<T, _>(other.into_device())
            }

            /// `self + other` of an unsigned and a signed integer, and whether it wrapped around.
            #[track_caller]
            pub fn overflowing_add_signed(
                self,
                other: impl IntoDevice<$handle<T::Signed>>,
            ) -> (Self, $handle<bool>)
            where
                T: Unsigned,
            {
                let other = other.into_device();
                let (sum, carry) = self.overflowing_add(cast::<T, _>(other));
                (sum, carry ^ lt(other, $handle::<T::Signed>::constant(0)))
            }

            /// `self + other` of an unsigned and a signed integer, or the nearer end of the range.
            #[track_caller]
            pub fn saturating_add_signed(self, other: impl IntoDevice<$handle<T::Signed>>) -> Self
            where
                T: Unsigned,
            {
                let other = other.into_device();
                let (sum, over) = self.overflowing_add_signed(other);
                let down = lt(other, $handle::<T::Signed>::constant(0));
                let [most, least] = Self::range();
                Self::choose(over, Self::choose(down, least, most), sum)
            }

            /// `self + other` of a signed and an unsigned integer, which wraps.
            #[track_caller]
            pub fn wrapping_add_unsigned(self, other: impl IntoDevice<$handle<T::Unsigned>>) -> Self
            where
                T: Signed,
            {
                self + cast::<T, _>(other.into_device())
            }

            /// `self - other` of a signed and an unsigned integer, which wraps.
            #[track_caller]
            pub fn wrapping_sub_unsigned(self, other: impl IntoDevice<$handle<T::Unsigned>>) -> Self
            where
                T: Signed,
            {
                self - cast::<T, _>(other.into_device())
            }

            /// `self + other` of a signed and an unsigned integer, and whether it wrapped around.
            #[track_caller]
            pub fn overflowing_add_unsigned(
                self,
                other: impl IntoDevice<$handle<T::Unsigned>>,
            ) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                // What is added is not negative, so that a sum that went down wrapped around.
                let sum = self.wrapping_add_unsigned(other);
                (sum, lt(sum, self))
            }

            /// `self - other` of a signed and an unsigned integer, and whether it wrapped around.
            #[track_caller]
            pub fn overflowing_sub_unsigned(
                self,
                other: impl IntoDevice<$handle<T::Unsigned>>,
            ) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                let difference = self.wrapping_sub_unsigned(other);
                (difference, lt(self, difference))
            }

            /// `self + other` of a signed and an unsigned integer, or the largest.
            #[track_caller]
            pub fn saturating_add_unsigned(self, other: impl IntoDevice<$handle<T::Unsigned>>) -> Self
            where
                T: Signed,
            {
                let (sum, over) = self.overflowing_add_unsigned(other);
                Self::choose(over, Self::range()[0], sum)
            }

            /// `self - other` of a signed and an unsigned integer, or the smallest.
            #[track_caller]
            pub fn saturating_sub_unsigned(self, other: impl IntoDevice<$handle<T::Unsigned>>) -> Self
            where
                T: Signed,
            {
                let (difference, over) = self.overflowing_sub_unsigned(other);
                Self::choose(over, Self::range()[1], difference)
            }

            /// The absolute value, which wraps; for code that says so.
            #[track_caller]
            pub fn wrapping_abs(self) -> Self
            where
                T: Signed,
            {
                self.abs()
            }

            /// The absolute value, and whether it wrapped around.
            #[track_caller]
            pub fn overflowing_abs(self) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                (self.abs(), eq(self, Self::range()[1]))
            }

            /// The absolute value; the largest integer for the smallest.
            #[track_caller]
            pub fn saturating_abs(self) -> Self
            where
                T: Signed,
            {
                let (abs, over) = self.overflowing_abs();
                Self::choose(over, Self::range()[0], abs)
            }

            /// `-self`; the largest integer for the smallest.
            #[track_caller]
            pub fn saturating_neg(self) -> Self
            where
                T: Signed,
            {
                let (negative, over) = self.overflowing_neg();
                Self::choose(over, Self::range()[0], negative)
            }
        }
    };
}

methods!(V);
methods!(S);
