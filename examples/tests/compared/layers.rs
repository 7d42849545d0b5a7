//! Layers of neural networks, statistics of rows, sparse products and stencils.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn softmax_online(columns: u32, x: &[f32], y: &mut [f32]) {
        let row = (workgroup_id().x * (256 / wave_size()) + wave_id()) * columns;
        let mut most: V<f32> = -1.0e30;
        let mut sum: V<f32> = 0.0;
        for c in (lane_id()..columns).step_by(wave_size()) {
            let v = x[row + c];
            let next = most.max(v);
            sum = sum.mul_add(((most - next) * 1.4426950).approx_exp2(), ((v - next) * 1.4426950).approx_exp2());
            most = next;
        }
        let all = wave_max(most);
        let total = wave_sum(sum * ((most - all) * 1.4426950).approx_exp2());
        let inv = total.approx_recip();
        for c in (lane_id()..columns).step_by(wave_size()) {
            y[row + c] = ((x[row + c] - all) * 1.4426950).approx_exp2() * inv;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn quant_row(x: &[f32], scales: &mut [f32], y: &mut [i8]) {
        let row = workgroup_id().x * (256 / wave_size()) + wave_id();
        let at = row * (4 * wave_size()) + lane_id() * 4;
        let mut v = [splat(0.0f32); 4];
        let mut most: V<f32> = 1.0e-6;
        #[unroll]
        for k in 0..4 {
            v[k] = x[at + k as u32];
            most = most.max(v[k].abs());
        }
        let most = wave_max(most);
        let inv = 127.0 * most.approx_recip();
        #[unroll]
        for k in 0..4 {
            y[at + k as u32] = (v[k] * inv).round_ties_even() as i8;
        }
        if lane_id() == 0 {
            scales[row] = most * (1.0 / 127.0);
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn lrn(pixels: u32, channels: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < pixels {
            let mut s: V<f32> = 0.0;
            for c in 0..2u32 {
                let v = x[c * pixels + i];
                s = v.mul_add(v, s);
            }
            for c in 0..channels {
                if c + 2 < channels {
                    let v = x[(c + 2) * pixels + i];
                    s = v.mul_add(v, s);
                }
                if c >= 3 {
                    let v = x[(c - 3) * pixels + i];
                    s = (-v).mul_add(v, s);
                }
                let f = (s.mul_add(0.0001, 2.0).approx_log2() * -0.75).approx_exp2();
                y[c * pixels + i] = x[c * pixels + i] * f;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn maxpool_index(width: u32, height: u32, x: &[f32], y: &mut [f32], at: &mut [u32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        let ow = width / 2;
        if gx < ow && gy < height / 2 {
            let mut best: V<f32> = -1.0e30;
            let mut place: V<u32> = 0;
            #[unroll]
            for dy in 0..3u32 {
                #[unroll]
                for dx in 0..3u32 {
                    let r = 2 * gy + dy;
                    let c = 2 * gx + dx;
                    if r < height && c < width {
                        let v = x[r * width + c];
                        if v > best {
                            best = v;
                            place = r * width + c;
                        }
                    }
                }
            }
            y[gy * ow + gx] = best;
            at[gy * ow + gx] = place;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn top4(n: u32, stride: u32, x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let mut best = [splat(-1.0e30f32); 4];
        for k in 0..n {
            let mut v = x[k * stride + i];
            #[unroll]
            for b in 0..4 {
                let more = best[b].max(v);
                v = best[b].min(v);
                best[b] = more;
            }
        }
        #[unroll]
        for b in 0..4 {
            out[4 * i + b as u32] = best[b];
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn welford(n: u32, stride: u32, x: &[f32], mean: &mut [f32], variance: &mut [f32]) {
        let i = global_id().x;
        let mut m: V<f32> = 0.0;
        let mut s: V<f32> = 0.0;
        for k in 0..n {
            let v = x[k * stride + i];
            let d = v - m;
            m = d.mul_add(((k + 1) as f32).approx_recip(), m);
            s = d.mul_add(v - m, s);
        }
        mean[i] = m;
        variance[i] = s / n as f32;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn scan_lds(x: &[u32], y: &mut [u32]) {
        let sums = Lds::<u32, 256>::new();
        let t = local_id().x;
        let i = global_id().x;
        let mut v = x[i];
        sums[t] = v;
        barrier();
        let mut d = 1u32;
        while d < 256 {
            if t >= d {
                v += sums[t - d];
            }
            barrier();
            sums[t] = v;
            barrier();
            d *= 2;
        }
        y[i] = v;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn spmv_ell(rows: u32, width: u32, column: &[u32], value: &[f32], x: &[f32], y: &mut [f32]) {
        let row = global_id().x;
        if row < rows {
            let mut s: V<f32> = 0.0;
            for k in 0..width {
                let c = column[k * rows + row];
                if c & 0x80000000 == 0 {
                    s = value[k * rows + row].mul_add(x[c & 1023], s);
                }
            }
            y[row] = s;
        }
    }
}

gcn_kernel! {
    #[workgroup(64, 4)]
    pub fn wave_equation(nx: u32, ny: u32, nz: u32, c: f32, now: &[f32], next: &mut [f32]) {
        let x = global_id().x;
        let y = global_id().y;
        if x >= 1 && x + 1 < nx && y >= 1 && y + 1 < ny {
            let plane = nx * ny;
            let mut at = y * nx + x + plane;
            let mut below = now[at - plane];
            let mut here = now[at];
            for _z in 1..nz - 1 {
                let above = now[at + plane];
                let s = now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] + below + above;
                next[at] = here.mul_add(-6.0, s).mul_add(c, here.mul_add(2.0, -next[at]));
                below = here;
                here = above;
                at += plane;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn warp(width: u32, height: u32, matrix: &[f32], src: &[f32], dst: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx < width && gy < height {
            let x = gx as f32;
            let y = gy as f32;
            let u = x.mul_add(matrix[0], y.mul_add(matrix[1], matrix[2]));
            let v = x.mul_add(matrix[3], y.mul_add(matrix[4], matrix[5]));
            let w = width as f32;
            let h = height as f32;
            let mut out: V<f32> = 0.0;
            if u >= 0.0 && v >= 0.0 && u + 1.0 < w && v + 1.0 < h {
                let x0 = u as u32;
                let y0 = v as u32;
                let tx = u - x0 as f32;
                let ty = v - y0 as f32;
                let i = y0 * width + x0;
                let top = (src[i + 1] - src[i]).mul_add(tx, src[i]);
                let bottom = (src[i + width + 1] - src[i + width]).mul_add(tx, src[i + width]);
                out = (bottom - top).mul_add(ty, top);
            }
            dst[gy * width + gx] = out;
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn median9(width: u32, height: u32, x: &[f32], y: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx >= 1 && gx + 1 < width && gy >= 1 && gy + 1 < height {
            let mut v = [splat(0.0f32); 9];
            #[unroll]
            for k in 0..9 {
                v[k] = x[(gy + k as u32 / 3 - 1) * width + gx + k as u32 % 3 - 1];
            }
            #[unroll]
            for (a, b) in [
                (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3), (5, 8), (4, 7), (3, 6),
                (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
            ] {
                let least = v[a].min(v[b]);
                v[b] = v[a].max(v[b]);
                v[a] = least;
            }
            y[gy * width + gx] = v[4];
        }
    }
}
