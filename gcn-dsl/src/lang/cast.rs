//! `as` in a kernel.

use std::panic::Location;

use half::{bf16, f16};

use super::{S, V};
use crate::ir::Inst;
use crate::scalar::{CastTarget, Scalar};

/// Values that `as T` converts: device numbers and conditions to any number, host numbers by Rust's own `as`.
///
/// Device conversions follow Rust: float to integer truncates and saturates with NaN giving 0, integer to narrower integer
/// wraps, `bool` gives 0 or 1; conversions to a float round once, to nearest with ties to even.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to `{T}` with `as`",
    label = "no conversion to `{T}`",
    note = "in a kernel, `as` converts from bool and between i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2, and between pointers and from and to their addresses, `u64`; compare with 0 for a condition"
)]
pub trait CastTo<T> {
    /// `S<T>` of an `S`, `V<T>` of a `V`, `T` of a host value.
    type Output;
    /// The conversion.
    fn cast_to(self) -> Self::Output;
}

/// The expansion of `x as T`.
#[track_caller]
pub fn cast<T, O>(x: impl CastTo<T, Output = O>) -> O {
    x.cast_to()
}

macro_rules! device {
    ($($handle:ident),*) => {$(
        impl<U: Scalar, T: CastTarget> CastTo<T> for $handle<U> {
            type Output = $handle<T>;
            #[track_caller]
            fn cast_to(self) -> $handle<T> {
                $handle::emit(Inst::Cast(self.value), Location::caller())
            }
        }
    )*};
}
device!(S, V);

macro_rules! host {
    ($($from:ident),*) => {$( host!(@to $from: i8 u8 i16 u16 i32 u32 i64 u64 usize isize f32 f64); )*};
    (@to $from:ident: $($to:ident)*) => {$(
        impl CastTo<$to> for $from {
            type Output = $to;
            fn cast_to(self) -> $to { self as $to }
        }
    )*};
}
host!(i8, u8, i16, u16, i32, u32, i64, u64, usize, isize, f32, f64);

macro_rules! half_host {
    ($($half:ident),*) => {$(
        impl CastTo<f32> for $half {
            type Output = f32;
            fn cast_to(self) -> f32 { self.to_f32() }
        }
        impl CastTo<$half> for f32 {
            type Output = $half;
            fn cast_to(self) -> $half { $half::from_f32(self) }
        }
        impl CastTo<$half> for f64 {
            type Output = $half;
            fn cast_to(self) -> $half { $half::from_f64(self) }
        }
    )*};
}
half_host!(f16, bf16);
