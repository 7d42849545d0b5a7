//! `*p` in a kernel.

use super::{IntoDevice, LoadAt, Ptr, StoreAt, V, Writable};
use crate::scalar::Number;

/// What `*p` reads in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be dereferenced in a kernel",
    label = "not a device pointer"
)]
pub trait LoadDeref {
    /// The element.
    type Output;
    /// Reads it.
    fn load_deref(self) -> Self::Output;
}

/// Where `*p = v` may write in a kernel.
#[diagnostic::on_unimplemented(
    message = "cannot assign through `{Self}`",
    label = "not a writable device pointer",
    note = "declare the argument as `*mut T`"
)]
pub trait StoreDeref {
    /// The element.
    type Element;
    /// Writes it.
    fn store_deref(self, value: Self::Element);
}

impl<T: Number, A> LoadDeref for Ptr<T, A> {
    type Output = V<T>;
    #[track_caller]
    fn load_deref(self) -> V<T> {
        self.load_at(0)
    }
}

impl<X: Copy> LoadDeref for &X {
    type Output = X;
    fn load_deref(self) -> X {
        *self
    }
}

impl<T: Number> StoreDeref for Ptr<T, Writable> {
    type Element = V<T>;
    #[track_caller]
    fn store_deref(self, value: V<T>) {
        self.store_at(0, value);
    }
}

/// The expansion of a read of `*p`.
#[track_caller]
pub fn load_deref<P: LoadDeref<Output = O>, O>(p: P) -> O {
    p.load_deref()
}

/// The expansion of `*p = v`.
#[track_caller]
pub fn store_deref<P: StoreDeref, E: IntoDevice<P::Element>>(p: P, value: E) {
    p.store_deref(value.into_device());
}
