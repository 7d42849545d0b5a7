//! A host `usize` in an expression with device values, such as `i * N + j` with a `const N: usize` and loop counters
//! `i` and `j`. On the device a `usize` has 32 bits.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Sub};
use std::panic::Location;

use crate::ir::Pred;
use crate::lang::values::kind::Uniform;
use crate::lang::values::literal::Vary;
use crate::lang::values::operand::Operand;
use crate::lang::{Compare, Declare, IntoDevice, S, V, with};

/// A number that the macro knows to be a `usize`.
#[derive(Debug, Clone, Copy)]
pub struct Size(usize);

/// The expansion of an operand that consists only of const parameters of type `usize`.
pub fn size(n: usize) -> Size {
    Size(n)
}

/// A host number whose type the macro does not know. Method lookup decides whether it is a `usize`.
#[derive(Debug)]
pub struct PerhapsSize<X>(pub X);

/// Implemented for `usize`. Method lookup finds this before [`IsNoSize`], which is implemented for a reference.
pub trait IsSize {
    /// The number as an operand next to device values.
    fn operand(&self) -> Size;
}
impl IsSize for PerhapsSize<usize> {
    fn operand(&self) -> Size {
        Size(self.0)
    }
}

/// Implemented for all types; method lookup uses it for those that are not `usize`.
pub trait IsNoSize<X> {
    /// The value, unchanged.
    fn operand(&self) -> X;
}
impl<X: Copy> IsNoSize<X> for &PerhapsSize<X> {
    fn operand(&self) -> X {
        self.0
    }
}

/// A size of the host as one of the device.
#[track_caller]
fn narrowed<D: TryFrom<H> + Default, H: std::fmt::Display + Copy>(size: H) -> D {
    D::try_from(size).unwrap_or_else(|_| {
        let loc = Location::caller();
        let what =
            format!("a `{}` of the device has 32 bits, and {size} has more", std::any::type_name::<H>());
        with(|c| c.fail(loc, what));
        D::default()
    })
}

impl Size {
    #[track_caller]
    fn count(self) -> u32 {
        narrowed(self.0)
    }
}

impl Operand<u32> for Size {
    type Place = Uniform;
    #[track_caller]
    fn varying(self) -> V<u32> {
        self.count().into_device()
    }
    #[track_caller]
    fn uniform(self) -> Option<S<u32>> {
        Some(self.count().into_device())
    }
}

/// Sizes as the first values of variables.
macro_rules! variables {
    ($($size:ident $of_device:ident;)*) => {$(
        impl Declare for $size {
            type Value = S<$of_device>;
            #[track_caller]
            fn declare(self) -> S<$of_device> {
                narrowed::<$of_device, $size>(self).into_device()
            }
        }
        impl Vary for $size {
            type Varying = V<$of_device>;
            #[track_caller]
            fn vary(self) -> V<$of_device> {
                narrowed::<$of_device, $size>(self).into_device()
            }
        }
        impl GivenSize<$size> for $size {}
        impl GivenSize<$size> for S<$of_device> {}
        impl GivenSize<$size> for V<$of_device> {}
    )*};
}
variables! { usize u32; isize i32; }

/// Types of the value of a `let x: usize` or `isize`: this type of the host, or a device number of 32 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `{T}`",
    label = "expected `{T}`, found `{Self}`",
    note = "in a kernel a number of the device that indexes memory and arrays is a `u32`; other numbers convert with `as`"
)]
pub trait GivenSize<T> {}

/// The expansion of the value of `let x: usize = …`, if the value may be one of the device.
pub fn given_size<T, X: GivenSize<T>>(x: X) -> X {
    x
}

macro_rules! operators {
    ($($tr:ident $method:ident $op:tt;)*) => {$(
        impl $tr<Size> for usize {
            type Output = usize;
            fn $method(self, other: Size) -> usize {
                self $op other.0
            }
        }
        impl $tr<usize> for Size {
            type Output = usize;
            fn $method(self, other: usize) -> usize {
                self.0 $op other
            }
        }
        operators!(@on S $tr $method $op);
        operators!(@on V $tr $method $op);
    )*};
    (@on $handle:ident $tr:ident $method:ident $op:tt) => {
        impl $tr<$handle<u32>> for Size {
            type Output = $handle<u32>;
            #[track_caller]
            fn $method(self, other: $handle<u32>) -> $handle<u32> {
                self.count() $op other
            }
        }
    };
}
operators! {
    Add add +; Sub sub -; Mul mul *; Div div /; Rem rem %; BitAnd bitand &; BitOr bitor |; BitXor bitxor ^;
}

macro_rules! compared {
    ($($handle:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Compare<Size> for $handle<u32> {
            type Output = $handle<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, other: Size) -> $handle<bool> {
                self.compare(pred, other.count())
            }
        }
        #[diagnostic::do_not_recommend]
        impl Compare<$handle<u32>> for Size {
            type Output = $handle<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, other: $handle<u32>) -> $handle<bool> {
                self.count().compare(pred, other)
            }
        }
    )*};
}
compared!(S V);

#[diagnostic::do_not_recommend]
impl Compare<Size> for usize {
    type Output = bool;
    fn compare(self, pred: Pred, other: Size) -> bool {
        self.compare(pred, other.0)
    }
}
#[diagnostic::do_not_recommend]
impl Compare<usize> for Size {
    type Output = bool;
    fn compare(self, pred: Pred, other: usize) -> bool {
        self.0.compare(pred, other)
    }
}
