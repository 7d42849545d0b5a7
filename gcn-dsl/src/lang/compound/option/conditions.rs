//! Options made from a condition and a value: `bool::then_some` and `bool::then`.

use super::{Maybe, moved};
use crate::ir::Value;
use crate::lang::control::short_circuit::where_only;
use crate::lang::next_value;
use crate::lang::values::kind::Kind;
use crate::lang::values::literal::Vary;
use crate::lang::{Flatten, Placed, S, V};

/// An option that has `value` where `condition` is true. The condition must be uniform if the value is, and varying if
/// the value is.
pub(crate) fn where_holds<X: Placed<Place: Kind<Pick<S<bool>, V<bool>> = C>>, C: Flatten>(
    condition: C,
    value: X,
) -> Maybe<X> {
    Maybe { some: only(condition), value }
}

/// The IR value of a condition.
fn only(condition: impl Flatten) -> Value {
    let mut values = Vec::new();
    condition.flatten(&mut values);
    next_value(&mut values.into_iter())
}

impl S<bool> {
    /// An option that has `value` if the condition is true.
    #[track_caller]
    pub fn then_some<X: Placed>(self, value: X) -> Maybe<X> {
        Maybe { some: moved::<Self, X>(only(self)), value }
    }

    /// An option that has the result of `f` if the condition is true. `f` runs only then.
    #[track_caller]
    pub fn then<X: Flatten + Placed>(self, f: impl FnOnce() -> X) -> Maybe<X> {
        self.then_some(where_only(only(self), true, f))
    }
}

impl V<bool> {
    /// An option that has `value`, converted to a varying one, in the lanes where the condition is true.
    #[track_caller]
    pub fn then_some<X: Vary<Varying: Placed>>(self, value: X) -> Maybe<X::Varying> {
        Maybe { some: moved::<Self, X::Varying>(only(self)), value: value.vary() }
    }

    /// An option that has the result of `f` in the lanes where the condition is true. `f` runs only there.
    #[track_caller]
    pub fn then<X: Vary<Varying: Flatten + Placed>>(self, f: impl FnOnce() -> X) -> Maybe<X::Varying> {
        let value = where_only(only(self), true, || f().vary());
        Maybe { some: moved::<Self, X::Varying>(only(self)), value }
    }
}
