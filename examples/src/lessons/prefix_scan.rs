//! Lesson 10: each result depends on all elements before it.
//!
//! The exclusive prefix sum seems inherently sequential, yet a wave of 64 lanes computes it in six steps: in step k
//! each lane adds the sum of the lane 2^k before it, and then has the sum of the 2^(k+1) elements that end with its
//! own. The last lane's sum is that of the wave. Through LDS and a barrier, each wave gets the sums of the waves before
//! it.
//!
//! Workgroups cannot communicate while a kernel runs, because they may be executed at the same time or one after the
//! other. But a launch sees what the previous launch has written to memory. So the kernel adds a `carry` to each block,
//! and writes each block's sum. A first run without carries gives the blocks' sums; the same kernel scans these sums,
//! and the result is the carries of the second run. The host code in [`scan`] does that to any depth.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError, LaunchStats};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup; also elements of a block.
const BLOCK: u32 = 256;

gcn_kernel! {
    /// `out[i]` is the sum of the elements of `x` before `i` in its block, plus the block's `carry`; `sums` contains
    /// the sum of each block.
    #[workgroup(BLOCK)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn prefix_scan(x: &[u32], carry: &[u32], out: &mut [u32], sums: &mut [u32]) {
        let waves = comptime { BLOCK / wave_size() };
        let wave_sums = LdsSlice::<u32>::new(waves as usize);
        let (i, lane, wave, block) = (global_id().x, lane_id(), wave_id(), workgroup_id().x);

        let own = x[i];
        let mut sum = own;
        #[unroll]
        for step in 0..wave_size().trailing_zeros() {
            let distance = 1 << step;
            sum += select(lane >= distance, shuffle(sum, lane - distance), 0);
        }
        if lane == wave_size() - 1 {
            wave_sums[wave] = sum;
        }
        barrier();

        let mut before = splat(carry.uniform(block));
        #[unroll]
        for other in 0..waves - 1 {
            if wave > other {
                before += wave_sums[other];
            }
        }
        out[i] = before + sum - own;
        if local_id().x == BLOCK - 1 {
            sums[block] = before + sum - carry.uniform(block);
        }
    }
}

/// Computes the exclusive prefix sum of `x`, with as many launches as needed.
///
/// # Errors
/// Errors of the launches.
pub fn scan(
    device: &Device,
    kernel: &BuiltKernel,
    x: &[u32],
) -> Result<(Vec<u32>, LaunchStats), LaunchError> {
    let blocks = (x.len() as u32).div_ceil(BLOCK);
    let (mut carry, mut out) = (vec![0; blocks as usize], vec![0; x.len()]);
    let mut sums = vec![0; blocks as usize];
    let mut stats = device.launch(&prefix_scan, kernel, Grid::x(blocks), (x, &carry, &mut out, &mut sums))?;
    if blocks > 1 {
        let before;
        (carry, before) = scan(device, kernel, &sums)?;
        let with = device.launch(&prefix_scan, kernel, Grid::x(blocks), (x, &carry, &mut out, &mut sums))?;
        stats.workgroups += before.workgroups + with.workgroups;
        stats.wave_instructions += before.wave_instructions + with.wave_instructions;
    }
    Ok((out, stats))
}

/// Reference on the host.
pub fn reference(x: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    x.iter()
        .map(|x| {
            let before = sum;
            sum = sum.wrapping_add(*x);
            before
        })
        .collect()
}

/// The lesson; sizes are element counts.
pub const LESSON: Lesson = Lesson {
    name: "prefix_scan",
    build_with: |target, options| prefix_scan.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[200]), Size(&[1000]), Size(&[70_000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let x = Random::new(10).u32s(size.0[0] as usize);
    let (out, stats) = scan(device, kernel, &x)?;
    Ok(Outcome { stats, comparison: Comparison::of(&out, &reference(&x)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_sums_what_stands_before() {
        assert_eq!(reference(&[3, 1, 4, u32::MAX, 5]), [0, 3, 4, 8, 7]);
    }
}
