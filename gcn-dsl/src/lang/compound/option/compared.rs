//! Comparisons such as `a == Some(x)`, in Rust's order of `Option`s: `None` comes before every value.

use std::panic::Location;

use super::{Absent, Beside, Maybe, condition, condition_type, known};
use crate::ir::{Bin, Inst, Pred, Un, Value};
use crate::lang::values::compare::Compare;
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::{Placed, S, V, with};

/// The result of comparing the two values, used where both options have one.
pub trait Compared {
    /// The kind of the result: uniform or varying.
    type Place: Kind;
    /// The result as an IR condition.
    fn condition(self) -> Value;
    /// The result that this IR condition represents.
    fn of(condition: Value) -> Self;
}

macro_rules! compared {
    ($($handle:ident $place:ident)*) => {$(
        impl Compared for $handle<bool> {
            type Place = $place;
            fn condition(self) -> Value {
                self.value
            }
            fn of(condition: Value) -> Self {
                $handle::from_value(condition)
            }
        }
    )*};
}
compared!(S Uniform V Varying);

impl<A: Placed + Compare<B, Output = C>, B: Placed, C: Compared> Compare<Maybe<B>> for Maybe<A> {
    type Output = C;
    #[track_caller]
    fn compare(self, pred: Pred, other: Maybe<B>) -> C {
        let (ty, loc) = (condition_type::<C::Place>(), Location::caller());
        let emit = |inst| with(|c| c.value(inst, ty, loc));
        let here = |some: Value, varying: bool| match C::Place::VARYING && !varying {
            true => emit(Inst::Splat(some)),
            false => some,
        };
        let (a, b) = (here(self.some, A::Place::VARYING), here(other.some, B::Place::VARYING));
        let bin = |op, a, b| emit(Inst::Bin(op, a, b));
        let not = |a| emit(Inst::Un(Un::Not, a));
        // Where an option has no value, compare the two conditions as the numbers 0 and 1.
        let missing = match pred {
            Pred::Eq => not(bin(Bin::Xor, a, b)),
            Pred::Ne => bin(Bin::Xor, a, b),
            Pred::Lt => bin(Bin::And, not(a), b),
            Pred::Le => bin(Bin::Or, not(a), b),
            Pred::Gt => bin(Bin::And, a, not(b)),
            Pred::Ge => bin(Bin::Or, a, not(b)),
        };
        let (values, both) = (self.value.compare(pred, other.value).condition(), bin(Bin::And, a, b));
        C::of(bin(Bin::Or, bin(Bin::And, both, values), bin(Bin::And, not(both), missing)))
    }
}

/// `a == None`.
impl<A: Placed + Copy> Compare<Absent> for Maybe<A> {
    type Output = Beside<A>;
    #[track_caller]
    fn compare(self, pred: Pred, _: Absent) -> Beside<A> {
        match pred {
            Pred::Eq | Pred::Le => self.is_none(),
            Pred::Ne | Pred::Gt => self.is_some(),
            Pred::Lt | Pred::Ge => condition::<A::Place>(known::<A>(pred == Pred::Ge)),
        }
    }
}

/// `None == a`.
impl<A: Placed + Copy> Compare<Maybe<A>> for Absent {
    type Output = Beside<A>;
    #[track_caller]
    fn compare(self, pred: Pred, other: Maybe<A>) -> Beside<A> {
        let exchanged = match pred {
            Pred::Lt => Pred::Gt,
            Pred::Le => Pred::Ge,
            Pred::Gt => Pred::Lt,
            Pred::Ge => Pred::Le,
            Pred::Eq | Pred::Ne => pred,
        };
        other.compare(exchanged, self)
    }
}
