//! Results of functions that all lanes must call, or that not all targets have.

use std::marker::PhantomData;
use std::panic::Location;

use crate::lang::matrix::Everywhere;
use crate::lang::with;

/// The result of a function that all lanes of the workgroup must call, on the targets `X`.
///
/// In a kernel the call is the `R`: its expansion makes rustc check that all lanes run there. Elsewhere that cannot be
/// checked, so a kernel does not build if one of these remains.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees whether all lanes run"]
pub struct Everyone<R, X = Everywhere>(Checked<R>, PhantomData<X>);

impl<R, X> Everyone<R, X> {
    /// The result of a call that all lanes make, subject to rustc's check.
    #[track_caller]
    pub(in crate::lang) fn gives(result: R) -> Self {
        Everyone(Checked::new(result), PhantomData)
    }

    /// The result, after the check that all lanes run and of the targets.
    pub(in crate::lang) fn checked(self) -> R {
        self.0.take()
    }
}

/// The result of [`barrier()`](crate::lang::barrier): an [`Everyone`] with a type of its own, so that `barrier(buffer)`
/// can be recognised.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees whether all lanes run"]
pub struct Barrier(pub(in crate::lang) Everyone<()>);

/// The result of a function that exists only on targets with MX formats ([`HasMfmaMx`](crate::lang::HasMfmaMx)); in a
/// kernel it is the `R`.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees the targets"]
pub struct OnMx<R>(Checked<R>);

impl<R> OnMx<R> {
    #[track_caller]
    pub(in crate::lang) fn gives(result: R) -> Self {
        OnMx(Checked::new(result))
    }

    /// The result, after the check of the targets.
    pub(in crate::lang) fn checked(self) -> R {
        self.0.take()
    }
}

/// A result that the kernel fails without taking.
#[derive(Debug)]
struct Checked<R> {
    result: Option<R>,
    loc: &'static Location<'static>,
}

impl<R> Checked<R> {
    #[track_caller]
    fn new(result: R) -> Self {
        Checked { result: Some(result), loc: Location::caller() }
    }

    fn take(mut self) -> R {
        self.result.take().unwrap_or_else(|| unreachable!("it is taken by value"))
    }
}

impl<R> Drop for Checked<R> {
    fn drop(&mut self) {
        if self.result.is_some() && !std::thread::panicking() {
            let message = "all lanes must make this call, or not every target has it, and rustc could not check that here: call the \
                           function in the kernel or in a `#[device]` function, by a name that a `use` gives it";
            with(|c| c.fail(self.loc, message.to_owned()));
        }
    }
}
