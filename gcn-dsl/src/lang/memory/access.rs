//! `a[i]` and `a[i] = v`: the traits of what can be indexed, and arrays of values.

use crate::lang::IntoDevice;
use crate::lang::values::constant::within;

/// What `a[i]` reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed by `{I}` in a kernel",
    label = "cannot be indexed by `{I}`",
    note = "slices, pointers and LDS arrays take `u32`, `S<u32>` or `V<u32>`; arrays of device values (registers) take a host `usize`"
)]
pub trait LoadAt<I> {
    /// The element.
    type Output;
    /// Reads it.
    fn load_at(&self, i: I) -> Self::Output;
}

/// Where `a[i] = v` may write.
#[diagnostic::on_unimplemented(
    message = "cannot assign to an element of `{Self}`",
    label = "not writable",
    note = "a `&[T]` or `*const T` argument is read-only: declare it as `&mut [T]` or `*mut T`"
)]
pub trait StoreAt<I> {
    /// The element.
    type Element;
    /// Writes it.
    fn store_at(&self, i: I, value: Self::Element);
}

/// The expansion of a read of `a[i]`.
#[track_caller]
#[must_use = "the element is read for nothing"]
pub fn load<A: LoadAt<I, Output = O> + ?Sized, I, O>(a: &A, i: I) -> O {
    a.load_at(i)
}

/// The expansion of `a[i] = v`.
#[track_caller]
pub fn store<A: StoreAt<I> + ?Sized, I, E: IntoDevice<A::Element>>(a: &A, i: I, value: E) {
    a.store_at(i, value.into_device());
}

impl<X: Copy, const N: usize> LoadAt<usize> for [X; N] {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

impl<X: Copy> LoadAt<usize> for [X] {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

impl<X: Copy> LoadAt<usize> for Vec<X> {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

/// Element `i` of values in registers.
///
/// # Panics
/// If there are none: no element can stand for the one that is missing.
#[track_caller]
fn element_of<X: Copy>(values: &[X], i: usize) -> X {
    let i = within(i, values.len(), "element", || format!("an array of {}", values.len()));
    values[i]
}
