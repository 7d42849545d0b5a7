//! NLL loss with class weights and an index to ignore, reduced to a mean by one block.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats, numbers};

gcn_kernel! {
    #[workgroup(128)]
    fn nll_loss(output: &mut [f32], total_weight: &mut [f32], input: &[f32], target: &[i64], weights: &[f32], nframe: u32, ndim: u32, n_classes: i64, ignore_index: i64) {
        let sh_inputs = Lds::<f32, 128>::new();
        let acc_weight = Lds::<f32, 128>::new();
        let tid = local_id().x;
        sh_inputs[tid] = 0.0;
        acc_weight[tid] = 0.0;
        for i in (tid..nframe).step_by(128) {
            let t = target[i];
            if t != ignore_index {
                debug_assert!(t >= 0 && t < n_classes);
                let cur_weight = if weights.len() > 0 { weights[t as u32] } else { 1.0 };
                sh_inputs[tid] -= input[i * ndim + t as u32] * cur_weight;
                acc_weight[tid] += cur_weight;
            }
        }
        barrier();
        if tid == 0 {
            let mut output_acc = 0.0;
            let mut total_weight_acc = 0.0;
            for i in 0..128 {
                output_acc += sh_inputs[i];
                total_weight_acc += acc_weight[i];
            }
            total_weight[0] = total_weight_acc;
            output[0] = output_acc / total_weight_acc;
        }
    }
}

#[test]
fn losses() {
    let (frames, classes) = (200, 10);
    let x = floats(frames * classes);
    let target: Vec<i64> =
        numbers(frames, 11).into_iter().map(|t| if t == 10 { -100 } else { i64::from(t) }).collect();
    let weights: Vec<f32> = (0..10).map(|k| 0.5 + k as f32).collect();
    everywhere(|device| {
        let (mut out, mut total) = (vec![0.0], vec![0.0]);
        let args = (
            &mut out[..],
            &mut total[..],
            &x[..],
            &target[..],
            &weights[..],
            frames as u32,
            classes as u32,
            10,
            -100,
        );
        nll_loss.launch(device, Grid::x(1), args).unwrap();
        let (mut sum, mut weight) = (0.0, 0.0);
        for (i, t) in target.iter().enumerate().filter(|(_, t)| **t >= 0) {
            sum -= x[i * classes + *t as usize] * weights[*t as usize];
            weight += weights[*t as usize];
        }
        assert_near(&out, &[sum / weight], 1e-4);
        assert_near(&total, &[weight], 1e-4);
    });
}
