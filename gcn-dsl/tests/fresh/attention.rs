//! Flash attention's forward pass with an online softmax, a workgroup for each query row block, K and V tiles in LDS.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

const D: u32 = 16;
const TILE: u32 = 64;

gcn_kernel! {
    #[workgroup(64)]
    fn flash(q: &[f32], k: &[f32], v: &[f32], o: &mut [f32], n: u32, scale: f32, causal: bool) {
        let k_tile = Lds::<f32, 1024>::new();
        let v_tile = Lds::<f32, 1024>::new();
        let tid = local_id().x;
        let row = workgroup_id().x * 64 + tid;
        let mut q_row = [0.0; 16];
        #[unroll]
        for d in 0..16 {
            q_row[d] = q[row * D + d as u32] * scale;
        }
        let mut acc = [0.0; 16];
        let mut m = f32::NEG_INFINITY;
        let mut l = 0.0;
        for start in (0..n).step_by(64) {
            #[unroll]
            for d in 0..16 {
                k_tile[tid * D + d as u32] = k[(start + tid) * D + d as u32];
                v_tile[tid * D + d as u32] = v[(start + tid) * D + d as u32];
            }
            barrier();
            for j in 0..TILE {
                if start + j >= n || (causal && start + j > row) {
                    continue;
                }
                let mut s = 0.0;
                #[unroll]
                for d in 0..16 {
                    s += q_row[d] * k_tile[j * D + d as u32];
                }
                let m_new = m.max(s);
                let alpha = (m - m_new).exp();
                let p = (s - m_new).exp();
                l = l * alpha + p;
                #[unroll]
                for d in 0..16 {
                    acc[d] = acc[d] * alpha + p * v_tile[j * D + d as u32];
                }
                m = m_new;
            }
            barrier();
        }
        if row < n {
            #[unroll]
            for d in 0..16 {
                o[row * D + d as u32] = acc[d] / l;
            }
        }
    }
}

#[test]
fn attends() {
    let n = 100;
    let all = floats(3 * n * 16);
    let (q, k, v) = (&all[..n * 16], &all[n * 16..2 * n * 16], &all[2 * n * 16..]);
    everywhere(|device| {
        for causal in [false, true] {
            let mut o = vec![0.0; n * 16];
            flash.launch(device, Grid::x(2), (q, k, v, &mut o, n as u32, 0.25, causal)).unwrap();
            let mut want = vec![0.0f32; n * 16];
            for i in 0..n {
                let last = if causal { i + 1 } else { n };
                let e: Vec<f32> = (0..last)
                    .map(|j| (0..16).map(|d| q[i * 16 + d] * k[j * 16 + d] * 0.25).sum::<f32>().exp())
                    .collect();
                let sum: f32 = e.iter().sum();
                for d in 0..16 {
                    want[i * 16 + d] = (0..last).map(|j| e[j] * v[j * 16 + d]).sum::<f32>() / sum;
                }
            }
            assert_near(&o, &want, 1e-4);
        }
    });
}
