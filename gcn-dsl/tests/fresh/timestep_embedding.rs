//! llama.cpp: `timestep_embedding_f32`, `pad_f32` and `roll_f32`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn timestep_embedding(timesteps: &[f32], dst: &mut [f32], nb1: u32, dim: u32, max_period: i32) {
        let i = workgroup_id().y;
        let j = global_id().x;
        let embed_data = &dst[i * nb1..(i + 1) * nb1];
        let half = dim / 2;
        if dim % 2 != 0 && j == half {
            embed_data[2 * half] = 0.0;
        }
        if j >= half {
            return;
        }
        let timestep = timesteps[i];
        let freq = (-(max_period as f32).ln() * j as f32 / half as f32).exp();
        let arg = timestep * freq;
        embed_data[j] = arg.cos();
        embed_data[j + half] = arg.sin();
    }

    #[device]
    fn wrap_around(idx: V<i32>, n: i32) -> V<i32> {
        if idx < 0 {
            return idx + n;
        }
        if idx >= n {
            return idx - n;
        }
        idx
    }

    #[workgroup(256)]
    fn roll(src: &[f32], dst: &mut [f32], ne: [i32; 2], s: [i32; 2]) {
        let idx = global_id().x as i32;
        if idx >= ne[0] * ne[1] {
            return;
        }
        let i1 = idx / ne[0];
        let i0 = idx % ne[0];
        let d0 = wrap_around(i0 - s[0], ne[0]);
        let d1 = wrap_around(i1 - s[1], ne[1]);
        dst[idx as u32] = src[(d1 * ne[0] + d0) as u32];
    }
}

#[test]
fn embeds() {
    let steps = [0.0, 1.0, 37.5];
    let dim = 33usize;
    let mut want = Vec::new();
    for t in steps {
        let freq = |j: usize| t * (-(10000f32.ln()) * j as f32 / 16.0).exp();
        want.extend((0..16).map(|j| freq(j).cos()).chain((0..16).map(|j| freq(j).sin())).chain([0.0]));
    }
    let x = floats(7 * 9);
    everywhere(|device| {
        let mut y = vec![9.0; 3 * dim];
        timestep_embedding
            .launch(device, Grid::xy(1, 3), (&steps, &mut y, dim as u32, dim as u32, 10000))
            .unwrap();
        assert_near(&y, &want, 1e-4);
        let mut rolled = vec![0.0; 63];
        roll.launch(device, Grid::x(1), (&x, &mut rolled, [7, 9], [3, -2])).unwrap();
        for i in 0..63i32 {
            let (c, r) = ((i % 7 - 3).rem_euclid(7), (i / 7 + 2).rem_euclid(9));
            assert_eq!(rolled[i as usize], x[(r * 7 + c) as usize]);
        }
    });
}
