//! Apex: `multi_tensor_apply` by chunks, with the functor of SGD with momentum.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

const ILP: usize = 4;

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct TensorInfo {
        offset: u32,
        size: u32,
    }

    #[device]
    #[repr(C)]
    pub struct Hyper {
        wd: f32,
        momentum: f32,
        dampening: f32,
        lr: f32,
        nesterov: u32,
        first_run: u32,
    }

    #[device]
    fn sgd(grad: V<f32>, weight: V<f32>, mom: V<f32>, h: Hyper) -> (V<f32>, V<f32>) {
        let mut g = grad;
        let mut m = mom;
        if h.wd != 0.0 {
            g += h.wd * weight;
        }
        if h.momentum != 0.0 {
            if h.first_run == 0 {
                m = m * h.momentum + (1.0 - h.dampening) * g;
            } else {
                m = g;
            }
            if h.nesterov != 0 {
                g += h.momentum * m;
            } else {
                g = m;
            }
        }
        (weight - h.lr * g, m)
    }

    #[workgroup(256)]
    fn multi_tensor_sgd(
        tensors: &[TensorInfo], block_to_tensor: &[u8], block_to_chunk: &[u32], chunk_size: u32,
        grads: &[f32], weights: &mut [f32], momenta: &mut [f32], noop_flag: &[i32], hyper: Hyper,
    ) {
        if noop_flag[0] != 0 {
            return;
        }
        let t = tensors[block_to_tensor[workgroup_id().x] as u32];
        let chunk = block_to_chunk[workgroup_id().x];
        let n = t.size - chunk * chunk_size;
        let base = t.offset + chunk * chunk_size;
        let limit = n.min(chunk_size);
        for i_start in (0..limit).step_by(256 * ILP as u32) {
            let mut g = [0.0; ILP];
            let mut w = [0.0; ILP];
            let mut m = [0.0; ILP];
            #[unroll]
            for ii in 0..ILP {
                let i = i_start + local_id().x + ii as u32 * 256;
                if i < limit {
                    g[ii] = grads[base + i];
                    w[ii] = weights[base + i];
                    m[ii] = momenta[base + i];
                }
            }
            #[unroll]
            for ii in 0..ILP {
                (w[ii], m[ii]) = sgd(g[ii], w[ii], m[ii], hyper);
            }
            #[unroll]
            for ii in 0..ILP {
                let i = i_start + local_id().x + ii as u32 * 256;
                if i < limit {
                    weights[base + i] = w[ii];
                    momenta[base + i] = m[ii];
                }
            }
        }
    }
}

#[test]
fn steps() {
    let sizes = [700u32, 33, 2100];
    let total: u32 = sizes.iter().sum();
    let (mut infos, mut tensor, mut chunk, mut at) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (t, size) in sizes.into_iter().enumerate() {
        infos.push(TensorInfo { offset: at, size });
        at += size;
        for c in 0..size.div_ceil(1024) {
            tensor.push(t as u8);
            chunk.push(c);
        }
    }
    let (g, w, m) = (
        floats(total as usize),
        floats(total as usize + 1)[1..].to_vec(),
        floats(total as usize + 2)[2..].to_vec(),
    );
    for nesterov in [0, 1] {
        let hyper = Hyper { wd: 0.01, momentum: 0.9, dampening: 0.1, lr: 0.05, nesterov, first_run: 0 };
        let (mut weights, mut momenta) = (Vec::new(), Vec::new());
        for i in 0..total as usize {
            let grad = g[i] + 0.01 * w[i];
            let mom = m[i] * 0.9 + 0.9 * grad;
            weights.push(w[i] - 0.05 * if nesterov == 1 { grad + 0.9 * mom } else { mom });
            momenta.push(mom);
        }
        everywhere(|device| {
            let (mut a, mut b) = (w.clone(), m.clone());
            let args =
                (&infos[..], &tensor[..], &chunk[..], 1024, &g[..], &mut a[..], &mut b[..], &[0][..], hyper);
            multi_tensor_sgd.launch(device, Grid::x(chunk.len() as u32), args).unwrap();
            assert_near(&a, &weights, 1e-5);
            assert_near(&b, &momenta, 1e-5);
        });
    }
}
