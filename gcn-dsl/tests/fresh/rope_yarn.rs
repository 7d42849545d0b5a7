//! NeoX rotary embeddings with YaRN's scaling: helpers that give two results through references.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct CorrDims {
        v: [f32; 2],
    }

    #[device]
    fn rope_yarn_ramp(low: f32, high: f32, i0: V<u32>) -> V<f32> {
        let y = ((i0 / 2) as f32 - low) / (high - low).max(0.001);
        1.0 - y.max(0.0).min(1.0)
    }

    #[device]
    fn rope_yarn(theta_extrap: V<f32>, freq_scale: f32, corr: [f32; 2], i0: V<u32>, ext_factor: f32, mscale: f32, cos_theta: &mut V<f32>, sin_theta: &mut V<f32>) {
        let theta_interp = freq_scale * theta_extrap;
        let mut theta = theta_interp;
        let mut mscale = mscale;
        if ext_factor != 0.0 {
            let ramp_mix = rope_yarn_ramp(corr[0], corr[1], i0) * ext_factor;
            theta = theta_interp * (1.0 - ramp_mix) + theta_extrap * ramp_mix;
            mscale *= 1.0 + 0.1 * (1.0 / freq_scale).ln();
        }
        *cos_theta = theta.cos() * mscale;
        *sin_theta = theta.sin() * mscale;
    }

    #[workgroup(64)]
    fn rope_neox(x: &[f32], dst: &mut [f32], ne0: u32, n_dims: u32, pos: &[i32], freq_scale: f32, ext_factor: f32, attn_factor: f32, corr_dims: CorrDims, theta_scale: f32, freq_factors: &[f32]) {
        let i0 = 2 * local_id().x;
        let row = workgroup_id().x;
        if i0 >= ne0 {
            return;
        }
        if i0 >= n_dims {
            let i = row * ne0 + i0;
            dst[i] = x[i];
            dst[i + 1] = x[i + 1];
            return;
        }
        let i = row * ne0 + i0 / 2;
        let theta_base = pos[row] as f32 * theta_scale.powf(i0 as f32 / 2.0);
        let freq_factor = if freq_factors.len() > 0 { freq_factors[i0 / 2] } else { 1.0 };
        let mut cos_theta = 0.0;
        let mut sin_theta = 0.0;
        rope_yarn(theta_base / freq_factor, freq_scale, corr_dims.v, i0, ext_factor, attn_factor, &mut cos_theta, &mut sin_theta);
        let x0 = x[i];
        let x1 = x[i + n_dims / 2];
        dst[i] = x0 * cos_theta - x1 * sin_theta;
        dst[i + n_dims / 2] = x0 * sin_theta + x1 * cos_theta;
    }
}

#[test]
fn rotates() {
    let (rows, ne0, dims) = (3, 48, 32);
    let x = floats(rows * ne0);
    let factors: Vec<f32> = (0..16).map(|k| 1.0 + k as f32 / 10.0).collect();
    let pos = [3, 17, 40];
    everywhere(|device| {
        let mut y = vec![0.0; rows * ne0];
        let corr = CorrDims { v: [2.0, 9.0] };
        let args = (&x[..], &mut y[..], 48, 32, &pos[..], 0.5, 0.7, 1.1, corr, 0.9, &factors[..]);
        rope_neox.launch(device, Grid::x(3), args).unwrap();
        let mut want = x.clone();
        for r in 0..rows {
            for k in 0..dims / 2 {
                let extrap = pos[r] as f32 * 0.9f32.powi(k as i32) / factors[k];
                let ramp = (1.0 - ((k as f32 - 2.0) / 7.0).clamp(0.0, 1.0)) * 0.7;
                let theta = 0.5 * extrap * (1.0 - ramp) + extrap * ramp;
                let scale = 1.1 * (1.0 + 0.1 * 2f32.ln());
                let (c, s) = (theta.cos() * scale, theta.sin() * scale);
                let (a, b) = (x[r * ne0 + k], x[r * ne0 + k + dims / 2]);
                want[r * ne0 + k] = a * c - b * s;
                want[r * ne0 + k + dims / 2] = a * s + b * c;
            }
        }
        assert_near(&y, &want, 1e-4);
    });
}
