//! Lesson 6: matrix instructions in double precision.
//!
//! C = alpha * A * B + beta * C, with B stored column by column. Linear algebra libraries call this form `dgemm`.
//! Compare with lesson 5:
//!
//! - The loop is [`gcn_kernels::tile::walk`], which is that of lesson 5 with all extents as parameters.
//! - Matrix instructions on f64 are 16 x 16 x 4, so the tiles consist of 16 x 16 accumulators (`SIDE` 16),
//!   and each lane holds *one* element of a fragment. An accumulator takes twice as many registers, so the
//!   tile is only 128 x 128, each wave's part 64 x 32.
//! - These instructions occupy the vector ALU as well. So in the phases of this loop the group that
//!   multiplies has the *lower* priority: the few address computations of the other group go first.
//! - The result is laid out differently: neighbouring registers are 4 rows apart. The kernel does not notice,
//!   because `update`, which reads C, computes and writes it back, knows where each element belongs.
//!
//! `alpha` and `beta` are arguments of 64 bits: each takes two scalar registers.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};
use gcn_kernels::tile;

use crate::data::Random;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: u32 = 128;

gcn_kernel! {
    /// c = alpha * a * b + beta * c. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of
    /// `columns` elements. The grid is (columns, rows) / 128, rounded up; depth is a multiple of 2.
    #[workgroup(512)]
    #[targets(gfx90a, gfx942, gfx950)]
    pub fn gemm_f64(columns: u32, depth: u32, alpha: f64, beta: f64, a: &[f64], b: &[f64], c: &mut [f64]) {
        let (row, col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth).columns_by(depth, 2), row_major(b, depth).columns_by(depth, 2));
        let acc = tile::walk::<_, f64, f64, 128, 128, 64, 32, 16, 16, 16>(all_lanes(), a, b, row, col, depth);
        let part = tile::part::<128, 64, 32>();
        let c = row_major(c, columns).columns(columns);
        acc.update(c, row + part.0, col + part.1, |product, old| alpha * product + beta * old);
    }
}

/// Reference on the host: for each element a chain of fused multiply-adds in ascending order of `k`, then two
/// multiplications and an addition, each of which rounds.
pub fn reference([columns, depth]: [usize; 2], [alpha, beta]: [f64; 2], a: &[f64], b: &[f64], c: &mut [f64]) {
    for (i, c) in c.iter_mut().enumerate() {
        let (row, col) = (i / columns, i % columns);
        let product =
            (0..depth).fold(0.0, |sum, k| f64::mul_add(a[row * depth + k], b[col * depth + k], sum));
        *c = alpha * product + beta * *c;
    }
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_f64",
    build_with: |target, options| gemm_f64.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 2]), Size(&[40, 72, 34]), Size(&[150, 136, 66]), Size(&[128, 256, 128])],
    run,
    steady: Some(Steady::of_tile([TILE; 2], [256, 512], |depth| {
        vec![
            ("columns", Arg::Number("u32", 128.0)),
            ("depth", Arg::Number("u32", depth.into())),
            ("alpha", Arg::Number("f64", 1.5)),
            ("beta", Arg::Number("f64", -0.25)),
            ("a", Arg::Slice("f64", 128 * depth)),
            ("b", Arg::Slice("f64", 128 * depth)),
            ("c", Arg::Slice("f64", 128 * 128)),
        ]
    })),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(6);
    let (a, b) = (random.f64s((rows * depth) as usize), random.f64s((depth * columns) as usize));
    let mut c = random.f64s((rows * columns) as usize);
    let mut want = c.clone();
    reference([columns as usize, depth as usize], [1.5, -0.25], &a, &b, &mut want);
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
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
        assert_eq!(c, [44.0, 56.0, 88.0, 116.0]);
    }
}
