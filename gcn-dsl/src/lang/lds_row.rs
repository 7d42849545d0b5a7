//! Rows of LDS: the `tile[row]` of `tile[row][column]`.

use std::marker::PhantomData;
use std::panic::Location;

use super::V;
use super::known::refuse_outside;
use super::matrix::Groups;
use super::memory::{Backing, Elements, indexed};
use crate::ir::{LdsId, Memory};

/// A row of an LDS array of rows, or of an [`LdsTile`](super::matrix::LdsTile).
#[derive(Debug, Clone, Copy)]
pub struct LdsRow<T> {
    id: LdsId,
    row: V<u32>,
    columns: usize,
    /// Elements from one row to the next.
    pitch: u32,
    /// How groups of elements change places in the row.
    groups: Option<Groups>,
    element: PhantomData<T>,
}

impl<T> LdsRow<T> {
    /// Row `row` of an array of so many rows and columns.
    #[track_caller]
    pub(super) fn of(
        id: LdsId,
        row: V<u32>,
        [rows, columns]: [usize; 2],
        pitch: u32,
        groups: Option<Groups>,
        loc: &'static Location<'static>,
    ) -> Self {
        refuse_outside(row, 1, rows, loc);
        LdsRow { id, row, columns, pitch, groups, element: PhantomData }
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

indexed!([] LdsRow<T>);
