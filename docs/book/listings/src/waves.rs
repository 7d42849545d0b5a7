//! What a wave is.

use gcn_dsl::prelude::*;

use crate::{Output, Outputs, TARGET, row, table};

// ANCHOR: who
gcn_kernel! {
    /// Each work-item says where it is.
    #[workgroup(128)]
    pub fn who(lane: &mut [u32], wave: &mut [u32], group: &mut [u32]) {
        let i = global_id().x;
        lane[i] = lane_id();
        wave[i] = wave_id();
        group[i] = workgroup_id().x;
    }
}
// ANCHOR_END: who

// ANCHOR: active
gcn_kernel! {
    /// How many lanes are active on either side of a branch.
    #[workgroup(64)]
    pub fn active(x: &[u32], lanes: &mut [u32]) {
        let i = lane_id();
        if x[i] > 9 {
            lanes[i] = active_lanes().count_ones();
        } else {
            lanes[i] = active_lanes().count_ones();
        }
    }
}
// ANCHOR_END: active

// ANCHOR: neighbour
gcn_kernel! {
    /// Each lane stores its right neighbour's element; the last lane of a wave stores its own.
    #[workgroup(128)]
    pub fn neighbour(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = shuffle_down(x[i], 1);
    }
}
// ANCHOR_END: neighbour

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let device = Device::simulator(TARGET);
    // ANCHOR: launch
    let (mut lane, mut wave, mut group) = ([0; 256], [0; 256], [0; 256]);
    who.launch(&device, Grid::x(2), (&mut lane, &mut wave, &mut group))?;
    // ANCHOR_END: launch
    let shown = [0usize, 1, 63, 64, 127, 128, 255];
    let rows = shown.map(|i| row(&i.to_string(), &[&group[i], &wave[i], &lane[i]]));
    let who_text = table(&["work-item", "workgroup", "wave", "lane"], &rows);

    let mut x = [0; 64];
    x[..5].fill(10);
    let mut lanes = [0; 64];
    active.launch(&device, Grid::x(1), (&x, &mut lanes))?;
    let rows = [0usize, 4, 5, 63].map(|i| row(&i.to_string(), &[&x[i], &lanes[i]]));
    let active_text = table(&["lane", "x", "active lanes"], &rows);
    Ok(vec![Output { name: "who.md", text: who_text }, Output { name: "active.md", text: active_text }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_items_are_numbered_by_group_wave_and_lane() {
        for target in Target::REPRESENTATIVES {
            let (mut lane, mut wave, mut group) = ([0; 256], [0; 256], [0; 256]);
            let device = Device::simulator(target);
            who.launch(&device, Grid::x(2), (&mut lane, &mut wave, &mut group)).unwrap();
            for i in 0..256u32 {
                let at = i as usize;
                assert_eq!((group[at], wave[at], lane[at]), (i / 128, i % 128 / 64, i % 64));
            }
        }
    }

    #[test]
    fn both_sides_of_a_branch_run_with_their_own_lanes() {
        let x: [u32; 64] = std::array::from_fn(|i| if i < 5 { 10 } else { 0 });
        let mut lanes = [0; 64];
        active.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut lanes)).unwrap();
        assert!(lanes[..5].iter().all(|n| *n == 5) && lanes[5..].iter().all(|n| *n == 59));
    }

    #[test]
    fn a_neighbour_is_in_the_same_wave() {
        let x: [u32; 128] = std::array::from_fn(|i| i as u32);
        let mut y = [0; 128];
        neighbour.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!((y[0], y[62], y[63], y[64], y[127]), (1, 63, 63, 65, 127));
    }
}
