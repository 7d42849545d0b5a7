//! llama.cpp: `ssm_conv_f32` and `ssm_scan_f32` of Mamba.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(64)]
    fn ssm_conv<const D_CONV: usize>(src0: &[f32], src1: &[f32], dst: &mut [f32], n_t: u32, d_inner: u32) {
        let c = global_id().x;
        let row = n_t + D_CONV as u32 - 1;
        let mut x = [0.0f32; D_CONV];
        let mut w = [0.0f32; D_CONV];
        #[unroll]
        for j in 0..D_CONV {
            w[j] = src1[c * D_CONV as u32 + j as u32];
        }
        for i in 0..n_t {
            let mut sumf = 0.0f32;
            #[unroll]
            for j in 0..D_CONV {
                x[j] = src0[c * row + i + j as u32];
                sumf += x[j] * w[j];
            }
            if c < d_inner {
                dst[i * d_inner + c] = sumf;
            }
        }
    }

    #[workgroup(64)]
    fn ssm_scan<const N: usize>(s0: &[f32], x: &[f32], dt: &[f32], a: &[f32], b: &[f32], c: &[f32], y: &mut [f32], s: &mut [f32], n_t: u32, d_inner: u32) {
        let i = global_id().x;
        if i >= d_inner {
            return;
        }
        let mut state: [V<f32>; N] = [0.0; N];
        #[unroll]
        for k in 0..N {
            state[k] = s0[i * N as u32 + k as u32];
        }
        for t in 0..n_t {
            let dt_soft_plus = if dt[t * d_inner + i] <= 20.0 { (dt[t * d_inner + i].exp() + 1.0).ln() } else { dt[t * d_inner + i] };
            let x_dt = x[t * d_inner + i] * dt_soft_plus;
            let mut sumf = 0.0;
            #[unroll]
            for k in 0..N {
                state[k] = state[k] * (dt_soft_plus * a[i * N as u32 + k as u32]).exp() + b[t * N as u32 + k as u32] * x_dt;
                sumf += state[k] * c[t * N as u32 + k as u32];
            }
            y[t * d_inner + i] = sumf;
        }
        #[unroll]
        for k in 0..N {
            s[i * N as u32 + k as u32] = state[k];
        }
    }
}

#[test]
fn convolves_and_scans() {
    let (d, t, n) = (70usize, 9usize, 4usize);
    let (src, w) = (floats(d * (t + 3)), floats(d * 4));
    let mut conv = vec![0.0; d * t];
    for c in 0..d {
        for i in 0..t {
            conv[i * d + c] = (0..4).map(|j| src[c * (t + 3) + i + j] * w[c * 4 + j]).sum();
        }
    }
    let mut dt = floats(t * d);
    dt[5] = 25.0;
    let (x, b, c) = (floats(t * d), floats(t * n), floats(t * n + 1)[1..].to_vec());
    let a: Vec<f32> = floats(d * n).into_iter().map(|a| -a.abs()).collect();
    let s0 = floats(d * n + 3)[3..].to_vec();
    let (mut s, mut y) = (s0.clone(), vec![0.0; t * d]);
    for i in 0..d {
        for j in 0..t {
            let step = dt[j * d + i];
            let soft = if step <= 20.0 { (step.exp() + 1.0).ln() } else { step };
            for k in 0..n {
                s[i * n + k] =
                    s[i * n + k] * (soft * a[i * n + k]).exp() + b[j * n + k] * x[j * d + i] * soft;
                y[j * d + i] += s[i * n + k] * c[j * n + k];
            }
        }
    }
    everywhere(|device| {
        let mut out = vec![0.0; d * t];
        ssm_conv::<4>.launch(device, Grid::x(2), (&src, &w, &mut out, t as u32, d as u32)).unwrap();
        assert_near(&out, &conv, 1e-5);
        let mut state = vec![0.0; d * n];
        ssm_scan::<4>
            .launch(device, Grid::x(2), (&s0, &x, &dt, &a, &b, &c, &mut out, &mut state, t as u32, d as u32))
            .unwrap();
        assert_near(&out, &y, 1e-3);
        assert_near(&state, &s, 1e-3);
    });
}
