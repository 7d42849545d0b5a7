//! Merging of the values of branches.

use crate::lang::Flatten;

/// Pairs of types, of the values of an `if`'s two branches, that merge into one value. `How` is the kind of the
/// condition.
#[diagnostic::on_unimplemented(
    message = "the branches give `{Self}` and `{B}`, which do not join to one device value",
    label = "branches do not join",
    note = "both need the same element type; a host value joins as a constant; beside a value of a type parameter a literal needs `T: Arithmetic`"
)]
pub trait Merge<How, B>: Sized {
    /// The type of the merged value: varying if the condition or either value is.
    type Output: Flatten;
    /// True if the `then` branch has no value, because its lanes leave.
    const LEFT_LEAVES: bool = false;
    /// True if the `else` branch has no value, because its lanes leave.
    const RIGHT_LEAVES: bool = false;
    /// Converts the `then` branch's value.
    fn left(self) -> Self::Output;
    /// Converts the `else` branch's value.
    fn right(b: B) -> Self::Output;
}

/// The type of the expressions `break`, `continue` and `return`, which have no value.
#[derive(Debug, Clone, Copy)]
pub struct Never;
