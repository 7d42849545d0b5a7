//! Views of memory as matrices.

use std::marker::PhantomData;
use std::panic::Location;

use super::place::{Limit, Places, Stride};
use crate::ir::{Inst, Memory};
use crate::lang::memory::slice::Backing;
use crate::lang::{IntoDevice, Lds, Ptr, ReadOnly, S, Slice, Writable, with};
use crate::scalar::Number;

/// A view of memory as a matrix: maps row and column to an element. Made by [`row_major`] and [`col_major`]; an
/// [`LdsTile`](super::LdsTile) can be used as one as well.
///
/// `T` is the memory's element type, `A` is [`ReadOnly`] or [`Writable`].
#[derive(Debug)]
pub struct View<T, A = ReadOnly> {
    pub(super) places: Places,
    types: PhantomData<(T, A)>,
}

impl<T, A> Clone for View<T, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, A> Copy for View<T, A> {}

/// Memory that can contain a matrix: slices, pointers and LDS arrays.
#[allow(private_bounds, reason = "the IR is not part of the language")]
pub trait MatrixMemory: Backing<Self::Element> {
    /// The memory's element type.
    type Element: Number;
    /// [`ReadOnly`] or [`Writable`].
    type Access;
}

impl<T: Number, A> MatrixMemory for Slice<T, A> {
    type Element = T;
    type Access = A;
}
impl<T: Number, A> MatrixMemory for Ptr<T, A> {
    type Element = T;
    type Access = A;
}
impl<T: Number, const N: usize> MatrixMemory for Lds<T, N> {
    type Element = T;
    type Access = Writable;
}

/// Sources from which fragments and accumulators are loaded: a [`View`] or an [`LdsTile`](super::LdsTile).
#[allow(private_interfaces, reason = "the IR is not part of the language")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}` in memory",
    label = "expected a matrix of `{T}`",
    note = "make one with `row_major(&a, row_length)` or `col_major(&a, column_length)`, or declare an `LdsTile`; 8-, 6- and 4-bit floats stand in `u8`"
)]
pub trait AsView<T> {
    #[doc(hidden)]
    fn places(&self) -> Places;
}

/// Destinations to which accumulators are stored.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}` that can be written",
    label = "expected a writable matrix of `{T}`",
    note = "declare the argument as `&mut [{T}]`; convert other element types on the way with `store_with`"
)]
pub trait AsViewMut<T>: AsView<T> {}

#[allow(private_interfaces, reason = "the IR is not part of the language")]
impl<T, A> AsView<T> for View<T, A> {
    fn places(&self) -> Places {
        self.places
    }
}
impl<T> AsViewMut<T> for View<T, Writable> {}

fn view<M: MatrixMemory>(memory: &M, strides: [Stride; 2]) -> View<M::Element, M::Access> {
    View::of(Places::new(memory.memory(), strides).starting_at(memory.start()))
}

/// The matrix whose element (`row`, `col`) is `memory[row * length + col]`.
#[track_caller]
pub fn row_major<M: MatrixMemory>(memory: M, length: impl IntoDevice<S<u32>>) -> View<M::Element, M::Access> {
    view(&memory, [Stride::of(length.into_device()), Stride::Const(1)])
}

/// The matrix whose element (`row`, `col`) is `memory[col * length + row]`.
#[track_caller]
pub fn col_major<M: MatrixMemory>(memory: M, length: impl IntoDevice<S<u32>>) -> View<M::Element, M::Access> {
    view(&memory, [Stride::Const(1), Stride::of(length.into_device())])
}

impl<T, A> View<T, A> {
    pub(super) fn of(places: Places) -> Self {
        View { places, types: PhantomData }
    }

    /// The same memory with rows and columns exchanged.
    #[must_use]
    pub fn transposed(self) -> Self {
        View::of(self.places.transposed())
    }

    /// For fragments of several blocks: the distance between the matrices of consecutive blocks, in elements. Without
    /// this, all blocks load the same matrix.
    #[must_use]
    #[track_caller]
    pub fn blocks(self, stride: impl IntoDevice<S<u32>>) -> Self {
        View::of(self.places.with_blocks(Stride::of(stride.into_device())))
    }

    /// Limits the matrix to `rows` rows: elements beyond them are loaded as 0 and are not stored. This exists for
    /// slices only, because it uses the hardware's bounds check.
    ///
    /// A limit along the contiguous dimension prevents wide accesses: each element is then loaded and stored
    /// separately.
    #[must_use]
    #[track_caller]
    pub fn rows(self, rows: impl IntoDevice<S<u32>>) -> Self {
        self.limit(0, rows.into_device(), 1, Location::caller())
    }

    /// Limits the matrix to `columns` columns: elements beyond them are loaded as 0 and are not stored. See
    /// [`View::rows`].
    #[must_use]
    #[track_caller]
    pub fn columns(self, columns: impl IntoDevice<S<u32>>) -> Self {
        self.limit(1, columns.into_device(), 1, Location::caller())
    }

    /// As [`View::columns`], with the promise that the number of columns and the first column of every tile are
    /// multiples of `step`. Accesses to `step` neighbouring elements, or to a divisor of that number, can then stay
    /// wide.
    #[must_use]
    #[track_caller]
    pub fn columns_by(self, columns: impl IntoDevice<S<u32>>, step: u32) -> Self {
        self.limit(1, columns.into_device(), step.max(1), Location::caller())
    }

    fn limit(mut self, dimension: usize, count: S<u32>, step: u32, loc: &'static Location<'static>) -> Self {
        if !matches!(self.places.memory, Memory::Buffer(_)) {
            let what = "only a matrix in a slice has bounds: the hardware checks no others";
            with(|c| c.fail(loc, what.to_owned()));
        }
        self.places.limits[dimension] = Some(Limit { count, step });
        self
    }
}

impl Stride {
    /// If the length is an IR constant, the stride is known when the kernel is built.
    fn of(length: S<u32>) -> Stride {
        match with(|c| c.builder.kernel().def(length.value).inst.clone()) {
            Inst::Const(bits) => Stride::Const(bits as u32),
            _ => Stride::Uniform(length),
        }
    }
}
