//! Arithmetic on f32, element by element.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn conv1d(n: u32, taps: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i + 9 <= n {
            let mut s = 0.0f32;
            #[unroll]
            for k in 0..9u32 {
                s = x[i + k].mul_add(taps[k], s);
            }
            y[i] = s;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn conv_lds(n: u32, taps: &[f32], x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 272>::new();
        let t = local_id().x;
        let i = global_id().x;
        tile[t] = x[i];
        if t < 16 {
            tile[t + 256] = x[i + 256];
        }
        barrier();
        let mut s = 0.0f32;
        #[unroll]
        for k in 0..16u32 {
            s = tile[t + k].mul_add(taps[k], s);
        }
        if i < n {
            y[i] = s;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn newton(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let a = x[i].abs() + 1.0;
            let mut r = a;
            let mut d = a;
            let mut k: V<u32> = 0;
            while d.abs() > 0.000001 * r && k < 50 {
                d = (r - a / (r * r)) * 0.33333334;
                r -= d;
                k += 1;
            }
            y[i] = r;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn horner(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x * 4;
        if i < n {
            #[unroll]
            for c in 0..4u32 {
                let v = x[i + c];
                let mut s = v.mul_add(0.25, 0.5);
                #[unroll]
                for k in 0..8u32 {
                    s = s.mul_add(v, comptime { 1.0 / (k as f32 + 3.0) });
                }
                y[i + c] = s;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn complex_mul(n: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let i = global_id().x * 2;
        if i < n {
            let x = a[i];
            let y = a[i + 1];
            let u = b[i];
            let v = b[i + 1];
            c[i] = x.mul_add(u, -(y * v));
            c[i + 1] = x.mul_add(v, y * u);
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn lerp_rgb(n: u32, t: f32, a: &[[f32; 3]], b: &[[f32; 3]], out: &mut [[f32; 3]]) {
        let i = global_id().x;
        if i < n {
            #[unroll]
            for k in 0..3 {
                out[i][k] = (b[i][k] - a[i][k]).mul_add(t, a[i][k]);
            }
        }
    }
}

gcn_kernel! {
    #[contract]
    #[workgroup(256)]
    pub fn gelu(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let v = x[i];
            let u = 0.79788456 * (v * v * v).mul_add(0.044715, v);
            let e = (2.885390 * u).approx_exp2();
            y[i] = v - v * (e + 1.0).approx_recip();
        }
    }
}

gcn_kernel! {
    #[contract]
    #[workgroup(64)]
    pub fn rope(half: u32, angle: f32, x: &mut [f32]) {
        let row = workgroup_id().x;
        let mut k = local_id().x;
        while k < half {
            let th = row as f32 * (k as f32 * angle).approx_exp2();
            let s = th.approx_sin();
            let c = th.approx_cos();
            let i = row * half * 2 + 2 * k;
            let a = x[i];
            let b = x[i + 1];
            x[i] = a * c - b * s;
            x[i + 1] = a * s + b * c;
            k += 64;
        }
    }
}

gcn_kernel! {
    #[device]
    fn cnd(d: V<f32>) -> V<f32> {
        let q = 1.0 / d.abs().mul_add(0.2316419, 1.0);
        let p = q * q
            .mul_add(q.mul_add(q.mul_add(q.mul_add(1.330274429, -1.821255978), 1.781477937), -0.356563782), 0.31938153);
        let r = p * 0.39894228 * (d * d * -0.72134752).approx_exp2();
        if d > 0.0 { 1.0 - r } else { r }
    }
    #[workgroup(256)]
    pub fn black(n: u32, rate: f32, s: &[f32], k: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let spot = s[i];
            let strike = k[i];
            let sig = 0.3f32;
            let d1 = ((spot / strike).approx_log2().mul_add(0.6931472, rate) + 0.5 * sig * sig) / sig;
            let d2 = d1 - sig;
            out[i] = spot * cnd(d1) - strike * cnd(d2) * (rate * -1.442695).approx_exp2();
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn adam(n: u32, rate: f32, g: &[f32], p: &mut [f32], m: &mut [f32], v: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let grad = g[i];
            let a = m[i].mul_add(0.9, 0.1 * grad);
            let b = v[i].mul_add(0.999, 0.001 * grad * grad);
            m[i] = a;
            v[i] = b;
            let step = a * (b.approx_sqrt() + 1.0e-8).approx_recip();
            p[i] = step.mul_add(-rate, p[i]);
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn dct8(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x * 8;
        if i < n {
            let mut v = [splat(0.0f32); 8];
            #[unroll]
            for k in 0..8 {
                v[k] = x[i + k as u32];
            }
            let mut s = [splat(0.0f32); 8];
            #[unroll]
            for k in 0..4 {
                s[k] = v[k] + v[7 - k];
                s[k + 4] = v[k] - v[7 - k];
            }
            #[unroll]
            for u in 0..8 {
                let mut sum: V<f32> = 0.0;
                #[unroll]
                for k in 0..4 {
                    let c = comptime { ((2 * k + 1) as f32 * u as f32 * 0.19634954).cos() * 0.5 };
                    let from = if (comptime { u % 2 == 0 }) { s[k] } else { s[k + 4] };
                    sum = from.mul_add(c, sum);
                }
                y[i + u as u32] = sum;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    pub fn tridiagonal(n: u32, a: &[f32], b: &[f32], c: &[f32], d: &[f32], x: &mut [f32]) {
        let i = global_id().x;
        let mut cs = [splat(0.0f32); 8];
        let mut ds = [splat(0.0f32); 8];
        let inv = b[i].approx_recip();
        cs[0] = c[i] * inv;
        ds[0] = d[i] * inv;
        #[unroll]
        for k in 1..8usize {
            let at = i + k as u32 * n;
            let inv = (-a[at]).mul_add(cs[k - 1], b[at]).approx_recip();
            cs[k] = c[at] * inv;
            ds[k] = (-a[at]).mul_add(ds[k - 1], d[at]) * inv;
        }
        let mut v = ds[7];
        x[i + 7 * n] = v;
        #[unroll]
        for k in 0..7usize {
            v = (-cs[6 - k]).mul_add(v, ds[6 - k]);
            x[i + (6 - k as u32) * n] = v;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn soa(n: u32, points: &[[f32; 4]], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let p = points[i];
            let w = p[3].approx_recip();
            x[i] = p[0] * w;
            y[i] = p[1] * w;
            z[i] = p[2] * w;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn gray(n: u32, x: &[u32], y: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let p = x[i];
            y[i] = ((p & 255) as f32)
                .mul_add(0.299, (((p >> 8) & 255) as f32).mul_add(0.587, ((p >> 16) & 255) as f32 * 0.114));
        }
    }
}
