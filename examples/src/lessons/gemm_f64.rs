//! Lesson 6: matrix instructions in double precision.
//!
//! C = alpha * A * B + beta * C, all matrices row by row: the form that linear algebra libraries call `dgemm`.
//! Compare with lesson 5:
//!
//! - `mfma` on f64 has the shape 16 x 16 x 4, and each lane gives *one* element to a fragment. Nothing forces `k`
//!   to be the fast index in LDS: the tile of B stays as it comes from memory, a row for each `k`, and the lanes
//!   of a fragment read along that row.
//! - An accumulator holds 4 doubles per lane, which are 8 registers. A workgroup of four waves computes a 64 x 64
//!   tile; each wave has 2 x 2 accumulators.
//! - The result is laid out differently: neighbouring registers are 4 rows apart. The kernel does not notice, for
//!   it asks [`Acc::row`].
//! - There is no prefetch here. Two barriers per trip: one after the tiles are written, one after they are read.
//!
//! `alpha` and `beta` are arguments of 64 bits: each takes two scalar registers.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Rows and columns of the workgroup's tile of C.
pub const TILE: u32 = 64;
/// Rows and columns of a wave's part of it.
const PART: u32 = TILE / 2;
/// Rows and columns of an accumulator.
const ACC: u32 = 16;
/// Columns of A and rows of B that are in LDS at a time.
pub const DEPTH: u32 = 16;
/// The part of them that one matrix instruction takes.
const STEP: usize = 4;
/// Elements from one row of A's tile in LDS to the next; even, because elements are stored in pairs of 16 bytes.
const PITCH_A: u32 = DEPTH + 2;
/// Elements from one row of B's tile in LDS to the next.
const PITCH_B: u32 = TILE + 2;
/// Elements of A's tile in LDS.
const ELEMENTS_A: usize = (TILE * PITCH_A) as usize;
/// Elements of B's tile in LDS.
const ELEMENTS_B: usize = (DEPTH * PITCH_B) as usize;
/// Lanes of the workgroup.
const WORKGROUP: u32 = 256;
/// Elements that a lane moves with one instruction: 16 bytes.
const WIDE: u32 = 2;
/// Rows of A that the workgroup moves with one instruction.
const ROWS_A: u32 = WORKGROUP / (DEPTH / WIDE);
/// Rows of B that the workgroup moves with one instruction.
const ROWS_B: u32 = WORKGROUP / (TILE / WIDE);

type A = FragA<f64, 16, 4>;
type B = FragB<f64, 4, 16>;

gcn_kernel! {
    /// c = alpha * a * b + beta * c; `a` has rows of `depth` elements, `b` and `c` rows of `columns` elements. The
    /// grid is (columns, rows) / 64; rows and columns are multiples of 64, depth is one of 16.
    #[workgroup(WORKGROUP)]
    #[targets(gfx90a, gfx942)]
    pub fn gemm_f64(columns: u32, depth: u32, alpha: f64, beta: f64, a: &[f64], b: &[f64], c: &mut [f64]) {
        let tile_a = Lds::<f64, ELEMENTS_A>::new();
        let tile_b = Lds::<f64, ELEMENTS_B>::new();
        let (first_row, first_col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);

        // What this lane moves: two neighbours in two rows of either tile.
        let lane = local_id().x;
        let (row_a, col_a) = (lane / (DEPTH / WIDE), lane % (DEPTH / WIDE) * WIDE);
        let (row_b, col_b) = (lane / (TILE / WIDE), lane % (TILE / WIDE) * WIDE);

        let (part_row, part_col) = (wave_id() / 2 * PART, wave_id() % 2 * PART);
        let read_a = (part_row + A::row()) * PITCH_A + A::k();
        let read_b = B::k() * PITCH_B + part_col + B::col();
        let mut acc = [[Acc::<f64, 16, 16>::zero(); 2]; 2];

        for done in (0..depth).step_by(DEPTH) {
            #[unroll]
            for i in 0..2u32 {
                let row = row_a + i * ROWS_A;
                let pair = a.load_vector::<2>((first_row + row) * depth + done + col_a);
                tile_a.store_vector(row * PITCH_A + col_a, pair);
                let row = row_b + i * ROWS_B;
                let pair = b.load_vector::<2>((done + row) * columns + first_col + col_b);
                tile_b.store_vector(row * PITCH_B + col_b, pair);
            }
            barrier();
            #[unroll]
            for k in (0..DEPTH).step_by(STEP) {
                let left = [A::load(&tile_a, read_a + k), A::load(&tile_a, read_a + (ACC * PITCH_A + k))];
                let right = [B::load(&tile_b, read_b + k * PITCH_B), B::load(&tile_b, read_b + (k * PITCH_B + ACC))];
                #[unroll]
                for i in 0..2usize {
                    #[unroll]
                    for j in 0..2usize {
                        acc[i][j] = mfma(left[i], right[j], acc[i][j]);
                    }
                }
            }
            barrier();
        }

        #[unroll]
        for i in 0..2usize {
            #[unroll]
            for j in 0..2usize {
                let result = acc[i][j];
                let row = first_row + part_row + i as u32 * ACC;
                let col = first_col + part_col + j as u32 * ACC + result.col();
                #[unroll]
                for r in 0..4usize {
                    let at = (row + result.row(r)) * columns + col;
                    c[at] = alpha * result.get(r) + beta * c[at];
                }
            }
        }
    }
}

/// The same on the host: for each element one chain of fused multiplications and additions, `k` ascending, then
/// two multiplications and an addition with a rounding each.
pub fn reference([columns, depth]: [usize; 2], [alpha, beta]: [f64; 2], a: &[f64], b: &[f64], c: &mut [f64]) {
    for (i, c) in c.iter_mut().enumerate() {
        let (row, col) = (i / columns, i % columns);
        let product =
            (0..depth).fold(0.0, |sum, k| f64::mul_add(a[row * depth + k], b[k * columns + col], sum));
        *c = alpha * product + beta * *c;
    }
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_f64",
    build: |target| gemm_f64.build(target),
    sizes: &[Size(&[64, 64, 16]), Size(&[64, 128, 48]), Size(&[128, 128, 128])],
    run,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(6);
    let (a, b) = (random.f64s((rows * depth) as usize), random.f64s((depth * columns) as usize));
    let mut c = random.f64s((rows * columns) as usize);
    let mut want = c.clone();
    reference([columns as usize, depth as usize], [1.5, -0.25], &a, &b, &mut want);
    let grid = Grid::xy(columns / TILE, rows / TILE);
    let stats = device.launch(&gemm_f64, kernel, grid, (columns, depth, 1.5, -0.25, &a, &b, &mut c))?;
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        let mut c = [1.0; 4];
        reference([2, 2], [2.0, 10.0], &[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut c);
        assert_eq!(c, [48.0, 54.0, 96.0, 110.0]);
    }
}
