//! Lesson 5: matrix instructions fed from LDS tiles, with the next tile already on its way.
//!
//! C = A * B in half precision with single-precision accumulation. A is stored row by row (M x K), B column
//! by column (that is, N rows of K elements), so that for both the summation index `k` runs through
//! neighbouring addresses.
//!
//! **The instruction.** A matrix instruction multiplies a fragment of A with a fragment of B: 32 x 8 with 8 x
//! 32 elements are 8192 multiplications and additions, by one instruction of one wave. The operands are
//! spread over the registers of all 64 lanes; the instruction determines which lane holds which element. The
//! kernel does not see this: [`TileA`] and [`TileB`] load matrices of any size as fragments of the target's
//! instruction, 32x32x8 up to gfx942, 32x32x16 on gfx950, and `matmul` multiplies them. Tiles of sizes that
//! do not fit together do not compile.
//!
//! **The tiles.** A workgroup of four waves computes a 128 x 128 tile of C, each wave a quarter: 2 x 2
//! accumulators. Every fragment of A meets two of B and vice versa, so that four matrix instructions need
//! four fragments instead of eight. The fragments come from LDS, where the workgroup has put 32 columns of A
//! and of B^T; each element is loaded from memory once for the whole workgroup. `Pad<8>` sets the rows in LDS
//! 40 elements apart: 16-byte accesses stay aligned, and the lanes of a wave, which read down a column, do
//! not all meet in the same banks.
//!
//! **The prefetch.** Memory latency is long. While the matrix instructions work on one tile, the loads of the
//! next are in flight: `fetch` issues them before the multiplications, `put` uses their values afterwards and
//! stores them to LDS. In the assembly, look for `s_waitcnt vmcnt`: it is at the top of the loop, before the
//! stores to LDS, a whole iteration after the loads. The last iteration loads beyond the end of its rows;
//! that is harmless, because the slices know their lengths.
//!
//! **The waits.** On gfx942 this matrix instruction takes 8 passes of 4 clocks, on gfx90a 16, and the
//! hardware does not delay a vector instruction that reads the result before it is there. A certain number of
//! instructions must be in between, which differs between the two targets. After the loop there are enough,
//! because addresses are computed first; elsewhere an `s_nop` fills the distance, with the rule and the
//! required distance as its comment.
//!
//! **The numbers.** Products of two f16 are exact in f32. The order and width in which the hardware adds them
//! are not documented; the simulator adds with `k` ascending and one rounding each, and the reference does
//! the same, so that they agree bit for bit. On a GPU the last places may differ. One difference between the
//! targets is documented: gfx908 and gfx90a take denormal f16 inputs (below 2^-14) as zero, gfx942 does not.

use std::num::FpCategory;

use gcn_dsl::lang::matrix::Pad;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::product::product;
use crate::{Comparison, Lesson, Outcome, Size};

/// Rows and columns of the workgroup's tile of C.
pub const TILE: u32 = 128;
/// Rows and columns of a wave's part of it.
const PART: usize = TILE as usize / 2;
/// Columns of A and rows of B that are in LDS at a time.
pub const DEPTH: usize = 32;

gcn_kernel! {
    /// c = a * b; `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns`
    /// elements. The grid is (columns, rows) / 128; rows and columns are multiples of 128, depth is one
    /// of 32.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn gemm_f16(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let tile_a = LdsTile::<f16, { TILE as usize }, DEPTH, Pad<8>>::new();
        let tile_b = LdsTile::<f16, { TILE as usize }, DEPTH, Pad<8>>::new();
        let (first_row, first_col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (rows, cols) = (row_major(a, depth), row_major(b, depth));
        let mut next_a = tile_a.fetch(rows, first_row, 0);
        let mut next_b = tile_b.fetch(cols, first_col, 0);

        // The quarter that this wave computes.
        let (row, col) = (wave_id() / 2 * PART as u32, wave_id() % 2 * PART as u32);
        let mut acc = Tile::<f32, PART, PART>::zero();

        for done in (0..depth).step_by(DEPTH as u32) {
            tile_a.put(next_a);
            tile_b.put(next_b);
            barrier();
            next_a = tile_a.fetch(rows, first_row, done + DEPTH as u32);
            next_b = tile_b.fetch(cols, first_col, done + DEPTH as u32);
            let left = TileA::<f16, PART, DEPTH>::load(tile_a, row, 0);
            let right = TileB::<f16, DEPTH, PART>::load(tile_b.transposed(), 0, col);
            acc = matmul(left, right, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns), first_row + row, first_col + col);
    }
}

/// The same on the host: for each element of C one chain of fused multiplications and additions in f32, `k`
/// ascending, as the simulator's matrix instructions add.
pub fn reference(target: Target, columns: usize, depth: usize, a: &[f16], b: &[f16]) -> Vec<f32> {
    let denormals_are_zero = matches!(target, Target::GFX908 | Target::GFX90A);
    let is_denormal = |x: &f16| x.classify() == FpCategory::Subnormal;
    let input = |x: &f16| if denormals_are_zero && is_denormal(x) { 0.0 } else { x.to_f32() };
    let (a, b): (Vec<f32>, Vec<f32>) = (a.iter().map(input).collect(), b.iter().map(input).collect());
    product([columns, depth], &a, &b, |sum, a, b| f32::mul_add(*a, *b, sum))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_f16",
    build_with: |target, options| gemm_f16.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[128, 128, 32]), Size(&[128, 256, 96]), Size(&[256, 256, 256])],
    run,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(5);
    let (a, b) = (random.f16s((rows * depth) as usize), random.f16s((columns * depth) as usize));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns / TILE, rows / TILE);
    let stats = device.launch(&gemm_f16, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let want = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        let half = |xs: [f32; 4]| xs.map(f16::from_f32);
        // [1 2; 3 4] * [5 6; 7 8], the right one column by column.
        let (a, b) = (half([1.0, 2.0, 3.0, 4.0]), half([5.0, 7.0, 6.0, 8.0]));
        assert_eq!(reference(Target::GFX942, 2, 2, &a, &b), [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn denormal_inputs_count_where_the_target_has_them() {
        let (tiny, one) = ([f16::from_bits(1)], [f16::ONE]);
        assert_eq!(reference(Target::GFX942, 1, 1, &tiny, &one), [f32::exp2(-24.0)]);
        assert_eq!(reference(Target::GFX90A, 1, 1, &tiny, &one), [0.0]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.is_exact_on(&[Target::GFX908, Target::GFX950]);
    }
}
