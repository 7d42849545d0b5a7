//! The integer operations `checked_*`. Their result is an `Option` of the device, which has no value in the cases in
//! which Rust's operation returns `None`.

use crate::lang::compound::option::where_holds;
use crate::lang::device::Maybe;
use crate::lang::numbers::arithmetic::{Integer, Signed, Unsigned};
use crate::lang::numbers::power::KnownExponent;
use crate::lang::{S, V, and, eq, gt, le, ne, or};

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Integer> $handle<T> {
            /// An option that has the result unless the operation wrapped around.
            #[track_caller]
            fn unless((result, over): (Self, $handle<bool>)) -> Maybe<Self> {
                where_holds(!over, result)
            }

            #[track_caller]
            pub(in crate::lang) fn checked_add_alike(self, other: $handle<T>) -> Maybe<Self> {
                Self::unless(self.overflowing_add(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_sub_alike(self, other: $handle<T>) -> Maybe<Self> {
                Self::unless(self.overflowing_sub(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_mul_alike(self, other: $handle<T>) -> Maybe<Self> {
                Self::unless(self.overflowing_mul(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_shl_alike(self, n: $handle<u32>) -> Maybe<Self> {
                Self::unless(self.overflowing_shl(n))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_shr_alike(self, n: $handle<u32>) -> Maybe<Self> {
                Self::unless(self.overflowing_shr(n))
            }

            /// An option that has the result of a division if the divisor is not 0 and the quotient did not wrap
            /// around.
            #[track_caller]
            fn divided(result: Self, other: Self, over: $handle<bool>) -> Maybe<Self> {
                where_holds(and(ne(other, Self::constant(0)), !over), result)
            }

            #[track_caller]
            pub(in crate::lang) fn checked_div_alike(self, other: $handle<T>) -> Maybe<Self> {
                let (quotient, over) = self.overflowing_div(other);
                Self::divided(quotient, other, over)
            }

            #[track_caller]
            pub(in crate::lang) fn checked_rem_alike(self, other: $handle<T>) -> Maybe<Self> {
                let (rest, over) = self.overflowing_rem(other);
                Self::divided(rest, other, over)
            }

            #[track_caller]
            pub(in crate::lang) fn checked_div_euclid_alike(self, other: $handle<T>) -> Maybe<Self> {
                Self::divided(self.div_euclid(other), other, self.overflowing_div(other).1)
            }

            #[track_caller]
            pub(in crate::lang) fn checked_rem_euclid_alike(self, other: $handle<T>) -> Maybe<Self> {
                Self::divided(self.rem_euclid(other), other, self.overflowing_rem(other).1)
            }

            /// `-self`; no value if the type cannot represent it.
            #[track_caller]
            pub fn checked_neg(self) -> Maybe<Self> {
                Self::unless(self.overflowing_neg())
            }

            /// `self` to the power of `n`, which is known when the kernel is built; no value if the type cannot
            /// represent it.
            #[track_caller]
            pub fn checked_pow(self, n: impl KnownExponent<u32>) -> Maybe<Self> {
                Self::unless(self.overflowing_pow(n))
            }

            /// The base-2 logarithm, rounded down; no value if `self` is not greater than 0.
            #[track_caller]
            pub fn checked_ilog2(self) -> Maybe<$handle<u32>> {
                where_holds(gt(self, Self::constant(0)), self.ilog2())
            }

            /// The base-10 logarithm, rounded down; no value if `self` is not greater than 0.
            #[track_caller]
            pub fn checked_ilog10(self) -> Maybe<$handle<u32>> {
                where_holds(gt(self, Self::constant(0)), self.ilog10())
            }

            /// The absolute value; no value if the type cannot represent it.
            #[track_caller]
            pub fn checked_abs(self) -> Maybe<Self>
            where
                T: Signed,
            {
                Self::unless(self.overflowing_abs())
            }

            /// The square root, rounded down; no value if `self` is negative.
            #[track_caller]
            pub fn checked_isqrt(self) -> Maybe<Self>
            where
                T: Signed,
            {
                where_holds(!self.is_negative(), self.isqrt())
            }

            #[track_caller]
            pub(in crate::lang) fn checked_add_unsigned_alike(
                self,
                other: $handle<T::Unsigned>,
            ) -> Maybe<Self>
            where
                T: Signed,
            {
                Self::unless(self.overflowing_add_unsigned(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_sub_unsigned_alike(
                self,
                other: $handle<T::Unsigned>,
            ) -> Maybe<Self>
            where
                T: Signed,
            {
                Self::unless(self.overflowing_sub_unsigned(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_add_signed_alike(self, other: $handle<T::Signed>) -> Maybe<Self>
            where
                T: Unsigned,
            {
                Self::unless(self.overflowing_add_signed(other))
            }

            #[track_caller]
            pub(in crate::lang) fn checked_sub_signed_alike(self, other: $handle<T::Signed>) -> Maybe<Self>
            where
                T: Unsigned,
            {
                Self::unless(self.overflowing_sub_signed(other))
            }

            /// The smallest power of two that is at least `self`; no value if the type cannot represent it.
            #[track_caller]
            pub fn checked_next_power_of_two(self) -> Maybe<Self>
            where
                T: Unsigned,
            {
                let highest = Self::constant(1 << (Self::BITS - 1));
                where_holds(le(self, highest), self.next_power_of_two())
            }

            #[track_caller]
            pub(in crate::lang) fn checked_next_multiple_of_alike(self, other: $handle<T>) -> Maybe<Self>
            where
                T: Unsigned,
            {
                let multiple = self.next_multiple_of(other);
                // If the multiple wrapped around, it is smaller than `self`.
                let fits = or(le(self, multiple), eq(self, Self::constant(0)));
                where_holds(and(ne(other, Self::constant(0)), fits), multiple)
            }
        }
    };
}

methods!(V);
methods!(S);
