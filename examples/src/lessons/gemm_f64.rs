//! Lesson 6: matrix instructions in double precision.
//!
//! C = alpha * A * B + beta * C, all matrices row by row: the form that linear algebra libraries call
//! `dgemm`. Compare with lesson 5:
//!
//! - Matrix instructions on f64 are 16 x 16 x 4, so the tiles consist of 16 x 16 accumulators (`SIDE` 16),
//!   and each lane gives *one* element to a fragment. `k` need not be the fast index in LDS: the tile of B
//!   stays as it comes from memory, a row for each `k`, and the lanes of a fragment read along that row.
//! - The result is laid out differently: neighbouring registers are 4 rows apart. The kernel does not notice,
//!   because `update`, which reads C, computes and writes it back, knows where each element belongs.
//! - There is no prefetch here. Each iteration has two barriers: one after the tiles are written, one after
//!   they are read.
//!
//! `alpha` and `beta` are arguments of 64 bits: each takes two scalar registers.

use gcn_dsl::lang::matrix::Pad;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Rows and columns of the workgroup's tile of C.
pub const TILE: u32 = 64;
/// Rows and columns of a wave's part of it.
const PART: usize = TILE as usize / 2;
/// Columns of A and rows of B that are in LDS at a time.
pub const DEPTH: usize = 16;

gcn_kernel! {
    /// c = alpha * a * b + beta * c; `a` has rows of `depth` elements, `b` and `c` rows of `columns`
    /// elements. The grid is (columns, rows) / 64; rows and columns are multiples of 64, depth is one of 16.
    #[workgroup(256)]
    #[targets(gfx90a, gfx942, gfx950)]
    pub fn gemm_f64(columns: u32, depth: u32, alpha: f64, beta: f64, a: &[f64], b: &[f64], c: &mut [f64]) {
        let tile_a = LdsTile::<f64, { TILE as usize }, DEPTH, Pad<2>>::new();
        let tile_b = LdsTile::<f64, DEPTH, { TILE as usize }, Pad<2>>::new();
        let (first_row, first_col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth), row_major(b, columns));
        let (row, col) = (wave_id() / 2 * PART as u32, wave_id() % 2 * PART as u32);
        let mut acc = Tile::<f64, PART, PART, 16>::zero();

        for done in (0..depth).step_by(DEPTH as u32) {
            tile_a.put(tile_a.fetch(a, first_row, done));
            tile_b.put(tile_b.fetch(b, done, first_col));
            barrier();
            let left = TileA::<f64, PART, DEPTH, 16>::load(tile_a, row, 0);
            let right = TileB::<f64, DEPTH, PART, 16>::load(tile_b, 0, col);
            acc = matmul(left, right, acc);
            barrier();
        }
        let (row, col) = (first_row + row, first_col + col);
        acc.update(row_major(c, columns), row, col, |product, old| alpha * product + beta * old);
    }
}

/// The same on the host: for each element one chain of fused multiplications and additions, `k` ascending,
/// then two multiplications and an addition with a rounding each.
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
    build_with: |target, options| gemm_f64.build_with(target, options).map(BuiltKernel::into_any),
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
