//! Lesson 3: lanes of a wave, waves of a workgroup.
//!
//! The sum of 256 elements is computed in two steps, because there are two ways to pass a value to another lane:
//!
//! - *Inside a wave* lanes run in lockstep, and `shuffle_xor` hands each lane the value of the lane whose
//!   number differs in one bit. Six such steps, with 32, 16, 8, 4, 2 and 1, add up all 64 lanes, and every
//!   lane ends up with the sum. Waves of 32 lanes take the last five of them: `wave_size()` says, when the kernel is built, how many
//!   lanes a wave has.
//! - *Between waves* nothing is in lockstep. Each wave writes its sum to LDS, the memory that a workgroup
//!   shares, and `barrier()` holds every wave until all of them have arrived; only then may they read each
//!   other's sums.
//!
//! A barrier that only some lanes reach would hang the GPU, so it must not be under a condition that varies between
//! lanes. Try it: move `barrier()` into the `if`, and the kernel no longer compiles.
//!
//! No condition masks the lanes past the end of the data. A slice is a buffer with a length, so a load past its end
//! gives 0, which does not change a sum.
//!
//! Floating-point addition is not associative. The reference adds in the same order, so the results agree bit for bit;
//! a sum from left to right would differ in the last bits.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of lanes in a workgroup, and of elements in a block.
const BLOCK: u32 = 256;

gcn_kernel! {
    /// Element b of `sums` is the sum of block b of `x`; the last block may be shorter.
    #[workgroup(BLOCK)]
    #[targets(gfx90a, gfx942, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn block_reduce(x: &[f32], sums: &mut [f32]) {
        let waves = comptime { BLOCK / wave_size() };
        let wave_sums = LdsSlice::<f32>::new(waves as usize);

        let mut sum = x[global_id().x];
        #[unroll]
        for step in 1..=wave_size().trailing_zeros() {
            sum += shuffle_xor(sum, wave_size() >> step);
        }
        if lane_id() == 0 {
            wave_sums[wave_id()] = sum;
        }
        barrier();

        let mut total = wave_sums[0];
        #[unroll]
        for wave in 1..waves {
            total += wave_sums[wave];
        }
        if local_id().x == 0 {
            sums[workgroup_id().x] = total;
        }
    }
}

/// Reference on the host: the same sums in the same order, for waves of `wave` lanes.
pub fn reference(wave: u32, x: &[f32]) -> Vec<f32> {
    x.chunks(BLOCK as usize).map(|block| block_sum(wave as usize, block)).collect()
}

fn block_sum(wave: usize, block: &[f32]) -> f32 {
    let wave_sum = |first: usize| {
        let lanes = (first..first + wave).map(|i| block.get(i).copied().unwrap_or(0.0));
        sum_of_lanes(&lanes.collect::<Vec<f32>>())
    };
    (wave..BLOCK as usize).step_by(wave).fold(wave_sum(0), |total, first| total + wave_sum(first))
}

/// The sum over a wave's lanes. The order is that of `shuffle_xor` with distances that are halved in each step.
pub fn sum_of_lanes(lanes: &[f32]) -> f32 {
    let (mut lanes, mut distance) = (lanes.to_vec(), lanes.len() / 2);
    while distance > 0 {
        lanes = (0..lanes.len()).map(|lane| lanes[lane] + lanes[lane ^ distance]).collect();
        distance /= 2;
    }
    lanes[0]
}

/// The lesson; sizes are element counts.
pub const LESSON: Lesson = Lesson {
    name: "block_reduce",
    build_with: |target, options| block_reduce.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[256]), Size(&[1000]), Size(&[16384])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let n = size.0[0];
    let blocks = n.div_ceil(BLOCK);
    let x = Random::new(3).f32s(n as usize);
    let mut sums = vec![f32::NAN; blocks as usize];
    let stats = device.launch(&block_reduce, kernel, Grid::x(blocks), (&x, &mut sums))?;
    Ok(Outcome { stats, comparison: Comparison::of(&sums, &reference(kernel.wave_size(), &x)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_a_sum() {
        let x: Vec<f32> = (1..=600u16).map(f32::from).collect();
        // 1 + … + n = n (n + 1) / 2, and all of these sums are exact in f32.
        assert_eq!(reference(64, &x), [32896.0, 98432.0, 180_300.0 - 32896.0 - 98432.0]);
    }
}
