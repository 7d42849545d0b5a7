//! Arrays that a pattern takes apart: `let [x, y] = points[i];`.

use super::memory::{Index, LoadAt};
use super::stored::{Run, Stored};

/// What `[a, b]` may be the pattern of.
#[diagnostic::on_unimplemented(
    message = "`[a, b]` takes an array apart, and this is a `{Self}`",
    label = "not an array",
    note = "of memory take a part whose length the type says: an element of a `&[[f32; 2]]`, or the elements one by one"
)]
pub trait TakenApart {
    /// The array of its elements.
    type Array;
    /// This value as such an array.
    fn array(self) -> Self::Array;
}

/// The expansion of the value of `let [a, b] = value;`.
#[track_caller]
pub fn taken_apart<A: TakenApart>(value: A) -> A::Array {
    value.array()
}

impl<X, const N: usize> TakenApart for [X; N] {
    type Array = Self;
    fn array(self) -> Self {
        self
    }
}

impl<X, const N: usize> TakenApart for &[X; N] {
    type Array = Self;
    fn array(self) -> Self {
        self
    }
}

impl<X: Stored, I: Index, const N: usize> TakenApart for Run<X, I, N> {
    type Array = [X::Read<I>; N];
    #[track_caller]
    fn array(self) -> Self::Array {
        let elements: Vec<X::Read<I>> = (0..N).map(|k| self.load_at(k)).collect();
        elements.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}
