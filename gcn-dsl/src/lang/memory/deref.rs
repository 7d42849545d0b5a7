//! The dereference `*p` in a kernel.

use crate::lang::{IntoDevice, S, V};
use crate::scalar::Scalar;

/// Types that can be read as `*p` in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be dereferenced in a kernel",
    label = "not a device pointer"
)]
pub trait LoadDeref {
    /// The type of the target.
    type Output;
    /// The mark that says where a dereference is allowed: `Anywhere`, or in `unsafe` blocks only (`RawPointer`).
    type Allowed;
    /// Reads the target.
    fn load_deref(self) -> Self::Output;
}

/// Types through which `*p = v` can assign in a kernel.
#[diagnostic::on_unimplemented(
    message = "cannot assign through `{Self}`",
    label = "not a writable device pointer",
    note = "declare the argument as `*mut T`; to an element of an array, assign by its index: `a[i] = …`"
)]
pub trait StoreDeref {
    /// The type of the target.
    type Element;
    /// The mark that says where a dereference is allowed, as for [`LoadDeref::Allowed`].
    type Allowed;
    /// Writes the target.
    fn store_deref(self, value: Self::Element);
}

impl<X: Copy> LoadDeref for &X {
    type Output = X;
    type Allowed = Anywhere;
    fn load_deref(self) -> X {
        *self
    }
}

impl<X: Copy> LoadDeref for Box<X> {
    type Output = X;
    type Allowed = Anywhere;
    fn load_deref(self) -> X {
        *self
    }
}

// Rust's iterators over arrays of device values return references; `*x` of such a reference is the element.
for_each_type!(H<T> in [S, V] {
    impl<T: Scalar> LoadDeref for H<T> {
        type Output = H<T>;
        type Allowed = Anywhere;
        fn load_deref(self) -> H<T> {
            self
        }
    }
});

// Implements [`LoadDeref`] for references to elements of host arrays.
for_each_type!(N in [bool, i8, u8, i16, u16, i32, u32, i64, u64, usize, isize, f32, f64] {
    impl LoadDeref for N {
        type Output = N;
        type Allowed = Anywhere;
        fn load_deref(self) -> N {
            self
        }
    }
});

/// The mark of types that may be dereferenced anywhere, such as a reference that an iterator returns.
pub struct Anywhere;

/// The mark of pointers that may be dereferenced only in `unsafe` blocks, because nothing checks where they point.
pub struct RawPointer;

/// Implemented by the mark of types that may be dereferenced outside of `unsafe` blocks.
#[diagnostic::on_unimplemented(
    message = "a raw pointer is dereferenced outside of an `unsafe` block",
    label = "put an `unsafe` block around it",
    note = "nothing checks that the pointer is valid, aligned and within its memory: that is the kernel's responsibility, as in Rust"
)]
pub trait SafelyDereferenced {}

impl SafelyDereferenced for Anywhere {}

/// The expansion of a read of `*p`.
#[track_caller]
#[must_use = "the element is read for nothing"]
pub fn load_deref<P: LoadDeref<Output = O, Allowed: SafelyDereferenced>, O>(p: P) -> O {
    p.load_deref()
}

/// The expansion of a read of `*p` in an `unsafe` block.
#[track_caller]
#[must_use = "the element is read for nothing"]
pub fn unsafe_load_deref<P: LoadDeref<Output = O>, O>(p: P) -> O {
    p.load_deref()
}

/// The expansion of `*p = v`.
#[track_caller]
pub fn store_deref<P: StoreDeref<Allowed: SafelyDereferenced>, E: IntoDevice<P::Element>>(p: P, value: E) {
    p.store_deref(value.into_device());
}

/// The expansion of `*p = v` in an `unsafe` block.
#[track_caller]
pub fn unsafe_store_deref<P: StoreDeref, E: IntoDevice<P::Element>>(p: P, value: E) {
    p.store_deref(value.into_device());
}
