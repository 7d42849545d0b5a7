//! The first value of a variable that is given what a function of another macro call returns: only rustc knows whether each lane has
//! its own value of that.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::lang::values::kind::Varying;
use crate::lang::{Placed, V, Vary, vary};

/// The type of an expression that never runs.
#[derive(Debug)]
pub struct Given<X>(PhantomData<X>);

impl<X> Given<X> {
    pub(in crate::lang) fn new() -> Given<X> {
        Given(PhantomData)
    }
}

/// The type of `f`'s value.
pub fn given<X>(_f: impl FnOnce() -> X) -> Given<X> {
    Given(PhantomData)
}

/// Values of which lanes have their own, or have their own of a part: chosen by rustc before [`GivenToAll`].
pub trait GivenInLanes {
    /// What a variable starts with that is given such a value.
    #[track_caller]
    fn start<X: Vary>(&self, first: X) -> X::Varying {
        vary(first)
    }
    /// The same of a value that may not be a number.
    fn open<X>(&self, first: First<X>) -> First<X> {
        first
    }
}
impl<X: Placed<Place = Varying>> GivenInLanes for Given<X> {}

/// All other values.
pub trait GivenToAll {
    /// What a variable starts with that is given such a value.
    fn start<X>(&self, first: X) -> X {
        first
    }
    /// The same of a value that may not be a number.
    fn open<X>(&self, first: First<X>) -> Stays<X> {
        Stays(first.0)
    }
}
impl<X> GivenToAll for &Given<X> {}

/// What numbers the lanes.
#[diagnostic::on_unimplemented(
    message = "a function of this name that is not the prelude's gives `{Self}`",
    label = "not each lane's own number",
    note = "`global_id`, `local_id` and `lane_id` number the lanes; give your own function another name"
)]
pub trait EachLanes {}
impl EachLanes for V<u32> {}
impl EachLanes for crate::lang::lanes::ids::Dim3<V<u32>> {}

/// The expansion of `global_id()`, `local_id()` and `lane_id()`.
pub fn each_lanes_own<X: EachLanes>(id: X) -> X {
    id
}

/// The first value of a variable of which lanes have their own if it is a number.
#[derive(Debug)]
pub struct First<X>(RefCell<Option<X>>);

impl<X> First<X> {
    /// The first value.
    pub fn of(first: X) -> First<X> {
        First(RefCell::new(Some(first)))
    }
}

/// The first value of a variable that stays what it is.
#[derive(Debug)]
pub struct Stays<X>(RefCell<Option<X>>);

fn taken<X>(first: &RefCell<Option<X>>) -> X {
    first.take().unwrap_or_else(|| unreachable!("a variable has one first value"))
}

impl<X> Stays<X> {
    /// The value.
    pub fn first(&self) -> X {
        taken(&self.0)
    }
}

/// Numbers: chosen by rustc before [`FirstStays`].
pub trait FirstVaries<X: Vary> {
    /// One for each lane.
    fn first(&self) -> X::Varying;
}
impl<X: Vary> FirstVaries<X> for First<X> {
    #[track_caller]
    fn first(&self) -> X::Varying {
        vary(taken(&self.0))
    }
}

/// All other values.
pub trait FirstStays<X> {
    /// The value.
    fn first(&self) -> X;
}
impl<X> FirstStays<X> for &First<X> {
    fn first(&self) -> X {
        taken(&self.0)
    }
}

/// The type of what an iterator gives.
pub fn given_by<I: Iterator>(_: &I) -> Given<I::Item> {
    Given::new()
}
