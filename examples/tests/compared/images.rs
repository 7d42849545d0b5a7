//! Images.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn at(x: &[f32], dx: i32, dy: i32, c: V<i32>, r: V<i32>, w: i32, h: i32) -> V<f32> {
        let cc = (c + dx).max(0).min(w - 1);
        let rr = (r + dy).max(0).min(h - 1);
        x[(rr * w + cc) as u32]
    }
    #[workgroup(16, 16)]
    pub fn sobel(width: u32, height: u32, x: &[f32], y: &mut [f32]) {
        let c = global_id().x as i32;
        let r = global_id().y as i32;
        let w = width as i32;
        let h = height as i32;
        if c < w && r < h {
            let gx = at(x, 1, -1, c, r, w, h) - at(x, -1, -1, c, r, w, h)
                + 2.0 * (at(x, 1, 0, c, r, w, h) - at(x, -1, 0, c, r, w, h))
                + at(x, 1, 1, c, r, w, h)
                - at(x, -1, 1, c, r, w, h);
            let gy = at(x, -1, 1, c, r, w, h) - at(x, -1, -1, c, r, w, h)
                + 2.0 * (at(x, 0, 1, c, r, w, h) - at(x, 0, -1, c, r, w, h))
                + at(x, 1, 1, c, r, w, h)
                - at(x, 1, -1, c, r, w, h);
            y[(r * w + c) as u32] = gx.abs() + gy.abs();
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn blur(n: u32, x: &[u8], y: &mut [u8]) {
        let i = global_id().x;
        if i >= 2 && i + 2 < n {
            let mut s: V<u32> = 0;
            #[unroll]
            for k in 0..5u32 {
                s += x[i + k - 2] as u32;
            }
            y[i] = (s / 5) as u8;
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn bilinear(sw: u32, sh: u32, dw: u32, dh: u32, src: &[f32], dst: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx < dw && gy < dh {
            let fx = gx as f32 * (sw as f32 / dw as f32);
            let fy = gy as f32 * (sh as f32 / dh as f32);
            let x0 = fx as u32;
            let y0 = fy as u32;
            let x1 = (x0 + 1).min(sw - 1);
            let y1 = (y0 + 1).min(sh - 1);
            let tx = fx - x0 as f32;
            let ty = fy - y0 as f32;
            let a = src[y0 * sw + x0];
            let b = src[y0 * sw + x1];
            let c = src[y1 * sw + x0];
            let d = src[y1 * sw + x1];
            let top = (b - a).mul_add(tx, a);
            let bo = (d - c).mul_add(tx, c);
            dst[gy * dw + gx] = (bo - top).mul_add(ty, top);
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn yuv(n: u32, rgb: &[u8], out: &mut [u8]) {
        let i = global_id().x;
        if i < n {
            let r = rgb[3 * i] as i32;
            let g = rgb[3 * i + 1] as i32;
            let b = rgb[3 * i + 2] as i32;
            let y = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
            let u = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
            let v = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
            out[3 * i] = y.max(0).min(255) as u8;
            out[3 * i + 1] = u.max(0).min(255) as u8;
            out[3 * i + 2] = v.max(0).min(255) as u8;
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn life(width: u32, height: u32, x: &[u8], y: &mut [u8]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx < width && gy < height {
            let mut a: V<u32> = 0;
            #[unroll]
            for dy in 0..3u32 {
                #[unroll]
                for dx in 0..3u32 {
                    if dx != 1 || dy != 1 {
                        let c = (gx + dx + width - 1) % width;
                        let r = (gy + dy + height - 1) % height;
                        a += (x[r * width + c] & 1) as u32;
                    }
                }
            }
            let al = x[gy * width + gx] & 1 != 0;
            y[gy * width + gx] = if a == 3 || al && a == 2 { splat(1u8) } else { splat(0u8) };
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn maxpool(width: u32, height: u32, x: &[f32], y: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx < width / 2 && gy < height / 2 {
            let i = 2 * gy * width + 2 * gx;
            y[gy * (width / 2) + gx] = x[i].max(x[i + 1]).max(x[i + width]).max(x[i + width + 1]);
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn bilateral(width: u32, height: u32, range: f32, x: &[f32], y: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx >= 2 && gx + 2 < width && gy >= 2 && gy + 2 < height {
            let centre = x[gy * width + gx];
            let mut sum: V<f32> = 0.0;
            let mut weights: V<f32> = 0.0;
            #[unroll]
            for dy in 0..5u32 {
                #[unroll]
                for dx in 0..5u32 {
                    let v = x[(gy + dy - 2) * width + gx + dx - 2];
                    let d = v - centre;
                    let far = comptime { ((dx as f32 - 2.0) * (dx as f32 - 2.0) + (dy as f32 - 2.0) * (dy as f32 - 2.0)) * -0.25 };
                    let w = (d * d).mul_add(range, far).approx_exp2();
                    sum = w.mul_add(v, sum);
                    weights += w;
                }
            }
            y[gy * width + gx] = sum * weights.approx_recip();
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn hsv(n: u32, rgb: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let r = rgb[3 * i];
            let g = rgb[3 * i + 1];
            let b = rgb[3 * i + 2];
            let most = r.max(g).max(b);
            let least = r.min(g).min(b);
            let d = most - least;
            let inv = d.approx_recip();
            let mut h: V<f32> = 0.0;
            if d > 0.0 {
                if most == r {
                    h = (g - b) * inv;
                } else if most == g {
                    h = (b - r).mul_add(inv, 2.0);
                } else {
                    h = (r - g).mul_add(inv, 4.0);
                }
                h *= 60.0;
                if h < 0.0 {
                    h += 360.0;
                }
            }
            out[3 * i] = h;
            out[3 * i + 1] = if most > 0.0 { d * most.approx_recip() } else { splat(0.0) };
            out[3 * i + 2] = most;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn sad_u8(n: u32, a: &[u8], b: &[u8], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let mut s: V<u32> = 0;
            #[unroll]
            for k in 0..16u32 {
                s += (a[i * 16 + k] as i32 - b[i * 16 + k] as i32).abs() as u32;
            }
            out[i] = s;
        }
    }
}
