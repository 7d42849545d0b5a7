//! What a call gives, as the expansion takes it: whether all lanes must run there, and which targets must have it, is said by its type
//! and not by the function's name.

use crate::lang::control::everyone::{Barrier, Everyone, OnMx};
use crate::lang::control::function::{AllLanes, AllLanesHere};
use crate::lang::matrix::{ExistsOn, HasMfmaMx};
use crate::lang::schedule::{Turn, barrier_turn};
use crate::lang::values::flow::Convergent;

/// The results of functions that need nothing. The expansion of `f(x)` is `f(x).__gcn_here(…)`, that of an argument `f()` of another call
/// `f().__gcn_argument(…)`, with the flow of the call, its targets `T`, and what of them a matrix instruction may use, `B`. Of results
/// that need something of these, methods of their own come before those of this trait.
pub trait GivesBack: Sized {
    /// The result.
    #[doc(hidden)]
    fn __gcn_here<F, T, B>(self, _flow: &F) -> Self {
        self
    }
    /// The same of an argument.
    #[doc(hidden)]
    fn __gcn_argument<F, T, B>(self, _flow: &F) -> Self {
        self
    }
}
impl<R> GivesBack for R {}

impl<R, X> Everyone<R, X> {
    /// The result, where all lanes run.
    #[doc(hidden)]
    pub fn __gcn_here<F: Convergent, T, B>(self, _flow: &F) -> R
    where
        X: ExistsOn<B>,
    {
        self.checked()
    }
    /// The same of an argument.
    #[doc(hidden)]
    pub fn __gcn_argument<F: Convergent, T, B>(self, _flow: &F) -> R
    where
        X: ExistsOn<B>,
    {
        self.checked()
    }
}

impl Barrier {
    /// A barrier, where all lanes run.
    #[doc(hidden)]
    pub fn __gcn_here<F: Convergent, T, B>(self, _flow: &F) {
        self.0.checked();
    }
    /// The same of an argument.
    #[doc(hidden)]
    pub fn __gcn_argument<F: Convergent, T, B>(self, _flow: &F) {
        self.0.checked();
    }
}

impl<R> OnMx<R> {
    /// The result, where the targets have it.
    #[doc(hidden)]
    pub fn __gcn_here<F, T: HasMfmaMx, B>(self, _flow: &F) -> R {
        self.checked()
    }
    /// The same of an argument.
    #[doc(hidden)]
    pub fn __gcn_argument<F, T: HasMfmaMx, B>(self, _flow: &F) -> R {
        self.checked()
    }
}

/// No flow: where the token that all lanes run may be kept.
#[diagnostic::on_unimplemented(
    message = "the token that all lanes run is only the argument of a call: `f(all_lanes(), …)`; elsewhere it could reach places where some lanes do not run",
    label = "not the argument of a call"
)]
pub trait KeepsToken {}

impl AllLanesHere {
    /// The token stands as an argument only.
    #[doc(hidden)]
    pub fn __gcn_here<F: KeepsToken, T, B>(self, _flow: &F) {}
    /// The token, where all lanes run.
    #[doc(hidden)]
    pub fn __gcn_argument<F: Convergent, T, B>(self, _flow: &F) -> AllLanes<T> {
        AllLanes::here()
    }
}

/// A function that is called as `barrier(…)`, with arguments. The expansion is `CallWith(barrier).given(…)`, and
/// `CallWith(barrier).given_all(…)` where there are several.
#[derive(Debug)]
pub struct CallWith<F>(pub F);

impl<B: FnOnce() -> Barrier> CallWith<B> {
    /// A barrier after which the buffer is in its next phase.
    #[track_caller]
    pub fn given<F: Convergent, A: Turn<Output = O>, O>(self, flow: &F, buffer: A) -> O {
        barrier_turn(flow, buffer)
    }
    /// The same of several buffers.
    #[track_caller]
    pub fn given_all<F: Convergent, A: Turn<Output = O>, O>(self, flow: &F, buffers: A) -> O {
        barrier_turn(flow, buffers)
    }
}

/// All other functions of that name, with one argument.
pub trait CallsWith<A, R> {
    /// The result.
    fn given<F>(self, flow: &F, argument: A) -> R;
}
impl<C: FnOnce(A) -> R, A, R> CallsWith<A, R> for CallWith<C> {
    #[track_caller]
    fn given<F>(self, _flow: &F, argument: A) -> R {
        (self.0)(argument)
    }
}

/// The same with several.
pub trait CallsWithAll<A, R> {
    /// The result.
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
