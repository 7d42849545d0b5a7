//! Methods with arguments. If such a method is called on an `S` with a varying argument, the result is varying, as with
//! operators.
//!
//! Each method is one row of the table below. The function that the row names, which ends in `_alike`, implements the
//! method for a receiver and arguments that are all uniform or all varying; it exists for both `S` and `V`.

use super::arithmetic::{Arithmetic, Float, Integer, Signed, Unsigned};
use crate::lang::device::Maybe;
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::{At, Operand};
use crate::lang::{IntoDevice, S, V};

/// Uniform if both arguments are, otherwise varying.
type Both<A, B> = <A as Kind>::Or<B>;

/// The result type of a row: one value of the handle `$handle`, an optional one, or a pair.
macro_rules! results {
    ($handle:ident [Option $a:ty]) => { Maybe<$handle<$a>> };
    ($handle:ident [$a:ty]) => { $handle<$a> };
    ($handle:ident [$a:ty, $b:ty]) => { ($handle<$a>, $handle<$b>) };
}

macro_rules! methods {
    ($([$bound:ident $(and $more:ident)?] {$(
        $(#[$doc:meta])* $name:ident = $alike:ident($($arg:ident: $t:ty),*) -> $result:tt;
    )*})*) => {$(
        impl<T: $bound $(+ $more)?> V<T> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self, $($arg: impl IntoDevice<V<$t>>),*) -> results!(V $result) {
                self.$alike($($arg.into_device()),*)
            }
        )*}
        impl<T: $bound $(+ $more)?> S<T> {$(
            methods!(@uniform $(#[$doc])* $name $alike $result $($arg [$t])*);
        )*}
    )*};
    (@uniform $(#[$doc:meta])* $name:ident $alike:ident $result:tt $a:ident [$t:ty]) => {
        $(#[$doc])*
        #[track_caller]
        pub fn $name<A: Operand<$t>>(self, $a: A) -> <A::Place as Kind>::Pick<results!(S $result), results!(V $result)> {
            if let Some(a) = $a.uniform() {
                return A::Place::picked(Some(self.$alike(a)), None);
            }
            let wide: V<T> = self.into_device();
            A::Place::picked(None, Some(wide.$alike($a.varying())))
        }
    };
    (@uniform $(#[$doc:meta])* $name:ident $alike:ident [T] $a:ident [$t:ty] $b:ident [$u:ty]) => {
        $(#[$doc])*
        #[track_caller]
        pub fn $name<A: Operand<$t>, B: Operand<$u>>(self, $a: A, $b: B) -> At<Both<A::Place, B::Place>, T> {
            if let (Some(a), Some(b)) = ($a.uniform(), $b.uniform()) {
                return Both::<A::Place, B::Place>::picked(Some(self.$alike(a, b)), None);
            }
            let wide: V<T> = self.into_device();
            Both::<A::Place, B::Place>::picked(None, Some(wide.$alike($a.varying(), $b.varying())))
        }
    };
}

methods! {
    [Arithmetic] {
        /// The smaller of the two. For floats: if one of them is a NaN, the other one.
        min = min_alike(other: T) -> [T];
        /// The larger of the two. For floats: if one of them is a NaN, the other one.
        max = max_alike(other: T) -> [T];
        /// The non-negative remainder of `self` divided by `other`: `r` with `self = q * other + r` and `0 <= r <
        /// |other|`. If `other` is a power of two and known when the kernel is built, this is a mask.
        rem_euclid = rem_euclid_alike(other: T) -> [T];
        /// The quotient for the remainder [`rem_euclid`](Self::rem_euclid), rounded so that the remainder is not
        /// negative. If `other` is a power of two and known when the kernel is built, this is a shift.
        div_euclid = div_euclid_alike(other: T) -> [T];
        /// The mean of the two without intermediate overflow; integers round towards 0.
        midpoint = midpoint_alike(other: T) -> [T];
        /// `self` limited to `least ..= most`. A NaN stays a NaN.
        clamp = clamp_alike(least: T, most: T) -> [T];
    }
    [Float] {
        /// `self * a + b` with one rounding.
        mul_add = mul_add_alike(a: T, b: T) -> [T];
        /// The magnitude of `self` with the sign of `sign`.
        copysign = copysign_alike(sign: T) -> [T];
    }
    [Integer] {
        /// Rotates the bits left by `n` (modulo the width): bits shifted out at the top come in at the bottom.
        rotate_left = rotate_left_alike(n: u32) -> [T];
        /// Rotates the bits right by `n` (modulo the width): bits shifted out at the bottom come in at the top.
        rotate_right = rotate_right_alike(n: u32) -> [T];
        /// The upper half of the double-width product.
        mul_hi = mul_hi_alike(other: T) -> [T];
        /// The absolute difference, as an unsigned integer, which can always represent it.
        abs_diff = abs_diff_alike(other: T) -> [T::Unsigned];
        /// The sum; the flag is true if it wrapped around.
        overflowing_add = overflowing_add_alike(other: T) -> [T, bool];
        /// The difference; the flag is true if it wrapped around.
        overflowing_sub = overflowing_sub_alike(other: T) -> [T, bool];
        /// The product; the flag is true if it wrapped around.
        overflowing_mul = overflowing_mul_alike(other: T) -> [T, bool];
        /// The sum, saturated at the ends of the range.
        saturating_add = saturating_add_alike(other: T) -> [T];
        /// The difference, saturated at the ends of the range.
        saturating_sub = saturating_sub_alike(other: T) -> [T];
        /// The product, saturated at the ends of the range.
        saturating_mul = saturating_mul_alike(other: T) -> [T];
        /// `self + other`; wraps around.
        wrapping_add = wrapping_add_alike(other: T) -> [T];
        /// `self - other`; wraps around.
        wrapping_sub = wrapping_sub_alike(other: T) -> [T];
        /// `self * other`; wraps around.
        wrapping_mul = wrapping_mul_alike(other: T) -> [T];
        /// `self / other`; the smallest integer divided by -1 wraps around to itself.
        wrapping_div = wrapping_div_alike(other: T) -> [T];
        /// `self % other`; the remainder of the smallest integer by -1 is 0.
        wrapping_rem = wrapping_rem_alike(other: T) -> [T];
        /// As [`div_euclid`](Self::div_euclid); wraps around.
        wrapping_div_euclid = wrapping_div_euclid_alike(other: T) -> [T];
        /// As [`rem_euclid`](Self::rem_euclid); wraps around.
        wrapping_rem_euclid = wrapping_rem_euclid_alike(other: T) -> [T];
        /// `self << n`, where `n` is taken modulo the width.
        wrapping_shl = wrapping_shl_alike(n: u32) -> [T];
        /// `self >> n`, where `n` is taken modulo the width.
        wrapping_shr = wrapping_shr_alike(n: u32) -> [T];
        /// `self << n`; the flag is true if `n` is at least the width.
        overflowing_shl = overflowing_shl_alike(n: u32) -> [T, bool];
        /// `self >> n`; the flag is true if `n` is at least the width.
        overflowing_shr = overflowing_shr_alike(n: u32) -> [T, bool];
        /// `self << n`; 0 if `n` is at least the width.
        unbounded_shl = unbounded_shl_alike(n: u32) -> [T];
        /// `self >> n`; if `n` is at least the width, every bit of the result is the sign bit (0 for unsigned types).
        unbounded_shr = unbounded_shr_alike(n: u32) -> [T];
        /// The quotient; the flag is true if it wrapped around (the smallest integer divided by -1).
        overflowing_div = overflowing_div_alike(other: T) -> [T, bool];
        /// The remainder; the flag is true if the quotient wrapped around (the smallest integer divided by -1).
        overflowing_rem = overflowing_rem_alike(other: T) -> [T, bool];
        /// The quotient, saturated: the smallest integer divided by -1 gives the largest one.
        saturating_div = saturating_div_alike(other: T) -> [T];
        /// The sum; `None` if the type cannot represent it.
        checked_add = checked_add_alike(other: T) -> [Option T];
        /// The difference; `None` if the type cannot represent it.
        checked_sub = checked_sub_alike(other: T) -> [Option T];
        /// The product; `None` if the type cannot represent it.
        checked_mul = checked_mul_alike(other: T) -> [Option T];
        /// The quotient; `None` if `other` is 0 or the smallest integer is divided by -1.
        checked_div = checked_div_alike(other: T) -> [Option T];
        /// The remainder; `None` if `other` is 0 or the smallest integer is divided by -1.
        checked_rem = checked_rem_alike(other: T) -> [Option T];
        /// As [`div_euclid`](Self::div_euclid); `None` if `other` is 0 or the smallest integer is divided by -1.
        checked_div_euclid = checked_div_euclid_alike(other: T) -> [Option T];
        /// As [`rem_euclid`](Self::rem_euclid); `None` if `other` is 0 or the smallest integer is divided by -1.
        checked_rem_euclid = checked_rem_euclid_alike(other: T) -> [Option T];
        /// `self << n`; `None` if `n` is at least the width.
        checked_shl = checked_shl_alike(n: u32) -> [Option T];
        /// `self >> n`; `None` if `n` is at least the width.
        checked_shr = checked_shr_alike(n: u32) -> [Option T];
    }
    [Integer and Unsigned] {
        /// `self + other` for a signed `other`; wraps around.
        wrapping_add_signed = wrapping_add_signed_alike(other: T::Signed) -> [T];
        /// `self + other` for a signed `other`; the flag is true if it wrapped around.
        overflowing_add_signed = overflowing_add_signed_alike(other: T::Signed) -> [T, bool];
        /// `self + other` for a signed `other`, saturated at the ends of the range.
        saturating_add_signed = saturating_add_signed_alike(other: T::Signed) -> [T];
        /// `self + other` for a signed `other`; `None` if the type cannot represent it.
        checked_add_signed = checked_add_signed_alike(other: T::Signed) -> [Option T];
        /// `self - other` for a signed `other`; wraps around.
        wrapping_sub_signed = wrapping_sub_signed_alike(other: T::Signed) -> [T];
        /// `self - other` for a signed `other`, and whether it wrapped around.
        overflowing_sub_signed = overflowing_sub_signed_alike(other: T::Signed) -> [T, bool];
        /// `self - other` for a signed `other`, saturated at the ends of the range.
        saturating_sub_signed = saturating_sub_signed_alike(other: T::Signed) -> [T];
        /// `self - other` for a signed `other`, if the type can represent it.
        checked_sub_signed = checked_sub_signed_alike(other: T::Signed) -> [Option T];
        /// The smallest multiple of `other` that is at least `self`; `None` if the type cannot represent it.
        checked_next_multiple_of = checked_next_multiple_of_alike(other: T) -> [Option T];
        /// `self / other`, rounded up.
        div_ceil = div_ceil_alike(other: T) -> [T];
        /// The smallest multiple of `other` that is at least `self`; wraps around.
        next_multiple_of = next_multiple_of_alike(other: T) -> [T];
        /// True if `self` is a multiple of `other`. Only 0 is a multiple of 0.
        is_multiple_of = is_multiple_of_alike(other: T) -> [bool];
    }
    [Integer and Signed] {
        /// `self + other` for an unsigned `other`; wraps around.
        wrapping_add_unsigned = wrapping_add_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self - other` for an unsigned `other`; wraps around.
        wrapping_sub_unsigned = wrapping_sub_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self + other` for an unsigned `other`; the flag is true if it wrapped around.
        overflowing_add_unsigned = overflowing_add_unsigned_alike(other: T::Unsigned) -> [T, bool];
        /// `self - other` for an unsigned `other`; the flag is true if it wrapped around.
        overflowing_sub_unsigned = overflowing_sub_unsigned_alike(other: T::Unsigned) -> [T, bool];
        /// `self + other` for an unsigned `other`, saturated at the largest number.
        saturating_add_unsigned = saturating_add_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self - other` for an unsigned `other`, saturated at the smallest number.
        saturating_sub_unsigned = saturating_sub_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self + other` for an unsigned `other`; `None` if the type cannot represent it.
        checked_add_unsigned = checked_add_unsigned_alike(other: T::Unsigned) -> [Option T];
        /// `self - other` for an unsigned `other`; `None` if the type cannot represent it.
        checked_sub_unsigned = checked_sub_unsigned_alike(other: T::Unsigned) -> [Option T];
    }
}
