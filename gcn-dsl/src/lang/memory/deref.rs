//! `*p` in a kernel.

use crate::lang::{IntoDevice, S, V};
use crate::scalar::Scalar;

/// Types that `*p` can read in a kernel.
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

impl<X: Copy> LoadDeref for &X {
    type Output = X;
    fn load_deref(self) -> X {
        *self
    }
}

/// The elements of arrays of values, to which Rust's iterators give references.
macro_rules! values {
    ($($handle:ident)*) => {$(
        impl<T: Scalar> LoadDeref for $handle<T> {
            type Output = $handle<T>;
            fn load_deref(self) -> $handle<T> {
                self
            }
        }
    )*};
}
values!(S V);

/// The same of arrays of the host.
macro_rules! host_values {
    ($($t:ty)*) => {$(
        impl LoadDeref for $t {
            type Output = $t;
            fn load_deref(self) -> $t {
                self
            }
        }
    )*};
}
host_values!(bool i8 u8 i16 u16 i32 u32 i64 u64 usize isize f32 f64);

/// The expansion of a read of `*p`.
#[track_caller]
#[must_use = "the element is read for nothing"]
pub fn load_deref<P: LoadDeref<Output = O>, O>(p: P) -> O {
    p.load_deref()
}

/// The expansion of `*p = v`.
#[track_caller]
pub fn store_deref<P: StoreDeref, E: IntoDevice<P::Element>>(p: P, value: E) {
    p.store_deref(value.into_device());
}
