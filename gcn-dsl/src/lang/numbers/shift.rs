//! The operators `<<` and `>>`, whose count may have another type than the left side.

use std::ops::{Shl, Shr};

use super::arithmetic::{Integer, bin_s, bin_v};
use super::host_number::HostInteger;
use crate::ir::Bin;
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::values::literal::Literal;
use crate::lang::values::operand::At;
use crate::lang::{IntoDevice, S, V};
use crate::scalar::Elem;

macro_rules! shifts {
    ($($tr:ident $method:ident $op:ident;)*) => {$(
        impl<T: Integer, R: ShiftCount> $tr<R> for S<T> {
            type Output = At<R::Place, T>;
            #[track_caller]
            fn $method(self, rhs: R) -> At<R::Place, T> {
                // Do not use closures: `#[track_caller]` does not apply to them, so instructions would get the wrong
                // source location.
                match rhs.uniform() {
                    Some(n) => R::Place::picked(Some(bin_s(Bin::$op, self, S::from_value(n.value))), None),
                    None => {
                        let n = V::from_value(rhs.varying().value);
                        R::Place::picked(None, Some(bin_v(Bin::$op, self, n)))
                    }
                }
            }
        }
        impl<T: Integer, R: ShiftCount> $tr<R> for V<T> {
            type Output = V<T>;
            #[track_caller]
            fn $method(self, rhs: R) -> V<T> {
                bin_v(Bin::$op, self, V::from_value(rhs.varying().value))
            }
        }
        impl<U: HostInteger, R: ShiftsLiteral<U>> $tr<R> for Literal<U> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                rhs.after(Bin::$op, self.0)
            }
        }
    )*};
}

shifts! {
    Shl shl Shl;
    Shr shr Shr;
}

/// Types of a shift count for a literal of type `U`: an integer of the host or of the device.
#[diagnostic::on_unimplemented(
    message = "a shift count is an integer, not `{Self}`",
    label = "shifted by `{Self}`",
    note = "convert with `as u32`"
)]
pub trait ShiftsLiteral<U> {
    /// A host value if the count is a host value, otherwise a device value.
    type Output;
    /// Computes `left << self` or `left >> self`.
    fn after(self, op: Bin, left: U) -> Self::Output;
}

impl<U: HostInteger, R: HostInteger> ShiftsLiteral<U> for R {
    type Output = U;
    fn after(self, op: Bin, left: U) -> U {
        left.shift(op, self.count())
    }
}
impl<U: Integer, N: Integer> ShiftsLiteral<U> for S<N> {
    type Output = S<U>;
    #[track_caller]
    fn after(self, op: Bin, left: U) -> S<U> {
        bin_s(op, left.into_device(), S::from_value(count_s(self).value))
    }
}
impl<U: Integer, N: Integer> ShiftsLiteral<U> for V<N> {
    type Output = V<U>;
    #[track_caller]
    fn after(self, op: Bin, left: U) -> V<U> {
        bin_v(op, left, V::from_value(ShiftCount::varying(self).value))
    }
}

/// Right operands of `<<` and `>>` on a device value: integers of the host and of the device. As in Rust, the type may
/// differ from the left side's. For a negative count, its low bits are used.
#[diagnostic::on_unimplemented(
    message = "a shift count is an integer of the host or of the device, not `{Self}`",
    label = "shifted by `{Self}`",
    note = "convert with `as u32`"
)]
pub trait ShiftCount: Copy {
    /// The kind of the count, uniform or varying; host values are uniform.
    type Place: Kind;
    /// The count as a varying value.
    fn varying(self) -> V<u32>;
    /// The count as a uniform value; `None` if it is varying.
    fn uniform(self) -> Option<S<u32>>;
}

// If a host number does not fit into a `u32`, its low bits are used, as for a device value.
for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, isize, usize] {
    impl ShiftCount for N {
        type Place = Uniform;
        fn varying(self) -> V<u32> {
            (self as u32).into_device()
        }
        fn uniform(self) -> Option<S<u32>> {
            Some((self as u32).into_device())
        }
    }
});
impl<N: Integer> ShiftCount for S<N> {
    type Place = Uniform;
    #[track_caller]
    fn varying(self) -> V<u32> {
        count_s(self).into_device()
    }
    #[track_caller]
    fn uniform(self) -> Option<S<u32>> {
        Some(count_s(self))
    }
}
impl<N: Integer> ShiftCount for V<N> {
    type Place = Varying;
    #[track_caller]
    fn varying(self) -> V<u32> {
        match N::ELEM {
            Elem::U32 => V::from_value(self.value),
            _ => crate::lang::cast::<u32, _>(self),
        }
    }
    fn uniform(self) -> Option<S<u32>> {
        None
    }
}

#[track_caller]
fn count_s<N: Integer>(n: S<N>) -> S<u32> {
    match N::ELEM {
        Elem::U32 => S::from_value(n.value),
        _ => crate::lang::cast::<u32, _>(n),
    }
}

/// A host number may be shifted by a device count.
macro_rules! host_shifts {
    ($($t:ident)*) => {$(
        host_shifts!(@of $t: S Shl shl, V Shl shl, S Shr shr, V Shr shr);
    )*};
    (@of $t:ident: $($handle:ident $trait:ident $method:ident),*) => {$(
        impl<N: Integer> $trait<$handle<N>> for $t {
            type Output = $handle<$t>;
            #[track_caller]
            fn $method(self, n: $handle<N>) -> $handle<$t> {
                let number: $handle<$t> = self.into_device();
                number.$method(n)
            }
        }
    )*};
}
host_shifts! { i8 u8 i16 u16 i32 u32 i64 u64 }
