//! Reductions.

use gcn_dsl::prelude::*;

use gcn_dsl::sim::timed::TimedReport;

use crate::{Fault, Output, Outputs, TARGET, one_cu, row, table};

// ANCHOR: tree
gcn_kernel! {
    /// The sum of each block of 256, as a tree in LDS.
    #[workgroup(256)]
    pub fn tree(x: &[f32], sums: &mut [f32]) {
        let i = local_id().x;
        let partial = Lds::<f32, 256>::new();
        partial[i] = x[global_id().x];
        barrier();
        #[unroll]
        for step in 0..8u32 {
            let half = 128 >> step;
            if i < half {
                partial[i] = partial[i] + partial[i + half];
            }
            barrier();
        }
        if i == 0 {
            sums[workgroup_id().x] = partial[0];
        }
    }
}
// ANCHOR_END: tree

// ANCHOR: shuffles
gcn_kernel! {
    /// The sum of each block of 256: six exchanges in a wave, then four numbers in LDS.
    #[workgroup(256)]
    #[wave(64)]
    pub fn shuffles(x: &[f32], sums: &mut [f32]) {
        let mut sum = x[global_id().x];
        #[unroll]
        for step in 0..6u32 {
            sum += shuffle_xor(sum, 32 >> step);
        }
        let of_waves = Lds::<f32, 4>::new();
        if lane_id() == 0 {
            of_waves[wave_id()] = sum;
        }
        barrier();
        if local_id().x == 0 {
            sums[workgroup_id().x] = of_waves[0] + of_waves[1] + (of_waves[2] + of_waves[3]);
        }
    }
}
// ANCHOR_END: shuffles

// ANCHOR: library
gcn_kernel! {
    /// The same by the language's own function, which uses data-parallel primitives instead of LDS.
    #[workgroup(256)]
    pub fn library(x: &[f32], sums: &mut [f32]) {
        let sum = workgroup_sum(x[global_id().x]);
        if local_id().x == 0 {
            sums[workgroup_id().x] = sum;
        }
    }
}
// ANCHOR_END: library

// ANCHOR: one_lane
gcn_kernel! {
    /// The same by one lane. Nobody should do this.
    #[workgroup(256)]
    pub fn one_lane(x: &[f32], sums: &mut [f32]) {
        if local_id().x == 0 {
            let mut sum: V<f32> = 0.0;
            for k in 0..256u32 {
                sum += x[workgroup_id().x * 256 + k];
            }
            sums[workgroup_id().x] = sum;
        }
    }
}
// ANCHOR_END: one_lane

// ANCHOR: largest
gcn_kernel! {
    /// The largest element of each block of 256 and where it is: a reduction of pairs in one u64.
    #[workgroup(256)]
    pub fn largest(x: &[u32], value: &mut [u32], position: &mut [u32]) {
        let i = global_id().x;
        // The larger value wins; of equal values the earlier one.
        let key = ((x[i] as u64) << 32) | (u32::MAX - i) as u64;
        let best = workgroup_max(key);
        if local_id().x == 0 {
            value[workgroup_id().x] = (best >> 32) as u32;
            position[workgroup_id().x] = u32::MAX - best as u32;
        }
    }
}
// ANCHOR_END: largest

// ANCHOR: total
gcn_kernel! {
    /// The sum of all elements: every work-item adds its own to one number in memory.
    #[workgroup(256)]
    pub fn total_each(x: &[u32], total: &mut [u32]) {
        total.atomic(0).fetch_add(x[global_id().x], Scope::Agent, Ordering::Relaxed);
    }

    /// The same: every work-item adds to one number in LDS, every workgroup adds that to memory.
    #[workgroup(256)]
    pub fn total_lds(x: &[u32], total: &mut [u32]) {
        let sum = Lds::<u32, 1>::new();
        if local_id().x == 0 {
            sum[0] = 0;
        }
        barrier();
        sum.atomic(0).fetch_add(x[global_id().x], Scope::Workgroup, Ordering::Relaxed);
        barrier();
        if local_id().x == 0 {
            total.atomic(0).fetch_add(sum[0], Scope::Agent, Ordering::Relaxed);
        }
    }

    /// The same: every workgroup adds the sum of its block.
    #[workgroup(256)]
    pub fn total_blocks(x: &[u32], total: &mut [u32]) {
        let sum = workgroup_sum(x[global_id().x]);
        if local_id().x == 0 {
            total.atomic(0).fetch_add(sum, Scope::Agent, Ordering::Relaxed);
        }
    }

    /// The same with a few workgroups: each work-item first adds many elements in a register.
    #[workgroup(256)]
    pub fn total_stride(groups: u32, x: &[u32], total: &mut [u32]) {
        let mut mine: V<u32> = 0;
        for i in (global_id().x..x.len()).step_by(groups * 256) {
            mine += x[i];
        }
        let sum = workgroup_sum(mine);
        if local_id().x == 0 {
            total.atomic(0).fetch_add(sum, Scope::Agent, Ordering::Relaxed);
        }
    }
}
// ANCHOR_END: total

// ANCHOR: wide
gcn_kernel! {
    /// As `total_stride`, 16 bytes for each lane and trip.
    #[workgroup(256)]
    pub fn total_wide(groups: u32, x: &[u32], total: &mut [u32]) {
        let mut mine: [V<u32>; 4] = [0; 4];
        for i in (4 * global_id().x..x.len()).step_by(groups * 1024) {
            let four = x.load_vector::<4>(i);
            #[unroll]
            for k in 0..4usize {
                mine[k] += four.get(k);
            }
        }
        let sum = workgroup_sum(mine[0] + mine[1] + (mine[2] + mine[3]));
        if local_id().x == 0 {
            total.atomic(0).fetch_add(sum, Scope::Agent, Ordering::Relaxed);
        }
    }
}
// ANCHOR_END: wide

// ANCHOR: variance
gcn_kernel! {
    /// Mean and variance of each row of 256, in two steps: the second one sums squares of *differences*.
    #[workgroup(256)]
    pub fn moments(x: &[f32], mean: &mut [f32], variance: &mut [f32]) {
        let value = x[global_id().x];
        let m = workgroup_sum(value) * (1.0 / 256.0);
        let difference = value - m;
        let v = workgroup_sum(difference * difference) * (1.0 / 256.0);
        if local_id().x == 0 {
            mean[workgroup_id().x] = m;
            variance[workgroup_id().x] = v;
        }
    }
}
// ANCHOR_END: variance

/// Elements of the sum over all blocks, and workgroups of those kernels that take a few.
const ALL: u32 = 1 << 16;
const FEW: u32 = 8;

/// The kernels that add everything and that the model can time: name, atomic additions in memory, report. (It does not
/// know that atomics on one address of memory wait for each other: docs/timing.md.)
fn totals() -> Result<[(&'static str, u32, TimedReport); 4], Fault> {
    let (x, mut total, config) = (vec![1u32; ALL as usize], [0u32; 1], one_cu());
    let (all, few) = (Grid::x(ALL / 256), Grid::x(FEW));
    Ok([
        ("total_lds", ALL / 256, total_lds.timed(TARGET, all, (&x, &mut total), &config)?),
        ("total_blocks", ALL / 256, total_blocks.timed(TARGET, all, (&x, &mut total), &config)?),
        ("total_stride", FEW, total_stride.timed(TARGET, few, (FEW, &x, &mut total), &config)?),
        ("total_wide", FEW, total_wide.timed(TARGET, few, (FEW, &x, &mut total), &config)?),
    ])
}

/// Name, cycles, LDS cycles and instructions of each kernel for one block.
fn measured() -> Result<[(&'static str, u64, u64, u64); 4], Fault> {
    let (x, mut sums) = (vec![1.0; 256], [0.0; 1]);
    let config = one_cu();
    let reports = [
        ("one_lane", one_lane.timed(TARGET, Grid::x(1), (&x, &mut sums), &config)?),
        ("tree", tree.timed(TARGET, Grid::x(1), (&x, &mut sums), &config)?),
        ("shuffles", shuffles.timed(TARGET, Grid::x(1), (&x, &mut sums), &config)?),
        ("library", library.timed(TARGET, Grid::x(1), (&x, &mut sums), &config)?),
    ];
    Ok(reports.map(|(name, r)| (name, r.cycles, r.lds.busy_cycles, r.instructions)))
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let rows = measured()?.map(|(name, cycles, lds, count)| row(name, &[&cycles, &lds, &count]));
    let head = ["kernel", "cycles", "cycles of LDS", "wave instructions"];
    let of_all = totals()?.map(|(name, atomics, report)| {
        let rate = format!("{:.1}", f64::from(4 * ALL) / report.cycles as f64);
        row(name, &[&atomics, &report.instructions, &report.cycles, &rate])
    });
    let total = ["kernel", "additions in memory", "wave instructions", "cycles", "bytes per cycle"];
    Ok(vec![
        Output { name: "reductions.md", text: table(&head, &rows) },
        Output { name: "totals.md", text: table(&total, &of_all) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_add() {
        // Whole numbers: every order of additions gives the same sum.
        let x: Vec<f32> = (0..512u16).map(f32::from).collect();
        let want = [32640.0, 98176.0];
        let device = Device::simulator(TARGET);
        let mut sums = [0.0; 2];
        tree.launch(&device, Grid::x(2), (&x, &mut sums)).unwrap();
        assert_eq!(sums, want);
        sums.fill(0.0);
        shuffles.launch(&device, Grid::x(2), (&x, &mut sums)).unwrap();
        assert_eq!(sums, want);
        sums.fill(0.0);
        library.launch(&device, Grid::x(2), (&x, &mut sums)).unwrap();
        assert_eq!(sums, want);
        sums.fill(0.0);
        one_lane.launch(&device, Grid::x(2), (&x, &mut sums)).unwrap();
        assert_eq!(sums, want);
    }

    #[test]
    fn fewer_steps_through_lds_take_fewer_cycles() {
        let cycles = measured().unwrap().map(|(_, cycles, ..)| cycles);
        assert!(cycles.is_sorted_by(|slower, faster| slower > faster), "{cycles:?}");
    }

    #[test]
    fn the_largest_is_found_and_the_first_of_equals() {
        let mut x = [3u32; 512];
        (x[77], x[200], x[300]) = (9, 9, 8);
        let (mut value, mut position) = ([0; 2], [0; 2]);
        largest.launch(&Device::simulator(TARGET), Grid::x(2), (&x, &mut value, &mut position)).unwrap();
        assert_eq!((value, position), ([9, 8], [77, 300]));
    }

    #[test]
    fn totals_are_the_sum() {
        let x: Vec<u32> = (0..ALL).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let want = x.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
        let (device, all, few) = (Device::simulator(TARGET), Grid::x(ALL / 256), Grid::x(FEW));
        let mut totals = [[0u32; 1]; 5];
        total_each.launch(&device, all, (&x, &mut totals[0])).unwrap();
        total_blocks.launch(&device, all, (&x, &mut totals[1])).unwrap();
        total_stride.launch(&device, few, (FEW, &x, &mut totals[2])).unwrap();
        total_wide.launch(&device, few, (FEW, &x, &mut totals[3])).unwrap();
        total_lds.launch(&device, all, (&x, &mut totals[4])).unwrap();
        assert_eq!(totals, [[want]; 5]);
    }

    #[test]
    fn fewer_atomics_are_faster() {
        let cycles = totals().unwrap().map(|(.., report)| report.cycles);
        let [_, blocks, stride, wide] = cycles;
        assert!(blocks > stride && stride > 2 * wide, "{cycles:?}");
    }

    #[test]
    fn variances_of_large_numbers_are_right() {
        // The mean is large, the variance small: the difference of two sums of squares would lose it.
        let x: Vec<f32> = (0..256u16).map(|i| 10_000.0 + f32::from(i % 2)).collect();
        let (mut mean, mut variance) = ([0.0; 1], [0.0; 1]);
        moments.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut mean, &mut variance)).unwrap();
        assert_eq!((mean, variance), ([10_000.5], [0.25]));
    }
}
