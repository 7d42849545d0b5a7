//! Matrix instructions on integers: exact, and four times as deep.
//!
//! C = A * B for i8 with an i32 result, A stored row by row, B column by column. The kernel is that of `gemm_f16` with
//! other types, which select the target's instruction: 32x32x8 on gfx908 and gfx90a, 32x32x16 on gfx942, 32x32x32 on
//! gfx950. Sums of i8 products are exact, so the reference may add in any order.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};
use gcn_kernels::tile;

use crate::data::Random;
use crate::product::product;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: u32 = 256;

gcn_kernel! {
    /// c = a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns` elements.
    /// The grid is (columns, rows) / 256, rounded up; depth is a multiple of 16.
    #[workgroup(512)]
    #[targets(HasMfma)]
    pub fn gemm_i8(columns: u32, depth: u32, a: &[i8], b: &[i8], c: &mut [i32]) {
        let (row, col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth).columns_by(depth, 16), row_major(b, depth).columns_by(depth, 16));
        let acc = tile::product::<_, i8, i32, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
        let part = tile::part::<256, 128, 64>();
        acc.store_to(row_major(c, columns).columns(columns), row + part.0, col + part.1);
    }
}

/// Reference on the host.
pub fn reference(columns: usize, depth: usize, a: &[i8], b: &[i8]) -> Vec<i32> {
    product([columns, depth], a, b, |sum, a, b| sum + i32::from(*a) * i32::from(*b))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_i8",
    build_with: |target, options| gemm_i8.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 16]), Size(&[40, 136, 144]), Size(&[300, 264, 272]), Size(&[256, 512, 256])],
    run,
    steady: Some(Steady::of_tile([TILE; 2], [512, 1024], |depth| {
        vec![
            ("columns", Arg::Number("u32", 256.0)),
            ("depth", Arg::Number("u32", depth.into())),
            ("a", Arg::Slice("i8", 256 * depth)),
            ("b", Arg::Slice("i8", 256 * depth)),
            ("c", Arg::Slice("i32", 256 * 256)),
        ]
    })),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(8);
    let mut bytes =
        |n: u32| -> Vec<i8> { random.f64s(n as usize).iter().map(|x| (x * 127.0) as i8).collect() };
    let (a, b) = (bytes(rows * depth), bytes(columns * depth));
    let mut c = vec![i32::MIN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
    let stats = device.launch(&gemm_i8, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let want = reference(columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        // [1 2; 3 -4] * [5 6; 7 8]. The right factor is stored column by column.
        assert_eq!(reference(2, 2, &[1, 2, 3, -4], &[5, 7, 6, 8]), [19, 22, -13, -14]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.agrees_on(&[Target::GFX908, Target::GFX950]);
    }
}
