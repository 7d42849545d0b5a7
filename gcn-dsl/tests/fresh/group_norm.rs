//! Group norm: mean and variance of a group by reductions over warps and over the block.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn block_sum(all: AllLanes, x: V<f32>, shared: Lds<f32, 4>) -> f32 {
        let warp = wave_sum(x);
        if lane_id() == 0 {
            shared[local_id().x / 64] = warp;
        }
        barrier();
        let mut sum = 0.0;
        for w in 0..4 {
            sum += shared[w];
        }
        barrier();
        read_first_lane(sum)
    }

    #[workgroup(256)]
    #[wave(64)]
    fn group_norm(x: &[f32], dst: &mut [f32], group_size: u32, eps: f32) {
        let s_sum = Lds::<f32, 4>::new();
        let start = workgroup_id().x * group_size;
        let end = (start + group_size).min(x.len());
        let mut tmp = 0.0;
        for j in (start + local_id().x..end).step_by(256) {
            tmp += x[j];
        }
        let mean = block_sum(all_lanes(), tmp, s_sum) / group_size as f32;
        tmp = 0.0;
        for j in (start + local_id().x..end).step_by(256) {
            let xi = x[j] - mean;
            dst[j] = xi;
            tmp += xi * xi;
        }
        let variance = block_sum(all_lanes(), tmp, s_sum) / group_size as f32;
        let scale = 1.0 / (variance + eps).sqrt();
        for j in (start + local_id().x..end).step_by(256) {
            dst[j] *= scale;
        }
    }
}

#[test]
fn normalises() {
    let (groups, size) = (3, 600);
    let x = floats(groups * size);
    everywhere(|device| {
        let mut y = vec![0.0; groups * size];
        group_norm.launch(device, Grid::x(3), (&x, &mut y, size as u32, 1e-5)).unwrap();
        for (x, y) in x.chunks(size).zip(y.chunks(size)) {
            let mean = x.iter().sum::<f32>() / size as f32;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / size as f32;
            let want: Vec<f32> = x.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt()).collect();
            assert_near(y, &want, 1e-4);
        }
    });
}
