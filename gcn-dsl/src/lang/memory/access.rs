//! `a[i]` and `a[i] = v`: the traits of types that can be indexed, and arrays of values.

use crate::lang::IntoDevice;
use crate::lang::values::constant::within;

/// Types that can be read as `a[i]` in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed by `{I}` in a kernel",
    label = "cannot be indexed by `{I}`",
    note = "slices, pointers and LDS arrays take `u32`, `S<u32>` or `V<u32>`; arrays of device values (registers) take a host `usize`"
)]
pub trait LoadAt<I> {
    /// The type of the element.
    type Output;
    /// Reads element `i`.
    fn load_at(&self, i: I) -> Self::Output;
}

/// Types whose elements can be assigned as `a[i] = v` in a kernel.
#[diagnostic::on_unimplemented(
    message = "cannot assign to an element of `{Self}`",
    label = "not writable",
    note = "a `&[T]` or `*const T` argument is read-only: declare it as `&mut [T]` or `*mut T`"
)]
pub trait StoreAt<I> {
    /// The type of the element.
    type Element;
    /// Writes element `i`.
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

/// Element `i` of a list of values that are in registers.
///
/// # Panics
/// If the list is empty. In a list that is not empty, a wrong index is a build error, and the body continues with
/// another element.
#[track_caller]
fn element_of<X: Copy>(values: &[X], i: usize) -> X {
    let i = within(i, values.len(), "element", || format!("an array of {}", values.len()));
    values[i]
}
