//! Matrix instructions on integers: exact, and four times as deep.
//!
//! C = A * B for i8 into i32, A row by row, B column by column. The kernel is that of `gemm_f16` with other
//! types, which select the target's instruction: 32x32x8 on gfx908 and gfx90a, 32x32x16 on gfx942, 32x32x32
//! on gfx950. Sums of i8 products are exact, so that the reference may add in any order.

use gcn_dsl::lang::matrix::Pad;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::product::product;
use crate::{Comparison, Lesson, Outcome, Size};

/// Rows and columns of the workgroup's tile of C.
pub const TILE: usize = 128;
/// Rows and columns of a wave's part of it.
const PART: usize = TILE / 2;
/// Columns of A and rows of B that are in LDS at a time: 64 bytes of each row.
pub const DEPTH: usize = 64;

gcn_kernel! {
    /// c = a * b; `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns`
    /// elements. The grid is (columns, rows) / 128; rows and columns are multiples of 128, depth is one
    /// of 64.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn gemm_i8(columns: u32, depth: u32, a: &[i8], b: &[i8], c: &mut [i32]) {
        let tile_a = LdsTile::<i8, TILE, DEPTH, Pad<16>>::new();
        let tile_b = LdsTile::<i8, TILE, DEPTH, Pad<16>>::new();
        let (first_row, first_col) = (workgroup_id().y * TILE as u32, workgroup_id().x * TILE as u32);
        let (a, b) = (row_major(a, depth), row_major(b, depth));
        let (row, col) = (wave_id() / 2 * PART as u32, wave_id() % 2 * PART as u32);
        let mut acc = Tile::<i32, PART, PART>::zero();

        for done in (0..depth).step_by(DEPTH as u32) {
            tile_a.put(tile_a.fetch(a, first_row, done));
            tile_b.put(tile_b.fetch(b, first_col, done));
            barrier();
            let left = TileA::<i8, PART, DEPTH>::load(tile_a, row, 0);
            let right = TileB::<i8, DEPTH, PART>::load(tile_b.transposed(), 0, col);
            acc = matmul(left, right, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns), first_row + row, first_col + col);
    }
}

/// The same on the host.
pub fn reference(columns: usize, depth: usize, a: &[i8], b: &[i8]) -> Vec<i32> {
    product([columns, depth], a, b, |sum, a, b| sum + i32::from(*a) * i32::from(*b))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_i8",
    build_with: |target, options| gemm_i8.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[128, 128, 64]), Size(&[256, 128, 192])],
    run,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(8);
    let mut bytes =
        |n: u32| -> Vec<i8> { random.f64s(n as usize).iter().map(|x| (x * 127.0) as i8).collect() };
    let (a, b) = (bytes(rows * depth), bytes(columns * depth));
    let mut c = vec![i32::MIN; (rows * columns) as usize];
    let grid = Grid::xy(columns / TILE as u32, rows / TILE as u32);
    let stats = device.launch(&gemm_i8, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let want = reference(columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        // [1 2; 3 -4] * [5 6; 7 8], the right one column by column.
        assert_eq!(reference(2, 2, &[1, 2, 3, -4], &[5, 7, 6, 8]), [19, 22, -13, -14]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.is_exact_on(&[Target::GFX908, Target::GFX950]);
    }
}
