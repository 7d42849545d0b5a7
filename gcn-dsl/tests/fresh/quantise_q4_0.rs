//! llama.cpp: `cpy_f32_q4_0`.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

const QK4_0: usize = 32;

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct BlockQ4_0 {
        d: f16,
        qs: [u8; QK4_0 / 2],
    }

    #[workgroup(64)]
    fn cpy_f32_q4_0(x: &[f32], dst: &mut [BlockQ4_0], ne: u32) {
        let ib = global_id().x;
        let i = ib * QK4_0 as u32;
        if i >= ne {
            return;
        }
        let mut amax = 0.0;
        let mut vmax = 0.0;
        for j in 0..QK4_0 as u32 {
            let v = x[i + j];
            if amax < v.abs() {
                amax = v.abs();
                vmax = v;
            }
        }
        let d = vmax / -8.0;
        let id = if d != 0.0 { 1.0 / d } else { 0.0 };
        dst[ib].d = d as f16;
        #[unroll]
        for j in 0..QK4_0 / 2 {
            let x0 = x[i + j as u32] * id;
            let x1 = x[i + j as u32 + QK4_0 as u32 / 2] * id;
            let xi0 = ((x0 + 8.5) as i8).min(15) as u8;
            let xi1 = ((x1 + 8.5) as i8).min(15) as u8;
            dst[ib].qs[j] = xi0 | (xi1 << 4);
        }
    }
}

#[test]
fn quantises() {
    let mut x = floats(32 * 70);
    x[..32].fill(0.0);
    let want: Vec<BlockQ4_0> = x
        .chunks(32)
        .map(|b| {
            let max = b.iter().copied().fold(0.0f32, |m, v| if v.abs() > m.abs() { v } else { m });
            let d = max / -8.0;
            let id = if d == 0.0 { 0.0 } else { 1.0 / d };
            let q = |v: f32| ((v * id + 8.5) as i8).min(15) as u8;
            BlockQ4_0 { d: f16::from_f32(d), qs: std::array::from_fn(|j| q(b[j]) | q(b[j + 16]) << 4) }
        })
        .collect();
    everywhere(|device| {
        let mut y = vec![BlockQ4_0 { d: f16::ZERO, qs: [0; 16] }; 70];
        cpy_f32_q4_0.launch(device, Grid::x(2), (&x, &mut y, x.len() as u32)).unwrap();
        assert_eq!(y, want);
    });
}
