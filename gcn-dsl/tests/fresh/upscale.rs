//! Upscaling of images, by the nearest pixel and bilinearly.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn upscale(x: &[f32], dst: &mut [f32], ne: [i32; 2], out: [i32; 2]) {
        let index = global_id().x as i32;
        if index >= out[0] * out[1] {
            return;
        }
        let sf = [out[0] as f32 / ne[0] as f32, out[1] as f32 / ne[1] as f32];
        let i10 = index % out[0];
        let i11 = index / out[0];
        let i00 = (i10 as f32 / sf[0]) as i32;
        let i01 = (i11 as f32 / sf[1]) as i32;
        dst[index as u32] = x[(i01 * ne[0] + i00) as u32];
    }

    #[workgroup(16, 16)]
    fn upscale_bilinear(x: &[f32], dst: &mut [f32], ne: [i32; 2], out: [i32; 2]) {
        let (i10, i11) = (global_id().x as i32, global_id().y as i32);
        if i10 >= out[0] || i11 >= out[1] {
            return;
        }
        let pixel_offset = 0.5;
        let y_src_f = (i11 as f32 + pixel_offset) * ne[1] as f32 / out[1] as f32 - pixel_offset;
        let mut y0 = y_src_f.floor() as i32;
        let mut y1 = y0 + 1;
        y0 = y0.max(0).min(ne[1] - 1);
        y1 = y1.max(0).min(ne[1] - 1);
        let dy = (y_src_f - y0 as f32).max(0.0).min(1.0);
        let x_src_f = (i10 as f32 + pixel_offset) * ne[0] as f32 / out[0] as f32 - pixel_offset;
        let x0 = (x_src_f.floor() as i32).clamp(0, ne[0] - 1);
        let x1 = (x_src_f.floor() as i32 + 1).clamp(0, ne[0] - 1);
        let dx = (x_src_f - x0 as f32).clamp(0.0, 1.0);
        let at = |y, x0| x[(y * ne[0] + x0) as u32];
        let a = at(y0, x0);
        let b = at(y0, x1);
        let c = at(y1, x0);
        let d = at(y1, x1);
        let result = a * (1.0 - dx) * (1.0 - dy) + b * dx * (1.0 - dy) + c * (1.0 - dx) * dy + d * dx * dy;
        dst[(i11 * out[0] + i10) as u32] = result;
    }
}

#[test]
fn scales() {
    let (w, h, ow, oh) = (7usize, 5usize, 21usize, 10usize);
    let x = floats(w * h);
    everywhere(|device| {
        let (ne, out) = ([w as i32, h as i32], [ow as i32, oh as i32]);
        let mut y = vec![0.0; ow * oh];
        upscale.launch(device, Grid::x(1), (&x, &mut y, ne, out)).unwrap();
        for (i, y) in y.iter().enumerate() {
            assert_eq!(*y, x[i / ow / 2 * w + i % ow / 3]);
        }
        upscale_bilinear.launch(device, Grid::xy(2, 1), (&x, &mut y, ne, out)).unwrap();
        let want: Vec<f32> = (0..ow * oh)
            .map(|i| {
                let sy = (((i / ow) as f32 + 0.5) / 2.0 - 0.5).clamp(0.0, (h - 1) as f32);
                let sx = (((i % ow) as f32 + 0.5) / 3.0 - 0.5).clamp(0.0, (w - 1) as f32);
                let mut sum = 0.0;
                for (k, x) in x.iter().enumerate() {
                    let weight = (1.0 - (sx - (k % w) as f32).abs()).max(0.0)
                        * (1.0 - (sy - (k / w) as f32).abs()).max(0.0);
                    sum += weight * x;
                }
                sum
            })
            .collect();
        assert_near(&y, &want, 1e-5);
    });
}
