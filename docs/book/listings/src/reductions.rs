//! Reductions.

use gcn_dsl::prelude::*;

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
    Ok(vec![Output { name: "reductions.md", text: table(&head, &rows) }])
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
}
