//! Results of functions that all lanes must call, or that only some targets have.

use std::marker::PhantomData;
use std::panic::Location;

use crate::lang::matrix::Everywhere;
use crate::lang::with;

/// The result of a function that all lanes of the workgroup must call, on the targets `X`.
///
/// In a kernel such a call has the type `R`: the macro's expansion makes rustc check that all lanes are active. Outside
/// of the code that the macro expands, rustc cannot check that, so the build fails if an `Everyone` was never unwrapped
/// by such an expansion.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees whether all lanes run"]
pub struct Everyone<R, X = Everywhere>(Checked<R>, PhantomData<X>);

impl<R, X> Everyone<R, X> {
    /// Wraps the result of a call that requires all lanes.
    #[track_caller]
    pub(in crate::lang) fn gives(result: R) -> Self {
        Everyone(Checked::new(result), PhantomData)
    }

    /// Unwraps the result. The caller has made rustc check that all lanes run and that the targets have the function.
    pub(in crate::lang) fn checked(self) -> R {
        self.0.take()
    }
}

/// The result of [`barrier()`](crate::lang::barrier): an [`Everyone`] with a separate type, so that the macro's
/// expansion of `barrier(buffer)` can recognise it.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees whether all lanes run"]
pub struct Barrier(pub(in crate::lang) Everyone<()>);

/// The result of a function that exists only on targets with MX formats ([`HasMfmaMx`](crate::lang::HasMfmaMx)); in a
/// kernel the call has the type `R`.
#[derive(Debug)]
#[must_use = "only a call in a kernel or `#[device]` function takes it: there rustc sees the targets"]
pub struct OnMx<R>(Checked<R>);

impl<R> OnMx<R> {
    #[track_caller]
    pub(in crate::lang) fn gives(result: R) -> Self {
        OnMx(Checked::new(result))
    }

    /// Unwraps the result. The caller has made rustc check that the targets have the function.
    pub(in crate::lang) fn checked(self) -> R {
        self.0.take()
    }
}

/// A result that must be unwrapped: if it is dropped instead, the build of the kernel fails.
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
