//! Lesson 21: a kernel as one step of an algorithm.
//!
//! The keys are sorted by their last digit, then by the one before, which keeps the order of keys whose digits are
//! equal, and so on. With digits of four bits that makes eight rounds of three steps each: every block counts its
//! digits, the counts are scanned (lesson 10), and every key is moved to its digit's place.
//!
//! Keeping the order of equal digits is the difficult part. Within a wave, four ballots tell every lane which other
//! lanes have the same digit: its rank is the number of those lanes with lower numbers. Across waves, LDS contains the
//! number of elements of each digit in the earlier waves. Across blocks and digits, the scan gives the position,
//! because the counts are stored by digit and then by block.
//!
//! `ballot` gives the lanes' conditions as one `LaneMask`. Each lane keeps or inverts it depending on its own digit, so
//! the mask of lanes with equal digits is a `V<LaneMask>`. `below` is the part of it with lower lane numbers, and
//! `count_ones` counts these lanes.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel, LaunchError, LaunchStats};

use super::prefix_scan::{prefix_scan, scan};
use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup; also elements of a block.
const BLOCK: u32 = 256;
/// Bits of a digit.
const BITS: u32 = 4;
/// The number of different digits.
const DIGITS: u32 = 1 << BITS;

gcn_kernel! {
    /// Counts the occurrences of each digit in each block. The counts are ordered by digit and then by block.
    #[workgroup(BLOCK)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn count_digits(shift: u32, blocks: u32, keys: &[u32], counts: &mut [u32]) {
        let bins = Lds::<u32, { DIGITS as usize }>::new();
        let (i, lane) = (global_id().x, local_id().x);
        if lane < DIGITS {
            bins[lane] = 0;
        }
        barrier();
        if i < keys.len() {
            let digit = keys[i] >> shift & (DIGITS - 1);
            bins.atomic(digit).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        }
        barrier();
        if lane < DIGITS {
            counts[lane * blocks + workgroup_id().x] = bins[lane];
        }
    }
}

gcn_kernel! {
    /// Moves each key to its position in the order by the current digit. `places` contains the scanned counts.
    #[workgroup(BLOCK)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn radix_sort(shift: u32, blocks: u32, keys: &[u32], places: &[u32], sorted: &mut [u32]) {
        let waves = comptime { BLOCK / wave_size() };
        let counts = LdsSlice::<u32>::new((waves * DIGITS) as usize);
        let (i, wave, lane) = (global_id().x, wave_id(), lane_id());
        let key = keys[i];
        let digit = key >> shift & (DIGITS - 1);

        // The lanes of this wave that have an element with the same digit.
        let mut equals = splat(ballot(i < keys.len()));
        #[unroll]
        for bit in 0..BITS {
            let is_set = digit >> bit & 1 == 1;
            let votes = ballot(is_set);
            equals = equals & select(is_set, votes, !votes);
        }
        let rank = equals.below(lane).count_ones();

        if local_id().x < waves * DIGITS {
            counts[local_id().x] = 0;
        }
        barrier();
        if rank == 0 {
            counts[wave * DIGITS + digit] = equals.count_ones();
        }
        barrier();

        let mut place = places[digit * blocks + workgroup_id().x] + rank;
        #[unroll]
        for other in 0..waves - 1 {
            if wave > other {
                place += counts[other * DIGITS + digit];
            }
        }
        if i < keys.len() {
            sorted[place] = key;
        }
    }
}

/// Sorts `keys`, with as many launches as needed.
///
/// # Errors
/// Errors of the launches.
pub fn sort(
    device: &Device,
    kernel: &BuiltKernel,
    keys: &[u32],
) -> Result<(Vec<u32>, LaunchStats), LaunchError> {
    let options = BuildOptions { wave: Some(kernel.program().wave), ..BuildOptions::default() };
    let count = count_digits.build_with(device.target(), &options)?;
    let scanner = prefix_scan.build_with(device.target(), &options)?;
    let blocks = (keys.len() as u32).div_ceil(BLOCK);
    let (mut keys, mut stats) = (keys.to_vec(), LaunchStats::default());
    let mut add = |launched: LaunchStats| {
        stats.workgroups += launched.workgroups;
        stats.wave_instructions += launched.wave_instructions;
    };
    for shift in (0..32).step_by(BITS as usize) {
        let mut counts = vec![0; (DIGITS * blocks) as usize];
        add(device.launch(&count_digits, &count, Grid::x(blocks), (shift, blocks, &keys, &mut counts))?);
        let (places, scanned) = scan(device, &scanner, &counts)?;
        add(scanned);
        let mut sorted = vec![0; keys.len()];
        let args = (shift, blocks, &keys[..], &places[..], &mut sorted[..]);
        add(device.launch(&radix_sort, kernel, Grid::x(blocks), args)?);
        keys = sorted;
    }
    Ok((keys, stats))
}

/// The lesson; sizes are numbers of keys.
pub const LESSON: Lesson = Lesson {
    name: "radix_sort",
    build_with: |target, options| radix_sort.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[256]), Size(&[400]), Size(&[10_000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let keys = Random::new(21).u32s(size.0[0] as usize);
    let (sorted, stats) = sort(device, kernel, &keys)?;
    let mut want = keys;
    want.sort_unstable();
    Ok(Outcome { stats, comparison: Comparison::of(&sorted, &want) })
}
