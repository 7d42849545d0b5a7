//! Layer norm's backward pass: the gradient of the input by row, those of gamma and beta by column.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn grad_input<T: Float>(dy: &[T], x: &[T], mean: &[f32], rstd: &[f32], gamma: &[T], dx: &mut [T], n: u32) {
        let i = workgroup_id().x;
        let mean_val = mean[i];
        let rstd_val = rstd[i];
        let mut stats_x1 = 0.0;
        let mut stats_x2 = 0.0;
        for l in (local_id().x..n).step_by(256) {
            let gamma_val = gamma[l] as f32;
            let c_h = x[i * n + l] as f32;
            let c_loss = dy[i * n + l] as f32;
            stats_x1 += c_loss * gamma_val;
            stats_x2 += c_loss * gamma_val * (c_h - mean_val) * rstd_val;
        }
        let stats_x1 = workgroup_sum(stats_x1);
        let stats_x2 = workgroup_sum(stats_x2);
        let f_h = n as f32;
        let term1 = (1.0 / f_h) * rstd_val;
        for l in (local_id().x..n).step_by(256) {
            let gamma_val = gamma[l] as f32;
            let mut f_grad_input = f_h * gamma_val * dy[i * n + l] as f32;
            f_grad_input -= (x[i * n + l] as f32 - mean_val) * rstd_val * stats_x2;
            f_grad_input -= stats_x1;
            f_grad_input *= term1;
            dx[i * n + l] = f_grad_input as T;
        }
    }

    #[workgroup(64)]
    fn gamma_beta(dy: &[f32], x: &[f32], mean: &[f32], rstd: &[f32], dg: &mut [f32], db: &mut [f32], m: u32, n: u32) {
        let j = global_id().x;
        if j < n {
            let (mut sum1, mut sum2) = (0.0, 0.0);
            for i in 0..m {
                let index = i * n + j;
                sum1 += dy[index] * (x[index] - mean[i]) * rstd[i];
                sum2 += dy[index];
            }
            dg[j] = sum1;
            db[j] = sum2;
        }
    }
}

#[test]
fn gradients() {
    let (m, n) = (3, 300);
    let all = floats(2 * m * n + n);
    let (dy, x, gamma) = (&all[..m * n], &all[m * n..2 * m * n], &all[2 * m * n..]);
    let mean: Vec<f32> = x.chunks(n).map(|r| r.iter().sum::<f32>() / n as f32).collect();
    let rstd: Vec<f32> = x
        .chunks(n)
        .zip(&mean)
        .map(|(r, m)| 1.0 / (r.iter().map(|x| (x - m).powi(2)).sum::<f32>() / n as f32 + 1e-5).sqrt())
        .collect();
    everywhere(|device| {
        let mut dx = vec![0.0; m * n];
        grad_input::<f32>
            .launch(device, Grid::x(3), (dy, x, &mean, &rstd, gamma, &mut dx, n as u32))
            .unwrap();
        let (mut dg, mut db) = (vec![0.0; n], vec![0.0; n]);
        let args = (dy, x, &mean[..], &rstd[..], &mut dg[..], &mut db[..], m as u32, n as u32);
        gamma_beta.launch(device, Grid::x(5), args).unwrap();
        let hat = |i: usize| (x[i] - mean[i / n]) * rstd[i / n];
        for (r, rstd) in rstd.iter().enumerate() {
            let row = r * n..(r + 1) * n;
            let s1: f32 = row.clone().map(|i| dy[i] * gamma[i % n]).sum();
            let s2: f32 = row.clone().map(|i| dy[i] * gamma[i % n] * hat(i)).sum();
            let want: Vec<f32> = row
                .clone()
                .map(|i| rstd * (dy[i] * gamma[i % n] - s1 / n as f32 - hat(i) * s2 / n as f32))
                .collect();
            assert_near(&dx[row], &want, 1e-3);
        }
        let column = |f: &dyn Fn(usize) -> f32| {
            (0..n).map(|j| (0..m).map(|i| f(i * n + j)).sum()).collect::<Vec<f32>>()
        };
        assert_near(&dg, &column(&|i| dy[i] * hat(i)), 1e-4);
        assert_near(&db, &column(&|i| dy[i]), 1e-4);
    });
}
