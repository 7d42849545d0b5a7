//! llama.cpp: `dequantize_block_q4_K`, with `get_scale_min_k4`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, numbers};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct BlockQ4K {
        d: f16,
        dmin: f16,
        scales: [u8; 12],
        qs: [u8; 128],
    }

    #[device]
    fn get_scale_min_k4(j: V<u32>, q: V<[u8; 12]>) -> (V<u8>, V<u8>) {
        if j < 4 {
            (q[j] & 63, q[j + 4] & 63)
        } else {
            let d = (q[j + 4] & 0xF) | ((q[j - 4] >> 6) << 4);
            let m = (q[j + 4] >> 4) | ((q[j] >> 6) << 4);
            (d, m)
        }
    }

    #[workgroup(32)]
    fn dequantize_block_q4_k(x: &[BlockQ4K], yy: &mut [f32]) {
        let i = workgroup_id().x;
        let tid = local_id().x;
        let il = tid / 8;
        let ir = tid % 8;
        let is = 2 * il;
        let n = 4;
        let y = i * 256 + 64 * il + n * ir;
        let dall = x[i].d as f32;
        let dmin = x[i].dmin as f32;
        let q = 32 * il + n * ir;
        let (sc, m) = get_scale_min_k4(is, x[i].scales);
        let d1 = dall * sc as f32;
        let m1 = dmin * m as f32;
        let (sc, m) = get_scale_min_k4(is + 1, x[i].scales);
        let d2 = dall * sc as f32;
        let m2 = dmin * m as f32;
        for l in 0..n {
            yy[y + l] = d1 * (x[i].qs[q + l] & 0xF) as f32 - m1;
            yy[y + l + 32] = d2 * (x[i].qs[q + l] >> 4) as f32 - m2;
        }
    }
}

#[test]
fn blocks() {
    let bytes = numbers(3 * 140, 256);
    let x: Vec<BlockQ4K> = (0..3)
        .map(|b| BlockQ4K {
            d: f16::from_f32(0.5),
            dmin: f16::from_f32(0.125 * b as f32),
            scales: std::array::from_fn(|k| bytes[b * 140 + k] as u8),
            qs: std::array::from_fn(|k| bytes[b * 140 + 12 + k] as u8),
        })
        .collect();
    let mut want = Vec::new();
    for b in &x {
        let scale = |j: usize| match j {
            0..4 => (b.scales[j] & 63, b.scales[j + 4] & 63),
            _ => (
                (b.scales[j + 4] & 15) | (b.scales[j - 4] >> 6 << 4),
                (b.scales[j + 4] >> 4) | (b.scales[j] >> 6 << 4),
            ),
        };
        for half in 0..8 {
            let (s, m) = scale(half);
            for k in 0..32 {
                let q = b.qs[half / 2 * 32 + k] >> (4 * (half % 2)) & 15;
                want.push(0.5 * f32::from(s) * f32::from(q) - b.dmin.to_f32() * f32::from(m));
            }
        }
    }
    everywhere(|device| {
        let mut y = vec![0.0; 3 * 256];
        dequantize_block_q4_k.launch(device, Grid::x(3), (&x, &mut y)).unwrap();
        assert_near(&y, &want, 1e-5);
    });
}
