//! Expansions of iterator methods such as `v.iter().sum()`, for arrays of device values.

use std::ops::{BitAnd, BitOr};
use std::panic::Location;

use crate::ir::Inst;
use crate::lang::numbers::arithmetic::{Arithmetic, Integer};
use crate::lang::{IntoDevice, Maybe, S, V, select};
use crate::scalar::Scalar;

/// Element types of iterators with `sum()` and `product()`: device values and host numbers.
#[diagnostic::on_unimplemented(
    message = "no sum and product of `{Self}`",
    label = "an iterator over `{Self}`",
    note = "in a kernel an iterator's numbers have these; for parts of a slice, write a `for` over the indices"
)]
pub trait Total: Sized {
    /// The sum of no numbers.
    fn zero() -> Self;
    /// The product of no numbers.
    fn one() -> Self;
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
}

/// Element types of iterators with `min()` and `max()`.
#[diagnostic::on_unimplemented(
    message = "no `min()` and `max()` of all `{Self}`",
    label = "an iterator over `{Self}`",
    note = "as in Rust only integers are in a total order: for floats write a loop, `for e in v {{ largest = largest.max(e); }}`"
)]
pub trait Ordered: Sized {
    /// The smaller of the two.
    fn smaller(self, other: Self) -> Self;
    /// The larger of the two.
    fn larger(self, other: Self) -> Self;
}

for_each_type!(H<T> in [S, V] {
    impl<T: Arithmetic> Total for H<T> {
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
    impl<T: Integer> Ordered for H<T> {
        #[track_caller]
        fn smaller(self, other: Self) -> Self {
            self.min(other)
        }
        #[track_caller]
        fn larger(self, other: Self) -> Self {
            self.max(other)
        }
    }
});

for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, usize, f32, f64] {
    impl Total for N {
        fn zero() -> Self {
            0 as N
        }
        fn one() -> Self {
            1 as N
        }
        fn plus(self, other: Self) -> Self {
            self + other
        }
        fn times(self, other: Self) -> Self {
            self * other
        }
    }
});

for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, usize] {
    impl Ordered for N {
        fn smaller(self, other: Self) -> Self {
            self.min(other)
        }
        fn larger(self, other: Self) -> Self {
            self.max(other)
        }
    }
});

/// A loop instead of `fold`, whose closure would give the instructions a source location in this crate.
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

/// The expansion of `values.sum()`. It starts with the first value; the result is that of Rust's `sum`, which starts
/// with -0.0.
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

/// The expansion of `v.iter().any(…)`; `conditions` are the results of the closure.
#[track_caller]
pub fn any_element<X: BitOr<Output = X>>(conditions: impl Iterator<Item = X>) -> X
where
    bool: IntoDevice<X>,
{
    conditions.reduce(|a, b| a | b).unwrap_or_else(|| false.into_device())
}

/// The expansion of `v.iter().all(…)`; `conditions` are the results of the closure.
#[track_caller]
pub fn all_elements<X: BitAnd<Output = X>>(conditions: impl Iterator<Item = X>) -> X
where
    bool: IntoDevice<X>,
{
    conditions.reduce(|a, b| a & b).unwrap_or_else(|| true.into_device())
}

/// Conditions for which `position` finds the first true one.
pub trait Positioned: Sized {
    /// The type of the position: an `Option`, because no condition may be true.
    type Number;
    /// The position of the first true condition.
    fn position(conditions: Vec<Self>) -> Self::Number;
}

impl Positioned for bool {
    type Number = Option<usize>;
    fn position(conditions: Vec<bool>) -> Option<usize> {
        conditions.into_iter().position(|holds| holds)
    }
}

impl Positioned for V<bool> {
    type Number = Maybe<V<u32>>;
    #[track_caller]
    fn position(conditions: Vec<V<bool>>) -> Maybe<V<u32>> {
        let (mut any, mut number): (V<bool>, V<u32>) = (false.into_device(), 0.into_device());
        for (k, holds) in (0u32..).zip(conditions).collect::<Vec<_>>().into_iter().rev() {
            (any, number) = (any | holds, select(holds, k, number));
        }
        any.then_some(number)
    }
}

impl Positioned for S<bool> {
    type Number = Maybe<S<u32>>;
    #[track_caller]
    fn position(conditions: Vec<S<bool>>) -> Maybe<S<u32>> {
        let (mut any, mut number): (S<bool>, S<u32>) = (false.into_device(), 0.into_device());
        for (k, holds) in (0u32..).zip(conditions).collect::<Vec<_>>().into_iter().rev() {
            let k: S<u32> = k.into_device();
            let loc = Location::caller();
            number = S::emit(Inst::Select(holds.value, k.value, number.value), loc);
            any = any | holds;
        }
        any.then_some(number)
    }
}

/// The expansion of `v.iter().position(…)`; `conditions` are the results of the closure.
#[track_caller]
pub fn position_of<X: Positioned>(conditions: impl Iterator<Item = X>) -> X::Number {
    X::position(conditions.collect())
}

/// Types that can be passed for a parameter `&[V<T>]` of a device function: references to arrays of device values of
/// any length, whose elements convert to `V<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of `{X}`",
    label = "expected the reference to an array of `{X}`",
    note = "values in registers are passed as `&[a, b, c]` or `&array`; memory is a parameter `&[f32]`, without the `V`"
)]
pub trait Listable<X> {
    /// The elements, converted.
    #[track_caller]
    fn listed(self) -> Vec<X>;
}

macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<E: IntoDevice<X> + Copy, X, $($generics)*> Listable<X> for $ty {
            #[track_caller]
            fn listed(self) -> Vec<X> {
                let mut out = Vec::with_capacity(self.len());
                for element in self {
                    out.push((*element).into_device());
                }
                out
            }
        }
    )*};
}
lists! { [const N: usize] &[E; N]; [] &[E]; [] &Vec<E>; }

/// The expansion of a parameter `&[V<T>]`.
#[track_caller]
pub fn elements_of<X, L: Listable<X>>(list: L) -> Vec<X> {
    list.listed()
}

/// Types of a limit of a range that is an iterator: numbers of the host.
#[diagnostic::on_unimplemented(
    message = "an iterator over a range runs when the kernel is built, and this limit of it is `{Self}`, known only when the kernel runs",
    label = "not a number of the host",
    note = "write a loop: `let mut sum = 0; for k in 0..n {{ sum += x[k]; }}`"
)]
pub trait OfHost {}

/// Types of a limit of a range: numbers of the host, and those of the device, which are refused by [`OfHost`] alone.
pub trait Limit {
    /// The type of the host.
    type Host;
    /// The limit.
    fn limit(self) -> Self::Host;
}

for_each_type!(N in [char, i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize] {
    impl OfHost for N {}
    impl Limit for N {
        type Host = N;
        fn limit(self) -> N {
            self
        }
    }
});

for_each_type!(H<T> in [S, V] {
    impl<T: Scalar> Limit for H<T> {
        type Host = T;
        fn limit(self) -> T {
            unreachable!("no limit is a value of the device")
        }
    }
});

/// The expansion of a limit of a range that is an iterator.
pub fn limit<N: Limit + OfHost>(n: N) -> N::Host {
    n.limit()
}
