//! A matrix multiplication as one would write it first: tiles, LDS, one loop.
//!
//! C = A * B as in `gemm_f16`, but without groups of waves that alternate: the waves of a workgroup copy 64 columns of
//! each factor's tile to LDS, meet at a barrier, multiply, and meet again. Four things make this simple structure fast:
//!
//! - **`#[pipeline]`** moves the loads of the next tile to right after the `put` of this one, so that a wave
//!   finds them in registers when it comes to the next `put`; it computes their addresses between the products of the
//!   previous iteration. gfx950 has enough LDS for two buffers as well, used in turn: the next tile is stored while
//!   this one is multiplied.
//! - **Rows of 64** elements are 128 bytes, a cache line. With rows of 32, each access would fetch a line and use half
//!   of it: on gfx950 that alone would halve the matrix pipe's work.
//! - **`Spread`** avoids bank conflicts between the lanes of a wave. With **`Wide`** they store and load 16 bytes at once, two
//!   fragments of an instruction that takes 4 `k` of each lane: half as many accesses, with `k` in another order.
//! - **Two workgroups** of 128 x 128 fit onto a compute unit: while the waves of one wait at a barrier or for LDS, those of
//!   the other have products to compute. A wave starts its products when all its LDS loads have been issued, and keeps the
//!   matrix pipe until they are done: the compiler raises its priority (`s_setprio`).
//!
//! **What it costs.** For 64 x 64 results a wave loads 64 rows of A and 64 columns of B from LDS, which is 16
//! multiply-adds for each byte; `gemm_f16` with 128 x 64 results has 21. For 128 x 128 results a compute unit loads 128
//! rows and 128 columns from memory; with tiles of 256 x 256, it loads half as much for the same number of results. On
//! gfx942 the products take long enough to hide both. On gfx950 matrix products are twice as fast, but LDS and memory
//! are not: there, larger tiles are not a refinement but the first thing to do. `gemm_naive_256` is the same kernel
//! with tiles of 256 x 256. Only one of its workgroups fits on a compute unit; it waits at its barriers, but no longer
//! for memory.

use gcn_dsl::lang::matrix::{Spread, Wide};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use super::gemm_f16::reference;
use crate::data::Random;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

gcn_kernel! {
    /// c = a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements (a multiple of 8), `c` rows of
    /// `columns` elements. The workgroup's tile of `c` is `TILE` x `TILE`; each wave computes `PART` x 64 of it, where
    /// `PART` is half of `TILE`.
    #[workgroup(2 * TILE)]
    #[targets(HasMfma)]
    pub fn gemm_naive<const TILE: usize, const PART: usize>(
        columns: u32,
        depth: u32,
        a: &[f16],
        b: &[f16],
        c: &mut [f32],
    ) {
        let (first_row, first_col) = (workgroup_id().y * TILE as u32, workgroup_id().x * TILE as u32);
        let (row, col) = (wave_id() % 2 * PART as u32, wave_id() / 2 * 64);
        let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
        let left = LdsTile::<f16, TILE, 64, Spread<32, Wide>>::new();
        let right = LdsTile::<f16, TILE, 64, Spread<32, Wide>>::new();
        let mut acc = Tile::<f32, PART, 64>::zero();
        #[pipeline]
        for k in (0..depth).step_by(64) {
            left.put(left.fetch(a, first_row, k));
            right.put(right.fetch(b, first_col, k));
            barrier();
            let x = TileA::<f16, PART, 64, 32, Wide>::load(left, row, 0);
            let y = TileB::<f16, 64, 64, 32, Wide>::load(right.transposed(), 0, col);
            acc = matmul(x, y, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns).columns(columns), first_row + row, first_col + col);
    }
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_naive",
    build_with: |target, options| {
        gemm_naive::<128, 64>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 3, 8]), Size(&[40, 136, 72]), Size(&[128, 256, 128])],
    run: run::<128, 64>,
    steady: Some(steady::<128>(2)),
};

/// The lesson with larger tiles.
pub const LARGE: Lesson = Lesson {
    name: "gemm_naive_256",
    build_with: |target, options| {
        gemm_naive::<256, 128>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 3, 8]), Size(&[300, 264, 136]), Size(&[256, 512, 256])],
    run: run::<256, 128>,
    steady: Some(steady::<256>(1)),
};

const fn steady<const TILE: u32>(workgroups: u32) -> Steady {
    Steady {
        depths: [512, 1024],
        workgroups,
        operations: workgroups as u64 * 2 * (TILE * TILE) as u64,
        args: |depth| {
            vec![
                ("columns", Arg::Number("u32", 256.0)),
                ("depth", Arg::Number("u32", depth.into())),
                ("a", Arg::Slice("f16", TILE * depth)),
                ("b", Arg::Slice("f16", 256 * depth)),
                ("c", Arg::Slice("f32", TILE * 256)),
            ]
        },
    }
}

fn run<const TILE: usize, const PART: usize>(
    device: &Device,
    kernel: &BuiltKernel,
    size: Size,
) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(5);
    let (a, b) = (random.f16s((rows * depth) as usize), random.f16s((columns * depth) as usize));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE as u32), rows.div_ceil(TILE as u32));
    let stats = device.launch(&gemm_naive::<TILE, PART>, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let (want, tolerance) = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want).within(tolerance) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tiles_multiply_on_the_first_and_the_last_target_with_matrix_instructions() {
        LESSON.agrees_on(&[Target::GFX908, Target::GFX942, Target::GFX950]);
        LARGE.agrees_on(&[Target::GFX908, Target::GFX942, Target::GFX950]);
    }
}
