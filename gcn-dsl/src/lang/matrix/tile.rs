//! Tiles: matrices in registers that are larger than one instruction takes.
//!
//! A tile is made of the fragments or accumulators of one instruction, which the target decides: its instructions differ in
//! how many `k` they take at once. Which one that is follows from element type, target, `SIDE` and `K`, for all tiles alike, so
//! that tiles whose types fit together are made of the same instruction.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::layout::{self, Coordinates, Matrix};

use super::Acc;
use super::acc::{AccElement, across, reduce, slice};
use super::format::{MatrixElement, bits};
use super::multiply::{MfmaOptions, Product, dense};
use super::operand::{Family, Operand};
use super::place::{At, Run};
use super::target::{ExistsOn, On, SinceGfx90a};
use super::view::{AsView, AsViewMut};
use crate::ir::{Bin, Inst, Place, Type, Value};
use crate::lang::vector::pack;
use crate::lang::wave::Convergent;
use crate::lang::{AssignIn, Declare, Flatten, IntoDevice, V, next_value, with};
use crate::scalar::Number;

/// Most fragments or accumulators in a tile.
const MOST: usize = 64;

/// In which order a lane's registers hold the `k` of a factor.
pub trait KOrder: Copy + std::fmt::Debug + 'static {
    /// The registers follow those of an accumulator whose rows are these `k`.
    const AS_ACC: bool;
}

/// As the instruction numbers them.
#[derive(Debug, Clone, Copy)]
pub struct ByNumber;
/// As an accumulator's registers hold its rows: what [`Tile::to_b`] makes and its left factor must match.
#[derive(Debug, Clone, Copy)]
pub struct AsAcc;

impl KOrder for ByNumber {
    const AS_ACC: bool = false;
}
impl KOrder for AsAcc {
    const AS_ACC: bool = true;
}

/// Factors that matrix instructions multiply by themselves into accumulators of `C`, and so tiles as well.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` are not multiplied into tiles of `{C}`",
    label = "no product of these types",
    note = "f16, bf16, f32, f8e4m3, f8e5m2, Fp8 and Bf8 add up in f32, i8 in i32, f64 in f64; both factors have the same type"
)]
pub trait TileElement<C>: MatrixElement {}
impl TileElement<f32> for half::f16 {}
impl TileElement<f32> for half::bf16 {}
impl TileElement<f32> for f32 {}
impl TileElement<f32> for crate::scalar::f8e4m3 {}
impl TileElement<f32> for crate::scalar::f8e5m2 {}
impl TileElement<f32> for super::Fp8 {}
impl TileElement<f32> for super::Bf8 {}
impl TileElement<i32> for i8 {}
impl TileElement<f64> for f64 {}

macro_rules! tile {
    ($(#[$doc:meta])* $name:ident<$($a:ident, $b:ident),+ $(; $order:ident)?>) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize = 32, $($order = ByNumber)?> {
            values: Parts,
            types: PhantomData<(T, $($order)?)>,
        }

        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Clone
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Copy
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
        }

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> crate::lang::AsIs
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {}

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Flatten
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            fn flatten(&self, out: &mut Vec<Value>) {
                out.extend(self.values.iter());
            }
            fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
                let parts = with(|c| Self::parts(c.target));
                Self::of(Parts::of((0..parts).map(|_| next_value(values))))
            }
        }

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Declare
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            type Value = Self;
            fn declare(self) -> Self {
                self
            }
        }

        impl<T, __F: Convergent, __G: Convergent, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?>
            AssignIn<__F, __G> for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
        }

        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> $name<T, $($a, $b,)+ SIDE, $($order)?> {
            fn of(values: Parts) -> Self {
                $name { values, types: PhantomData }
            }
        }
    };
}

tile! {
    /// An `M x N` matrix of accumulators of `SIDE x SIDE` elements, 32 or 16.
    Tile<M, N>
}
tile! {
    /// An `M x K` piece of a left matrix, made of fragments of `SIDE` rows.
    TileA<M, K; O>
}
tile! {
    /// A `K x N` piece of a right matrix, made of fragments of `SIDE` columns.
    TileB<K, N; O>
}

/// The values of a tile.
#[derive(Clone, Copy, Debug)]
struct Parts {
    values: [Value; MOST],
    len: usize,
}

impl Parts {
    fn of(values: impl IntoIterator<Item = Value>) -> Parts {
        let mut parts = Parts { values: [Value(0); MOST], len: 0 };
        for value in values {
            parts.values[parts.len] = value;
            parts.len += 1;
        }
        parts
    }

    fn iter(&self) -> impl Iterator<Item = Value> + use<> {
        let parts = *self;
        (0..parts.len).map(move |i| parts.values[i])
    }
}

/// How many `k` an instruction of `target` takes that multiplies `SIDE x k` by `k x SIDE` elements of `T`: the most that divide
/// `k`.
fn depth<T: MatrixElement>(target: Target, side: usize, k: usize) -> Option<usize> {
    let shapes = layout::instructions().iter().filter(|i| i.0 == target).map(|i| i.2);
    shapes
        .filter(|s| !s.sparse && !s.formats_chosen && s.blocks == 1 && (s.a, s.b) == (T::FORMAT, T::FORMAT))
        .filter(|s| usize::from(s.m) == side && usize::from(s.n) == side && k.is_multiple_of(s.k.into()))
        .map(|s| s.k.into())
        .max()
}

/// The depth; the kernel fails if there is none.
fn depth_here<T: MatrixElement>(side: usize, k: usize, loc: &'static Location<'static>) -> usize {
    with(|c| {
        depth::<T>(c.target, side, k).unwrap_or_else(|| {
            let what = format!(
                "{} has no matrix instruction of {side} x {side} on {} whose depth divides {k}; take a larger K, SIDE 16 or 32, or \
                 limit the kernel with `#[targets(…)]`",
                c.target,
                T::FORMAT.name()
            );
            c.fail(loc, what);
            k
        })
    })
}

const fn even(size: usize, side: usize) {
    assert!(side == 32 || side == 16, "the SIDE of a tile is 32 or 16");
    assert!(
        size > 0 && size.is_multiple_of(side),
        "the rows and columns of a tile are multiples of its SIDE"
    );
    assert!(size / side <= 8, "a tile has at most 8 x 8 accumulators");
}

macro_rules! factor {
    ($name:ident<$a:ident, $b:ident>, $matrix:ident, $free:ident, $k:ident, $at:literal, $free_at:literal, |$x:ident, $d:ident| $extent:expr) => {
        impl<T: MatrixElement, const $a: usize, const $b: usize, const SIDE: usize, O>
            $name<T, $a, $b, SIDE, O>
        {
            fn operand($d: usize) -> Operand {
                let $x = SIDE;
                let (rows, cols) = $extent;
                Operand {
                    matrix: Matrix::$matrix,
                    family: Family::Dense,
                    format: T::FORMAT,
                    rows,
                    cols,
                    blocks: 1,
                }
            }

            /// How many fragments it is made of on `target`.
            fn parts(target: Target) -> usize {
                ($free / SIDE) * ($k / depth::<T>(target, SIDE, $k).unwrap_or($k))
            }
        }

        impl<T: MatrixElement, const $a: usize, const $b: usize, const SIDE: usize, O: KOrder>
            $name<T, $a, $b, SIDE, O>
        {
            /// Loads the tile whose first element is at (`row`, `col`) of a matrix in global memory or LDS.
            ///
            /// Where `k` is the matrix's fast dimension, a lane loads its consecutive `k` at once, up to 16 bytes.
            #[track_caller]
            pub fn load(
                view: impl AsView<T::Memory>,
                row: impl IntoDevice<V<u32>>,
                col: impl IntoDevice<V<u32>>,
            ) -> Self {
                const { even($free, SIDE) };
                let loc = Location::caller();
                let depth = depth_here::<T>(SIDE, $k, loc);
                let operand = Self::operand(depth);
                let at = [At::new(row.into_device()), At::new(col.into_device())];
                let runs: Vec<Vec<Run>> = (0..$k / depth)
                    .map(|step| Run::of(places(operand, O::AS_ACC, SIDE, depth, step, loc), $at))
                    .collect();
                let places = view.places();
                let mut values = Vec::new();
                for part in 0..$free / SIDE {
                    let mut at = at;
                    at[$free_at] = at[$free_at].plus((part * SIDE) as u32);
                    for (step, runs) in runs.iter().enumerate() {
                        let mut at = at;
                        if !O::AS_ACC {
                            at[$at] = at[$at].plus((step * depth) as u32);
                        }
                        values.push(places.load::<T>(at, runs));
                    }
                }
                Self::of(Parts::of(values.into_iter().take(MOST)))
            }
        }
    };
}

factor!(TileA<M, K>, A, M, K, 1, 0, |side, depth| (side, depth));
factor!(TileB<K, N>, B, N, K, 0, 1, |side, depth| (depth, side));

/// Where the elements are that a lane holds of the fragment of `step`.
fn places(
    operand: Operand,
    as_acc: bool,
    side: usize,
    depth: usize,
    step: usize,
    loc: &'static Location<'static>,
) -> Vec<Coordinates> {
    let per_lane = side * depth / 64;
    let of = |operand: &Operand, j: usize| operand.host_coordinates(j as u32, loc).unwrap_or_default();
    let by_number = (0..per_lane).map(|j| of(&operand, j));
    if !as_acc {
        return by_number.collect();
    }
    // The registers of one accumulator's elements after those of the other.
    let acc = Operand {
        matrix: Matrix::D,
        format: gcn_isa::layout::ElemType::F32,
        rows: side,
        cols: side,
        ..operand
    };
    let in_acc = side * side / 64;
    let rows = (step * per_lane..(step + 1) * per_lane).map(|register| {
        let mut row = of(&acc, register % in_acc).row;
        row.base += (register / in_acc * side) as u32;
        row
    });
    let exchange = |(mut at, k): (Coordinates, _)| {
        if operand.matrix == Matrix::A {
            at.column = k;
        } else {
            at.row = k;
        }
        at
    };
    by_number.zip(rows).map(exchange).collect()
}

/// `c + a * b`, with the instruction that the target has for it. In a kernel: `acc = matmul(a, b, acc);`.
#[track_caller]
pub fn matmul<F, On_, T, C, O, const M: usize, const N: usize, const K: usize, const SIDE: usize>(
    _flow: &F,
    _targets: On<On_>,
    a: TileA<T, M, K, SIDE, O>,
    b: TileB<T, K, N, SIDE, O>,
    c: Tile<C, M, N, SIDE>,
) -> Tile<C, M, N, SIDE>
where
    F: Convergent,
    T: TileElement<C>,
    C: AccElement,
    O: KOrder,
    SinceGfx90a: ExistsOn<On_>,
{
    let loc = Location::caller();
    let depth = depth_here::<T>(SIDE, K, loc);
    let product = Product {
        formats: [T::FORMAT, T::FORMAT, C::FORMAT],
        size: [SIDE, SIDE, depth, 1],
        sparse: false,
        scaled: false,
    };
    let (across, steps) = (N / SIDE, K / depth);
    let mut values = c.values;
    if a.values.len < M / SIDE * steps || b.values.len < across * steps {
        return c; // the kernel has failed
    }
    for step in 0..steps {
        for i in 0..M / SIDE {
            for j in 0..across {
                let (left, right) = (a.values.values[i * steps + step], b.values.values[j * steps + step]);
                let acc = &mut values.values[i * across + j];
                *acc = dense(product, [left, right, *acc], MfmaOptions::new(), loc);
            }
        }
    }
    Tile::of(values)
}

impl<T: MatrixElement, const M: usize, const N: usize, const SIDE: usize> Tile<T, M, N, SIDE> {
    fn parts(_: Target) -> usize {
        (M / SIDE) * (N / SIDE)
    }
}

impl<T: AccElement, const M: usize, const N: usize, const SIDE: usize> Tile<T, M, N, SIDE> {
    /// All elements zero.
    #[track_caller]
    pub fn zero() -> Self {
        const { even(M, SIDE) };
        const { even(N, SIDE) };
        let ty = Type { place: Place::Acc, elem: T::ELEM, count: (SIDE * SIDE / 64) as u8 };
        let zero = with(|c| c.builder.value(Inst::Const(0), ty, None));
        Self::of(Parts::of((0..(M / SIDE) * (N / SIDE)).map(|_| zero)))
    }

    /// The same tile in VGPRs: see [`Acc::in_vgprs`].
    #[must_use]
    #[track_caller]
    pub fn in_vgprs(self) -> Self {
        let loc = Location::caller();
        let ty = Type { place: Place::Varying, elem: T::ELEM, count: (SIDE * SIDE / 64) as u8 };
        let moved = self.values.iter().map(|v| with(|c| c.value(Inst::Splat(v), ty, loc)));
        Self::of(Parts::of(moved))
    }

    /// How many elements each lane holds: of each accumulator in turn, those of a row of accumulators one after the other.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(&self) -> usize {
        M * N / 64
    }

    const PER_ACC: usize = SIDE * SIDE / 64;

    fn acc() -> Operand {
        let format = T::FORMAT;
        Operand { matrix: Matrix::D, family: Family::Dense, format, rows: SIDE, cols: SIDE, blocks: 1 }
    }

    /// The row of the lane's `i`-th element.
    #[track_caller]
    pub fn row(&self, i: usize) -> V<u32> {
        let [_, row, _] = Self::acc().coordinates((i % Self::PER_ACC) as u32);
        row + (i / Self::PER_ACC / (N / SIDE) * SIDE) as u32
    }

    /// The column of the lane's `i`-th element.
    #[track_caller]
    pub fn col(&self, i: usize) -> V<u32> {
        let [_, _, col] = Self::acc().coordinates((i % Self::PER_ACC) as u32);
        col + (i / Self::PER_ACC % (N / SIDE) * SIDE) as u32
    }

    #[track_caller]
    fn elements(&self) -> Vec<V<T>> {
        let loc = Location::caller();
        let each = |from: Value| {
            (0..Self::PER_ACC)
                .map(move |i| V::emit(Inst::Extract { from, dword: i as u8 * T::ELEM.dwords() }, loc))
        };
        self.values.iter().flat_map(each).collect()
    }

    fn place(&self) -> Place {
        with(|c| c.builder.kernel().ty(self.values.values[0]).place)
    }

    fn from_elements(parts: &[V<T>], place: Place, loc: &'static Location<'static>) -> Self {
        let ty = Type { place: Place::Acc, elem: T::ELEM, count: Self::PER_ACC as u8 };
        let one = |part: &[V<T>]| {
            if place == Place::Varying {
                return pack(part, loc);
            }
            let parts = part.iter().map(|p| p.value).collect();
            with(|c| c.value(Inst::Concat(parts), ty, loc))
        };
        Self::of(Parts::of(parts.chunks(Self::PER_ACC).map(one)))
    }

    /// `f` of each element.
    #[must_use]
    #[track_caller]
    pub fn map<U: AccElement>(&self, f: impl FnMut(V<T>) -> V<U>) -> Tile<U, M, N, SIDE> {
        let parts: Vec<V<U>> = self.elements().into_iter().map(f).collect();
        Tile::from_elements(&parts, self.place(), Location::caller())
    }

    /// `f` of each element and its number in the lane, from which [`Tile::row`] and [`Tile::col`] tell where it belongs.
    #[must_use]
    #[track_caller]
    pub fn map_indexed<U: AccElement>(&self, mut f: impl FnMut(usize, V<T>) -> V<U>) -> Tile<U, M, N, SIDE> {
        let parts: Vec<V<U>> = self.elements().into_iter().enumerate().map(|(i, x)| f(i, x)).collect();
        Tile::from_elements(&parts, self.place(), Location::caller())
    }

    /// The largest element of each of the lane's columns, one for every `SIDE` columns of the tile.
    #[track_caller]
    pub fn col_max(&self) -> Vec<V<T>> {
        self.cols(Bin::Max)
    }

    /// The sum of each of the lane's columns, one for every `SIDE` columns of the tile; in which order is not fixed.
    #[track_caller]
    pub fn col_sum(&self) -> Vec<V<T>> {
        self.cols(Bin::Add)
    }

    #[track_caller]
    fn cols(&self, op: Bin) -> Vec<V<T>> {
        let elements = self.elements();
        let column = |j: usize| {
            let of_column = |i: &usize| i / Self::PER_ACC % (N / SIDE) == j;
            let column: Vec<V<T>> = (0..elements.len()).filter(of_column).map(|i| elements[i]).collect();
            across(op, reduce(op, &column), SIDE as u32, 64)
        };
        (0..N / SIDE).map(column).collect()
    }

    /// Stores the tile to a matrix in memory, its first row and column at (`row`, `col`).
    #[track_caller]
    pub fn store_to(
        &self,
        view: impl AsViewMut<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) {
        self.store_with(view, row, col, |x| x);
    }

    /// Stores `f` of each element: scaled, converted.
    #[track_caller]
    pub fn store_with<U: Number>(
        &self,
        view: impl AsViewMut<U>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
        f: impl FnMut(V<T>) -> V<U>,
    ) {
        let elements: Vec<V<U>> = self.elements().into_iter().map(f).collect();
        let at = [At::new(row.into_device()), At::new(col.into_device())];
        let runs = self.runs(Location::caller());
        for (i, part) in elements.chunks(Self::PER_ACC).enumerate() {
            view.places().store::<U>(Self::at(at, i), &runs, part);
        }
    }

    /// Stores `f(x, old)` for each element `x` and what the matrix holds in its place: `alpha * x + beta * old`.
    #[track_caller]
    pub fn update<U: Number>(
        &self,
        view: impl AsViewMut<U>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
        mut f: impl FnMut(V<T>, V<U>) -> V<U>,
    ) {
        let at = [At::new(row.into_device()), At::new(col.into_device())];
        let runs = self.runs(Location::caller());
        for (i, part) in self.elements().chunks(Self::PER_ACC).enumerate() {
            let at = Self::at(at, i);
            let old = view.places().load_each::<U>(at, &runs);
            let new: Vec<V<U>> = part.iter().zip(old).map(|(x, old)| f(*x, old)).collect();
            view.places().store::<U>(at, &runs, &new);
        }
    }

    /// The origin of the `i`-th accumulator.
    fn at([row, col]: [At; 2], i: usize) -> [At; 2] {
        let (down, right) = (i / (N / SIDE) * SIDE, i % (N / SIDE) * SIDE);
        [row.plus(down as u32), col.plus(right as u32)]
    }

    fn runs(&self, loc: &'static Location<'static>) -> Vec<Run> {
        let coordinates = (0..Self::PER_ACC as u32).filter_map(|i| Self::acc().host_coordinates(i, loc));
        Run::of(coordinates, 0)
    }
}

impl<const M: usize, const N: usize, const SIDE: usize> Tile<f32, M, N, SIDE> {
    /// The tile as right factor of a further product, each element converted by `f`. An accumulator's registers become a
    /// fragment's, nothing moves between lanes; the left factor is loaded in the same order: `TileA<_, _, _, SIDE, AsAcc>`.
    #[track_caller]
    pub fn to_b<U: MatrixElement<Memory = U> + Number>(
        &self,
        mut f: impl FnMut(V<f32>) -> V<U>,
    ) -> TileB<U, M, N, SIDE, AsAcc> {
        let loc = Location::caller();
        let depth = depth_here::<U>(SIDE, M, loc);
        let per_lane = SIDE * depth / 64;
        let elements = self.elements();
        let mut values = Vec::new();
        for j in 0..N / SIDE {
            let column: Vec<V<f32>> = (0..M / SIDE)
                .flat_map(|i| {
                    let first = (i * (N / SIDE) + j) * Self::PER_ACC;
                    elements[first..first + Self::PER_ACC].to_vec()
                })
                .collect();
            values.extend(column.chunks(per_lane).map(|part| slice(part, &mut f)));
        }
        debug_assert!(bits(U::FORMAT) >= 8, "memory of single elements");
        TileB::of(Parts::of(values.into_iter().take(MOST)))
    }
}

impl<T: AccElement, const M: usize, const N: usize> From<Acc<T, M, N>> for Tile<T, M, N, M> {
    fn from(acc: Acc<T, M, N>) -> Self {
        Tile::of(Parts::of([acc.value]))
    }
}
