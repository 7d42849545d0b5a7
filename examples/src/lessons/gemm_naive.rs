//! A matrix multiplication as one would write it first: tiles, LDS, one loop.
//!
//! C = A * B as in `gemm_f16`, without any arrangement of waves: four waves of a workgroup put 64 columns of a
//! 128 x 128 tile into LDS, meet at a barrier, multiply, meet again. Four things make that good already:
//!
//! - **`#[pipeline]`** moves the loads of the next tile to right after the `put` of this one, so that a wave
//!   finds them in registers when it comes to the next `put`. On gfx950, whose LDS has room for it, there are two
//!   buffers in turn as well: the next tile is stored while this one is multiplied.
//! - **Rows of 64** elements are 128 bytes, a line of the caches. With rows of 32 each access would take a line and use half
//!   of it: on gfx950 that alone would halve the matrix pipe's work.
//! - **`Spread`** keeps the lanes of a wave out of each other's banks.
//! - **Two workgroups** fit onto a compute unit: while the waves of one wait at a barrier or for LDS, those of
//!   the other have products to compute. A wave that has begun with its products keeps the matrix pipe until they
//!   are done: the compiler raises its priority (`s_setprio`).
//!
//! **What it costs.** A wave loads 64 + 64 lines from LDS for 64 x 64 results, 16 operations for each byte, where
//! `gemm_f16` with 128 x 64 has 21, and a compute unit loads 128 + 128 lines from memory for 128 x 128 results, where
//! `gemm_f16` with 256 x 256 needs half as much. On gfx942 there is time for both. On gfx950 products are twice as fast, and
//! LDS and memory are not: there larger tiles are not a refinement but the first thing to do.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use super::gemm_f16::reference;
use crate::data::Random;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// Rows and columns of the workgroup's tile of C.
const TILE: u32 = 128;

gcn_kernel! {
    /// c = a * b; `a` has rows of `depth` elements, `b` columns of `depth`, a multiple of 8; `c` rows of `columns`.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn gemm_naive(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (first_row, first_col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (row, col) = (wave_id() / 2 * 64, wave_id() % 2 * 64);
        let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
        let left = LdsTile::<f16, 128, 64, Spread>::new();
        let right = LdsTile::<f16, 128, 64, Spread>::new();
        let mut acc = Tile::<f32, 64, 64>::zero();
        #[pipeline]
        for k in (0..depth).step_by(64) {
            left.put(left.fetch(a, first_row, k));
            right.put(right.fetch(b, first_col, k));
            barrier();
            let x = TileA::<f16, 64, 64>::load(left, row, 0);
            let y = TileB::<f16, 64, 64>::load(right.transposed(), 0, col);
            acc = matmul(x, y, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns).columns(columns), first_row + row, first_col + col);
    }
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_naive",
    build_with: |target, options| gemm_naive.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 8]), Size(&[40, 136, 72]), Size(&[128, 256, 128])],
    run,
    steady: Some(Steady {
        depths: [512, 1024],
        workgroups: 2,
        operations: 2 * 2 * (TILE * TILE) as u64,
        args: |depth| {
            vec![
                ("columns", Arg::Number("u32", 256.0)),
                ("depth", Arg::Number("u32", depth.into())),
                ("a", Arg::Slice("f16", TILE * depth)),
                ("b", Arg::Slice("f16", 2 * TILE * depth)),
                ("c", Arg::Slice("f32", 2 * TILE * TILE)),
            ]
        },
    }),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(5);
    let (a, b) = (random.f16s((rows * depth) as usize), random.f16s((columns * depth) as usize));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
    let stats = device.launch(&gemm_naive, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let want = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}
