//! llama.cpp: `gated_linear_attn_f32`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(64)]
    fn gated_linear_attn<const HEAD_SIZE: u32>(t: u32, h: u32, scale: f32, k: &[f32], v: &[f32], r: &[f32], td: &[f32], s: &[f32], dst: &mut [f32]) {
        let tid = local_id().x;
        let bid = workgroup_id().x;
        let c = h * HEAD_SIZE;
        let _k = Lds::<f32, 64>::new();
        let _r = Lds::<f32, 64>::new();
        let _td = Lds::<f32, 64>::new();
        let state = Private::<f32, 64>::new();
        #[unroll]
        for i in 0..HEAD_SIZE {
            state[i] = s[bid * HEAD_SIZE * HEAD_SIZE + i * HEAD_SIZE + tid];
        }
        for t in 0..t {
            let at = t * c + bid * HEAD_SIZE + tid;
            barrier();
            _k[tid] = k[at];
            _r[tid] = r[at];
            _td[tid] = td[at];
            barrier();
            let _v = v[at];
            let mut y = 0.0;
            for j in 0..HEAD_SIZE {
                let kv = _k[j] * _v;
                state[j] = state[j] * _td[j] + kv;
                y += _r[j] * state[j];
            }
            dst[at] = y * scale;
        }
        for i in 0..HEAD_SIZE {
            dst[t * c + bid * HEAD_SIZE * HEAD_SIZE + i * HEAD_SIZE + tid] = state[i];
        }
    }
}

#[test]
fn attends() {
    let (t, h, d) = (3usize, 2usize, 64usize);
    let c = h * d;
    let data: Vec<Vec<f32>> = (0..4).map(|i| floats(t * c + i)[i..].to_vec()).collect();
    let s = floats(h * d * d);
    let [k, v, r, td] = &data[..] else { panic!() };
    let mut want = vec![0.0; t * c + h * d * d];
    let mut state = s.clone();
    for head in 0..h {
        for step in 0..t {
            for i in 0..d {
                let at = step * c + head * d;
                let mut y = 0.0;
                for j in 0..d {
                    let cell = &mut state[head * d * d + j * d + i];
                    *cell = *cell * td[at + j] + k[at + j] * v[at + i];
                    y += r[at + j] * *cell;
                }
                want[at + i] = y * 0.5;
            }
        }
    }
    want[t * c..].copy_from_slice(&state);
    everywhere(|device| {
        let mut out = vec![0.0; want.len()];
        gated_linear_attn::<64>
            .launch(device, Grid::x(2), (t as u32, h as u32, 0.5, k, v, r, td, &s, &mut out))
            .unwrap();
        assert_near(&out, &want, 1e-4);
    });
}
