//! PyTorch: `fake_quantize_tensor_cachemask_kernel` per channel.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn fake_quantize(out: &mut [f32], mask: &mut [u8], input: &[f32], scale: &[f32], zero_point: &[i32], inner: u32, channels: u32, quant_min: i64, quant_max: i64) {
        let i = global_id().x;
        if i < input.len() {
            let c = i / inner % channels;
            let inv_scale = 1.0 / scale[c];
            let qval = (input[i] * inv_scale).round_ties_even() as i64 + zero_point[c] as i64;
            out[i] = (quant_max.min(quant_min.max(qval)) - zero_point[c] as i64) as f32 * scale[c];
            mask[i] = ((quant_min <= qval) && (qval <= quant_max)) as u8;
        }
    }
}

#[test]
fn quantises() {
    let x = floats(3 * 4 * 50);
    let (scale, zero) = ([0.01, 0.002, 0.1, 0.003], [0, 10, -5, 127]);
    everywhere(|device| {
        let (mut y, mut m) = (vec![0.0; x.len()], vec![0; x.len()]);
        fake_quantize
            .launch(device, Grid::x(3), (&mut y, &mut m, &x, &scale, &zero, 50, 4, -128, 127))
            .unwrap();
        for i in 0..x.len() {
            let c = i / 50 % 4;
            let q = (x[i] * (1.0 / scale[c])).round_ties_even() as i64 + i64::from(zero[c]);
            assert_eq!(y[i], (q.clamp(-128, 127) - i64::from(zero[c])) as f32 * scale[c]);
            assert_eq!(m[i] == 1, (-128..=127).contains(&q));
        }
    });
}
