//! Methods with arguments: on an `S`, arguments that vary make the result vary, as for operators.
//!
//! Each method is a row: its meaning for a receiver and arguments of one place is the function with `_alike` after its name,
//! which exists for both places.

use super::arithmetic::{Arithmetic, Float, Integer, Signed, Unsigned};
use crate::lang::device::Maybe;
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::{At, Operand};
use crate::lang::{IntoDevice, S, V};

/// The place of two arguments together.
type Both<A, B> = <A as Kind>::Or<B>;

/// A result, one that there may not be, or two, of the handle `$handle`.
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
        /// The smaller of both. Floats: a NaN loses against a number.
        min = min_alike(other: T) -> [T];
        /// The larger of both. Floats: a NaN loses against a number.
        max = max_alike(other: T) -> [T];
        /// What is left of `self` by `other`, never negative: `r` with `self = q * other + r` and `0 <= r < |other|`. By a
        /// power of two known when the kernel is built it is a mask.
        rem_euclid = rem_euclid_alike(other: T) -> [T];
        /// The quotient that leaves [`rem_euclid`](Self::rem_euclid): rounded so that what is left is not negative. By a
        /// power of two known when the kernel is built it is a shift.
        div_euclid = div_euclid_alike(other: T) -> [T];
        /// The mean of both without overflow on the way; of integers rounded towards 0.
        midpoint = midpoint_alike(other: T) -> [T];
        /// `self` moved into `least ..= most`. A NaN stays one.
        clamp = clamp_alike(least: T, most: T) -> [T];
    }
    [Float] {
        /// `self * a + b` with one rounding.
        mul_add = mul_add_alike(a: T, b: T) -> [T];
        /// The magnitude of `self` with the sign of `sign`.
        copysign = copysign_alike(sign: T) -> [T];
    }
    [Integer] {
        /// The bits moved up by `n` (modulo the width), those that fall out coming in below.
        rotate_left = rotate_left_alike(n: u32) -> [T];
        /// The bits moved down by `n` (modulo the width), those that fall out coming in above.
        rotate_right = rotate_right_alike(n: u32) -> [T];
        /// The upper half of the product of twice the width.
        mul_hi = mul_hi_alike(other: T) -> [T];
        /// The distance of both, which the unsigned type always holds.
        abs_diff = abs_diff_alike(other: T) -> [T::Unsigned];
        /// The sum and whether it wrapped around.
        overflowing_add = overflowing_add_alike(other: T) -> [T, bool];
        /// The difference and whether it wrapped around.
        overflowing_sub = overflowing_sub_alike(other: T) -> [T, bool];
        /// The product and whether it wrapped around.
        overflowing_mul = overflowing_mul_alike(other: T) -> [T, bool];
        /// The sum, or the nearer end of the range where it falls out of that.
        saturating_add = saturating_add_alike(other: T) -> [T];
        /// The difference, or the nearer end of the range where it falls out of that.
        saturating_sub = saturating_sub_alike(other: T) -> [T];
        /// The product, or the nearer end of the range where it falls out of that.
        saturating_mul = saturating_mul_alike(other: T) -> [T];
        /// `self + other`, which wraps; for code that says so.
        wrapping_add = wrapping_add_alike(other: T) -> [T];
        /// `self - other`, which wraps; for code that says so.
        wrapping_sub = wrapping_sub_alike(other: T) -> [T];
        /// `self * other`, which wraps; for code that says so.
        wrapping_mul = wrapping_mul_alike(other: T) -> [T];
        /// `self / other`; the smallest integer by -1 is itself.
        wrapping_div = wrapping_div_alike(other: T) -> [T];
        /// `self % other`; of the smallest integer by -1 nothing is left.
        wrapping_rem = wrapping_rem_alike(other: T) -> [T];
        /// [`div_euclid`](Self::div_euclid), which wraps; for code that says so.
        wrapping_div_euclid = wrapping_div_euclid_alike(other: T) -> [T];
        /// [`rem_euclid`](Self::rem_euclid), which wraps; for code that says so.
        wrapping_rem_euclid = wrapping_rem_euclid_alike(other: T) -> [T];
        /// `self << n`, the count modulo the width; for code that says so.
        wrapping_shl = wrapping_shl_alike(n: u32) -> [T];
        /// `self >> n`, the count modulo the width; for code that says so.
        wrapping_shr = wrapping_shr_alike(n: u32) -> [T];
        /// `self << n`, and whether `n` is the width or more.
        overflowing_shl = overflowing_shl_alike(n: u32) -> [T, bool];
        /// `self >> n`, and whether `n` is the width or more.
        overflowing_shr = overflowing_shr_alike(n: u32) -> [T, bool];
        /// `self << n`, where all bits are gone if `n` is the width or more.
        unbounded_shl = unbounded_shl_alike(n: u32) -> [T];
        /// `self >> n`, where only the sign is left if `n` is the width or more.
        unbounded_shr = unbounded_shr_alike(n: u32) -> [T];
        /// The quotient, and whether it wrapped around: the smallest integer by -1.
        overflowing_div = overflowing_div_alike(other: T) -> [T, bool];
        /// The remainder, and whether the quotient wrapped around: the smallest integer by -1.
        overflowing_rem = overflowing_rem_alike(other: T) -> [T, bool];
        /// The quotient; the largest integer for the smallest by -1.
        saturating_div = saturating_div_alike(other: T) -> [T];
        /// The sum, if the type has it.
        checked_add = checked_add_alike(other: T) -> [Option T];
        /// The difference, if the type has it.
        checked_sub = checked_sub_alike(other: T) -> [Option T];
        /// The product, if the type has it.
        checked_mul = checked_mul_alike(other: T) -> [Option T];
        /// The quotient, but by 0 and of the smallest integer by -1.
        checked_div = checked_div_alike(other: T) -> [Option T];
        /// The remainder, but by 0 and of the smallest integer by -1.
        checked_rem = checked_rem_alike(other: T) -> [Option T];
        /// [`div_euclid`](Self::div_euclid), but by 0 and of the smallest integer by -1.
        checked_div_euclid = checked_div_euclid_alike(other: T) -> [Option T];
        /// [`rem_euclid`](Self::rem_euclid), but by 0 and of the smallest integer by -1.
        checked_rem_euclid = checked_rem_euclid_alike(other: T) -> [Option T];
        /// `self << n`, if `n` is below the width.
        checked_shl = checked_shl_alike(n: u32) -> [Option T];
        /// `self >> n`, if `n` is below the width.
        checked_shr = checked_shr_alike(n: u32) -> [Option T];
    }
    [Integer and Unsigned] {
        /// `self + other` of an unsigned and a signed integer, which wraps.
        wrapping_add_signed = wrapping_add_signed_alike(other: T::Signed) -> [T];
        /// `self + other` of an unsigned and a signed integer, and whether it wrapped around.
        overflowing_add_signed = overflowing_add_signed_alike(other: T::Signed) -> [T, bool];
        /// `self + other` of an unsigned and a signed integer, or the nearer end of the range.
        saturating_add_signed = saturating_add_signed_alike(other: T::Signed) -> [T];
        /// `self + other` of an unsigned and a signed integer, if the type has it.
        checked_add_signed = checked_add_signed_alike(other: T::Signed) -> [Option T];
        /// The smallest multiple of `other` that is not below `self`, if there is one and the type has it.
        checked_next_multiple_of = checked_next_multiple_of_alike(other: T) -> [Option T];
        /// `self / other`, rounded up.
        div_ceil = div_ceil_alike(other: T) -> [T];
        /// The smallest multiple of `other` that is not below `self`; wraps.
        next_multiple_of = next_multiple_of_alike(other: T) -> [T];
        /// True if nothing is left of `self` by `other`; of 0 only 0 is a multiple.
        is_multiple_of = is_multiple_of_alike(other: T) -> [bool];
    }
    [Integer and Signed] {
        /// `self + other` of a signed and an unsigned integer, which wraps.
        wrapping_add_unsigned = wrapping_add_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self - other` of a signed and an unsigned integer, which wraps.
        wrapping_sub_unsigned = wrapping_sub_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self + other` of a signed and an unsigned integer, and whether it wrapped around.
        overflowing_add_unsigned = overflowing_add_unsigned_alike(other: T::Unsigned) -> [T, bool];
        /// `self - other` of a signed and an unsigned integer, and whether it wrapped around.
        overflowing_sub_unsigned = overflowing_sub_unsigned_alike(other: T::Unsigned) -> [T, bool];
        /// `self + other` of a signed and an unsigned integer, or the largest.
        saturating_add_unsigned = saturating_add_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self - other` of a signed and an unsigned integer, or the smallest.
        saturating_sub_unsigned = saturating_sub_unsigned_alike(other: T::Unsigned) -> [T];
        /// `self + other` of a signed and an unsigned integer, if the type has it.
        checked_add_unsigned = checked_add_unsigned_alike(other: T::Unsigned) -> [Option T];
        /// `self - other` of a signed and an unsigned integer, if the type has it.
        checked_sub_unsigned = checked_sub_unsigned_alike(other: T::Unsigned) -> [Option T];
    }
}
