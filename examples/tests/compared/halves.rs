//! 16-bit floats and small integers.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn half_scale(n: u32, a: f16, x: &[f16], y: &mut [f16]) {
        let i = global_id().x;
        if i < n {
            y[i] = x[i] * a + (comptime { f16::from_f32(1.0) });
        }
    }
}

gcn_kernel! {
    #[contract]
    #[workgroup(256)]
    pub fn half_poly(n: u32, x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 4;
        let (x, y) = (x.assume_whole_dwords(), y.assume_whole_dwords());
        if i < n {
            #[unroll]
            for k in 0..4u32 {
                let v = x[i + k];
                y[i + k] = (v * v + v) * v - (comptime { f16::from_f32(0.5) });
            }
        }
    }
}

gcn_kernel! {
    /// The number of elements may be odd, so the last dword may be half used. The kernel has branches for this.
    #[contract]
    #[workgroup(256)]
    pub fn half_poly_any(n: u32, x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 4;
        if i < n {
            #[unroll]
            for k in 0..4u32 {
                let v = x[i + k];
                y[i + k] = (v * v + v) * v - (comptime { f16::from_f32(0.5) });
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn sad16(n: u32, x: &[i16], y: &[i16], out: &mut [i16]) {
        let i = global_id().x * 4;
        if i < n {
            #[unroll]
            for k in 0..4u32 {
                let a = x[i + k];
                let b = y[i + k];
                out[i + k] = a.max(b) - a.min(b);
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn matvec_h(n: u32, k: u32, a: &[f16], x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 2;
        let mut s = splat(comptime { f16::from_f32(0.0) });
        let mut t = splat(comptime { f16::from_f32(0.0) });
        for j in 0..k {
            let v = x[j];
            s = a[j * n + i].mul_add(v, s);
            t = a[j * n + i + 1].mul_add(v, t);
        }
        y[i] = s;
        y[i + 1] = t;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn quant_i8(n: u32, scale: f32, x: &[f32], y: &mut [i8]) {
        let i = global_id().x;
        if i < n {
            let v = (x[i] * scale).round_ties_even().max(-127.0).min(127.0);
            y[i] = v as i8;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn dequant_q4(n: u32, scales: &[f32], q: &[u32], y: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let w = q[i];
            let s = scales[i / 4];
            #[unroll]
            for k in 0..8u32 {
                y[i * 8 + k] = (((w >> (4 * k)) & 15) as f32).mul_add(s, -8.0 * s);
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn dot_i8(n: u32, x: &[i8], y: &[i8], out: &mut [i32]) {
        let i = global_id().x;
        if i < n {
            let mut s: V<i32> = 0;
            #[unroll]
            for k in 0..16u32 {
                s += x[i * 16 + k] as i32 * y[i * 16 + k] as i32;
            }
            out[i] = s;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn gate(n: u32, logits: &[f32], experts: &mut [u32], weights: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            let mut best: V<f32> = -1.0e30;
            let mut second: V<f32> = -1.0e30;
            let mut at: V<u32> = 0;
            let mut next: V<u32> = 0;
            #[unroll]
            for k in 0..8u32 {
                let v = logits[i * 8 + k];
                if v > best {
                    second = best;
                    next = at;
                    best = v;
                    at = splat(k);
                } else if v > second {
                    second = v;
                    next = splat(k);
                }
            }
            let w = (1.0 + ((second - best) * 1.4426950).approx_exp2()).approx_recip();
            experts[2 * i] = at;
            experts[2 * i + 1] = next;
            weights[2 * i] = w;
            weights[2 * i + 1] = 1.0 - w;
        }
    }
}
