//! Bilinear sampling of an image at positions between its pixels, with three kinds of padding.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

const ZEROS: u32 = 0;
const BORDER: u32 = 1;

gcn_kernel! {
    #[device]
    fn clip_coordinates(x: V<f32>, size: i32) -> V<f32> {
        x.max(0.0).min((size - 1) as f32)
    }

    #[device]
    fn reflect_coordinates(x: V<f32>, size: i32) -> V<f32> {
        let min = -0.5;
        let span = size as f32;
        let x = (x - min).abs();
        let extra = x % span;
        let flips = (x / span).floor() as i32;
        if flips % 2 == 0 { extra + min } else { span - extra + min }
    }

    #[device]
    fn compute_source_index(coord: V<f32>, size: i32, padding: u32) -> V<f32> {
        let x = ((coord + 1.0) * size as f32 - 1.0) / 2.0;
        match padding {
            ZEROS => x,
            BORDER => clip_coordinates(x, size),
            _ => clip_coordinates(reflect_coordinates(x, size), size),
        }
    }

    #[device]
    fn within_bounds(h: V<i32>, w: V<i32>, height: i32, width: i32) -> V<bool> {
        h >= 0 && h < height && w >= 0 && w < width
    }

    #[device]
    fn pixel(image: &[f32], y: V<i32>, x: V<i32>, h: i32, w: i32) -> V<f32> {
        if within_bounds(y, x, h, w) { image[(y * w + x) as u32] } else { 0.0 }
    }

    #[workgroup(64)]
    fn grid_sample(image: &[f32], grid: &[f32], out: &mut [f32], h: i32, w: i32, padding: u32) {
        let index = global_id().x;
        let ix = compute_source_index(grid[index * 2], w, padding);
        let iy = compute_source_index(grid[index * 2 + 1], h, padding);
        let ix_nw = ix.floor() as i32;
        let iy_nw = iy.floor() as i32;
        let (ix_se, iy_se) = (ix_nw + 1, iy_nw + 1);
        let nw = (ix_se as f32 - ix) * (iy_se as f32 - iy);
        let ne = (ix - ix_nw as f32) * (iy_se as f32 - iy);
        let sw = (ix_se as f32 - ix) * (iy - iy_nw as f32);
        let se = (ix - ix_nw as f32) * (iy - iy_nw as f32);
        let mut res = 0.0;
        res += pixel(image, iy_nw, ix_nw, h, w) * nw;
        res += pixel(image, iy_nw, ix_se, h, w) * ne;
        res += pixel(image, iy_se, ix_nw, h, w) * sw;
        res += pixel(image, iy_se, ix_se, h, w) * se;
        out[index] = res;
    }
}

#[test]
fn samples() {
    let (h, w) = (6i32, 7i32);
    let image = floats(42);
    let grid: Vec<f32> = floats(256).iter().map(|x| x * 1.7).collect();
    everywhere(|device| {
        for padding in 0..3 {
            let mut out = vec![0.0; 128];
            grid_sample.launch(device, Grid::x(2), (&image, &grid, &mut out, h, w, padding)).unwrap();
            let source = |c: f32, size: i32| {
                let x = ((c + 1.0) * size as f32 - 1.0) / 2.0;
                let x = if padding == 2 {
                    let t = (x + 0.5).rem_euclid(2.0 * size as f32);
                    (if t < size as f32 { t } else { 2.0 * size as f32 - t }) - 0.5
                } else {
                    x
                };
                if padding == 0 { x } else { x.clamp(0.0, (size - 1) as f32) }
            };
            let want: Vec<f32> = grid
                .chunks(2)
                .map(|g| {
                    let (x, y) = (source(g[0], w), source(g[1], h));
                    let mut sum = 0.0;
                    for py in 0..h {
                        for px in 0..w {
                            let weight = (1.0 - (x - px as f32).abs()).max(0.0)
                                * (1.0 - (y - py as f32).abs()).max(0.0);
                            sum += weight * image[(py * w + px) as usize];
                        }
                    }
                    sum
                })
                .collect();
            assert_near(&out, &want, 1e-5);
        }
    });
}
