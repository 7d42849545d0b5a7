//! Paths whose meaning the syntax does not determine: `Shape::Point` may be a variant of a device enum or a host value.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

use crate::lang::OfVariant;

/// The value of a path that may be a variant. A variant without fields, of a device enum that another `gcn_kernel!`
/// defines, is a function that makes the value. Method lookup finds the `value` method of such functions first.
#[derive(Debug)]
pub struct MayBeVariant<X>(AsItIs<X>);

/// The value of a path that is not such a function.
pub struct AsItIs<X>(Cell<Option<X>>);

impl<X> fmt::Debug for AsItIs<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsItIs")
    }
}

/// The expansion of a path that looks like a variant. Calling `.value()` on it gives the path's value.
pub fn written<X>(x: X) -> MayBeVariant<X> {
    MayBeVariant(AsItIs(Cell::new(Some(x))))
}

impl<X> Deref for MayBeVariant<X> {
    type Target = AsItIs<X>;
    fn deref(&self) -> &AsItIs<X> {
        &self.0
    }
}

impl<X> AsItIs<X> {
    /// The value, unchanged.
    pub fn value(&self) -> X {
        self.0.take().unwrap_or_else(|| unreachable!("the expansion asks once"))
    }
}

impl<E: OfVariant, F: FnOnce() -> E> MayBeVariant<F> {
    /// Calls the function that makes the variant.
    #[track_caller]
    pub fn value(self) -> E {
        AsItIs::value(&self)()
    }
}
