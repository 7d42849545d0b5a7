//! PyTorch: `upsample_bicubic2d_out_frame`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn cubic_convolution1(x: V<f32>, a: f32) -> V<f32> {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    }

    #[device]
    fn cubic_convolution2(x: V<f32>, a: f32) -> V<f32> {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    }

    #[device]
    fn get_cubic_upsampling_coefficients(t: V<f32>) -> [V<f32>; 4] {
        let a = -0.75;
        let x1 = t;
        let x2 = 1.0 - t;
        [
            cubic_convolution2(x1 + 1.0, a),
            cubic_convolution1(x1, a),
            cubic_convolution1(x2, a),
            cubic_convolution2(x2 + 1.0, a),
        ]
    }

    #[device]
    fn cubic_interp1d(x: [V<f32>; 4], t: V<f32>) -> V<f32> {
        let coeffs = get_cubic_upsampling_coefficients(t);
        x[0] * coeffs[0] + x[1] * coeffs[1] + x[2] * coeffs[2] + x[3] * coeffs[3]
    }

    #[device]
    fn upsample_get_value_bounded(data: &[f32], height: i32, width: i32, y: V<i32>, x: V<i32>) -> V<f32> {
        let access_y = y.min(height - 1).max(0);
        let access_x = x.min(width - 1).max(0);
        data[(access_y * width + access_x) as u32]
    }

    #[workgroup(64)]
    fn bicubic(height_scale: f32, width_scale: f32, idata: &[f32], odata: &mut [f32], input: [i32; 2], output: [i32; 2]) {
        let index = global_id().x as i32;
        let [height1, width1] = input;
        let [height2, width2] = output;
        if index >= height2 * width2 {
            return;
        }
        let output_x = index % width2;
        let output_y = index / width2;
        let real_x = width_scale * (output_x as f32 + 0.5) - 0.5;
        let in_x = real_x.floor() as i32;
        let t_x = real_x - in_x as f32;
        let real_y = height_scale * (output_y as f32 + 0.5) - 0.5;
        let in_y = real_y.floor() as i32;
        let t_y = real_y - in_y as f32;
        let mut coefficients = [0.0; 4];
        #[unroll]
        for k in 0..4 {
            let y = in_y - 1 + k as i32;
            coefficients[k] = cubic_interp1d(
                [-1, 0, 1, 2].map(|d| upsample_get_value_bounded(idata, height1, width1, y, in_x + d)),
                t_x,
            );
        }
        odata[index as u32] = cubic_interp1d(coefficients, t_y);
    }
}

#[test]
fn enlarges() {
    let (h, w, h2, w2) = (5i32, 6i32, 12i32, 9i32);
    let x = floats((h * w) as usize);
    let (sy, sx) = (h as f32 / h2 as f32, w as f32 / w2 as f32);
    let weights = |t: f32| {
        let near = |x: f32| ((1.25 * x - 2.25) * x) * x + 1.0;
        let far = |x: f32| ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0;
        [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
    };
    let mut want = Vec::new();
    for i in 0..h2 * w2 {
        let (fy, fx) = (sy * ((i / w2) as f32 + 0.5) - 0.5, sx * ((i % w2) as f32 + 0.5) - 0.5);
        let (wy, wx) = (weights(fy - fy.floor()), weights(fx - fx.floor()));
        let at = |dy: i32, dx: i32| {
            let (y, x0) =
                ((fy.floor() as i32 + dy).clamp(0, h - 1), (fx.floor() as i32 + dx).clamp(0, w - 1));
            x[(y * w + x0) as usize]
        };
        want.push(
            (0..4).map(|a| wy[a] * (0..4).map(|b| wx[b] * at(a as i32 - 1, b as i32 - 1)).sum::<f32>()).sum(),
        );
    }
    everywhere(|device| {
        let mut y = vec![0.0; want.len()];
        bicubic.launch(device, Grid::x(2), (sy, sx, &x, &mut y, [h, w], [h2, w2])).unwrap();
        assert_near(&y, &want, 1e-4);
    });
}
