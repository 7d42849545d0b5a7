//! q5_1: blocks of 32 numbers, four bits and a fifth, a scale and a minimum.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct BlockQ5_1 {
        d: f16,
        m: f16,
        qh: [u8; 4],
        qs: [u8; 16],
    }

    #[device]
    fn dequantize_q5_1(x: &[BlockQ5_1], ib: V<u32>, iqs: V<u32>) -> (V<f32>, V<f32>) {
        let d = x[ib].d as f32;
        let m = x[ib].m as f32;
        let mut qh: V<u32> = 0;
        #[unroll]
        for k in 0..4u32 {
            qh |= (x[ib].qh[k as usize] as u32) << (8 * k);
        }
        let xh_0 = ((qh >> iqs) << 4) & 0x10;
        let xh_1 = (qh >> (iqs + 12)) & 0x10;
        let q = x[ib].qs[iqs] as u32;
        let v0 = ((q & 0xf) | xh_0) as f32;
        let v1 = ((q >> 4) | xh_1) as f32;
        (v0 * d + m, v1 * d + m)
    }

    #[workgroup(64)]
    fn dequantize_block(vx: &[BlockQ5_1], y: &mut [f32], k: u32) {
        let i = 2 * global_id().x;
        if i >= k {
            return;
        }
        let ib = i / 32;
        let iqs = (i % 32) / 2;
        let iybs = i - i % 32;
        let (v0, v1) = dequantize_q5_1(vx, ib, iqs);
        y[iybs + iqs] = v0;
        y[iybs + iqs + 16] = v1;
    }
}

#[test]
fn dequantises() {
    let r: Vec<u8> = numbers(8 * 20, 256).into_iter().map(|x| x as u8).collect();
    let blocks: Vec<BlockQ5_1> = r
        .chunks(20)
        .enumerate()
        .map(|(i, r)| BlockQ5_1 {
            d: f16::from_f32(0.25 + i as f32),
            m: f16::from_f32(-1.5 * i as f32),
            qh: r[..4].try_into().unwrap(),
            qs: r[4..].try_into().unwrap(),
        })
        .collect();
    everywhere(|device| {
        let mut y = vec![0.0; 256];
        dequantize_block.launch(device, Grid::x(2), (&blocks, &mut y, 256)).unwrap();
        for (b, y) in blocks.iter().zip(y.chunks(32)) {
            let qh = u32::from_le_bytes(b.qh);
            for j in 0..16 {
                let lo = u32::from(b.qs[j] & 15) | ((qh >> j) & 1) << 4;
                let hi = u32::from(b.qs[j] >> 4) | ((qh >> (j + 16)) & 1) << 4;
                assert_eq!(y[j], lo as f32 * b.d.to_f32() + b.m.to_f32());
                assert_eq!(y[j + 16], hi as f32 * b.d.to_f32() + b.m.to_f32());
            }
        }
    });
}
