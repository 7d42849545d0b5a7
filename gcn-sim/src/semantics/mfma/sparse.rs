//! Sparse matrix instructions: A contains two of every four elements of a row, and an index operand gives their positions.

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{Matrix, Shape};

use super::dense::{Dense, Execution, Products, STRETCH, room};
use super::elements::{Acc, Sum};
use super::{Line, input_lines};
use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;
use crate::core::value::LANES;
use crate::fp::host;

/// A sparse instruction with its operand layouts.
pub(super) struct Sparse<T> {
    /// The dense part, in which A has lines only for stored elements: two for every four k.
    dense: Dense<T>,
    /// For each of these lines, the location of the index, which gives the position of the element among the four k of its group.
    indices: Vec<Line>,
}

impl<T: Acc> Sparse<T> {
    pub(super) fn new(shape: Shape, target: Target, mods: &Mods) -> Result<Sparse<T>, String> {
        let missing = || "its layout is not regular".to_owned();
        // An index set has four bits for each group of four elements that a lane holds.
        let set_bits = u32::from(shape.k) * u32::from(shape.m) / LANES as u32;
        // If `cbsz` is 0, `abid` selects one of several index sets.
        let set = if mods.cbsz == 0 { u32::from(mods.abid) } else { 0 };
        if set_bits * (set + 1) > 32 {
            return Err(format!("its index register has no set number {set}"));
        }
        if mods.blgp != 0 {
            return Err("blgp has no documented effect on it".to_owned());
        }
        let mut dense = Dense::new(shape, target, &Mods { cbsz: 0, abid: 0, ..*mods })?;
        dense.a.lines = pairs(&dense.a.lines, dense.a.decoder.bits() as u8);
        let mut indices = pairs(&input_lines(&shape, Matrix::Index).ok_or_else(missing)?, 2);
        indices.iter_mut().for_each(|line| line.low_bit += (set_bits * set) as u8);
        Ok(Sparse { dense, indices })
    }
}

/// For each group of four k, the lines of its two index fields, which are `bits` bits apart. `lines` has a line for each k, and the lines
/// of one group are equal.
fn pairs(lines: &[Line], bits: u8) -> Vec<Line> {
    let firsts = lines.iter().step_by(4);
    firsts.flat_map(|line| [0, bits].map(|above| Line { low_bit: line.low_bit + above, ..*line })).collect()
}

impl<T: Acc> Products<T> for Sparse<T> {
    const ROWS: [u16; 2] = [16, 32];

    #[inline(always)]
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        _: usize,
        acc: &mut [[T; N]; N],
    ) -> Result<(), Fault> {
        let Src::Vector(index) = s.src[2] else {
            return Err(Fault::Unsupported("indices outside the vector registers"));
        };
        let registers = self.dense.inputs(cx, s)?;
        let (mut widened, mut places) = (room::<T::Sum, N>(), [[0; N]; STRETCH]);
        for (at, lines) in self.indices.chunks(STRETCH / 2).enumerate() {
            for (places, line) in places.iter_mut().zip(lines) {
                let indices = &cx.w.v[usize::from(index)][line.lanes(N)];
                places.iter_mut().zip(indices).for_each(|(place, bits)| *place = bits >> line.low_bit & 3);
            }
            let first = at * STRETCH / 2;
            let end = first + lines.len();
            let [a, b] = self.dense.read(&registers, [first..end, 2 * first..2 * end], &mut widened);
            multiply::<T, FUSED, N, R>(a, &places, b, acc, self.dense.exact_product);
        }
        Ok(())
    }
}

/// Computes acc + a * b for the two elements of each group, in the order of A, rounding once per product.
#[inline(always)]
fn multiply<T: Acc, const FUSED: bool, const N: usize, const R: usize>(
    a: &[[T::Sum; N]],
    places: &[[u32; N]],
    b: &[[T::Sum; N]],
    acc: &mut [[T; N]; N],
    exact_product: bool,
) {
    for (at, rows) in acc.as_chunks_mut::<R>().0.iter_mut().enumerate() {
        // The tile stays in registers throughout the loop.
        let mut tile = [[T::Sum::default(); N]; R];
        for (sum, acc) in tile.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
            *sum = acc.begin();
        }
        let groups = a.as_chunks::<2>().0.iter().zip(places.as_chunks::<2>().0).zip(b.as_chunks::<4>().0);
        for ((a, places), four) in groups {
            for (a, places) in a.iter().zip(places) {
                for (r, sum) in tile.iter_mut().enumerate() {
                    let row = R * at + r;
                    T::Sum::steps::<FUSED>(sum, a[row], &four[places[row] as usize & 3], exact_product);
                }
            }
        }
        for (acc, sum) in rows.as_flattened_mut().iter_mut().zip(tile.as_flattened()) {
            *acc = acc.end(*sum);
        }
    }
}

impl<T: Acc> Exec for Sparse<T> {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        host::run(Execution { dense: &self.dense, products: self, cx, s }).map(|_| ()).map_err(Box::new)
    }
}
