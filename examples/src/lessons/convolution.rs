//! Lesson 8: a family of kernels, and values that all lanes share.
//!
//! `RADIUS` is a const generic: `convolution::<2>` is a separate kernel, `convolution_2`. The two loops over the window
//! are executed when the kernel is built (`#[unroll] for` is a Rust loop on the host), so offsets are constants and the
//! generated code contains no loop.
//!
//! All lanes multiply by the same weight. `weights.uniform(i)` loads it once for the wave, through the scalar
//! cache into a scalar register, where vector instructions can read it; `weights[i]` would load 64 copies
//! into vector registers.
//!
//! In a kernel, `mul_add` is one instruction with one rounding; `a * b + c` is two instructions with two, as
//! in Rust.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The radius of the lesson's window.
const RADIUS: usize = 2;

gcn_kernel! {
    /// Convolves an image of `height` rows of `width` pixels with a window of (2 RADIUS + 1)² `weights`; pixels outside the image are 0.
    #[workgroup(32, 8)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn convolution<const RADIUS: usize>(
        width: u32,
        height: u32,
        weights: &[f32],
        input: &[f32],
        output: &mut [f32],
    ) {
        let (id, side) = (global_id(), 2 * RADIUS as u32 + 1);
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for dy in 0..side {
            #[unroll]
            for dx in 0..side {
                let (x, y) = (id.x + dx - RADIUS as u32, id.y + dy - RADIUS as u32);
                let pixel = select(x < width && y < height, input[y * width + x], 0.0);
                sum = pixel.mul_add(weights.uniform(dy * side + dx), sum);
            }
        }
        if id.x < width && id.y < height {
            output[id.y * width + id.x] = sum;
        }
    }
}

/// Reference on the host, which adds in the same order as the kernel.
pub fn reference(radius: usize, width: usize, height: usize, weights: &[f32], input: &[f32]) -> Vec<f32> {
    let side = 2 * radius + 1;
    let pixel = |i: usize| {
        let window = (0..side * side).map(|k| (i % width + k % side, i / width + k / side));
        window.zip(weights).fold(0.0f32, |sum, ((x, y), weight)| {
            let (x, y) = (x.wrapping_sub(radius), y.wrapping_sub(radius));
            let pixel = if x < width && y < height { input[y * width + x] } else { 0.0 };
            pixel.mul_add(*weight, sum)
        })
    };
    (0..width * height).map(pixel).collect()
}

/// The lesson; sizes are width and height.
pub const LESSON: Lesson = Lesson {
    name: "convolution",
    build_with: |target, options| {
        convolution::<RADIUS>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[32, 8]), Size(&[45, 19]), Size(&[128, 64])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (width, height) = (size.0[0], size.0[1]);
    let mut random = Random::new(8);
    let (weights, input) = (random.f32s((2 * RADIUS + 1).pow(2)), random.f32s((width * height) as usize));
    let mut output = vec![f32::NAN; input.len()];
    let grid = Grid::xy(width.div_ceil(32), height.div_ceil(8));
    let args = (width, height, &weights[..], &input[..], &mut output[..]);
    let stats = device.launch(&convolution::<RADIUS>, kernel, grid, args)?;
    let want = reference(RADIUS, width as usize, height as usize, &weights, &input);
    Ok(Outcome { stats, comparison: Comparison::of(&output, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_weighs_the_window() {
        let weights = [0.0, 1.0, 0.0, 2.0, 3.0, 4.0, 0.0, 5.0, 0.0];
        // Row 0 is 1 2, row 1 is 3 4.
        let want = [3.0 + 8.0 + 15.0, 2.0 + 6.0 + 20.0, 1.0 + 9.0 + 16.0, 2.0 + 6.0 + 12.0];
        assert_eq!(reference(1, 2, 2, &weights, &[1.0, 2.0, 3.0, 4.0]), want);
    }
}
