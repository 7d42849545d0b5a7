//! `v.iter().sum()` and the like of arrays of values.

use std::ops::{BitAnd, BitOr};

use super::given::Given;
use super::ops::{Arithmetic, Integer};
use super::{IntoDevice, S, V};

/// What an iterator gives of which a sum and a product are made: values of the device, and numbers of the host.
#[diagnostic::on_unimplemented(
    message = "no sum and product of `{Self}`",
    label = "an iterator over `{Self}`",
    note = "in a kernel an iterator's numbers have these; for parts of a slice, write a `for` over the indices"
)]
pub trait Total: Sized {
    /// Of no number.
    fn zero() -> Self;
    /// The product of no number.
    fn one() -> Self;
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
}

/// What an iterator gives that has a least one and a largest one.
#[diagnostic::on_unimplemented(
    message = "no `min()` and `max()` of all `{Self}`",
    label = "an iterator over `{Self}`",
    note = "as in Rust only integers are in a total order: for floats write a loop, `for e in v {{ largest = largest.max(e); }}`"
)]
pub trait Ordered: Sized {
    /// The smaller one.
    fn smaller(self, other: Self) -> Self;
    /// The larger one.
    fn larger(self, other: Self) -> Self;
}

macro_rules! of_the_device {
    ($($handle:ident)*) => {$(
        impl<T: Arithmetic> Total for $handle<T> {
            fn zero() -> Self {
                T::whole(0).into_device()
            }
            fn one() -> Self {
                T::whole(1).into_device()
            }
            #[track_caller]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[track_caller]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
        impl<T: Integer> Ordered for $handle<T> {
            #[track_caller]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
            #[track_caller]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}
of_the_device!(S V);

macro_rules! of_the_host {
    ($($t:ident)*) => {$(
        impl Total for $t {
            fn zero() -> Self {
                0 as $t
            }
            fn one() -> Self {
                1 as $t
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}
of_the_host!(i8 u8 i16 u16 i32 u32 i64 u64 usize f32 f64);

macro_rules! ordered_on_the_host {
    ($($t:ident)*) => {$(
        impl Ordered for $t {
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}
ordered_on_the_host!(i8 u8 i16 u16 i32 u32 i64 u64 usize);

/// A loop in place of `fold`, so that the instructions count as the caller's line.
macro_rules! folded {
    ($values:ident, $of_two:path) => {{
        let mut all = None;
        for value in $values {
            all = Some(match all {
                None => value,
                Some(so_far) => $of_two(so_far, value),
            });
        }
        all
    }};
}

/// The expansion of `values.sum()`. The first value begins it, as adding to -0.0 does in Rust.
#[track_caller]
pub fn sum_of<I: IntoIterator<Item = X>, X: Total>(values: I) -> X {
    folded!(values, X::plus).unwrap_or_else(X::zero)
}

/// The expansion of `values.product()`.
#[track_caller]
pub fn product_of<I: IntoIterator<Item = X>, X: Total>(values: I) -> X {
    folded!(values, X::times).unwrap_or_else(X::one)
}

/// The expansion of `values.min()`.
#[track_caller]
pub fn least_of<I: IntoIterator<Item = X>, X: Ordered>(values: I) -> Option<X> {
    folded!(values, X::smaller)
}

/// The expansion of `values.max()`.
#[track_caller]
pub fn greatest_of<I: IntoIterator<Item = X>, X: Ordered>(values: I) -> Option<X> {
    folded!(values, X::larger)
}

/// The expansion of `v.iter().any(…)`, of which these are the conditions.
#[track_caller]
pub fn any_element<X: BitOr<Output = X>>(conditions: impl Iterator<Item = X>) -> X
where
    bool: IntoDevice<X>,
{
    conditions.reduce(|a, b| a | b).unwrap_or_else(|| false.into_device())
}

/// The expansion of `v.iter().all(…)`.
#[track_caller]
pub fn all_elements<X: BitAnd<Output = X>>(conditions: impl Iterator<Item = X>) -> X
where
    bool: IntoDevice<X>,
{
    conditions.reduce(|a, b| a & b).unwrap_or_else(|| true.into_device())
}

/// The type of what an iterator gives.
pub fn given_by<I: Iterator>(_: &I) -> Given<I::Item> {
    Given::new()
}
