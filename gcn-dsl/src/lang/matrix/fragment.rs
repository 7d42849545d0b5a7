//! Fragments: the factors A and B of matrix instructions, spread over the lanes of a wave.

use std::panic::Location;

use gcn_isa::layout::{ByLane, Matrix};

use super::format::{MatrixElement, MxFormat, packed};
use super::handle::handle;
use super::operand::{Family, Operand};
use super::place::{At, Places, Run};
use super::view::AsView;
use crate::ir::{Inst, Place, Type, Value};
use crate::lang::memory::slice::{Elements, assume_whole_dwords, load_elements};
use crate::lang::values::constant::within;
use crate::lang::values::vector::{element, pack};
use crate::lang::{Index, IntoDevice, V, with};
use crate::scalar::Number;

handle! {
    /// An `M x K` fragment of the left matrix, or of `BLOCKS` left matrices for instructions that multiply several
    /// pairs at once.
    ///
    /// All elements of a lane are in one row of one block and have different `k`; on GFX9 these `k` are consecutive.
    FragA<T, M, K; BLOCKS = 1>
}
handle! {
    /// A `K x N` fragment of the right matrix, or of `BLOCKS` right matrices for instructions that multiply several
    /// pairs at once.
    ///
    /// All elements of a lane are in one column of one block and have different `k`; on GFX9 these `k` are consecutive.
    FragB<T, K, N; BLOCKS = 1>
}
handle! {
    /// An `M x K` fragment of a left matrix with 2:4 sparsity: of every four consecutive `k`, at most two elements are
    /// nonzero. The fragment contains `M x K / 2` elements; the [`SparseIndex`](super::SparseIndex) says for each group
    /// of four which two these are. It is a factor of [`smfmac`](super::smfmac).
    SparseA<T, M, K>
}
handle! {
    /// An `M x K` fragment of the left matrix of the `f8f6f4` instructions, whose factors may have different formats
    /// and may be scaled.
    MxA<T, M, K>
}
handle! {
    /// A `K x N` fragment of the right matrix of the `f8f6f4` instructions.
    MxB<T, K, N>
}

/// Loads a lane's elements from a matrix in memory.
#[track_caller]
pub(super) fn load_fragment<T: MatrixElement>(
    places: Places,
    at: [At; 2],
    operand: Operand,
    elements: usize,
) -> Value {
    let loc = Location::caller();
    let coordinates = (0..elements as u32).filter_map(|j| operand.host_coordinates(j, loc));
    let along = usize::from(operand.matrix == Matrix::A);
    let runs = Run::of(coordinates, along);
    places.load::<T>(at, &runs)
}

macro_rules! fragment {
    ($name:ident<$t:ident: $bound:ident, $a:ident, $b:ident $(; $blocks:ident)?>, $matrix:ident, $family:ident,
     $at:literal, $coordinate:ident, $what:literal, $k:literal) => {
        impl<$t: $bound, const $a: usize, const $b: usize, $(const $blocks: usize)?> $name<$t, $a, $b, $($blocks)?> {
            /// The number of elements in each lane, on the target that the kernel is built for.
            #[track_caller]
            pub fn per_lane() -> usize {
                Self::OPERAND.per_lane(Location::caller())
            }

            pub(crate) const OPERAND: Operand = Operand {
                matrix: Matrix::$matrix,
                family: Family::$family,
                format: $t::FORMAT,
                rows: $a,
                cols: $b,
                blocks: 1 $(* $blocks)?,
            };

            #[doc = concat!("The lane's ", $what, ".")]
            #[track_caller]
            pub fn $coordinate() -> V<u32> {
                Self::OPERAND.coordinates(0)[$at]
            }

            /// The `k` of the lane's first element.
            #[track_caller]
            pub fn k() -> V<u32> {
                Self::OPERAND.coordinates(0)[$k]
            }

            /// The `k` of the lane's element `j`.
            #[track_caller]
            pub fn k_of(j: usize) -> V<u32> {
                Self::OPERAND.coordinates(j as u32)[$k]
            }

            $(
                #[doc = concat!("Which of the `", stringify!($blocks), "` matrices the lane's elements belong to.")]
                #[track_caller]
                pub fn block() -> V<u32> {
                    Self::OPERAND.coordinates(0)[0]
                }
            )?

            /// Loads the lane's elements from a matrix in memory; the fragment's element (0, 0) is at (`row`, `col`).
            ///
            /// If `k` is the view's contiguous dimension, up to 16 bytes are loaded at once, and each lane's address
            /// must be a multiple of the size of its run of consecutive elements. Otherwise elements are loaded one by
            /// one or, on gfx950 and from LDS, by transposing loads, for which `row` and `col` must be the same in all
            /// lanes.
            #[track_caller]
            pub fn load_from(
                view: impl AsView<$t::Memory>,
                row: impl IntoDevice<V<u32>>,
                col: impl IntoDevice<V<u32>>,
            ) -> Self {
                let at = [At::new(row.into_device()), At::new(col.into_device())];
                Self::of(load_fragment::<$t>(view.places(), at, Self::OPERAND, Self::per_lane()))
            }

            /// Loads the lane's elements, which must be contiguous in memory, starting at element `i`.
            #[track_caller]
            pub fn load(from: &impl Elements<$t::Memory>, i: impl Index) -> Self {
                let loc = Location::caller();
                let ty = packed::<$t>(Place::Varying, Self::per_lane() as u32);
                Self::of(wide_load(from, i.index(), ty.count, loc))
            }
        }
    };
}

fragment!(FragA<T: MatrixElement, M, K; BLOCKS>, A, Dense, 1, row, "row", 2);
fragment!(FragB<T: MatrixElement, K, N; BLOCKS>, B, Dense, 2, col, "column", 1);
fragment!(MxA<T: MxFormat, M, K>, A, F8f6f4, 1, row, "row", 2);
fragment!(MxB<T: MxFormat, K, N>, B, F8f6f4, 2, col, "column", 1);

impl<T: MatrixElement, const M: usize, const K: usize> SparseA<T, M, K> {
    /// The number of elements in each lane, on the target that the kernel is built for: half of the lane's `k`.
    #[track_caller]
    pub fn per_lane() -> usize {
        Self::OPERAND.per_lane(Location::caller())
    }

    pub(crate) const OPERAND: Operand =
        Operand { matrix: Matrix::A, family: Family::Sparse, format: T::FORMAT, rows: M, cols: K, blocks: 1 };

    /// The lane's row.
    #[track_caller]
    pub fn row() -> V<u32> {
        Self::OPERAND.coordinates(0)[1]
    }

    /// The lane's elements come in pairs, each pair from a group of four consecutive `k`. Returns the first `k` of the
    /// lane's first group, numbered as in the uncompressed matrix.
    #[track_caller]
    pub fn k() -> V<u32> {
        Self::OPERAND.coordinates(0)[2]
    }

    /// The first `k` of the lane's group `j`, numbered as in the uncompressed matrix. Of each group of four, the lane
    /// contains two elements: its elements `2 * j` and `2 * j + 1` belong to group `j`, so there are half as many
    /// groups as [elements](SparseA::per_lane). On GFX9 a lane's groups are consecutive.
    #[track_caller]
    pub fn k_of(j: usize) -> V<u32> {
        Self::OPERAND.coordinates(j as u32)[2]
    }

    /// Loads the lane's elements from a compressed matrix, whose rows have `K / 2` stored elements for every `K` of the
    /// uncompressed matrix. The fragment's element (0, 0) is at (`row`, `col`) of the compressed matrix, whose rows
    /// must be contiguous.
    #[track_caller]
    pub fn load_from(
        compressed: impl AsView<T::Memory>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) -> Self {
        let loc = Location::caller();
        let at = [At::new(row.into_device()), At::new(col.into_device())];
        let stored = |j: u32| {
            let mut at = Self::OPERAND.host_coordinates(j / 2, loc)?;
            let ByLane { base, weights } = at.column;
            at.column = ByLane { base: base / 2 + j % 2, weights: weights.map(|weight| weight / 2) };
            Some(at)
        };
        let runs = Run::of((0..Self::per_lane() as u32).filter_map(stored), 1);
        Self::of(compressed.places().load::<T>(at, &runs))
    }

    /// Loads the lane's elements, which must be contiguous in memory, starting at element `i`. In a compressed matrix
    /// with rows of `K / 2` elements, `i` is `row() * (K / 2) + k() / 2` on GFX9; on other targets a lane's elements
    /// are not always neighbours, so use [`load_from`](SparseA::load_from).
    #[track_caller]
    pub fn load(from: &impl Elements<T::Memory>, i: impl Index) -> Self {
        let loc = Location::caller();
        let ty = packed::<T>(Place::Varying, Self::per_lane() as u32);
        Self::of(wide_load(from, i.index(), ty.count, loc))
    }
}

macro_rules! from_fn {
    ($name:ident, $a:ident, $b:ident) => {
        impl<T: MatrixElement<Memory = T> + Number, const $a: usize, const $b: usize, const BLOCKS: usize>
            $name<T, $a, $b, BLOCKS>
        {
            /// Builds the fragment from the lane's elements: `f(j)` returns the element at `k_of(j)`, which on GFX9 is
            /// `k() + j`.
            #[track_caller]
            pub fn from_fn(f: impl FnMut(u32) -> V<T>) -> Self {
                let parts: Vec<V<T>> = (0..Self::per_lane() as u32).map(f).collect();
                Self::of(pack(&parts, Location::caller()))
            }

            /// The lane's element `j`. The build fails if `j` is not below the number of elements of a lane.
            #[track_caller]
            pub fn get(self, j: usize) -> V<T> {
                let count = Self::per_lane();
                let j = within(j, count, "element", || format!("a lane's {count}"));
                let loc = Location::caller();
                V::from_value(element::<T>(self.value, j, count, loc))
            }
        }
    };
}
from_fn!(FragA, M, K);
from_fn!(FragB, K, N);

/// Loads `count` consecutive elements with accesses of up to 16 bytes.
pub(super) fn wide_load<T: Number>(
    from: &impl Elements<T>,
    i: V<u32>,
    count: u8,
    loc: &'static Location<'static>,
) -> Value {
    assume_whole_dwords::<T>(from.memory(), count.into());
    let size = T::ELEM.bytes() as u8;
    let bytes = count * size;
    if bytes <= 16 {
        return load_elements(from, i, usize::from(count), loc);
    }
    let mut parts = smallvec::SmallVec::new();
    let mut done = 0;
    while done < bytes {
        let piece = (bytes - done).min(16);
        parts.push(load_elements(from, i + u32::from(done / size), usize::from(piece / size), loc));
        done += piece;
    }
    let ty = Type { place: Place::Varying, elem: T::ELEM, count };
    with(|c| c.value(Inst::Concat(parts), ty, loc))
}
