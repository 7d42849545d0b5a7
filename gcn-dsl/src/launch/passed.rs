//! Conversion of the arguments of a launch: the caller passes a tuple of values or references that convert to the types
//! of the kernel's arguments.

use super::{DevicePtr, DeviceSlice};
use crate::lang::ByValue;

/// Tuples that can be passed for the arguments `Args` of a kernel.
#[diagnostic::on_unimplemented(
    message = "the kernel takes the arguments `{Args}`, not `{Self}`",
    label = "not the arguments of the kernel",
    note = "the arguments of a kernel are a tuple, in order; of a single one it is `(x,)`"
)]
pub trait Passed<Args> {
    /// Converts the tuple to the kernel's arguments.
    #[doc(hidden)]
    fn passed(self) -> Args;
}

/// Types that can be passed for an argument of type `Arg`.
#[diagnostic::on_unimplemented(
    message = "the kernel takes `{Arg}` here, not `{Self}`",
    label = "not `{Arg}`",
    note = "`&x` is passed for a `&[T]` and `&mut x` for a `&mut [T]`, with `x` a `Vec<T>`, an array or a slice of the host, or a \
            `DeviceBuffer<T>` on a stream; a number is of the argument's own type: `n as u32`"
)]
pub trait PassedFor<Arg> {
    /// Converts the value to the kernel's argument.
    #[doc(hidden)]
    fn passed(self) -> Arg;
}

impl<T: ByValue> PassedFor<T> for T {
    fn passed(self) -> T {
        self
    }
}
impl<T> PassedFor<DevicePtr<T>> for DevicePtr<T> {
    fn passed(self) -> DevicePtr<T> {
        self
    }
}
macro_rules! memory {
    ($($of:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T, C: AsRef<$of> + ?Sized> PassedFor<&'a $of> for &'a C {
            fn passed(self) -> &'a $of {
                self.as_ref()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<'a, T, C: AsRef<$of> + ?Sized> PassedFor<&'a $of> for &'a mut C {
            fn passed(self) -> &'a $of {
                (*self).as_ref()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<'a, T, C: AsMut<$of> + ?Sized> PassedFor<&'a mut $of> for &'a mut C {
            fn passed(self) -> &'a mut $of {
                self.as_mut()
            }
        }
    )*};
}
memory!([T], DeviceSlice<T>);

/// Implements [`Passed`] for tuples of every size up to the number of rows of names that are given.
macro_rules! tuples {
    ($($arg:ident $from:ident $member:tt,)*) => { tuples!(@ [] $($arg $from $member,)*); };
    (@ [$($arg:ident $from:ident $member:tt,)*]) => { tuples!(= $($arg $from $member,)*); };
    (@ [$($arg:ident $from:ident $member:tt,)*] $next:ident $next_from:ident $next_member:tt, $($more:tt)*) => {
        tuples!(= $($arg $from $member,)*);
        tuples!(@ [$($arg $from $member,)* $next $next_from $next_member,] $($more)*);
    };
    (=) => {
        impl Passed<()> for () {
            fn passed(self) {}
        }
    };
    (= $($arg:ident $from:ident $member:tt,)*) => {
        impl<$($arg, $from: PassedFor<$arg>,)*> Passed<($($arg,)*)> for ($($from,)*) {
            fn passed(self) -> ($($arg,)*) {
                ($(self.$member.passed(),)*)
            }
        }
    };
}
tuples! {
    A0 B0 0, A1 B1 1, A2 B2 2, A3 B3 3, A4 B4 4, A5 B5 5, A6 B6 6, A7 B7 7, A8 B8 8, A9 B9 9,
    A10 B10 10, A11 B11 11, A12 B12 12, A13 B13 13, A14 B14 14, A15 B15 15, A16 B16 16, A17 B17 17, A18 B18 18, A19 B19 19,
    A20 B20 20, A21 B21 21, A22 B22 22, A23 B23 23, A24 B24 24, A25 B25 25, A26 B26 26, A27 B27 27, A28 B28 28, A29 B29 29,
    A30 B30 30, A31 B31 31, A32 B32 32, A33 B33 33, A34 B34 34, A35 B35 35, A36 B36 36, A37 B37 37, A38 B38 38, A39 B39 39,
    A40 B40 40, A41 B41 41, A42 B42 42, A43 B43 43, A44 B44 44, A45 B45 45, A46 B46 46, A47 B47 47, A48 B48 48, A49 B49 49,
    A50 B50 50, A51 B51 51, A52 B52 52, A53 B53 53, A54 B54 54, A55 B55 55, A56 B56 56, A57 B57 57, A58 B58 58, A59 B59 59,
    A60 B60 60, A61 B61 61, A62 B62 62, A63 B63 63,
}
