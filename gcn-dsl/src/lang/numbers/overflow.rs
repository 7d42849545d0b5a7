//! Integer operations whose name says what happens on overflow: `wrapping_*`, `saturating_*`, `overflowing_*` and
//! `unbounded_*`. The most common ones are in `integer`.

use std::panic::Location;

use super::arithmetic::{Integer, Signed, Unsigned};
use crate::ir::{Bin, Inst};
use crate::lang::numbers::power::{Exponent, KnownExponent};
use crate::lang::{IntoDevice, S, V, and, cast, eq, ge, lt, ne, or};

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Integer> $handle<T> {
            #[track_caller]
            pub(in crate::lang) fn wrapping_div_alike(self, other: $handle<T>) -> Self {
                self / other
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_rem_alike(self, other: $handle<T>) -> Self {
                self % other
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_div_euclid_alike(self, other: $handle<T>) -> Self {
                self.div_euclid(other)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_rem_euclid_alike(self, other: $handle<T>) -> Self {
                self.rem_euclid(other)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_shl_alike(self, n: $handle<u32>) -> Self {
                Self::emit(Inst::Bin(Bin::Shl, self.value, n.value), Location::caller())
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_shr_alike(self, n: $handle<u32>) -> Self {
                Self::emit(Inst::Bin(Bin::Shr, self.value, n.value), Location::caller())
            }

            /// [`pow`](Self::pow); wraps around.
            #[track_caller]
            pub fn wrapping_pow<N: Exponent<Self>>(self, n: N) -> N::Power {
                self.pow(n)
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_shl_alike(self, n: $handle<u32>) -> (Self, $handle<bool>) {
                (self.wrapping_shl(n), ge(n, Self::BITS))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_shr_alike(self, n: $handle<u32>) -> (Self, $handle<bool>) {
                (self.wrapping_shr(n), ge(n, Self::BITS))
            }

            #[track_caller]
            pub(in crate::lang) fn unbounded_shl_alike(self, n: $handle<u32>) -> Self {
                let (shifted, beyond) = self.overflowing_shl(n);
                Self::choose(beyond, Self::constant(0), shifted)
            }

            #[track_caller]
            pub(in crate::lang) fn unbounded_shr_alike(self, n: $handle<u32>) -> Self {
                let (shifted, beyond) = self.overflowing_shr(n);
                let rest = if T::ELEM.is_signed() { self.sign() } else { Self::constant(0) };
                Self::choose(beyond, rest, shifted)
            }

            /// `-self`; the flag is true if it wrapped around.
            #[track_caller]
            pub fn overflowing_neg(self) -> (Self, $handle<bool>) {
                let wraps = if T::ELEM.is_signed() {
                    eq(self, Self::range()[1])
                } else {
                    ne(self, Self::constant(0))
                };
                (-self, wraps)
            }

            /// True if the quotient wraps around, that is, for the smallest integer divided by -1.
            #[track_caller]
            fn quotient_wraps(self, other: Self) -> $handle<bool> {
                and(eq(self, Self::range()[1]), eq(other, Self::whole(-1)))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_div_alike(self, other: $handle<T>) -> (Self, $handle<bool>) {
                let never = false.into_device();
                (self / other, if T::ELEM.is_signed() { self.quotient_wraps(other) } else { never })
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_rem_alike(self, other: $handle<T>) -> (Self, $handle<bool>) {
                let never = false.into_device();
                (self % other, if T::ELEM.is_signed() { self.quotient_wraps(other) } else { never })
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_div_alike(self, other: $handle<T>) -> Self {
                let (quotient, wraps) = self.overflowing_div(other);
                if T::ELEM.is_signed() { Self::choose(wraps, Self::range()[0], quotient) } else { quotient }
            }

            /// `self` to the power of `n`, which is known when the kernel is built; the flag is true if it wrapped
            /// around.
            #[track_caller]
            pub fn overflowing_pow(self, n: impl KnownExponent<u32>) -> (Self, $handle<bool>) {
                let mut over: $handle<bool> = false.into_device();
                let mut times = |a: Self, b: Self| {
                    let (product, beyond) = a.overflowing_mul(b);
                    over = or(over, beyond);
                    product
                };
                let power = self.power(n.known(), &mut times);
                (power, over)
            }

            /// `self` to the power of `n`, which is known when the kernel is built, saturated at the ends of the range.
            #[track_caller]
            pub fn saturating_pow(self, n: impl KnownExponent<u32>) -> Self {
                self.power(n.known(), &mut |a: Self, b: Self| a.saturating_mul(b))
            }

            /// `self` to the power of `n` by repeated squaring, with the multiplication `times`.
            pub(in crate::lang) fn power(self, n: u32, times: &mut dyn FnMut(Self, Self) -> Self) -> Self {
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

            #[track_caller]
            pub(in crate::lang) fn wrapping_add_signed_alike(self, other: $handle<T::Signed>) -> Self
            where
                T: Unsigned,
            {
                self + cast::<T, _>(other)
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_add_signed_alike(
                self,
                other: $handle<T::Signed>,
            ) -> (Self, $handle<bool>)
            where
                T: Unsigned,
            {
                let (sum, carry) = self.overflowing_add(cast::<T, _>(other));
                (sum, carry ^ lt(other, $handle::<T::Signed>::constant(0)))
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_add_signed_alike(self, other: $handle<T::Signed>) -> Self
            where
                T: Unsigned,
            {
                let (sum, over) = self.overflowing_add_signed(other);
                let down = lt(other, $handle::<T::Signed>::constant(0));
                let [most, least] = Self::range();
                Self::choose(over, Self::choose(down, least, most), sum)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_sub_signed_alike(self, other: $handle<T::Signed>) -> Self
            where
                T: Unsigned,
            {
                self - cast::<T, _>(other)
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_sub_signed_alike(
                self,
                other: $handle<T::Signed>,
            ) -> (Self, $handle<bool>)
            where
                T: Unsigned,
            {
                let (difference, borrow) = self.overflowing_sub(cast::<T, _>(other));
                (difference, borrow ^ lt(other, $handle::<T::Signed>::constant(0)))
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_sub_signed_alike(self, other: $handle<T::Signed>) -> Self
            where
                T: Unsigned,
            {
                let (difference, over) = self.overflowing_sub_signed(other);
                let up = lt(other, $handle::<T::Signed>::constant(0));
                let [most, least] = Self::range();
                Self::choose(over, Self::choose(up, most, least), difference)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_add_unsigned_alike(self, other: $handle<T::Unsigned>) -> Self
            where
                T: Signed,
            {
                self + cast::<T, _>(other)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_sub_unsigned_alike(self, other: $handle<T::Unsigned>) -> Self
            where
                T: Signed,
            {
                self - cast::<T, _>(other)
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_add_unsigned_alike(
                self,
                other: $handle<T::Unsigned>,
            ) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                // The addend is not negative, so a smaller sum has wrapped around.
                let sum = self.wrapping_add_unsigned(other);
                (sum, lt(sum, self))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_sub_unsigned_alike(
                self,
                other: $handle<T::Unsigned>,
            ) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                let difference = self.wrapping_sub_unsigned(other);
                (difference, lt(self, difference))
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_add_unsigned_alike(self, other: $handle<T::Unsigned>) -> Self
            where
                T: Signed,
            {
                let (sum, over) = self.overflowing_add_unsigned(other);
                Self::choose(over, Self::range()[0], sum)
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_sub_unsigned_alike(self, other: $handle<T::Unsigned>) -> Self
            where
                T: Signed,
            {
                let (difference, over) = self.overflowing_sub_unsigned(other);
                Self::choose(over, Self::range()[1], difference)
            }

            /// The absolute value; that of the smallest integer wraps around to itself.
            #[track_caller]
            pub fn wrapping_abs(self) -> Self
            where
                T: Signed,
            {
                self.abs()
            }

            /// The absolute value; the flag is true if it wrapped around.
            #[track_caller]
            pub fn overflowing_abs(self) -> (Self, $handle<bool>)
            where
                T: Signed,
            {
                (self.abs(), eq(self, Self::range()[1]))
            }

            /// The absolute value; for the smallest integer it is the largest one.
            #[track_caller]
            pub fn saturating_abs(self) -> Self
            where
                T: Signed,
            {
                let (abs, over) = self.overflowing_abs();
                Self::choose(over, Self::range()[0], abs)
            }

            /// `-self`, saturating: the smallest integer gives the largest one.
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
