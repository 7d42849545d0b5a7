//! llama.cpp: `rope_neox`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn rope_yarn_ramp(low: f32, high: f32, i0: V<u32>) -> V<f32> {
        let y = ((i0 / 2) as f32 - low) / (high - low).max(0.001);
        1.0 - y.max(0.0).min(1.0)
    }

    #[workgroup(1, 256)]
    fn rope_neox<const HAS_FF: bool>(
        x: &[f32],
        dst: &mut [f32],
        ne0: u32,
        n_dims: u32,
        pos: &[i32],
        freq_scale: f32,
        ext_factor: f32,
        corr_dims: [f32; 2],
        theta_scale: f32,
        freq_factors: &[f32],
    ) {
        let i0 = 2 * (workgroup_id().y * 256 + local_id().y);
        if i0 >= ne0 {
            return;
        }
        let row = workgroup_id().x;
        let idst = row * ne0 + i0 / 2;
        if i0 >= n_dims {
            dst[row * ne0 + i0] = x[row * ne0 + i0];
            dst[row * ne0 + i0 + 1] = x[row * ne0 + i0 + 1];
            return;
        }
        let theta_base = pos[row] as f32 * theta_scale.powf((i0 / 2) as f32);
        let freq_factor = if HAS_FF { freq_factors[i0 / 2] } else { 1.0 };
        let theta_extrap = theta_base / freq_factor;
        let theta_interp = freq_scale * theta_extrap;
        let mut theta = theta_interp;
        if ext_factor != 0.0 {
            let ramp_mix = rope_yarn_ramp(corr_dims[0], corr_dims[1], i0) * ext_factor;
            theta = theta_interp * (1.0 - ramp_mix) + theta_extrap * ramp_mix;
        }
        let (sin_theta, cos_theta) = theta.sin_cos();
        let x0 = x[idst];
        let x1 = x[idst + n_dims / 2];
        dst[idst] = x0 * cos_theta - x1 * sin_theta;
        dst[idst + n_dims / 2] = x0 * sin_theta + x1 * cos_theta;
    }
}

#[test]
fn rotates() {
    let (ne0, dims, rows) = (48usize, 32usize, 5usize);
    let (x, pos) = (floats(ne0 * rows), [0, 3, 77, 1000, 5]);
    let ff: Vec<f32> = (0..16).map(|i| 1.0 + i as f32 / 8.0).collect();
    for (ext, with) in [(0.0, false), (0.7, true)] {
        let mut want = x.clone();
        for r in 0..rows {
            for p in 0..dims / 2 {
                let extrap = pos[r] as f32 * 0.8f32.powf(p as f32) / if with { ff[p] } else { 1.0 };
                let ramp = (1.0 - ((p as f32 - 2.0) / 8.0).clamp(0.0, 1.0)) * ext;
                let theta = 0.5 * extrap * (1.0 - ramp) + extrap * ramp;
                let (a, b) = (x[r * ne0 + p], x[r * ne0 + p + dims / 2]);
                want[r * ne0 + p] = a * theta.cos() - b * theta.sin();
                want[r * ne0 + p + dims / 2] = a * theta.sin() + b * theta.cos();
            }
        }
        everywhere(|device| {
            let mut y = vec![0.0; ne0 * rows];
            let args =
                (&x[..], &mut y[..], ne0 as u32, dims as u32, &pos[..], 0.5, ext, [2.0, 10.0], 0.8, &ff[..]);
            if with {
                rope_neox::<true>.launch(device, Grid::xy(rows as u32, 1), args).unwrap();
            } else {
                rope_neox::<false>.launch(device, Grid::xy(rows as u32, 1), args).unwrap();
            }
            assert_near(&y, &want, 1e-3);
        });
    }
}
