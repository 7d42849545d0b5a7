//! Array patterns: `let [x, y] = points[i];`.

use std::panic::Location;

use crate::ir::Inst;
use crate::lang::memory::access::LoadAt;
use crate::lang::memory::layout::{Index, Run, Stored};
use crate::lang::{LdsRow, V, with};
use crate::scalar::Number;

/// Types that the pattern `[a, b]` can destructure.
#[diagnostic::on_unimplemented(
    message = "`[a, b]` takes an array apart, and this is a `{Self}`",
    label = "not an array",
    note = "of memory take a part whose length the type says: an element of a `&[[f32; 2]]`, or the elements one by one"
)]
pub trait TakenApart<const N: usize> {
    /// The type of the array.
    type Array;
    /// The elements as an array.
    fn array(self) -> Self::Array;
}

/// The expansion of the value of `let [a, b] = value;`.
#[track_caller]
pub fn taken_apart<const N: usize, A: TakenApart<N>>(value: A) -> A::Array {
    value.array()
}

impl<X, const N: usize> TakenApart<N> for [X; N] {
    type Array = Self;
    fn array(self) -> Self {
        self
    }
}

impl<X, const N: usize> TakenApart<N> for &[X; N] {
    type Array = Self;
    fn array(self) -> Self {
        self
    }
}

impl<X: Stored, I: Index, const N: usize> TakenApart<N> for Run<X, I, N> {
    type Array = [X::Read<I>; N];
    #[track_caller]
    fn array(self) -> Self::Array {
        let elements: Vec<X::Read<I>> = (0..N).map(|k| self.load_at(k)).collect();
        elements.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}

/// A row of an LDS array has as many elements as its array's type says, and the pattern must name all of them.
impl<T: Number, const N: usize> TakenApart<N> for LdsRow<T> {
    type Array = [V<T>; N];
    #[track_caller]
    fn array(self) -> [V<T>; N] {
        let (loc, len) = (Location::caller(), self.columns());
        if len != N {
            with(|c| c.fail(loc, format!("the pattern names {N} elements, and the row has {len}: name all")));
        }
        let mut elements = Vec::with_capacity(N);
        for k in 0..N.min(len) as u32 {
            elements.push(self.load_at(k));
        }
        elements.resize_with(N, || V::emit(Inst::Const(0), loc));
        elements.try_into().unwrap_or_else(|_| unreachable!("as many elements as the pattern has"))
    }
}
