//! Paths whose meaning syntax does not determine: `Shape::Point` is a variant of a device enum, or a value of the host.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

use crate::lang::OfVariant;

/// The meaning of a path. A variant without fields of a device enum of another `gcn_kernel!` is a function, which makes
/// the value; method look-up tries that first.
#[derive(Debug)]
pub struct MayBeVariant<X>(AsItIs<X>);

/// Any other value.
pub struct AsItIs<X>(Cell<Option<X>>);

impl<X> fmt::Debug for AsItIs<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsItIs")
    }
}

/// The expansion of a path that looks like a variant: `.value()` of this.
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
    /// The value.
    pub fn value(&self) -> X {
        self.0.take().unwrap_or_else(|| unreachable!("the expansion asks once"))
    }
}

impl<E: OfVariant, F: FnOnce() -> E> MayBeVariant<F> {
    /// The variant.
    #[track_caller]
    pub fn value(self) -> E {
        AsItIs::value(&self)()
    }
}
