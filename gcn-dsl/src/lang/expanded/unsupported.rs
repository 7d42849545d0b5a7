//! Methods of Rust that the DSL lacks or names differently. Each of these rejects the call and names the alternative.

use crate::lang::memory::slice::Slice;
use crate::lang::{S, V};

macro_rules! absent {
    ($($method:ident($($arg:ident: $ty:ident),*) $name:ident $message:literal $remedy:literal;)*) => {$(
        #[doc = concat!("That there is a method `", stringify!($method), "`.")]
        #[diagnostic::on_unimplemented(message = $message, label = "not a method of the device", note = $remedy)]
        pub trait $name {}
        absent!(@on S $method($($arg: $ty),*) $name);
        absent!(@on V $method($($arg: $ty),*) $name);
    )*};
    (@on $handle:ident $method:ident($($arg:ident: $ty:ident),*) $name:ident) => {
        impl<T> $handle<T> {
            #[doc(hidden)]
            #[allow(clippy::should_implement_trait, reason = "it refuses, at the name that people write")]
            pub fn $method<$($ty),*>(self, $($arg: $ty),*) -> Self
            where
                Self: $name,
            {
                $(_ = $arg;)*
                self
            }
        }
    };
}

absent! {
    rsqrt() HasRsqrt "there is no `rsqrt`"
        "`x.sqrt().recip()` is correctly rounded after each step; `x.approx_rsqrt()` is the hardware's instruction, within 1 ulp";
    unwrap() HasUnwrap "there is nothing to unwrap: this is a value, no `Option`"
        "write the value without `unwrap()`";
}

/// Never implemented; its message tells users that a slice has no iterator.
#[diagnostic::on_unimplemented(
    message = "a slice of the device has no iterator",
    label = "a slice of the device is not iterated over",
    note = "count its indices: `for i in 0..x.len() {{ sum += x[i]; }}`, or each lane its own, `for i in (lane_id()..x.len()).step_by(64)`"
)]
pub trait HasIterator {}

/// Never implemented; its message tells users that a slice has no `get`.
#[diagnostic::on_unimplemented(
    message = "there is no `get` of a slice of the device",
    label = "not a method of a slice of the device",
    note = "write `x[i]`: it is checked, and 0 beyond the end; `(i < x.len()).then_some(x[i])` is the `Option`"
)]
pub trait HasGet {}

impl<T, A> Slice<T, A> {
    #[doc(hidden)]
    pub fn get<I>(&self, _i: I) -> crate::lang::V<T>
    where
        Self: HasGet,
    {
        unreachable!("no slice has this method")
    }

    #[doc(hidden)]
    pub fn iter(&self) -> std::iter::Empty<&V<T>>
    where
        Self: HasIterator,
    {
        std::iter::empty()
    }

    #[doc(hidden)]
    pub fn iter_mut(&self) -> std::iter::Empty<&V<T>>
    where
        Self: HasIterator,
    {
        std::iter::empty()
    }
}

#[diagnostic::do_not_recommend]
impl<T, A> IntoIterator for Slice<T, A>
where
    Slice<T, A>: HasIterator,
{
    type Item = V<T>;
    type IntoIter = std::iter::Empty<V<T>>;
    fn into_iter(self) -> Self::IntoIter {
        std::iter::empty()
    }
}
