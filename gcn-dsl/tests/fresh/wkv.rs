//! RWKV's recurrence: a state of each head in registers, the step's vectors in LDS, one thread for each channel.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

const HEAD_SIZE: usize = 16;

gcn_kernel! {
    #[workgroup(HEAD_SIZE)]
    fn wkv(t_len: u32, c: u32, k: &[f32], v: &[f32], r: &[f32], tf: &[f32], td: &[f32], s: &[f32], dst: &mut [f32]) {
        let tid = local_id().x;
        let head_i = workgroup_id().x;
        let head_size = HEAD_SIZE as u32;
        let mut state = [0.0; HEAD_SIZE];
        let k_lds = Lds::<f32, HEAD_SIZE>::new();
        let r_lds = Lds::<f32, HEAD_SIZE>::new();
        let tf_lds = Lds::<f32, HEAD_SIZE>::new();
        let td_lds = Lds::<f32, HEAD_SIZE>::new();
        #[unroll]
        for i in 0..HEAD_SIZE {
            state[i] = s[head_i * head_size * head_size + i as u32 * head_size + tid];
        }
        tf_lds[tid] = tf[head_i * head_size + tid];
        for step in 0..t_len {
            let t = step * c + head_i * head_size + tid;
            barrier();
            k_lds[tid] = k[t];
            r_lds[tid] = r[t];
            td_lds[tid] = td[t];
            barrier();
            let v_val = v[t];
            let mut y = 0.0;
            #[unroll]
            for j in 0..HEAD_SIZE {
                let jj = j as u32;
                let kv = k_lds[jj] * v_val;
                y += r_lds[jj] * (tf_lds[jj] * kv + state[j]);
                state[j] = state[j] * td_lds[jj] + kv;
            }
            dst[t] = y;
        }
    }
}

#[test]
fn recurs() {
    let (heads, steps) = (2, 5);
    let c = heads * HEAD_SIZE;
    let all = floats(4 * steps * c);
    let (k, v, r, td) = (
        &all[..steps * c],
        &all[steps * c..2 * steps * c],
        &all[2 * steps * c..3 * steps * c],
        &all[3 * steps * c..],
    );
    let (tf, s) = (floats(c), floats(c * HEAD_SIZE));
    everywhere(|device| {
        let mut y = vec![0.0; steps * c];
        wkv.launch(device, Grid::x(2), (steps as u32, c as u32, k, v, r, &tf, td, &s, &mut y)).unwrap();
        let mut state = s.clone();
        let mut want = vec![0.0; steps * c];
        for t in 0..steps {
            for h in 0..heads {
                for i in 0..HEAD_SIZE {
                    for j in 0..HEAD_SIZE {
                        let (at, jj) = (t * c + h * HEAD_SIZE + i, t * c + h * HEAD_SIZE + j);
                        let st = &mut state[(h * HEAD_SIZE + j) * HEAD_SIZE + i];
                        let kv = k[jj] * v[at];
                        want[at] += r[jj] * (tf[h * HEAD_SIZE + j] * kv + *st);
                        *st = *st * td[jj] + kv;
                    }
                }
            }
        }
        assert_near(&y, &want, 1e-4);
    });
}
