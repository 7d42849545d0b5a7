//! llama.cpp: `k_get_rows` of q8_0 blocks.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, numbers};

const QK8_0: u32 = 32;

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct BlockQ8_0 {
        d: f16,
        qs: [i8; 32],
    }

    #[device]
    fn dequantize_q8_0(x: &[BlockQ8_0], ib: V<u32>, iqs: V<u32>) -> (V<f32>, V<f32>) {
        let d = x[ib].d as f32;
        (x[ib].qs[iqs] as f32 * d, x[ib].qs[iqs + 1] as f32 * d)
    }

    #[workgroup(64)]
    fn get_rows(src0: &[BlockQ8_0], src1: &[i32], dst: &mut [f32], ne00: u32) {
        let i00 = (workgroup_id().y * 64 + local_id().x) * 2;
        let i10 = workgroup_id().x;
        if i00 >= ne00 {
            return;
        }
        let i01 = src1[i10] as u32;
        let row = i01 * (ne00 / QK8_0);
        let ib = row + i00 / QK8_0;
        let iqs = i00 % QK8_0;
        let (v0, v1) = dequantize_q8_0(src0, ib, iqs);
        dst[i10 * ne00 + i00] = v0;
        dst[i10 * ne00 + i00 + 1] = v1;
    }
}

#[test]
fn rows() {
    let (cols, rows) = (96usize, 10usize);
    let q = numbers(cols * rows, 256);
    let blocks: Vec<BlockQ8_0> = (0..cols * rows / 32)
        .map(|b| BlockQ8_0 {
            d: f16::from_f32(0.25 + b as f32 / 64.0),
            qs: std::array::from_fn(|k| q[b * 32 + k] as i8),
        })
        .collect();
    let ids = [3, 0, 9, 3];
    everywhere(|device| {
        let mut y = vec![0.0; 4 * cols];
        get_rows.launch(device, Grid::xy(4, 1), (&blocks, &ids, &mut y, cols as u32)).unwrap();
        let want: Vec<f32> = ids
            .iter()
            .flat_map(|r| (0..cols).map(move |c| (*r as usize, c)))
            .map(|(r, c)| blocks[r * 3 + c / 32].d.to_f32() * f32::from(blocks[r * 3 + c / 32].qs[c % 32]))
            .collect();
        assert_near(&y, &want, 1e-6);
    });
}
