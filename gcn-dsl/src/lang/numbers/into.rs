//! `x.into()`: where a number is expected, a number of another type that every value fits into, as Rust's `From` says.

use std::cell::RefCell;

use crate::lang::numbers::cast::CastTo;
use crate::lang::values::kind::Uniform;
use crate::lang::values::merge::Merge;
use crate::lang::values::operand::OfType;
use crate::lang::{IntoDevice, S, V};
use crate::scalar::{CastTarget, Scalar};

/// The receiver of `into()`. The expansion is `(&&Converts::new(x)).converted_as_expected()`: method lookup finds
/// [`NumberInto`] for a number of the device, and otherwise [`OtherInto`].
#[derive(Debug)]
pub struct Converts<R>(RefCell<Option<R>>);

impl<R> Converts<R> {
    /// Holds the receiver.
    pub fn new(receiver: R) -> Self {
        Converts(RefCell::new(Some(receiver)))
    }

    fn taken(&self) -> R {
        self.0.take().unwrap_or_else(|| unreachable!("the expansion calls one method once"))
    }
}

/// A number of the device that becomes one of the expected type, if Rust's `From` converts between the two element types.
#[derive(Debug)]
pub struct Converted<H>(H);

/// Numbers of the device.
pub trait NumberInto<H> {
    /// The number; the place that it is written to determines the type.
    fn converted_as_expected(&self) -> Converted<H>;
}

/// Other values: Rust's own `into`.
pub trait OtherInto<R> {
    /// Converts the value.
    fn converted_as_expected<X>(&self) -> X
    where
        R: Into<X>;
}

impl<R> OtherInto<R> for Converts<R> {
    #[track_caller]
    fn converted_as_expected<X>(&self) -> X
    where
        R: Into<X>,
    {
        self.taken().into()
    }
}

for_each_type!(H<T> in [S, V] {
    impl<T: Scalar> NumberInto<H<T>> for &Converts<H<T>> {
        fn converted_as_expected(&self) -> Converted<H<T>> {
            Converted(self.taken())
        }
    }

    #[diagnostic::do_not_recommend]
    impl<T: Scalar, U: CastTarget + From<T>> IntoDevice<V<U>> for Converted<H<T>> {
        #[track_caller]
        fn into_device(self) -> V<U> {
            CastTo::<U>::cast_to(self.0).into_device()
        }
    }

    #[diagnostic::do_not_recommend]
    impl<T: Scalar, U: CastTarget + From<T>> OfType<U> for Converted<H<T>> {
        type Value = H<U>;
        #[track_caller]
        fn of_type(self) -> H<U> {
            CastTo::<U>::cast_to(self.0)
        }
    }
});

#[diagnostic::do_not_recommend]
impl<T: Scalar, U: CastTarget + From<T>> IntoDevice<S<U>> for Converted<S<T>> {
    #[track_caller]
    fn into_device(self) -> S<U> {
        CastTo::<U>::cast_to(self.0)
    }
}

/// Beside a value, `x.into()` becomes what the value is.
#[diagnostic::do_not_recommend]
impl<How, T: Scalar, H> Merge<How, Converted<H>> for V<T>
where
    Converted<H>: IntoDevice<V<T>>,
{
    type Output = V<T>;
    fn left(self) -> V<T> {
        self
    }
    #[track_caller]
    fn right(b: Converted<H>) -> V<T> {
        b.into_device()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Scalar, H> Merge<Uniform, Converted<H>> for S<T>
where
    Converted<H>: IntoDevice<S<T>>,
{
    type Output = S<T>;
    fn left(self) -> S<T> {
        self
    }
    #[track_caller]
    fn right(b: Converted<H>) -> S<T> {
        b.into_device()
    }
}
