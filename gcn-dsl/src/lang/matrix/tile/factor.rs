//! Loads of a product's factors into registers.

use std::ops::Range;
use std::panic::Location;

use gcn_isa::layout::{Coordinates, ElemType, Matrix};
use gcn_isa::target::Subtarget;

use super::product::Step;
use super::{MOST, Parts, TileA, TileB, even};
use crate::ir::Value;
use crate::lang::matrix::format::{MatrixElement, bits};
use crate::lang::matrix::k_order::KOrder;
use crate::lang::matrix::lds_tile;
use crate::lang::matrix::operand::{Family, Operand, here};
use crate::lang::matrix::place::{At, Places, Run};
use crate::lang::matrix::swizzle::WIDEST;
use crate::lang::matrix::view::AsView;
use crate::lang::{IntoDevice, V, with};

macro_rules! factor {
    ($name:ident<$a:ident, $b:ident>, $matrix:ident, $free:ident, $k:ident, $at:literal, $free_at:literal, |$x:ident, $d:ident| $extent:expr) => {
        impl<T: MatrixElement, const $a: usize, const $b: usize, const SIDE: usize, O>
            $name<T, $a, $b, SIDE, O>
        {
            pub(super) fn operand(step: Step) -> Operand {
                let ($x, $d) = (step.side, step.depth);
                let (rows, cols) = $extent;
                Operand {
                    matrix: Matrix::$matrix,
                    family: step.family,
                    format: T::FORMAT,
                    rows,
                    cols,
                    blocks: 1,
                }
            }

            /// The number of fragments in the tile on the target `on`.
            pub(super) fn parts(on: Subtarget) -> usize {
                let step = Step::of(T::FORMAT, on, SIDE, $k);
                step.map_or($free / SIDE, |step| ($free / step.side) * ($k / step.depth))
            }
        }

        impl<T: MatrixElement, const $a: usize, const $b: usize, const SIDE: usize, O: KOrder>
            $name<T, $a, $b, SIDE, O>
        {
            /// Loads the tile whose element (0, 0) is at (`row`, `col`) of a matrix in global memory or LDS.
            ///
            /// If `k` is the matrix's contiguous dimension, a lane loads its consecutive `k` at once, up to 16 bytes.
            /// Otherwise it loads them one by one or, on gfx950 and from LDS, by transposing loads, for which `row` and
            /// `col` must be the same in all lanes.
            #[track_caller]
            pub fn load(
                view: impl AsView<T::Memory>,
                row: impl IntoDevice<V<u32>>,
                col: impl IntoDevice<V<u32>>,
            ) -> Self {
                let at = [At::new(row.into_device()), At::new(col.into_device())];
                Self::of(Parts::of(Self::load_parts(view.places(), at, 0..$free, Location::caller())))
            }

            /// The fragments of some lines (rows or columns) of the tile; the fragments of one line follow each other
            /// in the order of `k`.
            #[track_caller]
            pub(super) fn load_parts(
                places: Places,
                at: [At; 2],
                lines: Range<usize>,
                loc: &'static Location<'static>,
            ) -> Vec<Value> {
                const { even($free, SIDE) };
                let instruction = Step::here(T::FORMAT, SIDE, $k, loc);
                let (operand, depth, side) =
                    (Self::operand(instruction), instruction.depth, instruction.side);
                let fragment = operand.per_lane(loc) as u32 * bits(T::FORMAT) / 8;
                let wide = O::WIDE && instruction.family != Family::Lanes;
                let together = if wide { together(fragment, $k / depth) } else { 1 };
                // If every lane has a whole row or column of the factor, there is only one order of `k`.
                let as_acc_here = O::AS_ACC && !is_whole(operand);
                let runs: Vec<Vec<Run>> = (0..$k / (together * depth))
                    .map(|step| match as_acc_here {
                        true => Run::of(as_acc(operand, side, step, loc), $at),
                        false => Run::of(by_number(operand, together, $at, loc), $at),
                    })
                    .collect();
                let mut values = Vec::new();
                for line in lines.step_by(side) {
                    let mut at = at;
                    at[$free_at] = at[$free_at].plus(line as u32);
                    for (step, runs) in runs.iter().enumerate() {
                        let mut at = at;
                        if !as_acc_here {
                            at[$at] = at[$at].plus((step * together * depth) as u32);
                        }
                        let loaded = places.load::<T>(at, runs);
                        let from = |i| [i as u32 * fragment, fragment, together as u32 * fragment];
                        values.extend((0..together).map(|i| lds_tile::part::<T::Memory>(loaded, from(i))));
                    }
                }
                values.truncate(MOST);
                values
            }
        }
    };
}

factor!(TileA<M, K>, A, M, K, 1, 0, |side, depth| (side, depth));
factor!(TileB<K, N>, B, N, K, 0, 1, |side, depth| (depth, side));

/// True if each lane has a whole row or column of the operand, as on RDNA 3 and if vector instructions multiply.
pub(super) fn is_whole(operand: Operand) -> bool {
    let shape = with(|c| operand.shape(here(c)));
    operand.family == Family::Lanes || shape.is_some_and(|shape| shape.copies(operand.matrix) > 1)
}

/// The number of fragments that a lane loads with one access: the most that fit in 16 bytes and divide the number of
/// steps.
fn together(fragment: u32, steps: usize) -> usize {
    let most = (WIDEST / fragment.max(1)).max(1) as usize;
    (1..=most).rev().find(|n| steps.is_multiple_of(*n)).unwrap_or(1)
}

/// The coordinates of the elements that are in a lane's part of `together` fragments with consecutive `k`. `k` is 1 if
/// columns run along `k`, 0 if rows do.
fn by_number(
    operand: Operand,
    together: usize,
    k: usize,
    loc: &'static Location<'static>,
) -> Vec<Coordinates> {
    let per_lane = operand.per_lane(loc);
    let element = |i: usize, j: usize| {
        let mut at = operand.host_coordinates(j as u32, loc).unwrap_or_default();
        let k = if k == 1 { &mut at.column } else { &mut at.row };
        // The elements of lanes with larger `k` begin after all elements that lanes with smaller `k` have in these
        // fragments.
        k.weights = k.weights.map(|weight| weight * together as u32);
        k.base += (i * per_lane) as u32;
        at
    };
    (0..together).flat_map(|i| (0..per_lane).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The coordinates of the elements that are in a lane's part of the fragment of `step`, in the order of an accumulator.
fn as_acc(operand: Operand, side: usize, step: usize, loc: &'static Location<'static>) -> Vec<Coordinates> {
    let per_lane = operand.per_lane(loc);
    let of = |operand: &Operand, j: usize| operand.host_coordinates(j as u32, loc).unwrap_or_default();
    // Elements of consecutive accumulators are numbered one after the other.
    let acc = Operand {
        matrix: Matrix::D,
        family: Family::Dense,
        format: ElemType::F32,
        rows: side,
        cols: side,
        ..operand
    };
    let in_acc = acc.per_lane(loc);
    let rows = (step * per_lane..(step + 1) * per_lane).map(|register| {
        let mut row = of(&acc, register % in_acc).row;
        row.base += (register / in_acc * side) as u32;
        row
    });
    let exchange = |(j, k): (usize, _)| {
        let mut at = of(&operand, j);
        if operand.matrix == Matrix::A {
            at.column = k;
        } else {
            at.row = k;
        }
        at
    };
    rows.enumerate().map(exchange).collect()
}
