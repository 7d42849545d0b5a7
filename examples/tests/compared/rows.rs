//! Sums along rows, products and scans.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn rmsnorm(columns: u32, gain: &[f32], x: &[f32], y: &mut [f32]) {
        let sums = Lds::<f32, 8>::new();
        let row = workgroup_id().x * columns;
        let t = local_id().x;
        let mut s: V<f32> = 0.0;
        let mut c = t;
        while c < columns {
            let v = x[row + c];
            s = v.mul_add(v, s);
            c += 256;
        }
        #[unroll]
        for k in 1..=wave_size().ilog2() {
            s += shuffle_xor(s, comptime { wave_size() >> k });
        }
        if t % wave_size() == 0 {
            sums[t / wave_size()] = s;
        }
        barrier();
        let mut tot = sums[0];
        #[unroll]
        for k in 1..256 / wave_size() {
            tot += sums[k];
        }
        let sc = (tot / columns as f32 + 1.0e-5).approx_rsqrt();
        let mut c = t;
        while c < columns {
            y[row + c] = x[row + c] * sc * gain[c];
            c += 256;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn layernorm_backward(
        columns: u32,
        x: &[f32],
        dy: &[f32],
        gain: &[f32],
        mean: &[f32],
        rstd: &[f32],
        dx: &mut [f32],
    ) {
        let row = workgroup_id().x * (256 / wave_size()) + wave_id();
        let m = mean[row];
        let r = rstd[row];
        let mut a: V<f32> = 0.0;
        let mut b: V<f32> = 0.0;
        for c in (lane_id()..columns).step_by(wave_size()) {
            let g = dy[row * columns + c] * gain[c];
            let h = (x[row * columns + c] - m) * r;
            a += g;
            b = g.mul_add(h, b);
        }
        let n = 1.0 / columns as f32;
        let a = wave_sum(a) * n;
        let b = wave_sum(b) * n;
        for c in (lane_id()..columns).step_by(wave_size()) {
            let g = dy[row * columns + c] * gain[c];
            let h = (x[row * columns + c] - m) * r;
            dx[row * columns + c] = (g - h.mul_add(b, a)) * r;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn softmax_wave(x: &[f32], y: &mut [f32]) {
        let row = (workgroup_id().x * (256 / wave_size()) + wave_id()) * (4 * wave_size()) + lane_id() * 4;
        let mut v = [splat(0.0f32); 4];
        #[unroll]
        for k in 0..4 {
            v[k] = x[row + k as u32];
        }
        let m = wave_max(v[0].max(v[1]).max(v[2]).max(v[3]));
        let mut s: V<f32> = 0.0;
        #[unroll]
        for k in 0..4 {
            v[k] = ((v[k] - m) * 1.4426950).approx_exp2();
            s += v[k];
        }
        let inv = wave_sum(s).approx_recip();
        #[unroll]
        for k in 0..4 {
            y[row + k as u32] = v[k] * inv;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn argmax(columns: u32, x: &[f32], out: &mut [u32]) {
        let t = local_id().x;
        let row = workgroup_id().x * columns;
        let mut best: V<f32> = -1.0e30;
        let mut at: V<u32> = 0;
        let mut c = t;
        while c < columns {
            let v = x[row + c];
            if v > best {
                best = v;
                at = c;
            }
            c += 256;
        }
        let b = Lds::<f32, 8>::new();
        let a = Lds::<u32, 8>::new();
        #[unroll]
        for k in 1..=wave_size().ilog2() {
            let m = comptime { wave_size() >> k };
            let o = shuffle_xor(best, m);
            let p = shuffle_xor(at, m);
            if o > best || o == best && p < at {
                best = o;
                at = p;
            }
        }
        if lane_id() == 0 {
            b[t / wave_size()] = best;
            a[t / wave_size()] = at;
        }
        barrier();
        if t == 0 {
            #[unroll]
            for k in 1..256 / wave_size() {
                let o = b[k];
                let p = a[k];
                if o > best || o == best && p < at {
                    best = o;
                    at = p;
                }
            }
            out[workgroup_id().x] = at;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn dot(n: u32, stride: u32, x: &[f32], y: &[f32], out: &mut [f32]) {
        let sums = Lds::<f32, 256>::new();
        let t = local_id().x;
        let mut s: V<f32> = 0.0;
        let mut i = global_id().x;
        while i < n {
            s = x[i].mul_add(y[i], s);
            i += stride;
        }
        sums[t] = s;
        barrier();
        let mut k = 128u32;
        while k > 0 {
            if t < k {
                sums[t] += sums[t + k];
            }
            barrier();
            k /= 2;
        }
        if t == 0 {
            out[workgroup_id().x] = sums[0];
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn gemv4(n: u32, k: u32, a: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x * 4;
        let mut s = [splat(0.0f32); 4];
        for j in 0..k {
            let v = x[j];
            #[unroll]
            for c in 0..4 {
                s[c] = a[j * n + i + c as u32].mul_add(v, s[c]);
            }
        }
        #[unroll]
        for c in 0..4 {
            y[i + c as u32] = s[c];
        }
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn matmul(n: u32, k: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let x = global_id().x;
        let y = global_id().y;
        let mut s: V<f32> = 0.0;
        for i in 0..k {
            s = a[y * k + i].mul_add(b[i * n + x], s);
        }
        c[y * n + x] = s;
    }
}

gcn_kernel! {
    #[workgroup(16, 16)]
    pub fn matmul_lds(n: u32, k: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let ta = Lds::<f32, 256>::new();
        let tb = Lds::<f32, 256>::new();
        let x = global_id().x;
        let y = global_id().y;
        let lx = local_id().x;
        let ly = local_id().y;
        let mut s: V<f32> = 0.0;
        let mut base = 0u32;
        while base < k {
            ta[ly * 16 + lx] = a[y * k + base + lx];
            tb[ly * 16 + lx] = b[(base + ly) * n + x];
            barrier();
            #[unroll]
            for i in 0..16u32 {
                s = ta[ly * 16 + i].mul_add(tb[i * 16 + lx], s);
            }
            barrier();
            base += 16;
        }
        c[y * n + x] = s;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn spmv_row(rows: u32, start: &[u32], column: &[u32], value: &[f32], x: &[f32], y: &mut [f32]) {
        let row = global_id().x;
        if row < rows {
            let mut s: V<f32> = 0.0;
            let e = row * 12 + (start[row] & 15);
            let mut k = row * 12;
            while k < e {
                s = value[k].mul_add(x[column[k] & 1023], s);
                k += 1;
            }
            y[row] = s;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn scan_serial(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x * 16;
        if i < n {
            let mut s: V<u32> = 0;
            #[unroll]
            for k in 0..16u32 {
                s += x[i + k];
                y[i + k] = s;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn scan_wave(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let l = lane_id();
        let mut v = x[i];
        #[unroll]
        for k in 0..wave_size().ilog2() {
            let o = shuffle_up(v, comptime { 1 << k });
            if l >= (comptime { 1u32 << k }) {
                v += o;
            }
        }
        if i < n {
            y[i] = v;
        }
    }
}
