//! `match` on device integers and `bool`, and the tests to which its patterns expand.

use std::panic::Location;

use crate::ir::{Inst, Pred, Value};
use crate::lang::{IntoDevice, S, V, and, or};
use crate::scalar::Scalar;

/// Types of the value of a `match` in a kernel.
#[diagnostic::on_unimplemented(
    message = "`match` in a kernel looks at a device integer or `bool`, not at `{Self}`",
    label = "expected `S<T>` or `V<T>` of an integer or `bool`, found `{Self}`",
    note = "compare floats with `<` and `==` in an `if`; match on a value that is known when the kernel is built in `comptime {{ match … }}`"
)]
pub trait Matched: Copy {
    /// The value as an IR value.
    fn ir_value(self) -> Value;
    /// The type of constants in patterns.
    type Host: Scalar;
    /// The type of a test: `S<bool>` or `V<bool>`.
    type Condition;
    /// Compares the value with a constant.
    fn test(self, pred: Pred, constant: Self::Host) -> Self::Condition;
    /// True if both conditions are true.
    fn both(a: Self::Condition, b: Self::Condition) -> Self::Condition;
    /// True if at least one of the conditions is true.
    fn either(a: Self::Condition, b: Self::Condition) -> Self::Condition;
    /// A condition that is always true or always false.
    fn constant(self, holds: bool) -> Self::Condition;
}

macro_rules! matched {
    ($($t:ty),*) => {$( matched!(@one $t, S); matched!(@one $t, V); )*};
    (@one $t:ty, $handle:ident) => {
        impl Matched for $handle<$t> {
            type Host = $t;
            type Condition = $handle<bool>;
            #[track_caller]
            fn test(self, pred: Pred, constant: $t) -> $handle<bool> {
                let constant: $handle<$t> = constant.into_device();
                $handle::emit(Inst::Cmp(pred, self.value, constant.value), Location::caller())
            }
            #[track_caller]
            fn both(a: $handle<bool>, b: $handle<bool>) -> $handle<bool> {
                and(a, b)
            }
            fn either(a: $handle<bool>, b: $handle<bool>) -> $handle<bool> {
                or(a, b)
            }
            fn ir_value(self) -> Value {
                self.value
            }
            fn constant(self, holds: bool) -> $handle<bool> {
                holds.into_device()
            }
        }
    };
}
matched!(bool, u8, i8, u16, i16, u32, i32, u64, i64);

/// The guard of an arm in the copy of the `match` that the macro emits for the host, so that rustc checks the patterns.
/// It is a function because rustc must assume that the guard may be false.
pub fn otherwise() -> bool {
    true
}

/// The test of a pattern that is one constant.
#[track_caller]
pub fn is<M: Matched>(matched: M, constant: M::Host) -> M::Condition {
    matched.test(Pred::Eq, constant)
}

/// The test of the pattern `a..=b`.
#[track_caller]
pub fn is_between<M: Matched>(matched: M, a: M::Host, b: M::Host) -> M::Condition {
    M::both(matched.test(Pred::Ge, a), matched.test(Pred::Le, b))
}

/// The test of the pattern `a..`.
#[track_caller]
pub fn is_at_least<M: Matched>(matched: M, a: M::Host) -> M::Condition {
    matched.test(Pred::Ge, a)
}

/// The test of the pattern `..=b`.
#[track_caller]
pub fn is_at_most<M: Matched>(matched: M, b: M::Host) -> M::Condition {
    matched.test(Pred::Le, b)
}

/// The test of the pattern `..b`, and of the upper end of `a..b`.
#[track_caller]
pub fn is_below<M: Matched>(matched: M, b: M::Host) -> M::Condition {
    matched.test(Pred::Lt, b)
}
