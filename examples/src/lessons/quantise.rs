//! Lesson 16: eight bits and a scale.
//!
//! Blocks of numbers become integers from -127 to 127 with one f32 scale for each block. They take a quarter of the
//! memory, and the error is at most half a step of the block's own scale.
//!
//! A block is a wave: 64 numbers, or 32 on targets with waves of 32 lanes, which have more scales and smaller errors.
//! The block's largest magnitude is the same for all lanes, which the type of `wave_max`'s result states: it is an
//! `S<f32>`. The scale depends only on it, so it is computed once for the wave, and the `if` on it is a scalar branch.
//! A varying value that happens to be the same in all lanes becomes uniform only by such a function, never implicitly.
//!
//! `as i8` truncates and saturates as in Rust; rounding is a separate step, `round_ties_even`. The arithmetic,
//! including the division, is rounded as in Rust, so the result equals the reference bit for bit.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const LANES: u32 = 256;

gcn_kernel! {
    /// Quantises `x` in blocks with one element per lane of a wave, and converts the result back to floats.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn quantise(x: &[f32], quantised: &mut [i8], scales: &mut [f32], restored: &mut [f32]) {
        let i = global_id().x;
        let value = x[i];
        let largest = wave_max(value.abs());

        // For a block of zeros any scale is correct.
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let quantum = (value / scale).round_ties_even() as i8;
        quantised[i] = quantum;
        restored[i] = quantum as f32 * scale;
        if lane_id() == 0 {
            scales[i / wave_size()] = scale;
        }
    }
}

/// Reference on the host: the integers, the scales and the restored numbers, for blocks of `block` numbers.
pub fn reference(block: u32, x: &[f32]) -> (Vec<i8>, Vec<f32>, Vec<f32>) {
    let block = block as usize;
    let scale = |block: &[f32]| {
        let largest = block.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        if largest > 0.0 { largest / 127.0 } else { 1.0 }
    };
    let scales: Vec<f32> = x.chunks(block).map(scale).collect();
    let of = |i: usize| scales[i / block];
    let quantised: Vec<i8> = x.iter().enumerate().map(|(i, x)| (x / of(i)).round_ties_even() as i8).collect();
    let restored = quantised.iter().enumerate().map(|(i, q)| f32::from(*q) * of(i)).collect();
    (quantised, scales, restored)
}

/// The lesson; sizes are element counts.
pub const LESSON: Lesson = Lesson {
    name: "quantise",
    build_with: |target, options| quantise.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[64]), Size(&[900]), Size(&[20_000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let n = size.0[0] as usize;
    let mut x = Random::new(16).f32s(n);
    x[..n / 8].fill(0.0);
    let (mut quantised, mut restored) = (vec![i8::MIN; n], vec![f32::NAN; n]);
    let mut scales = vec![f32::NAN; n.div_ceil(kernel.wave_size() as usize)];
    let args = (&x[..], &mut quantised[..], &mut scales[..], &mut restored[..]);
    let stats = device.launch(&quantise, kernel, Grid::x(size.0[0].div_ceil(LANES)), args)?;
    let want = reference(kernel.wave_size(), &x);
    let comparison = Comparison::of(&quantised, &want.0)
        .and(Comparison::of(&scales, &want.1))
        .and(Comparison::of(&restored, &want.2));
    Ok(Outcome { stats, comparison })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_quantises() {
        let (quantised, scales, restored) = reference(64, &[254.0, -254.0, 3.0, 1.0, 0.5]);
        assert_eq!((quantised, scales), (vec![127, -127, 2, 0, 0], vec![2.0]));
        assert_eq!(restored, [254.0, -254.0, 4.0, 0.0, 0.0]);
    }
}
