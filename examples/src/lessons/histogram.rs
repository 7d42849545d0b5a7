//! Lesson 9: many lanes, one counter.
//!
//! Lanes that count in the same bin must not overwrite each other's result. `bins.atomic(i).fetch_add(…)` reads, adds
//! and writes as one step; if the old value is unused, the compiler chooses the cheaper instruction without a result.
//!
//! Atomics on device memory are executed in the L2 cache, one after the other. So a workgroup counts in LDS first, and
//! adds only its 256 sums to the result. The scope says which lanes take part: `Workgroup` in LDS, `Agent` (the whole
//! GPU) in memory. The order of the additions does not matter, so they are `Relaxed`; the barriers order counting after
//! clearing and reading after counting.
//!
//! The loop's step is the size of the whole grid: neighbouring lanes always read neighbouring bytes, and the number of
//! workgroups can be chosen to fit the GPU instead of the data. The trip count differs from lane to lane, so the loop
//! masks lanes that are done. After the loop all lanes are active again, and the barrier is allowed.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const LANES: u32 = 256;
/// The number of bins: one for each value of a byte.
const BINS: usize = 256;

gcn_kernel! {
    /// Counts how often each value occurs in `bytes`, and adds the counts to the 256 `bins`. `stride` is the number of lanes in the grid.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn histogram(stride: u32, bytes: &[u8], bins: &mut [u32]) {
        let counts = Lds::<u32, BINS>::new();
        let lane = local_id().x;
        counts[lane] = 0;
        barrier();

        for i in (global_id().x..bytes.len()).step_by(stride) {
            counts.atomic(bytes[i] as u32).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        }
        barrier();

        bins.atomic(lane).fetch_add(counts[lane], Scope::Agent, Ordering::Relaxed);
    }
}

/// Reference on the host.
pub fn reference(bytes: &[u8]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    bytes.iter().for_each(|byte| bins[usize::from(*byte)] += 1);
    bins
}

/// The lesson; sizes are bytes and workgroups.
pub const LESSON: Lesson = Lesson {
    name: "histogram",
    build_with: |target, options| histogram.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[256, 1]), Size(&[1500, 2]), Size(&[100_000, 16])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (n, groups) = (size.0[0], size.0[1]);
    // Squares favour small values, so that the bins have different counts.
    let byte = |x: f32| (x * x * 256.0) as u8;
    let bytes: Vec<u8> = Random::new(9).f32s(n as usize).into_iter().map(byte).collect();
    let mut bins = vec![0; BINS];
    let stats = device.launch(&histogram, kernel, Grid::x(groups), (groups * LANES, &bytes, &mut bins))?;
    Ok(Outcome { stats, comparison: Comparison::of(&bins, &reference(&bytes)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_counts() {
        let bins = reference(&[3, 0, 3, 255, 3]);
        assert_eq!((bins[0], bins[3], bins[255], bins.iter().sum::<u32>()), (1, 3, 1, 5));
    }
}
