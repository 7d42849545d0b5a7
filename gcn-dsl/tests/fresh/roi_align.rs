//! torchvision's RoIAlign: means of bilinear samples in each bin of each region.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn bilinear_interpolate(input: &[f32], height: u32, width: u32, y: V<f32>, x: V<f32>) -> V<f32> {
        if y < -1.0 || y > height as f32 || x < -1.0 || x > width as f32 {
            return 0.0;
        }
        let mut y = y;
        let mut x = x;
        if y <= 0.0 {
            y = 0.0;
        }
        if x <= 0.0 {
            x = 0.0;
        }
        let mut y_low = y as u32;
        let mut x_low = x as u32;
        let y_high;
        let x_high;
        if y_low >= height - 1 {
            y_low = height - 1;
            y_high = y_low;
            y = y_low as f32;
        } else {
            y_high = y_low + 1;
        }
        if x_low >= width - 1 {
            x_low = width - 1;
            x_high = x_low;
            x = x_low as f32;
        } else {
            x_high = x_low + 1;
        }
        let ly = y - y_low as f32;
        let lx = x - x_low as f32;
        let hy = 1.0 - ly;
        let hx = 1.0 - lx;
        let v1 = input[y_low * width + x_low];
        let v2 = input[y_low * width + x_high];
        let v3 = input[y_high * width + x_low];
        let v4 = input[y_high * width + x_high];
        hy * hx * v1 + hy * lx * v2 + ly * hx * v3 + ly * lx * v4
    }

    #[workgroup(64)]
    fn roi_align(nthreads: u32, input: &[f32], scale: f32, height: u32, width: u32, pooled: u32, sampling_ratio: u32, aligned: bool, rois: &[f32], output: &mut [f32]) {
        for index in (global_id().x..nthreads).step_by(64) {
            let pw = index % pooled;
            let ph = (index / pooled) % pooled;
            let n = index / pooled / pooled;
            let offset = if aligned { 0.5 } else { 0.0 };
            let roi_start_w = rois[n * 4] * scale - offset;
            let roi_start_h = rois[n * 4 + 1] * scale - offset;
            let mut roi_width = rois[n * 4 + 2] * scale - offset - roi_start_w;
            let mut roi_height = rois[n * 4 + 3] * scale - offset - roi_start_h;
            if !aligned {
                roi_width = roi_width.max(1.0);
                roi_height = roi_height.max(1.0);
            }
            let bin_h = roi_height / pooled as f32;
            let bin_w = roi_width / pooled as f32;
            let grid_h = if sampling_ratio > 0 { sampling_ratio } else { (roi_height / pooled as f32).ceil() as u32 };
            let grid_w = if sampling_ratio > 0 { sampling_ratio } else { (roi_width / pooled as f32).ceil() as u32 };
            let count = (grid_h * grid_w).max(1);
            let mut output_val = 0.0;
            for iy in 0..grid_h {
                let y = roi_start_h + ph as f32 * bin_h + (iy as f32 + 0.5) * bin_h / grid_h as f32;
                for ix in 0..grid_w {
                    let x = roi_start_w + pw as f32 * bin_w + (ix as f32 + 0.5) * bin_w / grid_w as f32;
                    output_val += bilinear_interpolate(input, height, width, y, x);
                }
            }
            output[index] = output_val / count as f32;
        }
    }
}

#[test]
fn aligns() {
    let (h, w, p) = (12usize, 10usize, 3);
    let image = floats(h * w);
    let rois = [1.0, 2.0, 7.5, 9.0, -4.0, 0.5, 30.0, 5.0];
    let sample = |y: f32, x: f32| {
        if y < -1.0 || y > h as f32 || x < -1.0 || x > w as f32 {
            return 0.0;
        }
        let (y, x) = (y.clamp(0.0, (h - 1) as f32), x.clamp(0.0, (w - 1) as f32));
        let mut sum = 0.0;
        for py in 0..h {
            for px in 0..w {
                let weight = (1.0 - (x - px as f32).abs()).max(0.0) * (1.0 - (y - py as f32).abs()).max(0.0);
                sum += weight * image[py * w + px];
            }
        }
        sum
    };
    everywhere(|device| {
        for (ratio, aligned) in [(2, true), (0, false)] {
            let mut y = vec![0.0; 2 * p * p];
            let args =
                (18, &image[..], 0.5, h as u32, w as u32, p as u32, ratio, aligned, &rois[..], &mut y[..]);
            roi_align.launch(device, Grid::x(1), args).unwrap();
            let mut want = Vec::new();
            for r in rois.chunks(4) {
                let o = if aligned { 0.5 } else { 0.0 };
                let s: Vec<f32> = r.iter().map(|r| r * 0.5 - o).collect();
                let least = if aligned { f32::MIN } else { 1.0 };
                let (rw, rh) = ((s[2] - s[0]).max(least), (s[3] - s[1]).max(least));
                let (bw, bh) = (rw / p as f32, rh / p as f32);
                let (gw, gh) = if ratio > 0 { (ratio, ratio) } else { (bw.ceil() as u32, bh.ceil() as u32) };
                for k in 0..p * p {
                    let mut sum = 0.0;
                    for iy in 0..gh {
                        for ix in 0..gw {
                            let y = s[1] + (k / p) as f32 * bh + (iy as f32 + 0.5) * bh / gh as f32;
                            let x = s[0] + (k % p) as f32 * bw + (ix as f32 + 0.5) * bw / gw as f32;
                            sum += sample(y, x);
                        }
                    }
                    want.push(sum / (gw * gh).max(1) as f32);
                }
            }
            assert_near(&y, &want, 1e-4);
        }
    });
}
