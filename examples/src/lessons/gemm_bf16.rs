//! The kernel of `gemm_f16` in bfloat16, with the result rounded on its way to memory.
//!
//! bf16 has the range of f32 and 8 bits of precision: weights of neural networks. C is bf16 as well;
//! `store_with` takes a closure that scales and converts each element of the accumulators, while the sums are
//! f32 until then. The tiles in LDS have no gaps here: `Spread` permutes groups of elements depending on
//! their row, as the target's banks require. This keeps rows apart better than `Pad` and without the LDS for
//! gaps, at the price of an exclusive or in the addresses.
//!
//! The source is the same from gfx908 to gfx950, the instructions are not: 32x32x4 on gfx908, whose bf16
//! instructions take half as many `k` as those for f16, 32x32x8 on gfx90a and gfx942, 32x32x16 on gfx950.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::product::product;
use crate::{Comparison, Lesson, Outcome, Size};

/// Rows and columns of the workgroup's tile of C.
pub const TILE: usize = 128;
/// Rows and columns of a wave's part of it.
const PART: usize = TILE / 2;
/// Columns of A and rows of B that are in LDS at a time.
pub const DEPTH: usize = 32;

gcn_kernel! {
    /// c = alpha * a * b; `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of
    /// `columns` elements. The grid is (columns, rows) / 128; rows and columns are multiples of 128, depth is
    /// one of 32.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn gemm_bf16(columns: u32, depth: u32, alpha: f32, a: &[bf16], b: &[bf16], c: &mut [bf16]) {
        let tile_a = LdsTile::<bf16, TILE, DEPTH, Spread>::new();
        let tile_b = LdsTile::<bf16, TILE, DEPTH, Spread>::new();
        let (first_row, first_col) = (workgroup_id().y * TILE as u32, workgroup_id().x * TILE as u32);
        let (a, b) = (row_major(a, depth), row_major(b, depth));
        let (row, col) = (wave_id() / 2 * PART as u32, wave_id() % 2 * PART as u32);
        let mut acc = Tile::<f32, PART, PART>::zero();

        for done in (0..depth).step_by(DEPTH as u32) {
            tile_a.put(tile_a.fetch(a, first_row, done));
            tile_b.put(tile_b.fetch(b, first_col, done));
            barrier();
            let left = TileA::<bf16, PART, DEPTH>::load(tile_a, row, 0);
            let right = TileB::<bf16, DEPTH, PART>::load(tile_b.transposed(), 0, col);
            acc = matmul(left, right, acc);
            barrier();
        }
        let (row, col) = (first_row + row, first_col + col);
        acc.store_with(row_major(c, columns), row, col, |x| (alpha * x) as bf16);
    }
}

/// The same on the host: a chain of fused multiplications and additions in f32 for each element, then two
/// roundings.
pub fn reference(columns: usize, depth: usize, alpha: f32, a: &[bf16], b: &[bf16]) -> Vec<f32> {
    let sums = product([columns, depth], a, b, |sum, a, b| f32::mul_add(a.to_f32(), b.to_f32(), sum));
    sums.into_iter().map(|sum| bf16::from_f32(alpha * sum).to_f32()).collect()
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_bf16",
    build_with: |target, options| gemm_bf16.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[128, 128, 32]), Size(&[128, 256, 96])],
    run,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(9);
    let mut bf16s =
        |n: u32| -> Vec<bf16> { random.f64s(n as usize).into_iter().map(bf16::from_f64).collect() };
    let (a, b) = (bf16s(rows * depth), bf16s(columns * depth));
    let mut c = vec![bf16::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns / TILE as u32, rows / TILE as u32);
    let stats = device.launch(&gemm_bf16, kernel, grid, (columns, depth, 0.75, &a, &b, &mut c))?;
    let got: Vec<f32> = c.iter().map(|x| x.to_f32()).collect();
    let want = reference(columns as usize, depth as usize, 0.75, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&got, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies_and_scales() {
        let bf16s = |xs: [f32; 4]| xs.map(bf16::from_f32);
        let (a, b) = (bf16s([1.0, 2.0, 3.0, 4.0]), bf16s([5.0, 7.0, 6.0, 8.0]));
        assert_eq!(reference(2, 2, 0.5, &a, &b), [9.5, 11.0, 21.5, 25.0]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.is_exact_on(&[Target::GFX908, Target::GFX950]);
    }
}
