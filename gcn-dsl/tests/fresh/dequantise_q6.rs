//! q6_K: super-blocks of 256 numbers of six bits, with 16 scales of eight bits each.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct BlockQ6K {
        ql: [u8; 128],
        qh: [u8; 64],
        scales: [i8; 16],
        d: f16,
    }

    #[workgroup(64)]
    fn dequantize_q6_k(x: &[BlockQ6K], yy: &mut [f32]) {
        let i = workgroup_id().x;
        let tid = local_id().x;
        let ip = tid / 32;
        let il = tid - 32 * ip;
        let is = 8 * ip + il / 16;
        let y = i * 256 + 128 * ip + il;
        let d = x[i].d as f32;
        let ql0 = x[i].ql[64 * ip + il];
        let ql1 = x[i].ql[64 * ip + il + 32];
        let qh = x[i].qh[32 * ip + il];
        let sc = |k: u32| x[i].scales[is + k] as f32;
        yy[y] = d * sc(0) * (((ql0 & 0xf) | ((qh & 3) << 4)) as i32 - 32) as f32;
        yy[y + 32] = d * sc(2) * (((ql1 & 0xf) | (((qh >> 2) & 3) << 4)) as i32 - 32) as f32;
        yy[y + 64] = d * sc(4) * (((ql0 >> 4) | (((qh >> 4) & 3) << 4)) as i32 - 32) as f32;
        yy[y + 96] = d * sc(6) * (((ql1 >> 4) | (((qh >> 6) & 3) << 4)) as i32 - 32) as f32;
    }
}

#[test]
fn dequantises() {
    let r: Vec<u8> = numbers(2 * 208, 256).into_iter().map(|x| x as u8).collect();
    let blocks: Vec<BlockQ6K> = r
        .chunks(208)
        .map(|r| BlockQ6K {
            ql: r[..128].try_into().unwrap(),
            qh: r[128..192].try_into().unwrap(),
            scales: std::array::from_fn(|k| r[192 + k] as i8),
            d: f16::from_f32(0.5),
        })
        .collect();
    everywhere(|device| {
        let mut y = vec![0.0; 512];
        dequantize_q6_k.launch(device, Grid::x(2), (&blocks, &mut y)).unwrap();
        for (b, y) in blocks.iter().zip(y.chunks(256)) {
            for (k, y) in y.iter().enumerate() {
                let (half, j, l) = (k / 128, (k % 128) / 32, k % 32);
                let low = b.ql[64 * half + 32 * (j % 2) + l] >> (4 * (j / 2)) & 15;
                let high = b.qh[32 * half + l] >> (2 * j) & 3;
                let scale = f32::from(b.scales[8 * half + 2 * j + l / 16]);
                assert_eq!(*y, 0.5 * scale * f32::from(i16::from(low | high << 4) - 32));
            }
        }
    });
}
