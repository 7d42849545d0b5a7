//! The value of an expression with branches.

use crate::lang::Flatten;

/// Values of the two branches of an `if` that join to one, `How` the condition says.
#[diagnostic::on_unimplemented(
    message = "the branches give `{Self}` and `{B}`, which do not join to one device value",
    label = "branches do not join",
    note = "both need the same element type; a host value joins as a constant; beside a value of a type parameter a literal needs `T: Arithmetic`"
)]
pub trait Merge<How, B>: Sized {
    /// The joined value: varying if the condition or a branch is.
    type Output: Flatten;
    /// The `then` branch has no value, because its lanes leave.
    const LEFT_LEAVES: bool = false;
    /// The `else` branch has no value, because its lanes leave.
    const RIGHT_LEAVES: bool = false;
    /// The `then` value.
    fn left(self) -> Self::Output;
    /// The `else` value.
    fn right(b: B) -> Self::Output;
}

/// The value of `break`, `continue` and `return`: there is none.
#[derive(Debug, Clone, Copy)]
pub struct Never;
