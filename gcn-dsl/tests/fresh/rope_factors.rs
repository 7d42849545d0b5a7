//! llama.cpp, ggml-cuda/rope.cu: rope_neox.
use gcn_dsl::prelude::*;

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

    // YaRN algorithm based on LlamaYaRNScaledRotaryEmbedding.py
    #[device]
    fn rope_yarn<const FORWARD: bool>(
        theta_extrap: V<f32>, freq_scale: f32, corr_dims: CorrDims, i0: V<u32>, ext_factor: f32,
        mut mscale: f32, cos_theta: &mut V<f32>, sin_theta: &mut V<f32>,
    ) {
        // Get n-d rotational scaling corrected for extrapolation
        let theta_interp = freq_scale * theta_extrap;
        let mut theta = theta_interp;
        if ext_factor != 0.0 {
            let ramp_mix = rope_yarn_ramp(corr_dims.v[0], corr_dims.v[1], i0) * ext_factor;
            theta = theta_interp * (1.0 - ramp_mix) + theta_extrap * ramp_mix;

            // Get n-d magnitude scaling corrected for interpolation
            mscale *= 1.0 + 0.1 * (1.0 / freq_scale).ln();
        }
        *cos_theta = theta.cos() * mscale;
        *sin_theta = theta.sin() * mscale;
        if !FORWARD {
            *sin_theta *= -1.0;
        }
    }

    #[workgroup(1, 256)]
    pub fn rope_neox<const FORWARD: bool, const HAS_FF: bool, T: Float>(
        x: &[T], dst: &mut [T], ne0: u32, ne1: u32, s1: u32, s2: u32, n_dims: u32, pos: &[i32],
        freq_scale: f32, ext_factor: f32, attn_factor: f32, corr_dims: CorrDims, theta_scale: f32, freq_factors: &[f32],
    ) {
        let i0 = 2 * (workgroup_size().y * workgroup_id().y + local_id().y);

        if i0 >= ne0 {
            return;
        }

        let row_dst = workgroup_size().x * workgroup_id().x + local_id().x;

        let row_x = row_dst % ne1;
        let channel_x = row_dst / ne1;

        let idst = row_dst * ne0 + i0 / 2;
        let ix = channel_x * s2 + row_x * s1 + i0 / 2;

        if i0 >= n_dims {
            dst[idst + i0 / 2 + 0] = x[ix + i0 / 2 + 0];
            dst[idst + i0 / 2 + 1] = x[ix + i0 / 2 + 1];
            return;
        }

        let theta_base = pos[channel_x] as f32 * theta_scale.powf(i0 as f32 / 2.0);

        let freq_factor = if HAS_FF { freq_factors[i0 / 2] } else { 1.0 };

        let mut cos_theta = 0.0;
        let mut sin_theta = 0.0;

        rope_yarn::<FORWARD>(theta_base / freq_factor, freq_scale, corr_dims, i0, ext_factor, attn_factor, &mut cos_theta, &mut sin_theta);

        let x0 = x[ix + 0] as f32;
        let x1 = x[ix + n_dims / 2] as f32;

        dst[idst + 0] = (x0 * cos_theta - x1 * sin_theta) as T;
        dst[idst + n_dims / 2] = (x0 * sin_theta + x1 * cos_theta) as T;
    }
}

#[test]
fn matches_host() {
    let (ne0, ne1, ne2, n_dims) = (96usize, 3usize, 4usize, 64usize);
    let x: Vec<f16> =
        (0..ne0 * ne1 * ne2).map(|i| f16::from_f32(((i * 13 % 41) as f32 - 20.0) / 8.0)).collect();
    let pos: Vec<i32> = vec![0, 1, 17, 100];
    let ff: Vec<f32> = (0..n_dims / 2).map(|i| 1.0 + i as f32 / 64.0).collect();
    let mut dst = vec![f16::ZERO; x.len()];
    let theta_scale = 10000f32.powf(-2.0 / n_dims as f32);
    let (fs, ef, af) = (0.5f32, 1.0f32, 1.1f32);
    let cd = CorrDims { v: [3.0, 20.0] };
    rope_neox::<true, true, f16>
        .launch(
            &Device::simulator(Target::GFX942),
            Grid::xy((ne1 * ne2) as u32, 1),
            (
                &x,
                &mut dst,
                ne0 as u32,
                ne1 as u32,
                ne0 as u32,
                (ne0 * ne1) as u32,
                n_dims as u32,
                &pos,
                fs,
                ef,
                af,
                cd,
                theta_scale,
                &ff,
            ),
        )
        .unwrap();
    for row in 0..ne1 * ne2 {
        for i0 in (0..ne0).step_by(2) {
            let o = row * ne0;
            if i0 >= n_dims {
                assert_eq!(dst[o + i0].to_f32(), x[o + i0].to_f32());
                assert_eq!(dst[o + i0 + 1].to_f32(), x[o + i0 + 1].to_f32());
                continue;
            }
            let te = pos[row / ne1] as f64 * (theta_scale as f64).powf(i0 as f64 / 2.0) / ff[i0 / 2] as f64;
            let ti = fs as f64 * te;
            let y = ((i0 / 2) as f64 - 3.0) / 17.0;
            let ramp = (1.0 - y.clamp(0.0, 1.0)) * ef as f64;
            let th = ti * (1.0 - ramp) + te * ramp;
            let ms = af as f64 * (1.0 + 0.1 * (1.0 / fs as f64).ln());
            let (c, s) = (th.cos() * ms, th.sin() * ms);
            let (x0, x1) = (x[o + i0 / 2].to_f32() as f64, x[o + i0 / 2 + n_dims / 2].to_f32() as f64);
            assert!((dst[o + i0 / 2].to_f32() as f64 - (x0 * c - x1 * s)).abs() < 4e-3);
            assert!((dst[o + i0 / 2 + n_dims / 2].to_f32() as f64 - (x0 * s + x1 * c)).abs() < 4e-3);
        }
    }
}
