//! Accumulators of matrix instructions.

use std::panic::Location;

use gcn_isa::layout::{Arrangement, Matrix};

use super::elementwise;
use super::format::{AccElement, MatrixElement};
use super::fragment::FragA;
use super::fragment::FragB;
use super::handle::handle;
use super::operand::{Family, Operand, here};
use super::place::{At, Run};
use super::view::{AsView, AsViewMut};
use crate::ir::{Bin, Inst, Place, Value};
use crate::lang::isa::operand::{Input, Source};
use crate::lang::values::constant::within;
use crate::lang::values::register::{Agprs, InRegisters};
use crate::lang::values::vector::pack;
use crate::lang::{IntoDevice, V, shuffle_xor, with};
use crate::scalar::{Number, Scalar};

handle! {
    /// One `M x N` accumulator of `T`, or `BLOCKS` of them, spread over the lanes of a wave.
    ///
    /// All elements of a lane are in one column. If the target has AGPRs, the accumulator is in AGPRs, and an element
    /// is copied to a VGPR before any instruction other than a matrix instruction uses it; [`Acc::in_vgprs`] moves the
    /// whole accumulator to VGPRs.
    Acc<T, M, N; BLOCKS = 1>
}

impl<T: AccElement, const M: usize, const N: usize, const BLOCKS: usize> Acc<T, M, N, BLOCKS> {
    /// The number of elements in each lane, on the target that the kernel is built for.
    #[track_caller]
    pub fn per_lane() -> usize {
        Self::OPERAND.per_lane(Location::caller())
    }

    pub(crate) const OPERAND: Operand = Operand {
        matrix: Matrix::D,
        family: Family::Dense,
        format: T::FORMAT,
        rows: M,
        cols: N,
        blocks: BLOCKS,
    };

    /// The accumulator whose elements are all zero.
    #[track_caller]
    pub fn zero() -> Self {
        Self::of(elementwise::zero::<T>(Self::per_lane() * Self::OPERAND.spacing(Location::caller())))
    }

    /// Builds the accumulator from the lane's elements: `f(i)` returns element `i`.
    #[track_caller]
    pub fn from_fn(f: impl FnMut(usize) -> V<T>) -> Self {
        let parts: Vec<V<T>> = (0..Self::per_lane()).map(f).collect();
        Self::from_elements(&parts, elementwise::home(), Location::caller())
    }

    pub(super) fn from_elements(parts: &[V<T>], place: Place, loc: &'static Location<'static>) -> Self {
        Self::of(elementwise::collect(parts, Self::OPERAND.spacing(loc), place, loc))
    }

    /// The same accumulator in VGPRs, where vector instructions read and write its elements without copies. A matrix
    /// instruction puts its result into the register file of its accumulator, so its results stay in VGPRs, too.
    #[must_use]
    #[track_caller]
    pub fn in_vgprs(self) -> Self {
        Self::of(elementwise::in_vgprs(self.value, Location::caller()))
    }

    pub(super) fn place(&self) -> Place {
        with(|c| c.builder.kernel().ty(self.value).place)
    }

    /// The number of elements in each lane.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    #[track_caller]
    pub fn len(&self) -> usize {
        Self::per_lane()
    }

    /// The lane's `i`-th element. The build fails if `i` is not below [`Acc::len`].
    #[track_caller]
    pub fn get(&self, i: usize) -> V<T> {
        let len = self.len();
        let i = within(i, len, "element", || format!("a lane's {len}"));
        elementwise::one(self.value, i, len, Location::caller())
    }

    /// The accumulator in which each lane's `i`-th element is replaced by `x`. The build fails if `i` is not below
    /// [`Acc::len`].
    #[must_use]
    #[track_caller]
    pub fn with(&self, i: usize, x: impl IntoDevice<V<T>>) -> Self {
        let len = self.len();
        let i = within(i, len, "element", || format!("a lane's {len}"));
        let mut parts = self.elements();
        parts[i] = x.into_device();
        Self::from_elements(&parts, self.place(), Location::caller())
    }

    #[track_caller]
    pub(super) fn elements(&self) -> Vec<V<T>> {
        elementwise::extract(self.value, Self::per_lane(), Location::caller())
    }

    /// The row of the lane's `i`-th element.
    #[track_caller]
    pub fn row(&self, i: usize) -> V<u32> {
        Self::OPERAND.coordinates(i as u32)[1]
    }

    /// The column of the lane's elements.
    #[track_caller]
    pub fn col(&self) -> V<u32> {
        Self::OPERAND.coordinates(0)[2]
    }

    /// The number (below `BLOCKS`) of the accumulator to which the lane's `i`-th element belongs.
    #[track_caller]
    pub fn block(&self, i: usize) -> V<u32> {
        Self::OPERAND.coordinates(i as u32)[0]
    }

    /// Applies `f` to each element and its index in the lane; [`Acc::row`] gives the row of the element with an index.
    #[must_use]
    #[track_caller]
    pub fn map_indexed<U: AccElement>(&self, mut f: impl FnMut(usize, V<T>) -> V<U>) -> Acc<U, M, N, BLOCKS> {
        let parts: Vec<V<U>> = self.elements().into_iter().enumerate().map(|(i, x)| f(i, x)).collect();
        Acc::from_elements(&parts, self.place(), Location::caller())
    }

    /// Applies `f` to each element and the element of `other` at the same row and column.
    #[must_use]
    #[track_caller]
    pub fn zip<U: AccElement, W: AccElement>(
        &self,
        other: &Acc<U, M, N, BLOCKS>,
        mut f: impl FnMut(V<T>, V<U>) -> V<W>,
    ) -> Acc<W, M, N, BLOCKS> {
        let pairs = self.elements().into_iter().zip(other.elements());
        let parts: Vec<V<W>> = pairs.map(|(a, b)| f(a, b)).collect();
        Acc::from_elements(&parts, self.place(), Location::caller())
    }

    /// Stores the elements to a matrix in memory; the accumulator's element (0, 0) goes to (`row`, `col`).
    #[track_caller]
    pub fn store_to(
        &self,
        view: impl AsViewMut<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) {
        self.store_with(view, row, col, |x| x);
    }

    elementwise::methods!(Acc, BLOCKS);

    /// Loads the accumulator from a matrix in memory, its element (0, 0) from (`row`, `col`).
    #[track_caller]
    pub fn load_from(
        view: impl AsView<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) -> Self {
        let at = [At::new(row.into_device()), At::new(col.into_device())];
        let loc = Location::caller();
        Self::from_elements(&view.places().load_each::<T>(at, &Self::runs(loc)), elementwise::home(), loc)
    }

    /// A single accumulator starts at row 0 and column 0 of the whole.
    fn origins() -> [[u32; 2]; 1] {
        [[0, 0]]
    }

    fn runs(loc: &'static Location<'static>) -> Vec<Run> {
        let coordinates = (0..Self::per_lane() as u32).filter_map(|i| Self::OPERAND.host_coordinates(i, loc));
        Run::of(coordinates, 0)
    }
}

/// Reduces all elements with `op` in a tree, which keeps the dependence chain short. Each node takes two elements, or
/// three for `max`, which has an instruction with three operands.
#[track_caller]
pub(super) fn reduce<T: Scalar>(op: Bin, elements: &[V<T>]) -> V<T> {
    let loc = Location::caller();
    let each = if op == Bin::Max { 3 } else { 2 };
    let mut left = elements.to_vec();
    while left.len() > 1 {
        let join = |some: &[V<T>]| {
            some[1..].iter().fold(some[0], |a, b| V::emit(Inst::Bin(op, a.value, b.value), loc))
        };
        left = left.chunks(each).map(join).collect();
    }
    left[0]
}

/// The number of lanes in a wave of the kernel.
pub(super) fn lanes() -> u32 {
    with(|c| c.wave.lanes())
}

/// Reduces `x` with `op` over groups of lanes: those whose numbers differ only in the bits whose value is at least
/// `from` and below `to` (both powers of two). Every lane gets the result of its group.
#[track_caller]
pub(super) fn across<T: Scalar>(op: Bin, mut x: V<T>, from: u32, to: u32) -> V<T> {
    let loc = Location::caller();
    let mut mask = from;
    while mask < to {
        let other = shuffle_xor(x, mask);
        x = V::emit(Inst::Bin(op, x.value, other.value), loc);
        mask *= 2;
    }
    x
}

impl<T: AccElement, const M: usize, const N: usize> Acc<T, M, N> {
    /// The largest element of the lane's column; every lane of a column gets it.
    ///
    /// A column is spread over few lanes, so this is cheap; [`Acc::row_max`] is not.
    #[track_caller]
    pub fn col_max(&self) -> V<T> {
        across(Bin::Max, reduce(Bin::Max, &self.elements()), N as u32, lanes())
    }

    /// The sum of the lane's column; every lane of a column gets it. The order of the additions is unspecified.
    #[track_caller]
    pub fn col_sum(&self) -> V<T> {
        across(Bin::Add, reduce(Bin::Add, &self.elements()), N as u32, lanes())
    }

    /// For each element, the largest element of its row. This takes `log2(N)` exchanges between lanes for each
    /// register. To reduce along the other dimension instead, swap the factors: the transposed product is the product
    /// of the transposed factors in reverse order.
    #[must_use]
    #[track_caller]
    pub fn row_max(&self) -> Self {
        self.map(|x| across(Bin::Max, x, 1, N as u32))
    }

    /// For each element, the sum of its row; the order of the additions is unspecified.
    #[must_use]
    #[track_caller]
    pub fn row_sum(&self) -> Self {
        self.map(|x| across(Bin::Add, x, 1, N as u32))
    }
}

/// A lane's elements, converted by `f` and packed into registers.
#[track_caller]
pub(super) fn slice<T: AccElement, U: MatrixElement<Memory = U> + Number>(
    elements: &[V<T>],
    mut f: impl FnMut(V<T>) -> V<U>,
) -> Value {
    let parts: Vec<V<U>> = elements.iter().map(|x| f(*x)).collect();
    pack(&parts, Location::caller())
}

/// The number of elements in each lane of a factor that has an accumulator's register layout. An error is recorded on
/// targets on which the layouts differ.
fn as_factor(factor: Operand, loc: &'static Location<'static>) -> usize {
    with(|c| {
        let shape = factor.shape(here(c));
        if shape.is_some_and(|shape| shape.arrangement != Arrangement::Mfma) {
            let what = format!(
                "an accumulator's registers are not those of a factor on {}; use `Tile::to_b`, whose factors have its order",
                c.target
            );
            c.fail(loc, what);
        }
    });
    factor.per_lane(loc)
}

macro_rules! chained {
    ($($n:literal: $k:literal;)*) => {$(
        impl<const M: usize> Acc<f32, M, $n> {
            /// The accumulator as right factor of another product, in pieces of `K` rows, each element converted by
            /// `f`. The registers of an accumulator contain the same elements as those of such a fragment, so no value
            /// moves between lanes.
            #[track_caller]
            pub fn to_b<U: MatrixElement<Memory = U> + Number>(
                &self,
                mut f: impl FnMut(V<f32>) -> V<U>,
            ) -> Vec<FragB<U, $k, $n>> {
                let elements = self.elements();
                let each = as_factor(FragB::<U, $k, $n>::OPERAND, Location::caller());
                elements.chunks(each).map(|part| FragB::of(slice(part, &mut f))).collect()
            }

            /// The *transposed* accumulator as left factor of another product, in pieces of `K` of its rows, each
            /// element converted by `f`. No value moves between lanes.
            #[track_caller]
            pub fn to_transposed_a<U: MatrixElement<Memory = U> + Number>(
                &self,
                mut f: impl FnMut(V<f32>) -> V<U>,
            ) -> Vec<FragA<U, $n, $k>> {
                let elements = self.elements();
                let each = as_factor(FragA::<U, $n, $k>::OPERAND, Location::caller());
                elements.chunks(each).map(|part| FragA::of(slice(part, &mut f))).collect()
            }
        }
    )*};
}
chained! { 32: 8; 16: 16; }

impl<T, const M: usize, const N: usize, const B: usize> InRegisters<Agprs> for Acc<T, M, N, B> {}

macro_rules! accumulator_sources {
    ($($t:ty: $m:literal x $n:literal => $dwords:literal;)*) => {$(
        impl Source<$dwords> for Acc<$t, $m, $n> {
            fn input(self) -> Input { Input::value(self.value) }
        }
    )*};
}
accumulator_sources! {
    f32: 32 x 32 => 16;
    f32: 16 x 16 => 4;
    i32: 32 x 32 => 16;
    i32: 16 x 16 => 4;
    f64: 16 x 16 => 8;
}
