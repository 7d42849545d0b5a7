//! llama.cpp: `mul_mat_vec_q` of q4_0 by q8_1, with the dot products of bytes.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats, numbers};

const VDR: usize = 2;

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Q4 {
        d: f16,
        qs: [u16; 8],
    }

    #[device]
    #[repr(C)]
    pub struct Q8_1 {
        d: f16,
        s: f16,
        qs: [i32; 8],
    }

    #[device]
    fn dp4a(a: V<i32>, b: V<i32>, c: V<i32>) -> V<i32> {
        let mut sum = c;
        for i in 0..4u32 {
            sum += ((a >> (8 * i)) as i8) as i32 * ((b >> (8 * i)) as i8) as i32;
        }
        sum
    }

    #[device]
    fn vec_dot_q4_0_q8_1_impl<const N: usize, const M: usize>(v: [V<i32>; N], u: [V<i32>; M], d4: V<f32>, ds8: (V<f32>, V<f32>)) -> V<f32> {
        let mut sumi = 0;
        #[unroll]
        for i in 0..N {
            let vi0 = (v[i] >> 0) & 0x0F0F0F0F;
            let vi1 = (v[i] >> 4) & 0x0F0F0F0F;
            sumi = dp4a(vi0, u[2 * i + 0], sumi);
            sumi = dp4a(vi1, u[2 * i + 1], sumi);
        }
        d4 * (sumi as f32 * ds8.0 - (8 * N as i32 / 4) as f32 * ds8.1)
    }

    #[workgroup(64)]
    #[wave(64)]
    fn mul_mat_vec_q(vx: &[Q4], vy: &[Q8_1], dst: &mut [f32], blocks_per_row: u32) {
        let row = workgroup_id().x;
        let tid = local_id().x;
        let mut tmp = 0.0;
        for ib in (tid / 2..blocks_per_row).step_by(32) {
            let iqs = VDR as u32 * (tid % 2);
            let bq4 = vx[row * blocks_per_row + ib];
            let bq8 = vy[ib];
            let mut v = [0; VDR];
            let mut u = [0; 2 * VDR];
            #[unroll]
            for i in 0..VDR {
                let at = iqs + i as u32;
                v[i] = bq4.qs[2 * at] as i32 | (bq4.qs[2 * at + 1] as i32) << 16;
                u[2 * i] = bq8.qs[at];
                u[2 * i + 1] = bq8.qs[at + 4];
            }
            tmp += vec_dot_q4_0_q8_1_impl::<VDR, { 2 * VDR }>(v, u, bq4.d as f32, (bq8.d as f32, bq8.s as f32));
        }
        let sum = wave_sum(tmp);
        if tid == 0 {
            dst[row] = sum;
        }
    }
}

#[test]
fn products() {
    let (rows, blocks) = (4usize, 40usize);
    let nibbles = numbers(rows * blocks * 32, 16);
    let bytes: Vec<i8> = numbers(blocks * 32, 255).into_iter().map(|x| (x as i32 - 127) as i8).collect();
    let scale = floats(rows * blocks);
    let x: Vec<Q4> = (0..rows * blocks)
        .map(|b| {
            let byte = |k: usize| (nibbles[b * 32 + k] | nibbles[b * 32 + k + 16] << 4) as u16;
            Q4 { d: f16::from_f32(scale[b]), qs: std::array::from_fn(|k| byte(2 * k) | byte(2 * k + 1) << 8) }
        })
        .collect();
    let y: Vec<Q8_1> = (0..blocks)
        .map(|b| {
            let word =
                |k: usize| i32::from_le_bytes(std::array::from_fn(|i| bytes[b * 32 + 4 * k + i] as u8));
            let sum: i32 = bytes[b * 32..][..32].iter().map(|x| i32::from(*x)).sum();
            Q8_1 {
                d: f16::from_f32(0.0625),
                s: f16::from_f32(0.0625 * sum as f32),
                qs: std::array::from_fn(word),
            }
        })
        .collect();
    let want: Vec<f32> = (0..rows)
        .map(|r| {
            let of = |b: usize| {
                let dot: i32 = (0..32)
                    .map(|k| nibbles[(r * blocks + b) * 32 + k] as i32 * i32::from(bytes[b * 32 + k]))
                    .sum();
                x[r * blocks + b].d.to_f32() * (dot as f32 * y[b].d.to_f32() - 8.0 * y[b].s.to_f32())
            };
            (0..blocks).map(of).sum()
        })
        .collect();
    everywhere(|device| {
        let mut out = vec![0.0; rows];
        mul_mat_vec_q.launch(device, Grid::x(rows as u32), (&x, &y, &mut out, blocks as u32)).unwrap();
        assert_near(&out, &want, 1e-3);
    });
}
