//! Particles, grids and rays.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn nbody(n: u32, dt: f32, pos: &[f32], vel: &mut [f32]) {
        let tile = Lds::<f32, 1024>::new();
        let t = local_id().x;
        let i = global_id().x;
        let x = pos[4 * i];
        let y = pos[4 * i + 1];
        let z = pos[4 * i + 2];
        let mut ax = 0.0f32;
        let mut ay = 0.0f32;
        let mut az = 0.0f32;
        let mut base = 0u32;
        while base < n {
            #[unroll]
            for c in 0..4u32 {
                tile[4 * t + c] = pos[4 * (base + t) + c];
            }
            barrier();
            for j in 0..256u32 {
                let dx = tile[4 * j] - x;
                let dy = tile[4 * j + 1] - y;
                let dz = tile[4 * j + 2] - z;
                let r2 = dx.mul_add(dx, dy.mul_add(dy, dz.mul_add(dz, 0.01)));
                let inv = r2.approx_rsqrt();
                let s = tile[4 * j + 3] * inv * inv * inv;
                ax = dx.mul_add(s, ax);
                ay = dy.mul_add(s, ay);
                az = dz.mul_add(s, az);
            }
            barrier();
            base += 256;
        }
        vel[4 * i] += ax * dt;
        vel[4 * i + 1] += ay * dt;
        vel[4 * i + 2] += az * dt;
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Ball {
        p: [f32; 2],
        v: [f32; 2],
        m: f32,
    }
    #[contract]
    #[workgroup(256)]
    pub fn balls(n: u32, dt: f32, b: &mut [Ball]) {
        let i = global_id().x;
        if i < n {
            let mut q = b[i];
            #[unroll]
            for k in 0..2 {
                q.p[k] += q.v[k] * dt;
                if q.p[k] < 0.0 {
                    q.p[k] = -q.p[k];
                    q.v[k] = -q.v[k];
                }
                if q.p[k] > 1.0 {
                    q.p[k] = 2.0 - q.p[k];
                    q.v[k] = -q.v[k];
                }
            }
            b[i].p = q.p;
            b[i].v = q.v;
        }
    }
}

gcn_kernel! {
    #[workgroup(64, 4)]
    pub fn heat3d(nx: u32, ny: u32, nz: u32, c: f32, x: &[f32], y: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        if gx >= 1 && gx + 1 < nx && gy >= 1 && gy + 1 < ny {
            for z in 1..nz - 1 {
                let i = (z * ny + gy) * nx + gx;
                let s = x[i - 1] + x[i + 1] + x[i - nx] + x[i + nx] + x[i - nx * ny] + x[i + nx * ny];
                let v = x[i];
                y[i] = v.mul_add(-6.0, s).mul_add(c, v);
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn floyd(n: u32, k: u32, d: &mut [f32]) {
        let x = global_id().x;
        let y = global_id().y;
        if x < n && y < n {
            let via = d[y * n + k].abs() + d[k * n + x].abs();
            if via < d[y * n + x] {
                d[y * n + x] = via;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn nearest(n: u32, points: &[f32], queries: &[f32], best: &mut [u32]) {
        let i = global_id().x;
        let qx = queries[2 * i];
        let qy = queries[2 * i + 1];
        let mut least: V<f32> = 1.0e30;
        let mut at: V<u32> = 0;
        for k in 0..n {
            let dx = points[2 * k] - qx;
            let dy = points[2 * k + 1] - qy;
            let d = dx.mul_add(dx, dy * dy);
            if d < least {
                least = d;
                at = k;
            }
        }
        best[i] = at;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn kmeans(n: u32, k: u32, points: &[f32], centres: &[f32], label: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let x = points[4 * i];
            let y = points[4 * i + 1];
            let z = points[4 * i + 2];
            let w = points[4 * i + 3];
            let mut best: V<f32> = 1.0e30;
            let mut at: V<u32> = 0;
            for c in 0..k {
                let a = centres[4 * c] - x;
                let b = centres[4 * c + 1] - y;
                let d = centres[4 * c + 2] - z;
                let e = centres[4 * c + 3] - w;
                let s = a.mul_add(a, b.mul_add(b, d.mul_add(d, e * e)));
                if s < best {
                    best = s;
                    at = splat(c);
                }
            }
            label[i] = at;
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn ray(width: u32, count: u32, spheres: &[f32], out: &mut [f32]) {
        let gx = global_id().x;
        let gy = global_id().y;
        let dx = (gx as f32).mul_add(0.01, -1.0);
        let dy = (gy as f32).mul_add(0.01, -0.5);
        let inv = dx.mul_add(dx, dy.mul_add(dy, 1.0)).approx_rsqrt();
        let dx = dx * inv;
        let dy = dy * inv;
        let dz = inv;
        let mut near: V<f32> = 1.0e30;
        for k in 0..count {
            let ox = spheres[4 * k];
            let oy = spheres[4 * k + 1];
            let oz = spheres[4 * k + 2] + 4.0;
            let r = spheres[4 * k + 3];
            let b = ox.mul_add(dx, oy.mul_add(dy, oz * dz));
            let c = ox.mul_add(ox, oy.mul_add(oy, oz.mul_add(oz, -(r * r))));
            let d = b.mul_add(b, -c);
            if d > 0.0 {
                let t = b - d.approx_sqrt();
                if t > 0.0 && t < near {
                    near = t;
                }
            }
        }
        out[gy * width + gx] = near;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn mandel(width: u32, limit: u32, out: &mut [u32]) {
        let i = global_id().x;
        let px = i % width;
        let py = i / width;
        let cx = (px as f32).mul_add(0.02, -2.0);
        let cy = (py as f32).mul_add(0.02, -1.2);
        let mut zx = 0.0f32;
        let mut zy = 0.0f32;
        let mut k: V<u32> = 0;
        while k < limit && zx * zx + zy * zy < 4.0 {
            let t = zx * zx - zy * zy + cx;
            zy = (2.0 * zx).mul_add(zy, cy);
            zx = t;
            k += 1;
        }
        out[i] = k;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn pi(rounds: u32, out: &mut [u32]) {
        let i = global_id().x;
        let mut s = i * 747796405 + 2891336453;
        let mut hits: V<u32> = 0;
        for _k in 0..rounds {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            let x = (s >> 8) as f32 * 5.9604645e-8;
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            let y = (s >> 8) as f32 * 5.9604645e-8;
            if x.mul_add(x, y * y) < 1.0 {
                hits += 1;
            }
        }
        out[i] = hits;
    }
}
