//! The operator `as` in a kernel.

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::Inst;
use crate::lang::{S, V};
use crate::scalar::{CastTarget, Scalar};

/// Types of an `x` that `x as T` converts: device numbers and conditions, to any number; host numbers, as Rust's own
/// `as` does.
///
/// Device conversions follow Rust: float to integer truncates and saturates with NaN giving 0, integer to narrower integer
/// wraps, `bool` gives 0 or 1; conversions to a float round once, to nearest with ties to even.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to `{T}` with `as`",
    label = "no conversion to `{T}`",
    note = "in a kernel, `as` converts from bool and between i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2, and between pointers and from and to their addresses, `u64`; compare with 0 for a condition"
)]
pub trait CastTo<T> {
    /// The result type: `S<T>` for an `S`, `V<T>` for a `V`, `T` for a host value.
    type Output;
    /// Converts the value.
    fn cast_to(self) -> Self::Output;
}

/// The expansion of `x as T`.
#[track_caller]
pub fn cast<T, O>(x: impl CastTo<T, Output = O>) -> O {
    x.cast_to()
}

for_each_type!(H<T> in [S, V] {
    impl<U: Scalar, T: CastTarget> CastTo<T> for H<U> {
        type Output = H<T>;
        #[track_caller]
        fn cast_to(self) -> H<T> {
            H::emit(Inst::Cast(self.value), Location::caller())
        }
    }
});

/// Types of values that `as usize` and `as isize` convert. Indices on the device have 32 bits, so the result of a
/// device value is a `u32` or `i32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to `{T}` with `as`",
    label = "no conversion to `{T}`",
    note = "in a kernel, `as usize` converts numbers: those of the device to a `u32`, which indexes memory and arrays"
)]
pub trait CastToSize<T> {
    /// The result type: a device number, or `T` for a host value.
    type Output;
    /// Converts the value.
    fn cast_to_size(self) -> Self::Output;
}

/// The expansion of `x as usize` and `x as isize`.
#[track_caller]
pub fn cast_to_size<T, O>(x: impl CastToSize<T, Output = O>) -> O {
    x.cast_to_size()
}

macro_rules! sizes {
    ($($handle:ident $size:ident $of_device:ident;)*) => {$(
        impl<U: Scalar> CastToSize<$size> for $handle<U> {
            type Output = $handle<$of_device>;
            #[track_caller]
            fn cast_to_size(self) -> $handle<$of_device> {
                CastTo::<$of_device>::cast_to(self)
            }
        }
    )*};
}
sizes! { S usize u32; V usize u32; S isize i32; V isize i32; }

macro_rules! host_sizes {
    ($($from:ident),*) => {$( host_sizes!(@to $from: usize isize); )*};
    (@to $from:ident: $($to:ident)*) => {$(
        impl CastToSize<$to> for $from {
            type Output = $to;
            fn cast_to_size(self) -> $to { self as $to }
        }
    )*};
}
host_sizes!(bool, i8, u8, i16, u16, i32, u32, i64, u64, usize, isize, f32, f64);

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

for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, usize, isize] {
    impl CastTo<N> for bool {
        type Output = N;
        fn cast_to(self) -> N { self as N }
    }
});

for_each_type!(Half in [f16, bf16] {
    impl CastTo<f32> for Half {
        type Output = f32;
        fn cast_to(self) -> f32 { self.to_f32() }
    }
    impl CastTo<Half> for f32 {
        type Output = Half;
        fn cast_to(self) -> Half { Half::from_f32(self) }
    }
    impl CastTo<Half> for f64 {
        type Output = Half;
        fn cast_to(self) -> Half { Half::from_f64(self) }
    }
});
