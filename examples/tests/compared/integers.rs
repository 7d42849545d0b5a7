//! Integers: sorting in place, hashes, ciphers.

use gcn_dsl::prelude::*;

/// The CRC-32 of each byte value.
const TABLE: [u32; 256] = {
    let mut t = [0u32; 256];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u32;
        let mut b = 0;
        while b < 8 {
            c = if c & 1 != 0 { (c >> 1) ^ 0xedb88320 } else { c >> 1 };
            b += 1;
        }
        t[i] = c;
        i += 1;
    }
    t
};

gcn_kernel! {
    #[workgroup(256)]
    pub fn bitonic(x: &mut [u32]) {
        let keys = Lds::<u32, 512>::new();
        let t = local_id().x;
        let base = workgroup_id().x * 512;
        keys[t] = x[base + t];
        keys[t + 256] = x[base + t + 256];
        barrier();
        let mut k = 2u32;
        while k <= 512 {
            let mut j = k / 2;
            while j > 0 {
                let i = 2 * t - (t & (j - 1));
                let a = keys[i];
                let b = keys[i + j];
                let up = i & k == 0;
                if (a > b) == up {
                    keys[i] = b;
                    keys[i + j] = a;
                }
                barrier();
                j /= 2;
            }
            k *= 2;
        }
        x[base + t] = keys[t];
        x[base + t + 256] = keys[t + 256];
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn isort(x: &mut [u32]) {
        let i = global_id().x * 8;
        let mut a = [splat(0u32); 8];
        #[unroll]
        for k in 0..8 {
            a[k] = x[i + k as u32];
        }
        #[unroll]
        for p in 0..8 {
            #[unroll]
            for k in 0..7 {
                if (comptime { k % 2 == p % 2 }) {
                    let lo = a[k].min(a[k + 1]);
                    let hi = a[k].max(a[k + 1]);
                    a[k] = lo;
                    a[k + 1] = hi;
                }
            }
        }
        #[unroll]
        for k in 0..8 {
            x[i + k as u32] = a[k];
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn collatz(n: u32, x: &[u32], steps: &mut [u32]) {
        let i = global_id().x;
        if i >= n {
            return;
        }
        let mut v = x[i] & 0xffff | 1;
        let mut c: V<u32> = 0;
        while v != 1 {
            v = if v & 1 == 0 { v >> 1 } else { 3 * v + 1 };
            c += 1;
        }
        steps[i] = c;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn gcd(n: u32, x: &[u32], y: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let mut a = x[i];
            let mut b = y[i];
            while b != 0 {
                let t = a % b;
                a = b;
                b = t;
            }
            out[i] = a;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn sha(n: u32, w: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let mut a: V<u32> = 0x6a09e667;
            let mut b: V<u32> = 0xbb67ae85;
            let mut c: V<u32> = 0x3c6ef372;
            let mut d: V<u32> = 0xa54ff53a;
            let mut e: V<u32> = 0x510e527f;
            let mut f: V<u32> = 0x9b05688c;
            let mut g: V<u32> = 0x1f83d9ab;
            let mut h: V<u32> = 0x5be0cd19;
            for k in 0..16u32 {
                let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
                let ch = (e & f) ^ (!e & g);
                let t1 = h + s1 + ch + 0x428a2f98 + w[i * 16 + k];
                let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
                let mj = (a & b) ^ (a & c) ^ (b & c);
                let t2 = s0 + mj;
                h = g;
                g = f;
                f = e;
                e = d + t1;
                d = c;
                c = b;
                b = a;
                a = t1 + t2;
            }
            out[i] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn fnv(n: u32, length: u32, bytes: &[u8], out: &mut [u64]) {
        let i = global_id().x;
        if i < n {
            let mut h: V<u64> = 0xcbf29ce484222325;
            for k in 0..length {
                h = (h ^ bytes[i * length + k] as u64) * 0x100000001b3;
            }
            out[i] = h;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn crc(n: u32, length: u32, bytes: &[u8], out: &mut [u32]) {
        let i = global_id().x;
        if i >= n {
            return;
        }
        let mut crc: V<u32> = !0;
        for k in 0..length {
            crc ^= bytes[i * length + k] as u32;
            for _b in 0..8u32 {
                crc = if crc & 1 != 0 { (crc >> 1) ^ 0xedb88320 } else { crc >> 1 };
            }
        }
        out[i] = !crc;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn crc_table(n: u32, length: u32, bytes: &[u8], out: &mut [u32]) {
        let i = global_id().x;
        if i >= n {
            return;
        }
        let mut w: V<u32> = !0;
        for k in 0..length {
            w = (w >> 8) ^ TABLE[(w ^ bytes[i * length + k] as u32) & 255];
        }
        out[i] = !w;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn aes(n: u32, table: &[u32], key: &[u32], state: &mut [u32]) {
        let t0 = Lds::<u32, 256>::new();
        let t = local_id().x;
        t0[t] = table[t];
        barrier();
        let i = global_id().x * 4;
        if i < n {
            let mut a = state[i];
            let mut b = state[i + 1];
            let mut c = state[i + 2];
            let mut d = state[i + 3];
            for round in 0..4u32 {
                let k = round * 4;
                let e = t0[a & 255]
                    ^ t0[(b >> 8) & 255].rotate_left(8)
                    ^ t0[(c >> 16) & 255].rotate_left(16)
                    ^ t0[d >> 24].rotate_left(24)
                    ^ key[k];
                let f = t0[b & 255]
                    ^ t0[(c >> 8) & 255].rotate_left(8)
                    ^ t0[(d >> 16) & 255].rotate_left(16)
                    ^ t0[a >> 24].rotate_left(24)
                    ^ key[k + 1];
                let g = t0[c & 255]
                    ^ t0[(d >> 8) & 255].rotate_left(8)
                    ^ t0[(a >> 16) & 255].rotate_left(16)
                    ^ t0[b >> 24].rotate_left(24)
                    ^ key[k + 2];
                let h = t0[d & 255]
                    ^ t0[(a >> 8) & 255].rotate_left(8)
                    ^ t0[(b >> 16) & 255].rotate_left(16)
                    ^ t0[c >> 24].rotate_left(24)
                    ^ key[k + 3];
                a = e;
                b = f;
                c = g;
                d = h;
            }
            state[i] = a;
            state[i + 1] = b;
            state[i + 2] = c;
            state[i + 3] = d;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn montgomery(rounds: u32, x: &[u64], out: &mut [u64]) {
        let i = global_id().x;
        let p = 0xffffffff00000001u64;
        let mut a = x[i] >> 1;
        let mut s = a;
        for _k in 0..rounds {
            let lo = a * s;
            let hi = a.mul_hi(s);
            let c = lo - (hi >> 32);
            let t = if lo < hi >> 32 { c - 0xffffffff } else { c };
            let add = (hi & 0xffffffff) * 0xffffffff;
            let r = t + add;
            s = if r < add || r >= p { r - p } else { r };
            a = s ^ (a >> 3);
        }
        out[i] = s;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn xs64(rounds: u32, out: &mut [u64]) {
        let i = global_id().x;
        let mut s = (i as u64) * 0x9E3779B97F4A7C15 + 1;
        let mut a: V<u64> = 0;
        for _k in 0..rounds {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            a += s * 0x2545F4914F6CDD1D;
        }
        out[i] = a;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn popmask(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let mut v = x[i];
            let mut c: V<u32> = 0;
            let mut s: V<u32> = 0;
            while v != 0 {
                s += v.trailing_zeros();
                v &= v - 1;
                c += 1;
            }
            out[i] = c << 16 | s;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn base64(n: u32, x: &[u8], out: &mut [u8]) {
        let i = global_id().x;
        if i < n {
            let w = (x[3 * i] as u32) << 16 | (x[3 * i + 1] as u32) << 8 | x[3 * i + 2] as u32;
            #[unroll]
            for k in 0..4u32 {
                let d = (w >> (18 - 6 * k)) & 63;
                let c = if d < 26 {
                    d + 65
                } else if d < 52 {
                    d + 71
                } else if d < 62 {
                    d - 4
                } else if d == 62 {
                    splat(43u32)
                } else {
                    splat(47u32)
                };
                out[4 * i + k] = c as u8;
            }
        }
    }
}
