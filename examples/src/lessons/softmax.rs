//! Lesson 14: one workgroup per row, and functions that round.
//!
//! The largest element is subtracted first, so that nothing overflows: exp(x - max) is at most 1. The row is
//! read three times, for the maximum, for the sum, and for the result; the second time it comes from the
//! cache.
//!
//! 256 lanes agree on one number: `workgroup_max` and `workgroup_sum` consist of the steps of lesson 3, shuffles within
//! each wave, then LDS with a barrier between the waves. They are written in the DSL itself. All lanes of the workgroup
//! have to call them, which the compiler checks, and the result is uniform: an `S<f32>`.
//!
//! The error of `exp2` is about half a unit in the last place (gcn-dsl/guide/types.md), and each step of the sum
//! rounds. So this is the first lesson whose result does not equal the reference bit for bit: the reference computes in
//! f64, and the comparison allows a small error and reports it.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const LANES: u32 = 256;

gcn_kernel! {
    /// For each row, `y` is exp(x) divided by its sum.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn softmax(columns: u32, x: &[f32], y: &mut [f32]) {
        let (lane, first) = (local_id().x, workgroup_id().x * columns);

        let mut largest: V<f32> = f32::NEG_INFINITY;
        for column in (lane..columns).step_by(LANES) {
            largest = largest.max(x[first + column]);
        }
        let largest = workgroup_max(largest);

        let scale = std::f32::consts::LOG2_E;
        let mut sum: V<f32> = 0.0;
        for column in (lane..columns).step_by(LANES) {
            sum += ((x[first + column] - largest) * scale).exp2();
        }
        let total = workgroup_sum(sum);

        for column in (lane..columns).step_by(LANES) {
            y[first + column] = ((x[first + column] - largest) * scale).exp2() / total;
        }
    }
}

/// Reference on the host, in f64.
pub fn reference(columns: usize, x: &[f32]) -> Vec<f32> {
    let row = |row: &[f32]| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f64> = row.iter().map(|x| f64::from(x - largest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| (power / sum) as f32).collect::<Vec<f32>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

/// The lesson; sizes are rows and columns.
pub const LESSON: Lesson = Lesson {
    name: "softmax",
    build_with: |target, options| softmax.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 256]), Size(&[2, 700]), Size(&[8, 3000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns) = (size.0[0], size.0[1]);
    let x: Vec<f32> = Random::new(14).f32s((rows * columns) as usize).into_iter().map(|x| 9.0 * x).collect();
    let mut y = vec![f32::NAN; x.len()];
    let stats = device.launch(&softmax, kernel, Grid::x(rows), (columns, &x, &mut y))?;
    let comparison = Comparison::of(&y, &reference(columns as usize, &x));
    // No result is above 1, and arguments of up to 18 * log2(e) have an error of about 2^-20 before the exponentiation.
    Ok(Outcome { stats, comparison: comparison.within(1e-6) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_a_distribution() {
        let y = reference(2, &[0.0, 3.0f32.ln(), 1000.0, 1000.0]);
        assert!((y[0] - 0.25).abs() < 1e-7 && (y[1] - 0.75).abs() < 1e-7, "{y:?}");
        assert_eq!(y[2..], [0.5, 0.5]);
    }
}
