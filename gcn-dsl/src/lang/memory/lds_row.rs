//! Rows and planes of LDS arrays: the `tile[row]` of `tile[row][column]`.

use std::marker::PhantomData;
use std::panic::Location;

use super::bounds::check_at;
use super::slice::{Backing, Elements, load_elements, store_elements};
use crate::ir::{LdsId, Memory};
use crate::lang::values::constant::refuse_outside;
use crate::lang::{Index, LoadAt, PlaceAt, StoreAt, V};
use crate::scalar::Number;

/// An XOR swizzle of the elements of a row, in groups of `width` elements: group `g` of row `r` is stored at position
/// `g ^ (r / rows % period)`. All three numbers are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// The number of elements in a group.
    pub width: u32,
    /// The number of positions that a group can have.
    pub period: u32,
    /// The number of consecutive rows with the same permutation.
    pub rows: u32,
}

/// A row of an LDS array of rows, or of an [`LdsTile`](crate::lang::matrix::LdsTile).
#[derive(Debug, Clone, Copy)]
pub struct LdsRow<T> {
    id: LdsId,
    row: V<u32>,
    columns: usize,
    /// The distance from one row to the next, in elements.
    pitch: u32,
    /// The swizzle of groups of elements in the row.
    groups: Option<Groups>,
    element: PhantomData<T>,
}

impl<T> LdsRow<T> {
    pub(in crate::lang) fn columns(&self) -> usize {
        self.columns
    }

    /// Row `row` of an array with the given numbers of rows and columns.
    #[track_caller]
    pub(in crate::lang) fn of(
        id: LdsId,
        row: V<u32>,
        [rows, columns]: [usize; 2],
        pitch: u32,
        groups: Option<Groups>,
        loc: &'static Location<'static>,
    ) -> Self {
        refuse_outside(row, 1, rows, loc);
        check_at(row, rows as u32, "an LDS array", loc);
        LdsRow { id, row, columns, pitch, groups, element: PhantomData }
    }
}

/// A plane of `L` rows of `M` elements: the `t[z]` of `t[z][y][x]`.
#[derive(Debug, Clone, Copy)]
pub struct LdsPlane<T, const M: usize, const L: usize> {
    id: LdsId,
    /// The plane's index, and the number of planes.
    plane: V<u32>,
    planes: usize,
    element: PhantomData<T>,
}

impl<T, const M: usize, const L: usize> LdsPlane<T, M, L> {
    #[track_caller]
    pub(in crate::lang) fn of(
        id: LdsId,
        plane: V<u32>,
        planes: usize,
        loc: &'static Location<'static>,
    ) -> Self {
        refuse_outside(plane, 1, planes, loc);
        check_at(plane, planes as u32, "an LDS array", loc);
        LdsPlane { id, plane, planes, element: PhantomData }
    }
}

impl<T: Number, const M: usize, const L: usize, I: Index> LoadAt<I> for LdsPlane<T, M, L> {
    type Output = LdsRow<T>;
    #[track_caller]
    fn load_at(&self, i: I) -> LdsRow<T> {
        let (row, loc) = (i.index(), Location::caller());
        refuse_outside(row, 1, L, loc);
        check_at(row, L as u32, "a plane", loc);
        LdsRow::of(self.id, self.plane * L as u32 + row, [self.planes * L, M], M as u32, None, loc)
    }
}

impl<T: Number, const M: usize, const L: usize, I: Index> PlaceAt<I> for LdsPlane<T, M, L> {
    type Place = LdsRow<T>;
    #[track_caller]
    fn place_at(&self, i: I) -> LdsRow<T> {
        self.load_at(i)
    }
}

impl<T> Backing<T> for LdsRow<T> {
    fn memory(&self) -> Memory {
        Memory::Lds(self.id)
    }
    fn known_len(&self) -> Option<usize> {
        Some(self.columns)
    }
    #[track_caller]
    fn rebase(&self, i: V<u32>, _loc: &'static Location<'static>) -> V<u32> {
        let column = match self.groups {
            Some(g) => i ^ ((self.row / g.rows % g.period) * g.width),
            None => i,
        };
        self.row * self.pitch + column
    }
}
impl<T> Elements<T> for LdsRow<T> {}

impl<T: Number, I: Index> LoadAt<I> for LdsRow<T> {
    type Output = V<T>;
    #[track_caller]
    fn load_at(&self, i: I) -> V<T> {
        self.check(i.index(), 1);
        V::from_value(load_elements(self, i.index(), 1, Location::caller()))
    }
}

impl<T: Number, I: Index> StoreAt<I> for LdsRow<T> {
    type Element = V<T>;
    #[track_caller]
    fn store_at(&self, i: I, value: V<T>) {
        self.check(i.index(), 1);
        store_elements(self, i.index(), value.value, Location::caller());
    }
}
