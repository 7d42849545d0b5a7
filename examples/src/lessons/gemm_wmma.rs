//! One matrix product for MI300 and for Radeon: tiles take the instruction of the target.
//!
//! C = A * B in half precision with single-precision accumulation. A is stored row by row, B column by column. The
//! kernel lists no targets and names no instruction. `matmul` multiplies tiles with `v_mfma_f32_16x16x*` on GFX9 from
//! gfx908 on, with `v_wmma_f32_16x16x16_f16` on RDNA 3, 3.5 and 4, in waves of 32 lanes and of 64, and with
//! `v_wmma_f32_16x16x32_f16` on gfx1250.
//!
//! **The operands.** On RDNA 3 each group of 16 lanes of a wave has all of A and B, so each lane has all 16 `k` of its
//! row, in eight registers. On RDNA 4 the two halves of a wave of 32 lanes share them. The rows of an accumulator
//! alternate between the halves on RDNA 3; on RDNA 4 each half has eight consecutive rows. The kernel does not depend
//! on this: `TileA` and `TileB` load what the instruction needs, 16 bytes at a time where `k` is contiguous in memory,
//! and `store_to` knows which lane has which result.
//!
//! **The waves.** A workgroup has 256 lanes and computes 128 x 128 elements of C. It has either eight waves of 32 lanes,
//! each with 32 x 64 elements, or four waves of 64 lanes, each with 64 x 64. `wave_size()` is known when the kernel is
//! built, so `comptime if` chooses. The larger a wave's part, the more products it computes for each element that it
//! loads from LDS: with 64 x 64, the loads of 64 rows and 64 columns of 16 elements are for 16 instructions.
//!
//! **The loop.** WMMA occupies the vector ALU, so that whatever else a wave does there, and every wait, is time without
//! products. `#[pipeline(stages = 2, buffers = 2)]` makes the plain loop into one that stores a tile to one half of LDS
//! while it multiplies the tile in the other half: one barrier for each tile instead of two, and the next tile's loads
//! from memory are on their way meanwhile. In waves of 64 lanes the matrix unit is then busy 88% of the time on gfx1100,
//! gfx1151 and gfx1201 (docs/matrix-pipe.md); [`gcn_kernels::gemm`] reaches 93 to 96% with a barrier that stands among
//! the products, and waves that load the next rows of A while they multiply the current ones.
//!
//! **Without the instruction.** On GFX9 before gfx908 and on RDNA 1 and 2, `matmul` consists of fused multiply-adds.
//! Each lane then needs all rows and columns of its results in registers, in waves of 32 lanes eight rows for one
//! column of a 16 x 16 product. Processing two `k` at a time leaves enough registers in waves of 64 lanes; in waves of
//! 32, the compiler spills 34 of them on RDNA 1 and 2.
//!
//! **The hazard.** If a WMMA instruction reads the result of the one before it as A or B, an instruction has to be
//! between the two; if it reads the result as C, none has to be. In this kernel each sum is the next one's C, so
//! nothing has to be inserted; look for `v_wmma` in the assembly.

use gcn_dsl::lang::Writable;
use gcn_dsl::lang::matrix::{Spread, View, has_instruction, least_depth};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use super::gemm_f16::reference;
use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: [u32; 2] = [128, 128];
/// The number of columns of A and of B^T that are in LDS at a time.
const DEPTH: usize = 32;
/// The number of rows and of columns of an accumulator.
const SIDE: usize = 16;

// ANCHOR: kernel
gcn_kernel! {
    /// Computes a wave's part of a tile: `ROWS` x 64 elements, with `STEP` of the depth at a time.
    #[device]
    fn part<T, const ROWS: usize, const STEP: usize>(
        all: AllLanes<T>,
        a: View<f16>,
        b: View<f16>,
        first: (u32, u32),
        part: (u32, u32),
        depth: u32,
    ) -> Tile<f32, ROWS, 64, SIDE> {
        let left = LdsTile::<f16, 128, DEPTH, Spread<SIDE>>::new();
        let right = LdsTile::<f16, 128, DEPTH, Spread<SIDE>>::new();
        let mut acc = Tile::<f32, ROWS, 64, SIDE>::zero();
        #[pipeline(stages = 2, buffers = 2)]
        for done in (0..depth).step_by(DEPTH as u32) {
            left.put(left.fetch(a, first.0, done));
            right.put(right.fetch(b, first.1, done));
            barrier();
            #[unroll]
            for k in (0..DEPTH).step_by(STEP) {
                let x = TileA::<f16, ROWS, STEP, SIDE>::load(left, part.0, k as u32);
                let y = TileB::<f16, STEP, 64, SIDE>::load(right.transposed(), k as u32, part.1);
                acc = matmul(x, y, acc);
            }
            barrier();
        }
        acc
    }

    /// As `part`, stored to `c`. One instruction takes 16 of the depth, on gfx1250 32.
    #[device]
    fn compute<T, const ROWS: usize>(
        all: AllLanes<T>,
        a: View<f16>,
        b: View<f16>,
        c: View<f32, Writable>,
        (row, col): (u32, u32),
        depth: u32,
    ) {
        let (down, right) = (wave_id() / 2 * ROWS as u32, wave_id() % 2 * 64);
        let acc = comptime if !has_instruction::<f16>() {
            part::<_, ROWS, 2>(all_lanes(), a, b, (row, col), (down, right), depth)
        } else if least_depth::<f16, SIDE>() <= 16 {
            part::<_, ROWS, 16>(all_lanes(), a, b, (row, col), (down, right), depth)
        } else {
            part::<_, ROWS, 32>(all_lanes(), a, b, (row, col), (down, right), depth)
        };
        acc.store_to(c, row + down, col + right);
    }

    /// c = a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns` elements.
    /// The grid is (columns / 128, rows / 128), rounded up; depth is a multiple of 8.
    #[workgroup(256)]
    pub fn gemm_wmma(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let first = (workgroup_id().y * TILE[0], workgroup_id().x * TILE[1]);
        let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
        let c = row_major(c, columns).columns(columns);
        comptime if wave_size() == 32 {
            compute::<_, 32>(all_lanes(), a, b, c, first, depth);
        } else {
            compute::<_, 64>(all_lanes(), a, b, c, first, depth);
        }
    }
}
// ANCHOR_END: kernel

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_wmma",
    build_with: |target, options| gemm_wmma.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 8]), Size(&[40, 136, 72]), Size(&[128, 256, 96])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(17);
    let (a, b) = (random.f16s((rows * depth) as usize), random.f16s((columns * depth) as usize));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE[1]), rows.div_ceil(TILE[0]));
    let stats = device.launch(&gemm_wmma, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let (want, tolerance) = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want).within(tolerance) })
}
