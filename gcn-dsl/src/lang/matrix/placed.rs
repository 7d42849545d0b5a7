//! `map_indexed` with rows and columns.

use std::panic::Location;

use super::format::AccElement;
use super::{Acc, Tile};
use crate::lang::V;

/// `map_indexed` with a closure that takes row, column and element: `acc.map_indexed(|row, col, x| …)`.
///
/// The macro brings this trait into scope for a call whose closure has three parameters. Method lookup first tries a
/// method that takes `self` by value, so it finds this one before the inherent `map_indexed`, whose closure takes an
/// element's index. Types without this trait are not affected.
pub trait MapPlaced<T> {
    /// The same matrix type with elements of `U`.
    type Of<U: AccElement>;

    /// Applies `f` to each element's row and column in the matrix and the element itself.
    #[must_use]
    #[track_caller]
    fn map_indexed<U: AccElement>(self, f: impl FnMut(V<u32>, V<u32>, V<T>) -> V<U>) -> Self::Of<U>;
}

impl<T: AccElement, const M: usize, const N: usize, const SIDE: usize> MapPlaced<T> for Tile<T, M, N, SIDE> {
    type Of<U: AccElement> = Tile<U, M, N, SIDE>;

    #[track_caller]
    fn map_indexed<U: AccElement>(
        self,
        mut f: impl FnMut(V<u32>, V<u32>, V<T>) -> V<U>,
    ) -> Tile<U, M, N, SIDE> {
        let placed = Self::places().zip(self.elements());
        let parts: Vec<V<U>> = placed.map(|([row, col], x)| f(row, col, x)).collect();
        Tile::from_elements(&parts, self.place(), Location::caller())
    }
}

impl<T: AccElement, const M: usize, const N: usize, const BLOCKS: usize> MapPlaced<T>
    for Acc<T, M, N, BLOCKS>
{
    type Of<U: AccElement> = Acc<U, M, N, BLOCKS>;

    #[track_caller]
    fn map_indexed<U: AccElement>(
        self,
        mut f: impl FnMut(V<u32>, V<u32>, V<T>) -> V<U>,
    ) -> Acc<U, M, N, BLOCKS> {
        let elements = self.elements().into_iter().enumerate();
        let parts: Vec<V<U>> = elements.map(|(i, x)| f(self.row(i), self.col(), x)).collect();
        Acc::from_elements(&parts, self.place(), Location::caller())
    }
}
