//! llama.cpp: `flash_attn_ext_vec` with split keys, and `flash_attn_combine_results`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

const D: u32 = 64;

gcn_kernel! {
    #[device]
    struct Softmax {
        max: V<f32>,
        sum: V<f32>,
        acc: V<f32>,
    }

    #[device]
    impl Softmax {
        fn new() -> Self {
            Softmax { max: -f32::MAX / 2.0, sum: 0.0, acc: 0.0 }
        }

        fn add(&mut self, kq: V<f32>, v: V<f32>) {
            let max_new = self.max.max(kq);
            let scale = (self.max - max_new).exp();
            let p = (kq - max_new).exp();
            self.sum = self.sum * scale + p;
            self.acc = self.acc * scale + p * v;
            self.max = max_new;
        }
    }

    #[workgroup(64)]
    #[wave(64)]
    fn flash_decode(q: &[f32], k: &[f16], v: &[f16], mask: &[f16], dst: &mut [f32], meta: &mut [f32], scale: f32, n: u32, logit_softcap: f32) {
        let parallel_blocks = workgroup_size().x / 16;
        let head = workgroup_id().x;
        let split = workgroup_id().y;
        let tid = local_id().x;
        let q_reg = q[head * D + tid] * scale;
        let mut state = Softmax::new();
        let per = n.div_ceil(parallel_blocks);
        for key in split * per..((split + 1) * per).min(n) {
            let mut kq = wave_sum(q_reg * k[key * D + tid] as f32);
            if logit_softcap != 0.0 {
                kq = logit_softcap * kq.tanh();
            }
            kq += mask[key] as f32;
            state.add(kq, v[key * D + tid] as f32);
        }
        let o = head * parallel_blocks + split;
        dst[o * D + tid] = state.acc;
        if tid == 0 {
            meta[2 * o] = state.max;
            meta[2 * o + 1] = state.sum;
        }
    }

    #[workgroup(64)]
    fn combine(parts: &[f32], meta: &[f32], dst: &mut [f32], parallel_blocks: u32) {
        let head = workgroup_id().x;
        let tid = local_id().x;
        let mut kqmax = meta[2 * head * parallel_blocks];
        for l in 1..parallel_blocks {
            kqmax = kqmax.max(meta[2 * (head * parallel_blocks + l)]);
        }
        let (mut num, mut den) = (0.0, 0.0);
        for l in 0..parallel_blocks {
            let o = head * parallel_blocks + l;
            let scale = (meta[2 * o] - kqmax).exp();
            num += scale * parts[o * D + tid];
            den += scale * meta[2 * o + 1];
        }
        dst[head * D + tid] = num / den;
    }
}

#[test]
fn attends() {
    let (heads, n, d) = (3usize, 37usize, D as usize);
    let q = floats(heads * d);
    let half = |n: usize, by: usize| -> Vec<f16> {
        floats(n + by).into_iter().skip(by).map(f16::from_f32).collect()
    };
    let (k, v, mask) = (half(n * d, 5), half(n * d, 9), half(n, 2));
    for cap in [0.0, 5.0] {
        let mut want = Vec::new();
        for h in 0..heads {
            let scores: Vec<f32> = (0..n)
                .map(|key| {
                    let s: f32 = (0..d).map(|i| q[h * d + i] * 0.3 * k[key * d + i].to_f32()).sum();
                    (if cap > 0.0 { cap * s.tanh() } else { s }) + mask[key].to_f32()
                })
                .collect();
            let max = scores.iter().copied().fold(f32::MIN, f32::max);
            let e: Vec<f32> = scores.iter().map(|s| (s - max).exp()).collect();
            let sum: f32 = e.iter().sum();
            want.extend(
                (0..d).map(|i| (0..n).map(|key| e[key] * v[key * d + i].to_f32()).sum::<f32>() / sum),
            );
        }
        everywhere(|device| {
            let (mut parts, mut meta, mut out) =
                (vec![0.0; heads * 4 * d], vec![0.0; heads * 8], vec![0.0; heads * d]);
            let args = (&q[..], &k[..], &v[..], &mask[..], &mut parts[..], &mut meta[..], 0.3, n as u32, cap);
            flash_decode.launch(device, Grid::xy(heads as u32, 4), args).unwrap();
            combine.launch(device, Grid::x(heads as u32), (&parts, &meta, &mut out, 4)).unwrap();
            assert_near(&out, &want, 1e-3);
        });
    }
}
