//! Cross entropy of logits and its gradient, a wave for each row, by warp reductions.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats, numbers};

gcn_kernel! {
    #[device]
    fn warp_reduce_max(mut x: V<f32>) -> V<f32> {
        #[unroll]
        for offset in [32, 16, 8, 4, 2, 1] {
            x = x.max(shuffle_xor(x, offset));
        }
        x
    }

    #[device]
    fn warp_reduce_sum(mut x: V<f32>) -> V<f32> {
        #[unroll]
        for offset in [32, 16, 8, 4, 2, 1] {
            x += shuffle_xor(x, offset);
        }
        x
    }

    #[workgroup(64)]
    #[wave(64)]
    fn cross_entropy(logits: &[f32], labels: &[u32], loss: &mut [f32], grad: &mut [f32], nclasses: u32, k: f32) {
        let row = workgroup_id().x;
        let logits = &logits[row * nclasses..(row + 1) * nclasses];
        let mut max_logit = -f32::INFINITY;
        for i in (lane_id()..nclasses).step_by(64) {
            max_logit = max_logit.max(logits[i]);
        }
        let max_logit = warp_reduce_max(max_logit);
        let mut sum = 0.0;
        for i in (lane_id()..nclasses).step_by(64) {
            sum += (logits[i] - max_logit).exp();
        }
        let sum = warp_reduce_sum(sum);
        let label = labels[row];
        for i in (lane_id()..nclasses).step_by(64) {
            let p = (logits[i] - max_logit).exp() / sum;
            let one = if i == label { 1.0 } else { 0.0 };
            grad[row * nclasses + i] = (p - one) * k;
        }
        if lane_id() == 0 {
            loss[row] = -(logits[label] - max_logit - sum.ln());
        }
    }
}

#[test]
fn losses() {
    let (rows, n) = (3, 100);
    let (x, labels) = (floats(rows * n), numbers(rows, n as u32));
    everywhere(|device| {
        let (mut loss, mut grad) = (vec![0.0; rows], vec![0.0; rows * n]);
        cross_entropy.launch(device, Grid::x(3), (&x, &labels, &mut loss, &mut grad, n as u32, 0.5)).unwrap();
        for r in 0..rows {
            let row = &x[r * n..][..n];
            let sum: f32 = row.iter().map(|x| x.exp()).sum();
            let want: Vec<f32> = (0..n)
                .map(|i| (row[i].exp() / sum - f32::from(u8::from(i as u32 == labels[r]))) * 0.5)
                .collect();
            assert_near(&grad[r * n..][..n], &want, 1e-5);
            assert_near(&loss[r..=r], &[sum.ln() - row[labels[r] as usize]], 1e-5);
        }
    });
}
