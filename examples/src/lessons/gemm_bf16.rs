//! The kernel of `gemm_f16` in bfloat16, with a result that is rounded when it is stored.
//!
//! bf16 has the range of f32 and 8 bits of precision, which suits the weights of neural networks. C is bf16 as well:
//! `store_with` takes a closure that scales and converts each element of the accumulators, which are f32 until then.
//! The loop is a device function of a library, [`gcn_kernels::tile::product`], which does for any element type what the
//! loop of `gemm_f16` does. Its parameters are the element types and the numbers of columns that take 32, 64 and 128
//! bytes.
//!
//! The source is the same from gfx908 to gfx950, but the instructions differ: 32x32x4 on gfx908, whose bf16
//! instructions have half the `k` of those for f16, 32x32x8 on gfx90a and gfx942, 32x32x16 on gfx950.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};
use gcn_kernels::tile;

use crate::data::Random;
use crate::product;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: u32 = 256;

gcn_kernel! {
    /// c = alpha * a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns`
    /// elements. The grid is (columns, rows) / 256, rounded up; depth is a multiple of 8.
    #[workgroup(512)]
    #[targets(HasMfma)]
    pub fn gemm_bf16(columns: u32, depth: u32, alpha: f32, a: &[bf16], b: &[bf16], c: &mut [bf16]) {
        let (row, col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
        let acc = tile::product::<_, bf16, f32, 16, 32, 64>(all_lanes(), a, b, row, col, depth);
        let part = tile::part::<256, 128, 64>();
        acc.store_with(row_major(c, columns).columns(columns), row + part.0, col + part.1, |x| (alpha * x) as bf16);
    }
}

/// Reference on the host, which adds in f64, and the tolerated difference. The tolerance is the error of the hardware's
/// sums plus half a unit in the last place of the largest result (2^-8 of it), because results are rounded to bf16.
pub fn reference(columns: usize, depth: usize, alpha: f32, a: &[bf16], b: &[bf16]) -> (Vec<f32>, f64) {
    let wide = |xs: &[bf16]| xs.iter().map(|x| x.to_f32()).collect::<Vec<f32>>();
    let (dims, a, b) = ([columns, depth], wide(a), wide(b));
    let scaled: Vec<f32> = product::rounded(dims, &a, &b).into_iter().map(|sum| alpha * sum).collect();
    let sums = f64::from(alpha.abs()) * product::tolerance(dims, &a, &b);
    let largest = scaled.iter().fold(0.0, |largest: f64, x| largest.max(f64::from(x.abs())));
    (scaled, sums + f64::exp2(-8.0) * (largest + sums))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_bf16",
    build_with: |target, options| gemm_bf16.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 8]), Size(&[40, 136, 72]), Size(&[300, 264, 136]), Size(&[256, 512, 256])],
    run,
    steady: Some(Steady::of_tile([TILE; 2], [512, 1024], |depth| {
        vec![
            ("columns", Arg::Number("u32", 256.0)),
            ("depth", Arg::Number("u32", depth.into())),
            ("alpha", Arg::Number("f32", 0.75)),
            ("a", Arg::Slice("bf16", 256 * depth)),
            ("b", Arg::Slice("bf16", 256 * depth)),
            ("c", Arg::Slice("bf16", 256 * 256)),
        ]
    })),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(9);
    let mut bf16s =
        |n: u32| -> Vec<bf16> { random.f64s(n as usize).into_iter().map(bf16::from_f64).collect() };
    let (a, b) = (bf16s(rows * depth), bf16s(columns * depth));
    let mut c = vec![bf16::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
    let stats = device.launch(&gemm_bf16, kernel, grid, (columns, depth, 0.75, &a, &b, &mut c))?;
    let got: Vec<f32> = c.iter().map(|x| x.to_f32()).collect();
    let (want, tolerance) = reference(columns as usize, depth as usize, 0.75, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&got, &want).within(tolerance) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies_and_scales() {
        let bf16s = |xs: [f32; 4]| xs.map(bf16::from_f32);
        let (a, b) = (bf16s([1.0, 2.0, 3.0, 4.0]), bf16s([5.0, 7.0, 6.0, 8.0]));
        assert_eq!(reference(2, 2, 0.5, &a, &b).0, [9.5, 11.0, 21.5, 25.0]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.agrees_on(&[Target::GFX908, Target::GFX950]);
    }
}
