//! `Option` on the device: a condition and a value.

mod compared;
mod conditions;
mod join;

use std::marker::PhantomData;
use std::panic::Location;

use super::aggregate::IntoField;
use super::enums::{Blank, Placed, Variants, condition, condition_type};
use crate::ir::named::Shape;
use crate::ir::{Bin, Inst, Place, Un, Value};
use crate::lang::context::Context;
use crate::lang::control::short_circuit::where_only;
use crate::lang::device::{Maybe, Outcome};
use crate::lang::values::kind::Kind;
use crate::lang::values::kind::Varying;
use crate::lang::values::literal::Vary;
use crate::lang::values::merge::Merge;
use crate::lang::values::variable::Var;
use crate::lang::{AssignIn, Declare, Flatten, IntoDevice, S, V, next_value, with};

pub(in crate::lang) use conditions::where_holds;

/// `None` whose element type has not been inferred yet.
#[derive(Debug, Clone, Copy)]
pub struct Absent(PhantomData<()>);

/// The expansion of `Some(value)`.
pub fn some<X: Placed>(value: X) -> Maybe<X> {
    Maybe { some: known::<X>(true), value }
}

/// The expansion of `None`.
pub fn none() -> Absent {
    Absent(PhantomData)
}

fn known<X: Placed>(some: bool) -> Value {
    with(|c| c.builder.constant(some.into(), condition_type::<X::Place>()))
}

/// Types that an `Option`'s condition can select: all parts are uniform, or all are varying.
pub trait Chosen: Flatten + Placed + Merge<Self::Place, Self, Output = Self> {}
impl<X: Flatten + Placed + Merge<X::Place, X, Output = X>> Chosen for X {}

/// Converts the condition of an optional `A` to the condition of an optional `B`; a uniform condition may become a
/// varying one.
#[track_caller]
fn moved<A: Placed, B: Placed>(some: Value) -> Value {
    debug_assert!(B::Place::VARYING || !A::Place::VARYING, "the bounds of the callers");
    if B::Place::VARYING == A::Place::VARYING {
        return some;
    }
    with(|c| c.value(Inst::Splat(some), condition_type::<B::Place>(), Location::caller()))
}

/// The type of the condition of an optional `X`.
type Beside<X> = <<X as Placed>::Place as Kind>::Pick<S<bool>, V<bool>>;

impl<X: Blank + Placed> Maybe<X> {
    fn absent() -> Self {
        Maybe { some: known::<X>(false), value: X::blank() }
    }
}

impl<X: Placed + Copy> Maybe<X> {
    #[track_caller]
    fn not(self) -> Value {
        with(|c| c.value(Inst::Un(Un::Not, self.some), condition_type::<X::Place>(), Location::caller()))
    }

    /// True if there is a value.
    pub fn is_some(self) -> Beside<X> {
        condition::<X::Place>(self.some)
    }

    /// True if there is no value.
    #[track_caller]
    pub fn is_none(self) -> Beside<X> {
        condition::<X::Place>(self.not())
    }

    /// Returns the option unchanged: it already contains a value, not a reference.
    #[must_use]
    pub fn copied(self) -> Self {
        self
    }

    /// Returns the option unchanged: it already contains a value, not a reference.
    #[must_use]
    pub fn cloned(self) -> Self {
        self
    }

    /// The value, or `other` if there is none. `other` is always computed. The result varies if either does.
    #[track_caller]
    pub fn unwrap_or<E>(self, other: E) -> X::Output
    where
        X: Merge<X::Place, E>,
    {
        self.joined(X::right(other))
    }

    /// The value, or the result of `other` if there is none. `other` runs only in lanes without a value. The result varies
    /// if either does.
    #[track_caller]
    pub fn unwrap_or_else<E>(self, other: impl FnOnce() -> E) -> X::Output
    where
        X: Merge<X::Place, E>,
    {
        self.joined(where_only(self.some, false, || X::right(other())))
    }

    /// The value, or the default value of its type if there is none.
    #[track_caller]
    pub fn unwrap_or_default(self) -> X
    where
        X: Chosen + Default,
    {
        self.chosen(X::default())
    }

    /// The value, which the kernel's author guarantees to exist. With
    /// [`BuildOptions::debug`](crate::BuildOptions::debug) that is checked; otherwise the result is undefined in lanes
    /// without a value.
    #[track_caller]
    pub fn unwrap(self) -> X
    where
        Beside<X>: crate::lang::DebugCondition,
    {
        self.expect("`unwrap` of a `None`")
    }

    /// Like [`unwrap`](Maybe::unwrap), with a message.
    #[track_caller]
    pub fn expect(self, message: &str) -> X
    where
        Beside<X>: crate::lang::DebugCondition,
    {
        if crate::lang::debugging() {
            crate::lang::debug_assert(self.is_some(), message.to_owned());
        }
        self.value
    }

    /// Applies `f` to the value. `f` runs only in lanes that have one.
    ///
    /// If the presence of the value varies between lanes, the result is varying.
    #[track_caller]
    pub fn map<Y: Flatten + Placed>(self, f: impl FnOnce(X) -> Y) -> Maybe<Y>
    where
        X::Place: Kind<Or<Y::Place> = Y::Place>,
    {
        let value = where_only(self.some, true, || f(self.value));
        Maybe { some: moved::<X, Y>(self.some), value }
    }

    /// The result of `f` for the value, or `other` if there is none.
    #[track_caller]
    pub fn map_or<Y, E>(self, other: E, f: impl FnOnce(X) -> Y) -> Y::Output
    where
        X::Place: Kind<Or<Y::Place> = Y::Place>,
        Y: Flatten + Placed + Merge<Y::Place, E>,
    {
        self.map(f).unwrap_or(other)
    }

    /// The result of `f` for the value, or the result of `other` if there is none.
    #[track_caller]
    pub fn map_or_else<Y, E>(self, other: impl FnOnce() -> E, f: impl FnOnce(X) -> Y) -> Y::Output
    where
        X::Place: Kind<Or<Y::Place> = Y::Place>,
        Y: Flatten + Placed + Merge<Y::Place, E>,
    {
        let other = where_only(self.some, false, || Y::right(other()));
        self.map(f).joined(other)
    }

    /// The `Option` that `f` returns for the value, if there is one.
    #[track_caller]
    pub fn and_then<Y: Flatten + Placed + Copy>(self, f: impl FnOnce(X) -> Maybe<Y>) -> Maybe<Y>
    where
        X::Place: Kind<Or<Y::Place> = Y::Place>,
    {
        let next = where_only(self.some, true, || f(self.value));
        Maybe { some: both::<Y>(moved::<X, Y>(self.some), next.some), value: next.value }
    }

    /// The value, if `condition` is true for it.
    #[track_caller]
    pub fn filter<C: IntoDevice<Beside<X>>>(self, condition: impl FnOnce(X) -> C) -> Self
    where
        Beside<X>: Flatten,
    {
        let mut holds = Vec::new();
        where_only(self.some, true, || condition(self.value).into_device()).flatten(&mut holds);
        let holds = next_value(&mut holds.into_iter());
        Maybe { some: both::<X>(self.some, holds), value: self.value }
    }

    /// This option if it has a value, or else the result of `other`, which runs only in lanes without a value.
    #[track_caller]
    pub fn or_else<E: IntoDevice<Maybe<X>>>(self, other: impl FnOnce() -> E) -> Self
    where
        X: Chosen,
    {
        self.either(where_only(self.some, false, || other().into_device()))
    }

    /// This option if it has a value, or else `other`.
    #[track_caller]
    pub fn or<E: IntoDevice<Maybe<X>>>(self, other: E) -> Self
    where
        X: Chosen,
    {
        self.either(other.into_device())
    }

    #[track_caller]
    fn either(self, other: Self) -> Self
    where
        X: Chosen,
    {
        let either = Inst::Bin(Bin::Or, self.some, other.some);
        let loc = Location::caller();
        let some = with(|c| c.value(either, condition_type::<X::Place>(), loc));
        Maybe { some, value: self.chosen(other.value) }
    }

    /// Both values, if both exist.
    #[track_caller]
    pub fn zip<Y: Placed + Copy>(self, other: Maybe<Y>) -> Maybe<(X, Y)> {
        let (a, b) = (moved::<X, (X, Y)>(self.some), moved::<Y, (X, Y)>(other.some));
        Maybe { some: both::<(X, Y)>(a, b), value: (self.value, other.value) }
    }

    /// The value as a `Result`, or `error` if there is none.
    #[track_caller]
    pub fn ok_or<E: Declare<Value: Placed>>(self, error: E) -> Outcome<X, E::Value> {
        Outcome::of(self.some, X::Place::VARYING, self.value, error.declare())
    }

    /// The value as a `Result`, or the error that `error` returns, which runs only in lanes without a value.
    #[track_caller]
    pub fn ok_or_else<E: Declare<Value: Placed>>(self, error: impl FnOnce() -> E) -> Outcome<X, E::Value> {
        let error = where_only(self.some, false, || error().declare());
        Outcome::of(self.some, X::Place::VARYING, self.value, error)
    }

    #[track_caller]
    fn chosen(self, other: X) -> X
    where
        X: Chosen,
    {
        self.joined::<X>(other)
    }

    /// The value, or `other`, to whose type the value is converted.
    #[track_caller]
    fn joined<E>(self, other: X::Output) -> X::Output
    where
        X: Merge<X::Place, E>,
    {
        let loc = Location::caller();
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        self.value.left().flatten(&mut ours);
        other.flatten(&mut others);
        // A uniform condition also chooses between varying values.
        let mut in_lanes = None;
        let values: Vec<Value> = with(|c| {
            let pairs = ours.into_iter().zip(others);
            let chosen = pairs.map(|(a, b)| {
                let place = |c: &Context, value| c.builder.kernel().ty(value).place;
                let some = match (place(c, self.some), place(c, a)) {
                    (Place::Uniform, Place::Varying) => *in_lanes.get_or_insert_with(|| {
                        c.value(Inst::Splat(self.some), condition_type::<Varying>(), loc)
                    }),
                    _ => self.some,
                };
                c.choose(some, a, b, loc)
            });
            chosen.collect()
        });
        X::Output::unflatten(&mut values.into_iter())
    }
}

#[track_caller]
fn both<X: Placed>(a: Value, b: Value) -> Value {
    with(|c| c.value(Inst::Bin(Bin::And, a, b), condition_type::<X::Place>(), Location::caller()))
}

impl<X: Placed> Placed for Maybe<X> {
    type Place = X::Place;
    type Pattern = Option<X::Pattern>;
}

impl Placed for Absent {
    type Place = Varying;
    type Pattern = Option<()>;
}

impl<X: Placed + Copy> Variants for Maybe<X> {
    type Host = Option<X>;
    type Condition = Beside<X>;
    fn each(&self) -> Vec<Option<X>> {
        vec![None, Some(self.value)]
    }
    #[track_caller]
    fn one_of(&self, chosen: &[bool]) -> Beside<X> {
        condition::<X::Place>(match chosen {
            [false, true] => self.some,
            [true, false] => self.not(),
            _ => known::<X>(chosen.contains(&true)),
        })
    }
}

impl<X: Flatten + Placed> Flatten for Maybe<X> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.some);
        self.value.flatten(out);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Maybe { some: next_value(values), value: X::unflatten(values) }
    }
    fn shape() -> Option<Shape> {
        None
    }
}

impl Flatten for Absent {
    fn flatten(&self, _: &mut Vec<Value>) {}
    fn unflatten(_: &mut dyn Iterator<Item = Value>) -> Self {
        none()
    }
}

impl<Any, X: Blank<Any> + Placed> Blank<Any> for Maybe<X> {
    fn blank() -> Self {
        Maybe { some: with(|c| c.builder.undefined(condition_type::<X::Place>())), value: X::blank() }
    }
}

impl<D: Declare + Placed> Declare for Maybe<D>
where
    D::Value: Placed,
{
    type Value = Maybe<D::Value>;
    fn declare(self) -> Self::Value {
        Maybe { some: self.some, value: self.value.declare() }
    }
}

impl<X: AssignIn<F, G>, F, G> AssignIn<F, G> for Maybe<X> {}

impl<X: Vary + Placed> Vary for Maybe<X>
where
    X::Varying: Placed,
{
    type Varying = Maybe<X::Varying>;
    #[track_caller]
    fn vary(self) -> Self::Varying {
        Maybe { some: moved::<X, X::Varying>(self.some), value: self.value.vary() }
    }
}

#[diagnostic::do_not_recommend]
impl<E: IntoDevice<X> + Placed, X: Placed> IntoDevice<Maybe<X>> for Maybe<E> {
    #[track_caller]
    fn into_device(self) -> Maybe<X> {
        Maybe { some: moved::<E, X>(self.some), value: self.value.into_device() }
    }
}

#[diagnostic::do_not_recommend]
impl<E: IntoDevice<X>, X: Blank + Placed> IntoDevice<Maybe<X>> for Option<E> {
    #[track_caller]
    fn into_device(self) -> Maybe<X> {
        match self {
            Some(value) => some(value.into_device()),
            None => Maybe::absent(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<X: Blank + Placed> IntoDevice<Maybe<X>> for Absent {
    fn into_device(self) -> Maybe<X> {
        Maybe::absent()
    }
}

impl<X: Blank + Placed, F> Var<Maybe<X>, F>
where
    Maybe<X>: Flatten + Declare<Value = Maybe<X>>,
{
    /// The expansion of `let mut x = None;`.
    #[track_caller]
    pub fn absent(flow: &F) -> Self {
        Var::declare(flow, Maybe::absent())
    }
}

#[diagnostic::do_not_recommend]
impl<E: IntoField<X>, X: Blank + Placed> IntoField<Maybe<X>> for Option<E> {
    fn into_field(self) -> Maybe<X> {
        match self {
            Some(value) => some(value.into_field()),
            None => Maybe::absent(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<X: Blank + Placed> IntoField<Maybe<X>> for Absent {
    fn into_field(self) -> Maybe<X> {
        Maybe::absent()
    }
}
