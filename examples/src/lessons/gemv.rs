//! Lesson 11: a kernel bound by memory bandwidth.
//!
//! The product of a matrix and a vector uses each element of the matrix once, so faster arithmetic gains nothing: the
//! loads must be wide and many. A wave processes a row, and each lane loads four neighbouring elements with one
//! instruction of 16 bytes: 64 lanes read 1 KiB without a gap, and 32 lanes half of it.
//!
//! A row belongs to a wave, so its number is uniform: `wave_id()` is an `S<u32>`, and the row's offset is computed once
//! on the scalar unit. The columns belong to the lanes and are `V<u32>`. The type of a result shows whether it is
//! uniform.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use super::block_reduce::sum_of_lanes;
use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of lanes in a workgroup. Each of its waves processes a row.
const LANES: u32 = 256;

gcn_kernel! {
    /// y = A x. The rows of the matrix have `columns` elements, a multiple of 4.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn gemv(columns: u32, a: &[f32], x: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x * (LANES / wave_size()) + wave_id();
        let mut sum: V<f32> = 0.0;
        for column in (4 * lane_id()..columns).step_by(4 * wave_size()) {
            let a = a.load_vector::<4>(row * columns + column);
            let x = x.load_vector::<4>(column);
            #[unroll]
            for k in 0..4 {
                sum = a.get(k).mul_add(x.get(k), sum);
            }
        }
        #[unroll]
        for step in 1..=wave_size().trailing_zeros() {
            sum += shuffle_xor(sum, wave_size() >> step);
        }
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}

/// Reference on the host for waves of `wave` lanes, with the same order of additions.
pub fn reference(wave: u32, columns: usize, a: &[f32], x: &[f32]) -> Vec<f32> {
    a.chunks(columns).map(|row| dot(wave, row, x)).collect()
}

fn dot(wave: u32, a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = vec![0.0f32; wave as usize];
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        let lane = &mut lanes[k / 4 % wave as usize];
        *lane = a.mul_add(*b, *lane);
    }
    sum_of_lanes(&lanes)
}

/// The lesson; sizes are rows and columns.
pub const LESSON: Lesson = Lesson {
    name: "gemv",
    build_with: |target, options| gemv.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[4, 256]), Size(&[6, 600]), Size(&[100, 1024])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns) = (size.0[0], size.0[1]);
    let mut random = Random::new(11);
    let (a, x) = (random.f32s((rows * columns) as usize), random.f32s(columns as usize));
    let mut y = vec![f32::NAN; rows as usize];
    let stats = device.launch(
        &gemv,
        kernel,
        Grid::x(rows.div_ceil(LANES / kernel.wave_size())),
        (columns, &a, &x, &mut y),
    )?;
    Ok(Outcome {
        stats,
        comparison: Comparison::of(&y, &reference(kernel.wave_size(), columns as usize, &a, &x)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        assert_eq!(
            reference(64, 4, &[1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 0.0, -1.0], &[1.0, 10.0, 100.0, 1000.0]),
            [4321.0, -990.0]
        );
    }
}
