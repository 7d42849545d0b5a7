//! Lesson 15: narrow storage, wide arithmetic.
//!
//! Activations are f16, two bytes per element, because such a kernel is bound by memory. Sums of a thousand elements
//! need f32: `as f32` at each load and `as f16` at the store keep the memory narrow and the arithmetic wide. `as`
//! converts as in Rust, and there are no implicit conversions.
//!
//! A row belongs to a wave, so no LDS and no barrier is needed: `wave_sum` adds the values of the wave's lanes, and
//! mean and variance are uniform. The mean is computed first, then the sum of the squared distances from it; the
//! difference of two large sums would lose the variance of a row with a large mean. `approx_rsqrt` is the hardware's
//! instruction, whose error is at most one unit in the last place; the f16 result has only 11 bits.
//!
//! Waves have 64 lanes or 32, depending on the target. While the kernel is built, `wave_size()` is that number. A
//! workgroup processes as many rows as it has waves, so the host code gets the wave size from the built kernel.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup. Each of its waves processes a row.
const LANES: u32 = 256;

gcn_kernel! {
    /// For each row, y = (x - mean) / sqrt(variance + epsilon) * gain + bias.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn layernorm(
        rows: u32, columns: u32, epsilon: f32, gain: &[f32], bias: &[f32], x: &[f16], y: &mut [f16],
    ) {
        let (row, lane) = (workgroup_id().x * (LANES / wave_size()) + wave_id(), lane_id());
        let count = columns as f32;
        if row < rows {
            let mut sum: V<f32> = 0.0;
            for column in (lane..columns).step_by(wave_size()) {
                sum += x[row * columns + column] as f32;
            }
            let mean = wave_sum(sum) / count;

            let mut squares: V<f32> = 0.0;
            for column in (lane..columns).step_by(wave_size()) {
                let distance = x[row * columns + column] as f32 - mean;
                squares = distance.mul_add(distance, squares);
            }
            let scale = (wave_sum(squares) / count + epsilon).approx_rsqrt();

            for column in (lane..columns).step_by(wave_size()) {
                let normal = (x[row * columns + column] as f32 - mean) * scale;
                y[row * columns + column] = normal.mul_add(gain[column], bias[column]) as f16;
            }
        }
    }
}

/// Reference on the host, in f64.
pub fn reference(columns: usize, epsilon: f64, gain: &[f32], bias: &[f32], x: &[f16]) -> Vec<f16> {
    let row = |row: &[f16]| {
        let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (variance + epsilon).sqrt();
        let scaled = row.iter().zip(gain.iter().zip(bias));
        scaled
            .map(|(x, (gain, bias))| f16::from_f64((x - mean) * scale * f64::from(*gain) + f64::from(*bias)))
            .collect::<Vec<f16>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

/// The lesson; sizes are rows and columns.
pub const LESSON: Lesson = Lesson {
    name: "layernorm",
    build_with: |target, options| layernorm.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[4, 64]), Size(&[5, 200]), Size(&[30, 1000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns) = (size.0[0], size.0[1]);
    let mut random = Random::new(15);
    let (gain, bias) = (random.f32s(columns as usize), random.f32s(columns as usize));
    let x = random.f16s((rows * columns) as usize);
    let mut y = vec![f16::NAN; x.len()];
    let args = (rows, columns, 1e-5, &gain[..], &bias[..], &x[..], &mut y[..]);
    let stats =
        device.launch(&layernorm, kernel, Grid::x(rows.div_ceil(LANES / kernel.wave_size())), args)?;
    let want = reference(columns as usize, 1e-5, &gain, &bias, &x);
    // If the f32 and the f64 result are on different sides of a rounding boundary, they are rounded to neighbouring f16
    // values, which are 1/512 apart between 2 and 4.
    Ok(Outcome { stats, comparison: Comparison::of(&y, &want).within(1.0 / 512.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_mean_and_variance() {
        let x = [1.0, 3.0, 5.0, 7.0].map(f16::from_f32);
        // The variance is 5, with epsilon 9; the distances from the mean are 3, 1, 1 and 3.
        let y = reference(4, 4.0, &[1.0; 4], &[10.0; 4], &x);
        assert_eq!(y, [9.0, 10.0 - 1.0 / 3.0, 10.0 + 1.0 / 3.0, 11.0].map(f16::from_f64));
    }
}
