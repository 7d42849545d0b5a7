//! Checks the requirements of a call: that all lanes are active, and that the target supports the function. The macro
//! cannot resolve the function's name, so the requirements follow from the type of the call's result.

use crate::lang::control::everyone::{Barrier, Everyone, OnMx};
use crate::lang::control::function::{AllLanes, AllLanesHere};
use crate::lang::matrix::{ExistsOn, HasMfmaMx};
use crate::lang::schedule::{Turn, barrier_turn};
use crate::lang::values::flow::Convergent;

/// The result of a call. A call `f(x)` expands to `Call(f(x)).in_a_kernel(…)`; if it is an argument of another call, to
/// `Call(f(x)).for_argument(…)`. The generic parameters of these methods are the call's flow, its targets `T`, and `B`, the
/// targets whose matrix instructions it may use. For results with requirements ([`Requirement`]) they are inherent methods,
/// which take precedence over those of [`GivesBack`]. Since the receiver is a `Call`, methods of the user's types cannot be
/// meant. rustc prints the names: `required by a bound in Call::<R>::in_a_kernel`.
#[derive(Debug)]
#[doc(hidden)]
pub struct Call<R>(pub R);

/// Results of functions without requirements.
pub trait GivesBack: Sized {
    /// The type of the result.
    type Result;
    /// Returns the result.
    #[doc(hidden)]
    fn in_a_kernel<F, T, B>(self, _flow: &F) -> Self::Result;
    /// As `in_a_kernel`, for an argument of another call.
    #[doc(hidden)]
    fn for_argument<F, T, B>(self, _flow: &F) -> Self::Result;
}
impl<R> GivesBack for Call<R> {
    type Result = R;
    fn in_a_kernel<F, T, B>(self, _flow: &F) -> R {
        self.0
    }
    fn for_argument<F, T, B>(self, _flow: &F) -> R {
        self.0
    }
}

/// Results with requirements, which a call in a kernel gives only where these are met.
///
/// One implementation of `Call` for all of them, and not one for each: rustc would not choose among several where it does
/// not know the result's type yet, and name them all in its message.
pub trait Requirement {}

/// Results whose requirements are met in the flow `F`, on the targets `T` and `B`, at the place `P` of the call.
pub trait MetIn<F, T, B, P>: Requirement {
    /// The type of the call in the kernel.
    type Result;
    /// Unwraps the result.
    fn met(self) -> Self::Result;
}

/// The place of a call that is not an argument of another one.
#[derive(Debug)]
pub enum OnItsOwn {}
/// The place of a call that is an argument of another one.
#[derive(Debug)]
pub enum AsArgument {}

impl<R: Requirement> Call<R> {
    /// Unwraps the result, if its requirements are met.
    #[doc(hidden)]
    pub fn in_a_kernel<F, T, B>(self, _flow: &F) -> R::Result
    where
        R: MetIn<F, T, B, OnItsOwn>,
    {
        self.0.met()
    }
    /// As `in_a_kernel`, for an argument of another call.
    #[doc(hidden)]
    pub fn for_argument<F, T, B>(self, _flow: &F) -> R::Result
    where
        R: MetIn<F, T, B, AsArgument>,
    {
        self.0.met()
    }
}

/// All lanes have to be active, and the targets to have the function.
impl<R, X> Requirement for Everyone<R, X> {}
impl<F: Convergent, T, B, P, R, X: ExistsOn<B>> MetIn<F, T, B, P> for Everyone<R, X> {
    type Result = R;
    fn met(self) -> R {
        self.checked()
    }
}

/// All lanes have to be active.
impl Requirement for Barrier {}
impl<F: Convergent, T, B, P> MetIn<F, T, B, P> for Barrier {
    type Result = ();
    fn met(self) {
        self.0.checked();
    }
}

/// The targets have to have the function.
impl<R> Requirement for OnMx<R> {}
impl<F, T: HasMfmaMx, B, P, R> MetIn<F, T, B, P> for OnMx<R> {
    type Result = R;
    fn met(self) -> R {
        self.checked()
    }
}

/// Not implemented for any flow, so that the token that proves that all lanes are active cannot be kept in a variable.
#[diagnostic::on_unimplemented(
    message = "the token that all lanes run is only the argument of a call: `f(all_lanes(), …)`; elsewhere it could reach places where some lanes do not run",
    label = "not the argument of a call"
)]
pub trait KeepsToken {}

/// The token is allowed only as an argument, where all lanes have to be active.
impl Requirement for AllLanesHere {}
impl<F: KeepsToken, T, B> MetIn<F, T, B, OnItsOwn> for AllLanesHere {
    type Result = ();
    fn met(self) {}
}
impl<F: Convergent, T, B> MetIn<F, T, B, AsArgument> for AllLanesHere {
    type Result = AllLanes<T>;
    fn met(self) -> AllLanes<T> {
        AllLanes::here()
    }
}

/// A function called as `barrier(…)` with arguments. The expansion is `CallWith(barrier).given(…)` or, for several
/// arguments, `CallWith(barrier).given_all(…)`.
#[derive(Debug)]
pub struct CallWith<F>(pub F);

impl<B: FnOnce() -> Barrier> CallWith<B> {
    /// Emits a barrier; returns the buffer in its next phase.
    #[track_caller]
    pub fn given<F: Convergent, A: Turn<Output = O>, O>(self, flow: &F, buffer: A) -> O {
        barrier_turn(flow, buffer)
    }
    /// As `given`, for several buffers.
    #[track_caller]
    pub fn given_all<F: Convergent, A: Turn<Output = O>, O>(self, flow: &F, buffers: A) -> O {
        barrier_turn(flow, buffers)
    }
}

/// Calls of any other function named `barrier` with one argument.
pub trait CallsWith<A, R> {
    /// Calls the function.
    fn given<F>(self, flow: &F, argument: A) -> R;
}
impl<C: FnOnce(A) -> R, A, R> CallsWith<A, R> for CallWith<C> {
    #[track_caller]
    fn given<F>(self, _flow: &F, argument: A) -> R {
        (self.0)(argument)
    }
}

/// Calls of any other function named `barrier` with several arguments.
pub trait CallsWithAll<A, R> {
    /// Calls the function.
    fn given_all<F>(self, flow: &F, arguments: A) -> R;
}
macro_rules! several {
    ($($($arg:ident)+;)*) => {$(
        impl<Callee: FnOnce($($arg),+) -> R, R, $($arg),+> CallsWithAll<($($arg,)+), R> for CallWith<Callee> {
            #[allow(non_snake_case, reason = "parameters are named as their types")]
            #[track_caller]
            fn given_all<F>(self, _flow: &F, ($($arg,)+): ($($arg,)+)) -> R {
                (self.0)($($arg),+)
            }
        }
    )*};
}
several! {
    A B;
    A B C;
    A B C D;
    A B C D E;
}
