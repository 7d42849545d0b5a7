//! mul_mat_vec of q8_0 weights and q8_1 activations: integer dot products of four bytes at a time, a wave for each row.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, numbers};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct BlockQ8_0 {
        d: f16,
        qs: [i8; 32],
    }

    #[device]
    #[repr(C)]
    pub struct BlockQ8_1 {
        d: f16,
        s: f16,
        qs: [i8; 32],
    }

    #[device]
    fn dp4a(a: V<i32>, b: V<i32>, c: V<i32>) -> V<i32> {
        let mut sum = c;
        #[unroll]
        for k in 0..4 {
            sum += (a >> (8 * k)) as i8 as i32 * (b >> (8 * k)) as i8 as i32;
        }
        sum
    }

    #[device]
    fn get_int(q: [V<i8>; 4]) -> V<i32> {
        let mut x = 0;
        #[unroll]
        for k in 0..4 {
            x |= (q[k] as u8 as i32) << (8 * k as u32);
        }
        x
    }

    #[workgroup(64)]
    #[wave(64)]
    fn mul_mat_vec_q8_0(vx: &[BlockQ8_0], vy: &[BlockQ8_1], dst: &mut [f32], ncols: u32) {
        let row = workgroup_id().x;
        let blocks_per_row = ncols / 32;
        let mut tmp = 0.0;
        for i in (lane_id()..blocks_per_row).step_by(64) {
            let ibx = row * blocks_per_row + i;
            let mut sumi = 0;
            for j in 0..8 {
                let a = vx[ibx].qs;
                let b = vy[i].qs;
                let u = get_int([a[4 * j], a[4 * j + 1], a[4 * j + 2], a[4 * j + 3]]);
                let v = get_int([b[4 * j], b[4 * j + 1], b[4 * j + 2], b[4 * j + 3]]);
                sumi = dp4a(u, v, sumi);
            }
            tmp += vx[ibx].d as f32 * vy[i].d as f32 * sumi as f32;
        }
        let mut mask = 32;
        while mask > 0 {
            tmp += shuffle_xor(tmp, mask);
            mask >>= 1;
        }
        if lane_id() == 0 {
            dst[row] = tmp;
        }
    }
}

#[test]
fn multiplies() {
    let (rows, blocks) = (3, 70);
    let bytes: Vec<i8> = numbers((rows + 1) * blocks * 32, 256).into_iter().map(|x| x as u8 as i8).collect();
    let d = f16::from_f32(0.01);
    let q = |k: usize| -> [i8; 32] { bytes[k * 32..][..32].try_into().unwrap() };
    let x: Vec<BlockQ8_0> = (0..rows * blocks).map(|k| BlockQ8_0 { d, qs: q(k) }).collect();
    let y: Vec<BlockQ8_1> = (0..blocks).map(|k| BlockQ8_1 { d, s: d, qs: q(rows * blocks + k) }).collect();
    everywhere(|device| {
        let mut dst = vec![0.0; rows];
        mul_mat_vec_q8_0.launch(device, Grid::x(3), (&x, &y, &mut dst, 70 * 32)).unwrap();
        let want: Vec<f32> = (0..rows)
            .map(|r| {
                let dot = |a: &[i8; 32], b: &[i8; 32]| {
                    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
                };
                (0..blocks)
                    .map(|b| d.to_f32() * d.to_f32() * dot(&x[r * blocks + b].qs, &y[b].qs) as f32)
                    .sum()
            })
            .collect();
        assert_near(&dst, &want, 1e-4);
    });
}
