//! `Result` on the device: a condition, a value and an error.

mod join;

use std::panic::Location;

use super::enums::{Blank, Placed, Variants, condition, condition_type};
use super::option::Chosen;
use crate::ir::{Bin, Inst, Un, Value};
use crate::lang::control::short_circuit::where_only;
use crate::lang::device::{Maybe, Outcome};
use crate::lang::values::kind::{Kind, Varying};
use crate::lang::values::literal::Vary;
use crate::lang::values::merge::Merge;
use crate::lang::{AssignIn, Declare, Flatten, IntoDevice, S, V, next_value, with};

/// `Ok(value)` whose error type has not been inferred yet.
#[derive(Debug, Clone, Copy)]
pub struct Good<X>(X);

/// `Err(error)` whose value type has not been inferred yet.
#[derive(Debug, Clone, Copy)]
pub struct Bad<E>(E);

/// The expansion of `Ok(value)`.
pub fn ok<X: Placed>(value: X) -> Good<X> {
    Good(value)
}

/// The expansion of `Err(error)`.
pub fn err<E: Placed>(error: E) -> Bad<E> {
    Bad(error)
}

/// The kind of the condition of a `Result` of `X` and `E`: uniform if both types are.
type Of<X, E> = <<X as Placed>::Place as Kind>::Or<<E as Placed>::Place>;

/// The type of the condition of a `Result` of `X` and `E`.
type Beside<X, E> = <Of<X, E> as Kind>::Pick<S<bool>, V<bool>>;

impl<X: Placed, E: Placed> Outcome<X, E> {
    /// Makes a result that has `value` where `ok` is true, and `error` elsewhere. `varies` is true if `ok` is varying.
    #[track_caller]
    pub(in crate::lang) fn of(ok: Value, varies: bool, value: X, error: E) -> Self {
        let splat = Of::<X, E>::VARYING && !varies;
        let ok = match splat {
            true => with(|c| c.value(Inst::Splat(ok), condition_type::<Of<X, E>>(), Location::caller())),
            false => ok,
        };
        Outcome { ok, value, error }
    }

    fn known(ok: bool) -> Value {
        with(|c| c.builder.constant(ok.into(), condition_type::<Of<X, E>>()))
    }

    #[track_caller]
    fn not(&self) -> Value {
        with(|c| c.value(Inst::Un(Un::Not, self.ok), condition_type::<Of<X, E>>(), Location::caller()))
    }
}

impl<X: Placed + Copy, E: Placed + Copy> Outcome<X, E> {
    /// True if there is a value.
    pub fn is_ok(self) -> Beside<X, E> {
        condition::<Of<X, E>>(self.ok)
    }

    /// True if there is an error.
    #[track_caller]
    pub fn is_err(self) -> Beside<X, E> {
        condition::<Of<X, E>>(self.not())
    }

    /// The value, if there is one; the option is varying.
    #[track_caller]
    pub fn ok(self) -> Maybe<X::Varying>
    where
        X: Vary<Varying: Placed<Place = Varying>>,
    {
        Maybe { some: self.in_lanes(self.ok), value: self.value.vary() }
    }

    /// The error, if there is one; the option is varying.
    #[track_caller]
    pub fn err(self) -> Maybe<E::Varying>
    where
        E: Vary<Varying: Placed<Place = Varying>>,
    {
        Maybe { some: self.in_lanes(self.not()), value: self.error.vary() }
    }

    /// Converts a condition of this result to a varying one.
    #[track_caller]
    fn in_lanes(self, condition: Value) -> Value {
        match Of::<X, E>::VARYING {
            true => condition,
            false => {
                with(|c| c.value(Inst::Splat(condition), condition_type::<Varying>(), Location::caller()))
            }
        }
    }

    /// The value, or `other` if there is none. `other` is always computed.
    #[track_caller]
    pub fn unwrap_or<D>(self, other: D) -> X::Output
    where
        X: Merge<X::Place, D>,
        E::Place: Kind<Or<X::Place> = X::Place>,
    {
        Maybe { some: self.ok, value: self.value }.unwrap_or(other)
    }

    /// The value, or the result of `other` for the error. `other` runs only in lanes with an error.
    #[track_caller]
    pub fn unwrap_or_else<D>(self, other: impl FnOnce(E) -> D) -> X::Output
    where
        X: Merge<X::Place, D>,
        E::Place: Kind<Or<X::Place> = X::Place>,
    {
        Maybe { some: self.ok, value: self.value }.unwrap_or_else(|| other(self.error))
    }

    /// The value, which the kernel's author guarantees to exist. With
    /// [`BuildOptions::debug`](crate::BuildOptions::debug) that is checked; otherwise the result is undefined in lanes
    /// without a value.
    #[track_caller]
    pub fn unwrap(self) -> X
    where
        Beside<X, E>: crate::lang::DebugCondition,
    {
        self.expect("`unwrap` of an `Err`")
    }

    /// Like [`unwrap`](Outcome::unwrap), with a message.
    #[track_caller]
    pub fn expect(self, message: &str) -> X
    where
        Beside<X, E>: crate::lang::DebugCondition,
    {
        if crate::lang::debugging() {
            crate::lang::debug_assert(self.is_ok(), message.to_owned());
        }
        self.value
    }

    /// Applies `f` to the value. `f` runs only in lanes that have one.
    ///
    /// If the presence of the value varies between lanes, the result is varying.
    #[track_caller]
    pub fn map<Y: Flatten + Placed>(self, f: impl FnOnce(X) -> Y) -> Outcome<Y, E>
    where
        Of<X, E>: Kind<Or<Of<Y, E>> = Of<Y, E>>,
    {
        let value = where_only(self.ok, true, || f(self.value));
        Outcome::of(self.ok, Of::<X, E>::VARYING, value, self.error)
    }

    /// Applies `f` to the error. `f` runs only in lanes that have one.
    #[track_caller]
    pub fn map_err<G: Flatten + Placed>(self, f: impl FnOnce(E) -> G) -> Outcome<X, G>
    where
        Of<X, E>: Kind<Or<Of<X, G>> = Of<X, G>>,
    {
        let error = where_only(self.ok, false, || f(self.error));
        Outcome::of(self.ok, Of::<X, E>::VARYING, self.value, error)
    }

    /// The result of `f` for the value, or `other` if there is none.
    #[track_caller]
    pub fn map_or<Y, D>(self, other: D, f: impl FnOnce(X) -> Y) -> Y::Output
    where
        Of<X, E>: Kind<Or<Y::Place> = Y::Place>,
        Y: Flatten + Placed + Merge<Y::Place, D>,
    {
        let value = where_only(self.ok, true, || f(self.value));
        let varies = Y::Place::VARYING;
        Maybe { some: if varies { self.in_lanes(self.ok) } else { self.ok }, value }.unwrap_or(other)
    }

    /// The `Result` that `f` returns for the value, or this one's error. The error types must be equal.
    #[track_caller]
    pub fn and_then<Y: Flatten + Placed + Copy>(self, f: impl FnOnce(X) -> Outcome<Y, E>) -> Outcome<Y, E>
    where
        E: Chosen,
        Of<X, E>: Kind<Or<Of<Y, E>> = Of<Y, E>>,
    {
        let next = where_only(self.ok, true, || f(self.value));
        let both = Outcome::<Y, E>::of(self.ok, Of::<X, E>::VARYING, next.value, self.error);
        let loc = Location::caller();
        let ok = with(|c| c.value(Inst::Bin(Bin::And, both.ok, next.ok), condition_type::<Of<Y, E>>(), loc));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        self.error.flatten(&mut ours);
        next.error.flatten(&mut theirs);
        let pairs = theirs.into_iter().zip(ours);
        let errors: Vec<Value> = pairs.map(|(a, b)| with(|c| c.choose(self.ok, a, b, loc))).collect();
        Outcome { ok, value: next.value, error: E::unflatten(&mut errors.into_iter()) }
    }
}

impl<X: Placed, E: Placed> Placed for Outcome<X, E> {
    type Place = Of<X, E>;
    type Pattern = Result<X::Pattern, E::Pattern>;
}

impl<X: Placed> Placed for Good<X> {
    type Place = X::Place;
    type Pattern = Result<X::Pattern, ()>;
}

impl<E: Placed> Placed for Bad<E> {
    type Place = E::Place;
    type Pattern = Result<(), E::Pattern>;
}

impl<X: Placed + Copy, E: Placed + Copy> Variants for Outcome<X, E> {
    type Host = Result<X, E>;
    type Condition = Beside<X, E>;
    fn each(&self) -> Vec<Result<X, E>> {
        vec![Ok(self.value), Err(self.error)]
    }
    #[track_caller]
    fn one_of(&self, chosen: &[bool]) -> Beside<X, E> {
        condition::<Of<X, E>>(match chosen {
            [true, false] => self.ok,
            [false, true] => self.not(),
            _ => Self::known(chosen.contains(&true)),
        })
    }
}

impl<X: Flatten, E: Flatten> Flatten for Outcome<X, E> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.ok);
        self.value.flatten(out);
        self.error.flatten(out);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Outcome { ok: next_value(values), value: X::unflatten(values), error: E::unflatten(values) }
    }
}

impl<X: Flatten> Flatten for Good<X> {
    fn flatten(&self, out: &mut Vec<Value>) {
        self.0.flatten(out);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Good(X::unflatten(values))
    }
}

impl<E: Flatten> Flatten for Bad<E> {
    fn flatten(&self, out: &mut Vec<Value>) {
        self.0.flatten(out);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Bad(E::unflatten(values))
    }
}

impl<Any, X: Blank<Any> + Placed, E: Blank<Any> + Placed> Blank<Any> for Outcome<X, E> {
    fn blank() -> Self {
        let ok = with(|c| c.builder.undefined(condition_type::<Of<X, E>>()));
        Outcome { ok, value: X::blank(), error: E::blank() }
    }
}

impl<X: Declare<Value: Placed> + Placed, E: Declare<Value: Placed> + Placed> Declare for Outcome<X, E> {
    type Value = Outcome<X::Value, E::Value>;
    fn declare(self) -> Self::Value {
        Outcome::of(self.ok, Of::<X, E>::VARYING, self.value.declare(), self.error.declare())
    }
}

impl<X: AssignIn<F, G>, E: AssignIn<F, G>, F, G> AssignIn<F, G> for Outcome<X, E> {}

impl<X: Vary<Varying: Placed> + Placed, E: Vary<Varying: Placed> + Placed> Vary for Outcome<X, E> {
    type Varying = Outcome<X::Varying, E::Varying>;
    #[track_caller]
    fn vary(self) -> Self::Varying {
        Outcome::of(self.ok, Of::<X, E>::VARYING, self.value.vary(), self.error.vary())
    }
}

#[diagnostic::do_not_recommend]
impl<A: IntoDevice<X> + Placed, X: Placed, B: IntoDevice<E> + Placed, E: Placed> IntoDevice<Outcome<X, E>>
    for Outcome<A, B>
{
    #[track_caller]
    fn into_device(self) -> Outcome<X, E> {
        let (value, error) = (self.value.into_device(), self.error.into_device());
        Outcome::of(self.ok, Of::<A, B>::VARYING, value, error)
    }
}

#[diagnostic::do_not_recommend]
impl<A: IntoDevice<X>, X: Placed, E: Blank + Placed> IntoDevice<Outcome<X, E>> for Good<A> {
    #[track_caller]
    fn into_device(self) -> Outcome<X, E> {
        Outcome { ok: Outcome::<X, E>::known(true), value: self.0.into_device(), error: E::blank() }
    }
}

#[diagnostic::do_not_recommend]
impl<B: IntoDevice<E>, E: Placed, X: Blank + Placed> IntoDevice<Outcome<X, E>> for Bad<B> {
    #[track_caller]
    fn into_device(self) -> Outcome<X, E> {
        Outcome { ok: Outcome::<X, E>::known(false), value: X::blank(), error: self.0.into_device() }
    }
}
