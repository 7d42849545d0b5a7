//! 8-bit floats: the same bits mean different numbers on different targets.
//!
//! C = A * B with an f32 result, for 8-bit floats with 4 exponent and 3 fraction bits. gfx942 has the format without
//! infinities whose exponent bias is 8 and whose only NaN has the bits of minus zero (`e4m3fnuz`), gfx950 the OCP
//! format with bias 7 (`e4m3fn`). In memory there are only bytes; the type of the fragments says which format they
//! have. gfx90a has no such instructions: with gfx90a in its `#[targets(…)]` the kernel would not compile.

use gcn_dsl::lang::matrix::Fp8;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};
use gcn_kernels::tile;

use crate::data::Random;
use crate::product;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: u32 = 256;

gcn_kernel! {
    /// c = a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns` elements.
    /// The grid is (columns, rows) / 256, rounded up; depth is a multiple of 16.
    #[workgroup(512)]
    #[targets(gfx942, gfx950)]
    pub fn gemm_fp8(columns: u32, depth: u32, a: &[u8], b: &[u8], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth).columns_by(depth, 16), row_major(b, depth).columns_by(depth, 16));
        let acc = tile::product::<_, Fp8, f32, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
        let part = tile::part::<256, 128, 64>();
        acc.store_to(row_major(c, columns).columns(columns), row + part.0, col + part.1);
    }
}

/// The value of a byte as a number on `target`; the function does not handle NaN.
pub fn value(target: Target, byte: u8) -> f32 {
    let bias = if target == Target::GFX950 { 7 } else { 8 };
    let (exponent, fraction) = (i32::from(byte >> 3 & 15), f32::from(byte & 7) / 8.0);
    let size = match exponent {
        0 => fraction * f32::exp2((1 - bias) as f32),
        _ => (1.0 + fraction) * f32::exp2((exponent - bias) as f32),
    };
    if byte >> 7 == 1 { -size } else { size }
}

/// Reference on the host, which adds in f64, and a bound on the difference of the hardware's sums from it.
pub fn reference(target: Target, columns: usize, depth: usize, a: &[u8], b: &[u8]) -> (Vec<f32>, f64) {
    let numbers = |bytes: &[u8]| bytes.iter().map(|byte| value(target, *byte)).collect::<Vec<f32>>();
    let (a, b) = (numbers(a), numbers(b));
    let dims = [columns, depth];
    (product::rounded(dims, &a, &b), product::tolerance(dims, &a, &b))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_fp8",
    build_with: |target, options| gemm_fp8.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 16]), Size(&[40, 136, 144]), Size(&[300, 264, 272]), Size(&[256, 512, 256])],
    run,
    steady: Some(Steady::of_tile([TILE; 2], [512, 1024], |depth| {
        vec![
            ("columns", Arg::Number("u32", 256.0)),
            ("depth", Arg::Number("u32", depth.into())),
            ("a", Arg::Slice("u8", 256 * depth)),
            ("b", Arg::Slice("u8", 256 * depth)),
            ("c", Arg::Slice("f32", 256 * 256)),
        ]
    })),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(10);
    // Every byte except those that are NaN on one of the targets: 0x80 on gfx942, 0x7f and 0xff on gfx950.
    let byte = |x: &f64| match ((x + 1.0) * 128.0) as u8 {
        0x7f | 0x80 | 0xff => 0x38,
        byte => byte,
    };
    let mut bytes = |n: u32| -> Vec<u8> { random.f64s(n as usize).iter().map(byte).collect() };
    let (a, b) = (bytes(rows * depth), bytes(columns * depth));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
    let stats = device.launch(&gemm_fp8, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let (want, tolerance) = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want).within(tolerance) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_multiplies_what_the_target_takes_the_bytes_for() {
        LESSON.agrees_on(&[Target::GFX942, Target::GFX950]);
    }

    #[test]
    fn bytes_are_numbers() {
        // OCP 8-bit floating point specification 1.0, table 1: the largest number is 448, the smallest 2^-9.
        assert_eq!(value(Target::GFX950, 0x7e), 448.0);
        assert_eq!(value(Target::GFX950, 0x01), f32::exp2(-9.0));
        assert_eq!(value(Target::GFX950, 0xb8), -1.0);
        // The exponent bias is larger by one than in the OCP format, so every number is half as large.
        assert_eq!(value(Target::GFX942, 0x7f), 240.0);
        assert_eq!(value(Target::GFX942, 0x40), 1.0);
    }
}
