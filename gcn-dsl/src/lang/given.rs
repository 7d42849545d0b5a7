//! The first value of a variable that is given what a function of another macro call returns: only rustc knows whether each lane has
//! its own value of that.

use std::marker::PhantomData;

use super::{LanePtr, Maybe, Outcome, Stored, V, Vary, vary};
use crate::scalar::Scalar;

/// The type of an expression that never runs.
#[derive(Debug)]
pub struct Given<X>(PhantomData<X>);

/// The type of `f`'s value.
pub fn given<X>(_f: impl FnOnce() -> X) -> Given<X> {
    Given(PhantomData)
}

/// Values of which each lane has its own: chosen by rustc before [`GivenToAll`].
pub trait GivenInLanes {
    /// What a variable starts with that is given such a value.
    #[track_caller]
    fn start<X: Vary>(&self, first: X) -> X::Varying {
        vary(first)
    }
}
impl<T: Scalar> GivenInLanes for Given<V<T>> {}
impl<T: Stored, A> GivenInLanes for Given<LanePtr<T, A>> {}
impl<X, const N: usize> GivenInLanes for Given<[X; N]> where Given<X>: GivenInLanes {}
impl<X> GivenInLanes for Given<Maybe<X>> where Given<X>: GivenInLanes {}
impl<X, E> GivenInLanes for Given<Outcome<X, E>> where Given<X>: GivenInLanes {}

/// All other values.
pub trait GivenToAll {
    /// What a variable starts with that is given such a value.
    fn start<X>(&self, first: X) -> X {
        first
    }
}
impl<X> GivenToAll for &Given<X> {}
