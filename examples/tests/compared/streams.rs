//! Random numbers, stream ciphers, bits and texts.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn philox(seed: u32, out: &mut [u32]) {
        let i = global_id().x;
        let mut c = [i, splat(0u32), splat(1u32), splat(2u32)];
        let mut k0 = seed;
        let mut k1 = seed ^ 0x5bd1e995;
        #[unroll]
        for _r in 0..10 {
            let lo0 = c[0] * 0xD2511F53;
            let hi0 = c[0].mul_hi(0xD2511F53);
            let lo1 = c[2] * 0xCD9E8D57;
            let hi1 = c[2].mul_hi(0xCD9E8D57);
            c = [hi1 ^ c[1] ^ k0, lo1, hi0 ^ c[3] ^ k1, lo0];
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        #[unroll]
        for k in 0..4 {
            out[4 * i + k as u32] = c[k];
        }
    }
}

gcn_kernel! {
    #[device]
    fn quarter(q: [V<u32>; 4]) -> [V<u32>; 4] {
        let [mut a, mut b, mut c, mut d] = q;
        a += b;
        d = (d ^ a).rotate_left(16);
        c += d;
        b = (b ^ c).rotate_left(12);
        a += b;
        d = (d ^ a).rotate_left(8);
        c += d;
        b = (b ^ c).rotate_left(7);
        [a, b, c, d]
    }
    #[workgroup(256)]
    pub fn chacha(rounds: u32, key: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut s = [splat(0u32); 16];
        s[0] = splat(0x61707865);
        s[1] = splat(0x3320646e);
        s[2] = splat(0x79622d32);
        s[3] = splat(0x6b206574);
        #[unroll]
        for k in 0..8 {
            s[4 + k] = splat(key[k as u32]);
        }
        s[12] = i;
        #[unroll]
        for k in 0..3 {
            s[13 + k] = splat(key[8 + k as u32]);
        }
        for _r in 0..rounds {
            #[unroll]
            for turn in 0..2 {
                #[unroll]
                for k in 0..4 {
                    let at = comptime { [k, 4 + (k + turn) % 4, 8 + (k + 2 * turn) % 4, 12 + (k + 3 * turn) % 4] };
                    let q = quarter([s[at[0]], s[at[1]], s[at[2]], s[at[3]]]);
                    s[at[0]] = q[0];
                    s[at[1]] = q[1];
                    s[at[2]] = q[2];
                    s[at[3]] = q[3];
                }
            }
        }
        #[unroll]
        for k in 0..16 {
            out[16 * i + k as u32] = s[k];
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn sha1(w: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut m = [splat(0u32); 16];
        #[unroll]
        for k in 0..16 {
            m[k] = w[16 * i + k as u32];
        }
        let mut a: V<u32> = 0x67452301;
        let mut b: V<u32> = 0xefcdab89;
        let mut c: V<u32> = 0x98badcfe;
        let mut d: V<u32> = 0x10325476;
        let mut e: V<u32> = 0xc3d2e1f0;
        #[unroll]
        for k in 0..80 {
            if (comptime { k >= 16 }) {
                m[k % 16] = (m[(k + 13) % 16] ^ m[(k + 8) % 16] ^ m[(k + 2) % 16] ^ m[k % 16]).rotate_left(1);
            }
            let f = if (comptime { k < 20 }) {
                (b & c) | (!b & d)
            } else if (comptime { k >= 40 && k < 60 }) {
                (b & c) | (b & d) | (c & d)
            } else {
                b ^ c ^ d
            };
            let add = comptime { [0x5a827999u32, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6][k / 20] };
            let t = a.rotate_left(5) + f + e + add + m[k % 16];
            e = d;
            d = c;
            c = b.rotate_left(30);
            b = a;
            a = t;
        }
        out[i] = a ^ b ^ c ^ d ^ e;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn bits8x8(x: &[u64], y: &mut [u64]) {
        let i = global_id().x;
        let mut v = x[i];
        let t = (v ^ (v >> 7)) & 0x00AA00AA00AA00AA;
        v = v ^ t ^ (t << 7);
        let t = (v ^ (v >> 14)) & 0x0000CCCC0000CCCC;
        v = v ^ t ^ (t << 14);
        let t = (v ^ (v >> 28)) & 0x00000000F0F0F0F0;
        v = v ^ t ^ (t << 28);
        y[i] = v;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn hamming(words: u32, codes: &[u32], wanted: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut s: V<u32> = 0;
        for k in 0..words {
            s += (codes[i * words + k] ^ wanted[k]).count_ones();
        }
        out[i] = s;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn find(n: u32, length: u32, text: &[u8], pattern: &[u8], out: &mut [u32]) {
        let i = global_id().x;
        if i + length <= n {
            let mut k: V<u32> = 0;
            while k < length && (text[i + k] ^ pattern[k]) & 1 == 0 {
                k += 1;
            }
            out[i] = k;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn edit_distance(a: &[u8], b: &[u8], out: &mut [u32]) {
        let i = global_id().x;
        let mut row = [splat(0u32); 9];
        let mut text = [splat(0u32); 8];
        #[unroll]
        for k in 0..8 {
            row[k + 1] = splat(k as u32 + 1);
            text[k] = (b[8 * i + k as u32] & 3) as u32;
        }
        for r in 0..8u32 {
            let c = (a[8 * i + r] & 3) as u32;
            let mut diagonal = row[0];
            row[0] = splat(r + 1);
            #[unroll]
            for k in 0..8 {
                let above = row[k + 1];
                let cost = if c == text[k] { splat(0u32) } else { splat(1u32) };
                row[k + 1] = (diagonal + cost).min(above.min(row[k]) + 1);
                diagonal = above;
            }
        }
        out[i] = row[8];
    }
}
