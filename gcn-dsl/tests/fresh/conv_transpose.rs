//! Transposed convolution in one dimension, a thread for each output, with early `continue`s.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn conv_transpose_1d(s0: i32, src0: &[f32], src1: &[f32], dst: &mut [f32], ne00: i32, ne01: i32, ne02: i32, ne10: i32, ne0: i32, output_size: i32) {
        let global_index = global_id().x as i32;
        if global_index >= output_size {
            return;
        }
        let out_index = global_index / ne0;
        let mut accumulator = 0.0;
        for c in 0..ne02 {
            let idx = global_index % ne0;
            let kernel_offset = (ne00 * ne01 * c) + (out_index * ne00);
            let input_offset = ne10 * c;
            for i in 0..ne10 {
                if !(idx >= i * s0 && idx < i * s0 + ne00) {
                    continue;
                }
                let weight_idx = idx - i * s0;
                let kernel_weight = src0[(kernel_offset + weight_idx) as u32];
                let input_value = src1[(input_offset + i) as u32];
                accumulator += kernel_weight * input_value;
            }
        }
        dst[global_index as u32] = accumulator;
    }
}

#[test]
fn convolves() {
    let (kernel, out, channels, len, stride) = (4usize, 3, 2, 20, 2);
    let ne0 = (len - 1) * stride + kernel;
    let (w, x) = (floats(kernel * out * channels), floats(len * channels));
    everywhere(|device| {
        let mut y = vec![0.0; ne0 * out];
        let args = (
            stride as i32,
            &w[..],
            &x[..],
            &mut y[..],
            kernel as i32,
            out as i32,
            channels as i32,
            len as i32,
            ne0 as i32,
            (ne0 * out) as i32,
        );
        conv_transpose_1d.launch(device, Grid::x(1), args).unwrap();
        let mut want = vec![0.0; ne0 * out];
        for c in 0..channels {
            for o in 0..out {
                for i in 0..len {
                    for k in 0..kernel {
                        want[o * ne0 + i * stride + k] += w[(c * out + o) * kernel + k] * x[c * len + i];
                    }
                }
            }
        }
        assert_near(&y, &want, 1e-5);
    });
}
