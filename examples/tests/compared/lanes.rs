//! Small matrices, transforms and polynomials, each in one lane.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn lu4(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mut a = [[splat(0.0f32); 4]; 4];
        #[unroll]
        for r in 0..4 {
            #[unroll]
            for c in 0..4 {
                a[r][c] = x[i + (4 * r + c) as u32 * n];
            }
            a[r][r] += 4.0;
        }
        #[unroll]
        for k in 0..3 {
            let inv = a[k][k].approx_recip();
            #[unroll]
            for r in k + 1..4 {
                let f = a[r][k] * inv;
                a[r][k] = f;
                #[unroll]
                for c in k + 1..4 {
                    a[r][c] = (-f).mul_add(a[k][c], a[r][c]);
                }
            }
        }
        #[unroll]
        for r in 0..4 {
            #[unroll]
            for c in 0..4 {
                y[i + (4 * r + c) as u32 * n] = a[r][c];
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn transpose4(x: &[f32], y: &mut [f32]) {
        let i = global_id().x * 16;
        #[unroll]
        for r in 0..4u32 {
            #[unroll]
            for c in 0..4u32 {
                y[i + 4 * c + r] = x[i + 4 * r + c];
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn radix4(stride: u32, re: &mut [f32], im: &mut [f32]) {
        let i = global_id().x;
        let k = i % stride;
        let at = (i / stride) * stride * 4 + k;
        let angle = k as f32 * (-1.5707963 / stride as f32);
        let mut a = [splat(0.0f32); 4];
        let mut b = [splat(0.0f32); 4];
        a[0] = re[at];
        b[0] = im[at];
        #[unroll]
        for q in 1..4 {
            let turn = (angle * q as f32).approx_cos();
            let sine = (angle * q as f32).approx_sin();
            let u = re[at + q as u32 * stride];
            let v = im[at + q as u32 * stride];
            a[q] = u.mul_add(turn, -(v * sine));
            b[q] = u.mul_add(sine, v * turn);
        }
        let s0 = a[0] + a[2];
        let t0 = b[0] + b[2];
        let s1 = a[0] - a[2];
        let t1 = b[0] - b[2];
        let s2 = a[1] + a[3];
        let t2 = b[1] + b[3];
        let s3 = a[1] - a[3];
        let t3 = b[1] - b[3];
        re[at] = s0 + s2;
        im[at] = t0 + t2;
        re[at + stride] = s1 + t3;
        im[at + stride] = t1 - s3;
        re[at + 2 * stride] = s0 - s2;
        im[at + 2 * stride] = t0 - t2;
        re[at + 3 * stride] = s1 - t3;
        im[at + 3 * stride] = t1 + s3;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn polynomial64(x: &[f64], y: &mut [f64]) {
        let i = global_id().x;
        let v = x[i];
        let mut s: V<f64> = 1.0;
        #[unroll]
        for k in 0..12 {
            s = s.mul_add(v, comptime { 1.0 / (k as f64 + 2.0) });
        }
        y[i] = s;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn correlate(n: u32, lags: u32, x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let mut re: V<f32> = 0.0;
        let mut im: V<f32> = 0.0;
        for k in 0..lags {
            let a = x[2 * (i + k)];
            let b = x[2 * (i + k) + 1];
            let c = x[2 * k];
            let d = x[2 * k + 1];
            re = a.mul_add(c, b.mul_add(d, re));
            im = b.mul_add(c, (-a).mul_add(d, im));
        }
        if i < n {
            out[2 * i] = re;
            out[2 * i + 1] = im;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn julia64(width: u32, limit: u32, out: &mut [u32]) {
        let i = global_id().x;
        let mut x = (i % width) as f64 * 0.02 - 1.5;
        let mut y = (i / width) as f64 * 0.02 - 1.0;
        let mut k: V<u32> = 0;
        while k < limit {
            let xx = x * x;
            let yy = y * y;
            if xx + yy > 4.0 {
                break;
            }
            y = (x + x).mul_add(y, 0.156);
            x = xx - yy - 0.8;
            k += 1;
        }
        out[i] = k;
    }
}

gcn_kernel! {
    #[device]
    fn gradient(h: V<u32>, x: V<f32>, y: V<f32>) -> V<f32> {
        let u = if h & 1 == 0 { x } else { -x };
        let v = if h & 2 == 0 { y } else { -y };
        u + v
    }
    #[workgroup(256)]
    pub fn perlin(width: u32, scale: f32, table: &[u32], out: &mut [f32]) {
        let i = global_id().x;
        let x = (i % width) as f32 * scale;
        let y = (i / width) as f32 * scale;
        let xi = x as u32;
        let yi = y as u32;
        let fx = x - x.floor();
        let fy = y - y.floor();
        let sx = fx * fx * fx.mul_add(-2.0, 3.0);
        let sy = fy * fy * fy.mul_add(-2.0, 3.0);
        let p = table[xi & 255];
        let q = table[(xi + 1) & 255];
        let a = gradient(table[(p + yi) & 255], fx, fy);
        let b = gradient(table[(q + yi) & 255], fx - 1.0, fy);
        let c = gradient(table[(p + yi + 1) & 255], fx, fy - 1.0);
        let d = gradient(table[(q + yi + 1) & 255], fx - 1.0, fy - 1.0);
        let top = (b - a).mul_add(sx, a);
        let bottom = (d - c).mul_add(sx, c);
        out[i] = (bottom - top).mul_add(sy, top);
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn reflect(width: u32, count: u32, spheres: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let mut ox = ((i % width) as f32).mul_add(0.02, -1.0);
        let mut oy = ((i / width) as f32).mul_add(0.02, -1.0);
        let mut oz: V<f32> = -2.0;
        let mut dx: V<f32> = 0.0;
        let mut dy: V<f32> = 0.0;
        let mut dz: V<f32> = 1.0;
        let mut light: V<f32> = 0.0;
        for _bounce in 0..3u32 {
            let mut near: V<f32> = 1.0e30;
            let mut at: V<u32> = 0;
            for k in 0..count {
                let x = spheres[4 * k] - ox;
                let y = spheres[4 * k + 1] - oy;
                let z = spheres[4 * k + 2] - oz;
                let r = spheres[4 * k + 3] * 0.3;
                let b = x.mul_add(dx, y.mul_add(dy, z * dz));
                let c = x.mul_add(x, y.mul_add(y, z.mul_add(z, -(r * r))));
                let d = b.mul_add(b, -c);
                if d > 0.0 {
                    let t = b - d.approx_sqrt();
                    if t > 0.001 && t < near {
                        near = t;
                        at = k;
                    }
                }
            }
            if near > 1.0e29 {
                break;
            }
            ox = near.mul_add(dx, ox);
            oy = near.mul_add(dy, oy);
            oz = near.mul_add(dz, oz);
            let nx = ox - spheres[4 * at];
            let ny = oy - spheres[4 * at + 1];
            let nz = oz - spheres[4 * at + 2];
            let inv = nx.mul_add(nx, ny.mul_add(ny, nz * nz)).approx_rsqrt();
            let s = 2.0 * inv * inv * nx.mul_add(dx, ny.mul_add(dy, nz * dz));
            dx = (-s).mul_add(nx, dx);
            dy = (-s).mul_add(ny, dy);
            dz = (-s).mul_add(nz, dz);
            light += 1.0;
        }
        out[i] = light;
    }
}
