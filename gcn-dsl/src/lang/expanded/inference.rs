//! Determines the type of the first value of a variable to which the result of a function is assigned later. Another
//! macro invocation may define the function, so only rustc knows whether the result is varying.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::lang::values::kind::Varying;
use crate::lang::values::literal::{Literal, TakesLiteral};
use crate::lang::{IntoDevice, Placed, S, V, Vary, vary};
use crate::scalar::Scalar;

/// Stands for an expression of type `X`; it has no value.
#[derive(Debug)]
pub struct Given<X>(PhantomData<X>);

impl<X> Given<X> {
    pub(in crate::lang) fn new() -> Given<X> {
        Given(PhantomData)
    }
}

/// The type of the result of `f`. `f` is never called.
pub fn given<X>(_f: impl FnOnce() -> X) -> Given<X> {
    Given(PhantomData)
}

/// Results that are at least in part varying. Method lookup finds this before [`GivenToAll`].
pub trait GivenInLanes {
    /// Converts the variable's first value, so that the result can be assigned later.
    #[track_caller]
    fn start<X: Vary>(&self, first: X) -> X::Varying {
        vary(first)
    }
    /// As `start`, for a first value that need not be a number.
    fn open<X>(&self, first: First<X>) -> First<X> {
        first
    }
    /// As `open`, for the first value of a fold.
    fn accumulator<X>(&self, first: First<X>) -> First<X> {
        first
    }
}
impl<X: Placed<Place = Varying>> GivenInLanes for Given<X> {}

/// All other results.
pub trait GivenToAll {
    /// Returns the variable's first value unchanged.
    fn start<X>(&self, first: X) -> X {
        first
    }
    /// As `start`, for a first value that need not be a number.
    fn open<X>(&self, first: First<X>) -> Stays<X> {
        Stays(first.0)
    }
    /// As `open`, for the first value of a fold.
    fn accumulator<X>(&self, first: First<X>) -> Stays<X> {
        Stays(first.0)
    }
}
impl<X> GivenToAll for &Given<X> {}

/// Elements of a fold that are uniform numbers. Method lookup finds this before [`GivenToAll`].
pub trait GivenUniform {
    /// A first value of the fold that is a number of the host becomes one of the device, as the results are.
    fn accumulator<X>(&self, first: First<X>) -> Joins<X> {
        Joins(first.0)
    }
}
impl<T> GivenUniform for Given<S<T>> {}

/// The first value of a fold over uniform numbers.
#[derive(Debug)]
pub struct Joins<X>(RefCell<Option<X>>);

/// First values that are numbers of the host. Method lookup finds this before [`JoinsOthers`].
pub trait JoinsNumbers<X: Vary> {
    /// The value as a uniform one.
    fn first(&self) -> S<X>
    where
        X: IntoDevice<S<X>>;
}
impl<X: Vary<Varying = V<X>>> JoinsNumbers<X> for Joins<X> {
    #[track_caller]
    fn first(&self) -> S<X>
    where
        X: IntoDevice<S<X>>,
    {
        taken(&self.0).into_device()
    }
}

/// First values that are literals, whose type inference determines.
pub trait JoinsLiterals<T> {
    /// The value as a uniform one.
    fn first(&self) -> S<T>;
}
impl<T: Scalar + TakesLiteral<T>> JoinsLiterals<T> for Joins<Literal<T>> {
    #[track_caller]
    fn first(&self) -> S<T> {
        taken(&self.0).into_device()
    }
}

/// All other first values.
pub trait JoinsOthers<X> {
    /// The value, unchanged.
    fn first(&self) -> X;
}
impl<X> JoinsOthers<X> for &Joins<X> {
    fn first(&self) -> X {
        taken(&self.0)
    }
}

/// Result types of functions that give each lane a number.
#[diagnostic::on_unimplemented(
    message = "a function of this name that is not the prelude's gives `{Self}`",
    label = "not each lane's own number",
    note = "`global_id`, `local_id` and `lane_id` number the lanes; give your own function another name"
)]
pub trait EachLanes {}
impl EachLanes for V<u32> {}
impl EachLanes for crate::lang::lanes::ids::Dim3<V<u32>> {}

/// The expansion of `global_id()`, `local_id()` and `lane_id()`. It rejects functions of these names that return
/// anything else.
pub fn each_lanes_own<X: EachLanes>(id: X) -> X {
    id
}

/// The first value of a variable, which becomes varying if its type implements [`Vary`].
#[derive(Debug)]
pub struct First<X>(RefCell<Option<X>>);

impl<X> First<X> {
    /// Wraps the first value.
    pub fn of(first: X) -> First<X> {
        First(RefCell::new(Some(first)))
    }
}

/// The first value of a variable that keeps its type.
#[derive(Debug)]
pub struct Stays<X>(RefCell<Option<X>>);

fn taken<X>(first: &RefCell<Option<X>>) -> X {
    first.take().unwrap_or_else(|| unreachable!("a variable has one first value"))
}

impl<X> Stays<X> {
    /// The value, unchanged.
    pub fn first(&self) -> X {
        taken(&self.0)
    }
}

/// First values that are numbers. Method lookup finds this before [`FirstStays`].
pub trait FirstVaries<X: Vary> {
    /// The value as a varying one.
    fn first(&self) -> X::Varying;
}
impl<X: Vary> FirstVaries<X> for First<X> {
    #[track_caller]
    fn first(&self) -> X::Varying {
        vary(taken(&self.0))
    }
}

/// All other first values.
pub trait FirstStays<X> {
    /// The value, unchanged.
    fn first(&self) -> X;
}
impl<X> FirstStays<X> for &First<X> {
    fn first(&self) -> X {
        taken(&self.0)
    }
}

/// The type of the iterator's elements.
pub fn given_by<I: Iterator>(_: &I) -> Given<I::Item> {
    Given::new()
}
