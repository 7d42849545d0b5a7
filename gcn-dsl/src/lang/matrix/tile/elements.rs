//! The elements of a tile of accumulators.

use std::panic::Location;

use gcn_isa::layout::Matrix;
use gcn_isa::target::Subtarget;

use super::factor::is_whole;
use super::product::{Step, side};
use super::{MOST, Parts, Tile, TileB, even, few};
use crate::ir::{Bin, Inst, Place, Type, Value};
use crate::lang::matrix::Acc;
use crate::lang::matrix::acc::{across, lanes, reduce};
use crate::lang::matrix::elementwise;
use crate::lang::matrix::format::AccElement;
use crate::lang::matrix::format::{MatrixElement, bits};
use crate::lang::matrix::k_order::AsAcc;
use crate::lang::matrix::operand::{Family, Operand, here};
use crate::lang::matrix::place::Run;
use crate::lang::matrix::view::AsViewMut;
use crate::lang::values::constant::within;
use crate::lang::values::vector::{element, pack};
use crate::lang::{IntoDevice, LoadAt, S, V, Vector, eq, lane_id, select, shuffle_xor, with};
use crate::scalar::{Number, Scalar};

/// Types of an index of a lane's element in a tile: a `usize` of the host, or the variable of a device loop.
#[diagnostic::on_unimplemented(
    message = "a lane's elements of a tile are numbered by a `usize` or the variable of a loop, not by `{Self}`",
    label = "not the number of an element",
    note = "each lane has elements of its own, under the same numbers: `for i in 0..acc.len()  …, with `acc.row(i)` and `acc.get(i)`"
)]
pub trait ElementNumber {
    /// Selects the value with this index among `len` values.
    #[track_caller]
    fn of<T: Scalar>(self, len: usize, values: &mut dyn Iterator<Item = V<T>>) -> V<T>;
}

impl ElementNumber for usize {
    #[track_caller]
    fn of<T: Scalar>(self, len: usize, values: &mut dyn Iterator<Item = V<T>>) -> V<T> {
        let i = within(self, len, "element", || format!("a tile with {len} in each lane"));
        values.nth(i).unwrap_or_else(|| unreachable!("as many values as a lane has"))
    }
}

impl ElementNumber for S<u32> {
    #[track_caller]
    fn of<T: Scalar>(self, _: usize, values: &mut dyn Iterator<Item = V<T>>) -> V<T> {
        let all: Vec<V<T>> = values.collect();
        all.load_at(self)
    }
}

impl<T: MatrixElement, const M: usize, const N: usize, const SIDE: usize> Tile<T, M, N, SIDE> {
    pub(super) fn parts(on: Subtarget) -> usize {
        let side = side(on, SIDE);
        (M / side) * (N / side)
    }
}

impl<T: AccElement, const M: usize, const N: usize, const SIDE: usize> Tile<T, M, N, SIDE> {
    /// The tile whose elements are all zero.
    #[track_caller]
    pub fn zero() -> Self {
        const { even(M, SIDE) };
        const { even(N, SIDE) };
        const { few((M / SIDE) * (N / SIDE)) };
        let zero = elementwise::zero::<T>(Self::per_acc() * Self::acc().spacing(Location::caller()));
        Self::of(Parts::of((0..Self::parts_here(Location::caller())).map(|_| zero)))
    }

    /// The same tile in VGPRs: see [`Acc::in_vgprs`].
    #[must_use]
    #[track_caller]
    pub fn in_vgprs(self) -> Self {
        let loc = Location::caller();
        let moved = self.values.iter().map(|v| elementwise::in_vgprs(v, loc));
        Self::of(Parts::of(moved))
    }

    /// The number of elements in each lane. The elements are numbered accumulator by accumulator, and the accumulators
    /// row by row.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    #[track_caller]
    pub fn len(&self) -> usize {
        Self::per_acc() * self.values.len
    }

    /// The number of elements of one accumulator in each lane.
    #[track_caller]
    pub(super) fn per_acc() -> usize {
        Self::acc().per_lane(Location::caller())
    }

    /// The number of rows of one accumulator on the target of this build, which is also its number of columns.
    fn side() -> usize {
        with(|c| side(here(c), SIDE))
    }

    /// The number of accumulators in the tile. If it exceeds the number that a tile can have, an error is recorded.
    fn parts_here(loc: &'static Location<'static>) -> usize {
        with(|c| {
            let parts = Self::parts(here(c));
            if parts > MOST {
                c.fail(
                    loc,
                    format!(
                        "a tile of {M} x {N} is {parts} accumulators on {}, and {MOST} are the most",
                        c.target
                    ),
                );
            }
            parts.min(MOST)
        })
    }

    fn acc() -> Operand {
        let (format, side) = (T::FORMAT, Self::side());
        Operand { matrix: Matrix::D, family: Family::Dense, format, rows: side, cols: side, blocks: 1 }
    }

    /// The lane's `i`-th element.
    #[track_caller]
    pub fn get(&self, i: impl ElementNumber) -> V<T> {
        i.of(self.len(), &mut self.elements().into_iter())
    }

    /// The row of the lane's `i`-th element.
    #[track_caller]
    pub fn row(&self, i: impl ElementNumber) -> V<u32> {
        i.of(self.len(), &mut Self::places().map(|[row, _]| row))
    }

    /// The column of the lane's `i`-th element.
    #[track_caller]
    pub fn col(&self, i: impl ElementNumber) -> V<u32> {
        i.of(self.len(), &mut Self::places().map(|[_, col]| col))
    }

    /// The row and the column of each of the lane's elements, computed lazily.
    pub(in crate::lang::matrix) fn places() -> impl Iterator<Item = [V<u32>; 2]> {
        let (per_acc, side) = (Self::per_acc(), Self::side());
        (0..M / side * (N / side) * per_acc).map(move |i| {
            let [_, row, col] = Self::acc().coordinates((i % per_acc) as u32);
            let block = i / per_acc;
            [row + (block / (N / side) * side) as u32, col + (block % (N / side) * side) as u32]
        })
    }

    #[track_caller]
    pub(in crate::lang::matrix) fn elements(&self) -> Vec<V<T>> {
        let loc = Location::caller();
        let each = |acc: Value| elementwise::extract(acc, Self::per_acc(), loc);
        self.values.iter().flat_map(each).collect()
    }

    pub(in crate::lang::matrix) fn place(&self) -> Place {
        with(|c| c.builder.kernel().ty(self.values.values[0]).place)
    }

    pub(in crate::lang::matrix) fn from_elements(
        parts: &[V<T>],
        place: Place,
        loc: &'static Location<'static>,
    ) -> Self {
        let spacing = Self::acc().spacing(loc);
        let one = |part: &[V<T>]| elementwise::collect(part, spacing, place, loc);
        Self::of(Parts::of(parts.chunks(Self::per_acc()).map(one)))
    }

    /// Applies `f` to each element and its index in the lane; [`Tile::row`] and [`Tile::col`] give the position of the
    /// element with an index.
    #[must_use]
    #[track_caller]
    pub fn map_indexed<U: AccElement>(&self, mut f: impl FnMut(usize, V<T>) -> V<U>) -> Tile<U, M, N, SIDE> {
        let parts: Vec<V<U>> = self.elements().into_iter().enumerate().map(|(i, x)| f(i, x)).collect();
        Tile::from_elements(&parts, self.place(), Location::caller())
    }

    /// Applies `f` to pairs of neighbours in a column, so that packed arithmetic can be used.
    #[must_use]
    #[track_caller]
    pub fn map_pairs<U: AccElement>(
        &self,
        f: impl FnMut(Vector<T, 2>) -> Vector<U, 2>,
    ) -> Tile<U, M, N, SIDE> {
        let parts: Vec<V<U>> = self.pairs().into_iter().map(f).flat_map(Vector::elements).collect();
        Tile::from_elements(&parts, self.place(), Location::caller())
    }

    /// The lane's elements in pairs.
    #[track_caller]
    fn pairs(&self) -> Vec<Vector<T, 2>> {
        let ty = Type { place: Place::Varying, elem: T::ELEM, count: 2 };
        let (loc, dwords) = (Location::caller(), T::ELEM.dwords());
        if T::ELEM.bytes() < 4 {
            return self.elements().chunks(2).map(|two| Vector::of(pack(two, loc))).collect();
        }
        let of = |from: Value| {
            (0..Self::per_acc() as u8).step_by(2).map(move |i| {
                Vector::of(with(|c| c.value(Inst::Extract { from, dword: i * dwords }, ty, loc)))
            })
        };
        self.values.iter().flat_map(of).collect()
    }

    /// For each of the lane's columns, the largest of its elements that are in this lane. [`Tile::col_max`] gives the
    /// largest of the whole column.
    #[track_caller]
    pub fn lane_max(&self) -> Vec<V<T>> {
        self.lane(Bin::Max)
    }

    /// The largest element of each of the lane's columns. A lane has one column for every `SIDE` columns of the tile.
    #[track_caller]
    pub fn col_max(&self) -> Vec<V<T>> {
        self.cols(Bin::Max)
    }

    /// The sum of each of the lane's columns; the order of the additions is unspecified. A lane has one column for
    /// every `SIDE` columns of the tile.
    #[track_caller]
    pub fn col_sum(&self) -> Vec<V<T>> {
        self.cols(Bin::Add)
    }

    #[track_caller]
    fn cols(&self, op: Bin) -> Vec<V<T>> {
        self.lane(op).into_iter().map(|part| across(op, part, Self::side() as u32, lanes())).collect()
    }

    /// For each of the lane's columns, reduces its elements that are in this lane.
    #[track_caller]
    fn lane(&self, op: Bin) -> Vec<V<T>> {
        let elements = self.elements();
        let (per_acc, accs) = (Self::per_acc(), N / Self::side());
        let column = |j: usize| {
            let of_column = |i: &usize| i / per_acc % accs == j;
            let column: Vec<V<T>> = (0..elements.len()).filter(of_column).map(|i| elements[i]).collect();
            reduce(op, &column)
        };
        (0..accs).map(column).collect()
    }

    /// Stores the tile to a matrix in memory; the tile's element (0, 0) goes to (`row`, `col`).
    #[track_caller]
    pub fn store_to(
        &self,
        view: impl AsViewMut<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) {
        self.store_with(view, row, col, |x| x);
    }

    elementwise::methods!(Tile, SIDE);

    /// Row and column of each accumulator's first element.
    fn origins() -> Vec<[u32; 2]> {
        let side = Self::side();
        let all = (0..M).step_by(side).flat_map(|row| (0..N).step_by(side).map(move |col| [row, col]));
        all.map(|at| at.map(|x| x as u32)).collect()
    }

    fn runs(loc: &'static Location<'static>) -> Vec<Run> {
        let coordinates = (0..Self::per_acc() as u32).filter_map(|i| Self::acc().host_coordinates(i, loc));
        Run::of(coordinates, 0)
    }
}

impl<const M: usize, const N: usize, const SIDE: usize> Tile<f32, M, N, SIDE> {
    /// For each of the lane's columns, the sum of its elements that are in this lane, by packed additions; their order
    /// is unspecified.
    #[track_caller]
    pub fn lane_sum(&self) -> Vec<V<f32>> {
        let pairs = self.pairs();
        let (per_acc, accs) = (Self::per_acc(), N / Self::side());
        let column = |j: usize| {
            let of_column = |i: &usize| 2 * i / per_acc % accs == j;
            let mut left: Vec<Vector<f32, 2>> =
                (0..pairs.len()).filter(of_column).map(|i| pairs[i]).collect();
            while left.len() > 1 {
                left = left.chunks(2).map(|two| two[1..].iter().fold(two[0], |a, b| a + *b)).collect();
            }
            left[0].sum()
        };
        (0..accs).map(column).collect()
    }

    /// The tile as right factor of another product, each element converted by `f`. The left factor must be loaded in
    /// the same order of `k`: `TileA<_, _, _, SIDE, AsAcc>`. On most targets the accumulator's registers become the
    /// fragment's, and no value moves between lanes. On RDNA 3, and if vector instructions multiply, a lane needs a
    /// whole column of the right factor, so lanes exchange their parts of it. All lanes of the wave must be active.
    #[track_caller]
    pub fn to_b<U: MatrixElement<Memory = U> + Number>(
        &self,
        f: impl FnMut(V<f32>) -> V<U>,
    ) -> TileB<U, M, N, SIDE, AsAcc> {
        let loc = Location::caller();
        let elements: Vec<V<U>> = self.elements().into_iter().map(f).collect();
        let step = Step::here(U::FORMAT, SIDE, M, loc);
        match is_whole(TileB::<U, M, N, SIDE, AsAcc>::operand(step)) {
            true => self.in_order(1, &Self::whole_columns(&elements, loc), step, |part| pack(part, loc)),
            false => self.in_order(1, &elements, step, |part| pack(part, loc)),
        }
    }

    /// As [`Tile::to_b`], but `f` converts two neighbours of a column at a time, because many conversion instructions
    /// convert two numbers.
    #[track_caller]
    pub fn to_b_pairs<U: MatrixElement<Memory = U> + Number>(
        &self,
        f: impl FnMut(Vector<f32, 2>) -> Vector<U, 2>,
    ) -> TileB<U, M, N, SIDE, AsAcc> {
        let loc = Location::caller();
        let pairs: Vec<Vector<U, 2>> = self.pairs().into_iter().map(f).collect();
        let step = Step::here(U::FORMAT, SIDE, M, loc);
        if is_whole(TileB::<U, M, N, SIDE, AsAcc>::operand(step)) {
            let elements: Vec<V<U>> = pairs.into_iter().flat_map(Vector::elements).collect();
            return self.in_order(1, &Self::whole_columns(&elements, loc), step, |part| pack(part, loc));
        }
        self.in_order(2, &pairs, step, |part| {
            let ty = Type { place: Place::Varying, elem: U::ELEM, count: 2 * part.len() as u8 };
            with(|c| c.value(Inst::Concat(part.iter().map(|pair| pair.value).collect()), ty, loc))
        })
    }

    /// Gives each lane its columns as a whole: the elements of each accumulator in turn, with all rows in order.
    #[track_caller]
    fn whole_columns<U: Number>(elements: &[V<U>], loc: &'static Location<'static>) -> Vec<V<U>> {
        let row = |j: usize| Self::acc().host_coordinates(j as u32, loc).unwrap_or_default().row;
        let weights = row(0).weights;
        let together = (4 / U::ELEM.bytes()).max(1) as usize;
        let column = |part: &[V<U>]| {
            let mut rows: Vec<(u32, V<U>)> = (0..).map(|j| row(j).base).zip(part.iter().copied()).collect();
            for (bit, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight != 0) {
                let is_lower = eq(lane_id() & (1u32 << bit), 0u32);
                let exchanged = |some: &[(u32, V<U>)]| {
                    let own: Vec<V<U>> = some.iter().map(|(_, x)| *x).collect();
                    let [low, high] = exchange(&own, 1 << bit, is_lower, loc);
                    let rows = some.iter().map(|(row, _)| *row);
                    let of = |more: u32, parts: Vec<V<U>>| rows.clone().map(move |row| row + more).zip(parts);
                    of(0, low).chain(of(weight, high)).collect::<Vec<_>>()
                };
                rows = rows.chunks(together).flat_map(exchanged).collect();
            }
            rows.sort_by_key(|(row, _)| *row);
            rows.into_iter().map(|(_, x)| x).collect::<Vec<V<U>>>()
        };
        elements.chunks(Self::per_acc()).flat_map(column).collect()
    }

    /// Packs the elements into the fragments of a right factor. The elements come in groups of `each`, and every
    /// accumulator has the same number of groups.
    #[track_caller]
    fn in_order<E: Copy, U: MatrixElement>(
        &self,
        each: usize,
        groups: &[E],
        step: Step,
        fragment: impl Fn(&[E]) -> Value,
    ) -> TileB<U, M, N, SIDE, AsAcc> {
        debug_assert!(bits(U::FORMAT) >= 8, "memory of single elements");
        let factor = TileB::<U, M, N, SIDE, AsAcc>::operand(step);
        let per_lane = factor.per_lane(Location::caller()) / each;
        let side = step.side;
        let per_acc = groups.len() / (M / side * (N / side)).max(1);
        let mut values = Vec::new();
        for j in 0..N / side {
            let column: Vec<E> = (0..M / side)
                .flat_map(|i| {
                    let first = (i * (N / side) + j) * per_acc;
                    groups[first..first + per_acc].to_vec()
                })
                .collect();
            values.extend(column.chunks(per_lane).map(&fragment));
        }
        TileB::of(Parts::of(values.into_iter().take(MOST)))
    }
}

/// Exchanges elements between the two lanes whose numbers differ in the bit `mask`. Returns the elements of the lane in
/// which this bit is clear, and those of the lane in which it is set; both lanes get both lists.
#[track_caller]
fn exchange<U: Number>(
    own: &[V<U>],
    mask: u32,
    is_lower: V<bool>,
    loc: &'static Location<'static>,
) -> [Vec<V<U>>; 2] {
    let [one] = own else {
        // Elements that share a register are exchanged together.
        let count = own.len();
        let packed = pack(own, loc);
        let word: V<u32> = V::emit(Inst::Extract { from: packed, dword: 0 }, loc);
        return exchange(&[word], mask, is_lower, loc).map(|words| {
            let ty = Type { place: Place::Varying, elem: U::ELEM, count: count as u8 };
            let whole = with(|c| c.value(Inst::Concat([words[0].value].into_iter().collect()), ty, loc));
            (0..count).map(|k| V::from_value(element::<U>(whole, k, count, loc))).collect()
        });
    };
    let other = shuffle_xor(*one, mask);
    [vec![select(is_lower, *one, other)], vec![select(is_lower, other, *one)]]
}

impl<T: AccElement, const M: usize, const N: usize> From<Acc<T, M, N>> for Tile<T, M, N, M> {
    fn from(acc: Acc<T, M, N>) -> Self {
        Tile::of(Parts::of([acc.value]))
    }
}
