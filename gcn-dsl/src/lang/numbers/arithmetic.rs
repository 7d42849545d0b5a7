//! Operators on device values, and methods that stand for operators.
//!
//! `S op S` gives an `S`; an operation with a `V` gives a `V`; host values become constants. Integers wrap, and shift
//! counts are taken modulo the width, as in Rust's release builds; division by zero gives an unspecified value instead
//! of a panic. Shifts are in `shift`, methods of integers in `integer`, methods of floats in `float` and `math`.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};
use std::panic::Location;

use half::{bf16, f16};

use super::host_number::{HostInteger, HostNumber};
use crate::ir::{Bin, Inst, Un};
use crate::lang::values::constant::refuse_operand;
use crate::lang::values::kind::Kind;
use crate::lang::values::literal::{Literal, TakesLiteral, Vary};
use crate::lang::values::operand::{At, Operand};
use crate::lang::{Declare, IntoDevice, S, V};
use crate::scalar::{LaneMask, Number, Scalar};

/// Element types with `+ - * / %`: integers, f16, bf16, f32 and f64. `bf16` computes in `f32` and rounds each result.
///
/// `%` of floats is Rust's (C's `fmod`): the remainder of a division towards zero. It has the sign of the dividend, is
/// exact for every pair, and is NaN for a divisor of 0 or an infinite dividend.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Angles in degrees, each brought between 0 and 360.
///     #[workgroup(64)]
///     fn wrap(angle: &mut [f64]) {
///         let i = global_id().x;
///         let rest = angle[i] % 360.0;
///         angle[i] = select(rest < 0.0, rest + 360.0, rest);
///     }
/// }
/// let mut angles = vec![-30.0; 64];
/// angles[0] = 1e300;
/// wrap.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&mut angles,))?;
/// assert_eq!(angles[..2], [1e300 % 360.0, 330.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "no arithmetic on `{Self}`",
    label = "`{Self}` has no arithmetic",
    note = "conditions combine with `&&` and `||` and are counted with `ballot(c).count_ones()`; of a mask of lanes `mask.bits()` is the number; 8-bit floats are for memory and conversion: compute with `as f32`"
)]
pub trait Arithmetic: Number + Declare<Value = S<Self>> + Vary<Varying = V<Self>> {
    /// The smallest number; for floats the smallest finite one.
    const MIN: Self;
    /// The largest number; for floats the largest finite one.
    const MAX: Self;
    /// Converts `x` to this type; integers wrap.
    #[doc(hidden)]
    fn whole(x: i128) -> Self;
}
/// Integer element types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer type",
    label = "this needs an integer",
    note = "the integers are i8 to i64 and u8 to u64; convert with `as`"
)]
pub trait Integer: Arithmetic + Bits {
    /// The unsigned type of the same width.
    type Unsigned: Integer;
    /// The signed type of the same width.
    type Signed: Integer;
}
/// Floating-point element types with arithmetic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type",
    label = "this needs a float",
    note = "the floats are f16, bf16, f32 and f64; convert with `as`"
)]
pub trait Float: Signed {
    /// Infinity.
    const INFINITY: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;
    /// A NaN.
    const NAN: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The smallest positive number that is not denormal.
    const MIN_POSITIVE: Self;
    /// The unsigned integer of the same width.
    type Bits: Integer;
    /// Rounds `x` to this type.
    #[doc(hidden)]
    fn nearest(x: f64) -> Self;
}
/// Element types with a sign: signed integers and floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no sign",
    label = "this needs a signed integer or a float"
)]
pub trait Signed: Arithmetic {}
/// Unsigned integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an unsigned integer",
    label = "this needs an unsigned integer",
    note = "Rust has this method for u8, u16, u32 and u64 only; convert with `as` or `cast_unsigned()`"
)]
pub trait Unsigned: Integer {}

macro_rules! mark { ($tr:ident: $($t:ty),*) => { $(impl $tr for $t {})* }; }
for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, f32, f64] {
    impl Arithmetic for N {
        const MIN: N = N::MIN;
        const MAX: N = N::MAX;
        fn whole(x: i128) -> N {
            x as N
        }
    }
});
impl Arithmetic for f16 {
    const MIN: f16 = f16::MIN;
    const MAX: f16 = f16::MAX;
    fn whole(x: i128) -> f16 {
        f16::from_f64(x as f64)
    }
}
impl Arithmetic for bf16 {
    const MIN: bf16 = bf16::MIN;
    const MAX: bf16 = bf16::MAX;
    fn whole(x: i128) -> bf16 {
        bf16::from_f64(x as f64)
    }
}
mark!(Unsigned: u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty, $bits:ty, |$x:ident| $nearest:expr;)*) => {$(
        impl Float for $t {
            const INFINITY: $t = <$t>::INFINITY;
            const NEG_INFINITY: $t = <$t>::NEG_INFINITY;
            const NAN: $t = <$t>::NAN;
            const EPSILON: $t = <$t>::EPSILON;
            const MIN_POSITIVE: $t = <$t>::MIN_POSITIVE;
            type Bits = $bits;
            fn nearest($x: f64) -> $t { $nearest }
        }
    )*};
}
floats! { f16, u16, |x| f16::from_f64(x); bf16, u16, |x| bf16::from_f64(x); f32, u32, |x| x as f32; f64, u64, |x| x; }
mark!(Signed: i8, i16, i32, i64, f16, bf16, f32, f64);

macro_rules! integers {
    ($($s:ty, $u:ty;)*) => {$(
        impl Integer for $s { type Unsigned = $u; type Signed = $s; }
        impl Integer for $u { type Unsigned = $u; type Signed = $s; }
    )*};
}
integers! { i8, u8; i16, u16; i32, u32; i64, u64; }

#[track_caller]
pub(in crate::lang) fn bin_s<T: Scalar>(op: Bin, a: S<T>, b: S<T>) -> S<T> {
    refuse_operand::<T>(op, b.value, Location::caller());
    if let Some(divided) = super::divide::s(op, a, b).or_else(|| super::remainder::s(op, a, b)) {
        return divided;
    }
    S::emit(Inst::Bin(op, a.value, b.value), Location::caller())
}

#[track_caller]
pub(in crate::lang) fn bin_v<T: Scalar>(op: Bin, a: impl IntoDevice<V<T>>, b: impl IntoDevice<V<T>>) -> V<T> {
    let (a, b) = (a.into_device(), b.into_device());
    refuse_operand::<T>(op, b.value, Location::caller());
    if let Some(divided) = super::divide::v(op, a, b).or_else(|| super::remainder::v(op, a, b)) {
        return divided;
    }
    V::emit(Inst::Bin(op, a.value, b.value), Location::caller())
}

macro_rules! binary {
    ($($tr:ident $method:ident $op:ident $bound:ident $literal:ident: $($host:ty),*;)*) => {$(
        impl<T: $bound, R: Operand<T>> $tr<R> for S<T> {
            type Output = At<R::Place, T>;
            #[track_caller]
            fn $method(self, rhs: R) -> At<R::Place, T> {
                match rhs.uniform() {
                    Some(rhs) => R::Place::picked(Some(bin_s(Bin::$op, self, rhs)), None),
                    None => R::Place::picked(None, Some(bin_v(Bin::$op, self, rhs.varying()))),
                }
            }
        }
        impl<T: $bound, R: Operand<T>> $tr<R> for V<T> {
            type Output = V<T>;
            #[track_caller]
            fn $method(self, rhs: R) -> V<T> { bin_v(Bin::$op, self, rhs.varying()) }
        }
        impl<U: $literal, R: BesideLiteral<U>> $tr<R> for Literal<U> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output { rhs.after(Bin::$op, self.0) }
        }
        $(
            impl $tr<S<$host>> for $host {
                type Output = S<$host>;
                #[track_caller]
                fn $method(self, rhs: S<$host>) -> S<$host> { bin_s(Bin::$op, self.into_device(), rhs) }
            }
            impl $tr<V<$host>> for $host {
                type Output = V<$host>;
                #[track_caller]
                fn $method(self, rhs: V<$host>) -> V<$host> { bin_v(Bin::$op, self, rhs) }
            }
        )*
    )*};
}

binary! {
    Add add Add Arithmetic HostNumber: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64;
    Sub sub Sub Arithmetic HostNumber: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64;
    Mul mul Mul Arithmetic HostNumber: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64;
    Div div Div Arithmetic HostNumber: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64;
    Rem rem Rem Arithmetic HostNumber: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64;
    BitAnd bitand And Bits HostInteger: bool, i8, u8, i16, u16, i32, u32, i64, u64;
    BitOr bitor Or Bits HostInteger: bool, i8, u8, i16, u16, i32, u32, i64, u64;
    BitXor bitxor Xor Bits HostInteger: bool, i8, u8, i16, u16, i32, u32, i64, u64;
}

/// Element types with `& | ^ !`: integers, `bool` and `LaneMask`.
pub trait Bits: Scalar {}
mark!(Bits: bool, LaneMask, i8, u8, i16, u16, i32, u32, i64, u64);

/// Types of the right side of an operator whose left side is a literal of type `U`.
#[diagnostic::on_unimplemented(
    message = "an operator's sides have different element types: `{U}` and `{Self}`",
    label = "`{U}` on the left, `{Self}` on the right",
    note = "convert one side with `as`, for example `n as f32`; a literal for a float has a point: `2.0`"
)]
pub trait BesideLiteral<U> {
    /// A host value if the right side is one, otherwise a device value.
    type Output;
    /// Computes `left op self`.
    fn after(self, op: Bin, left: U) -> Self::Output;
}

impl<T: HostNumber> BesideLiteral<T> for T {
    type Output = T;
    fn after(self, op: Bin, left: T) -> T {
        left.apply(op, self)
    }
}
impl<T: Arithmetic + TakesLiteral<U>, U> BesideLiteral<U> for S<T> {
    type Output = S<T>;
    #[track_caller]
    fn after(self, op: Bin, left: U) -> S<T> {
        bin_s(op, T::of(left).into_device(), self)
    }
}
impl<T: Arithmetic + TakesLiteral<U>, U> BesideLiteral<U> for V<T> {
    type Output = V<T>;
    #[track_caller]
    fn after(self, op: Bin, left: U) -> V<T> {
        bin_v(op, T::of(left), self)
    }
}

macro_rules! unary_both {
    ($handle:ident) => {
        impl<T: Arithmetic> Neg for $handle<T> {
            type Output = $handle<T>;
            #[track_caller]
            fn neg(self) -> Self {
                Self::emit(Inst::Un(Un::Neg, self.value), Location::caller())
            }
        }

        impl<T: Bits> Not for $handle<T> {
            type Output = $handle<T>;
            #[track_caller]
            fn not(self) -> Self {
                Self::emit(Inst::Un(Un::Not, self.value), Location::caller())
            }
        }

        impl<T: Arithmetic> $handle<T> {
            #[track_caller]
            pub(in crate::lang) fn min_alike(self, other: $handle<T>) -> Self {
                Self::emit(Inst::Bin(Bin::Min, self.value, other.value), Location::caller())
            }

            #[track_caller]
            pub(in crate::lang) fn max_alike(self, other: $handle<T>) -> Self {
                Self::emit(Inst::Bin(Bin::Max, self.value, other.value), Location::caller())
            }
        }

        impl<T: Scalar> $handle<T> {
            /// The same bits as another type of the same width, for example `x.to_bits_as::<u32>()`.
            #[track_caller]
            pub fn to_bits_as<U: Scalar>(self) -> $handle<U> {
                const { assert!(T::ELEM.bytes() == U::ELEM.bytes(), "the types differ in width") };
                let loc = Location::caller();
                if U::ELEM.is_float() || U::ELEM.bytes() >= 4 {
                    return $handle::<U>::emit(Inst::Bitcast(self.value), loc);
                }
                // Registers contain narrow integers sign- or zero-extended, so after a change of signedness the integer
                // must be extended again.
                let word = $handle::<u32>::emit(Inst::Bitcast(self.value), loc);
                $handle::<U>::emit(Inst::Cast(word.value), loc)
            }
        }

        impl<T: Signed> $handle<T> {
            /// The absolute value. The smallest integer has no absolute value in its type and stays unchanged, as with
            /// `wrapping_abs`.
            #[track_caller]
            pub fn abs(self) -> Self {
                if T::ELEM.is_float() {
                    return Self::emit(Inst::Un(Un::Abs, self.value), Location::caller());
                }
                self.max(-self)
            }
        }

        impl<T: Float> $handle<T> {
            #[track_caller]
            pub(in crate::lang) fn mul_add_alike(self, a: $handle<T>, b: $handle<T>) -> Self {
                Self::emit(Inst::Fma(self.value, a.value, b.value), Location::caller())
            }
        }

        unary_both!(@math $handle
            /// Rounds down to an integer.
            floor Floor
            /// Rounds up to an integer.
            ceil Ceil
            /// Rounds towards zero to an integer.
            trunc Trunc
            /// Rounds to the nearest integer, ties to even.
            round_ties_even Rndne
        );
    };
    (@math $handle:ident $($(#[$doc:meta])* $method:ident $op:ident)*) => {
        impl<T: Float> $handle<T> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self) -> Self {
                    Self::emit(Inst::Un(Un::$op, self.value), Location::caller())
                }
            )*
        }
    };
}

unary_both!(S);
unary_both!(V);
