//! Elementwise and integer kernels.

use gcn_test_support::Random;

use super::{floats, on_each, words};

#[test]
fn vadd_and_axpy() {
    on_each("vadd", |k| {
        let (a, b) = (floats(1, 1000), floats(2, 1000));
        k.buffer(&a);
        k.buffer(&b);
        let c = k.buffer(&[7f32; 1024]);
        k.arg(1000i32);
        k.go([4, 1, 1], 256);
        let out: Vec<f32> = k.read(c, 1024);
        assert!((0..1024).all(|i| out[i] == if i < 1000 { a[i] + b[i] } else { 7.0 }));
    });
    on_each("axpy_f64", |k| {
        let a: Vec<f64> = floats(3, 300).iter().map(|&x| f64::from(x) / 3.0).collect();
        let b: Vec<f64> = floats(4, 300).iter().map(|&x| f64::from(x) / 7.0).collect();
        k.buffer(&a);
        let out = k.buffer(&b);
        k.arg(1.1f64);
        k.arg(300i32);
        k.go([2, 1, 1], 256);
        let got: Vec<f64> = k.read(out, 300);
        assert!((0..300).all(|i| got[i] == a[i].mul_add(1.1, b[i])));
    });
}

#[test]
fn bytes_and_integers() {
    on_each("copy_strided_bytes", |k| {
        let a: Vec<u8> = words(5, 6144).iter().map(|&w| w as u8).collect();
        k.buffer(&a);
        let b = k.buffer(&[0u16; 2048]);
        k.arg(3i32);
        k.go([2, 1, 1], 1024);
        let out: Vec<u16> = k.read(b, 2048);
        assert!((0..2048).all(|i| out[i] == u16::from(a[3 * i]) * 257));
    });
    on_each("u64ops", |k| {
        let mut random = Random::new(6);
        let a: Vec<u64> = (0..128).map(|_| random.next_u64()).collect();
        k.buffer(&a);
        let o = k.buffer(&[0u64; 64]);
        k.go([1, 1, 1], 64);
        for (i, got) in k.read::<u64>(o, 64).into_iter().enumerate() {
            let (x, y) = (a[i], a[i + 64]);
            let select = if x > y { x ^ y } else { x & !y };
            let expected = x
                .rotate_left(13)
                .wrapping_mul(y)
                .wrapping_add(x >> (y & 63))
                .wrapping_sub(y << (x & 63))
                .wrapping_add(select);
            assert_eq!(
                got,
                expected.wrapping_add((x as i64 >> 7) as u64).wrapping_add(u64::from(x.count_ones()))
            );
        }
    });
    on_each("transpose_u8_4x4", |k| {
        let a = words(7, 256);
        k.buffer(&a);
        let b = k.buffer(&[0u32; 256]);
        k.go([1, 1, 1], 64);
        let out: Vec<u32> = k.read(b, 256);
        for i in 0..64 {
            // Follows the kernel's byte permutations: v_perm numbers the bytes of {first, second} starting with those of the second.
            let v = &a[4 * i..4 * i + 4];
            let perm = |hi: u32, lo: u32, s: u32| {
                let bytes: Vec<u8> = lo.to_le_bytes().into_iter().chain(hi.to_le_bytes()).collect();
                u32::from_le_bytes(s.to_le_bytes().map(|b| bytes[b as usize]))
            };
            let (p, q) = (perm(v[1], v[0], 0x0501_0400), perm(v[3], v[2], 0x0501_0400));
            let (p2, q2) = (perm(v[1], v[0], 0x0703_0602), perm(v[3], v[2], 0x0703_0602));
            let expected = [
                perm(q, p, 0x0504_0100),
                perm(q, p, 0x0706_0302),
                perm(q2, p2, 0x0504_0100),
                perm(q2, p2, 0x0706_0302),
            ];
            assert_eq!(out[4 * i..4 * i + 4], expected);
        }
    });
}

#[test]
fn sha_rounds_and_philox() {
    const K: [u32; 16] = [
        0x428a_2f98,
        0x7137_4491,
        0xb5c0_fbcf,
        0xe9b5_dba5,
        0x3956_c25b,
        0x59f1_11f1,
        0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98,
        0x1283_5b01,
        0x2431_85be,
        0x550c_7dc3,
        0x72be_5d74,
        0x80de_b1fe,
        0x9bdc_06a7,
        0xc19b_f174,
    ];
    on_each("sha_round16", |k| {
        let input = words(8, 256 * 16);
        k.buffer(&input);
        let o = k.buffer(&[0u32; 256 * 8]);
        k.go([1, 1, 1], 256);
        let out: Vec<u32> = k.read(o, 256 * 8);
        for i in 0..256 {
            let mut w: [u32; 16] = std::array::from_fn(|j| input[16 * i + j].swap_bytes());
            let mut s: [u32; 8] = std::array::from_fn(|j| K[j] ^ 0x5be0_cd19);
            for _ in 0..4 {
                for t in 0..16 {
                    let at = |n: usize| (n - t) & 7;
                    let [a, b, c, e, f, g, h] = [16, 17, 18, 20, 21, 22, 23].map(|n| s[at(n)]);
                    let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
                    let t1 = h
                        .wrapping_add(big1)
                        .wrapping_add((e & f) ^ (!e & g))
                        .wrapping_add(K[t])
                        .wrapping_add(w[t]);
                    let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
                    let t2 = big0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
                    s[at(19)] = s[at(19)].wrapping_add(t1);
                    s[at(23)] = t1.wrapping_add(t2);
                }
                for t in 0..16 {
                    let (x, y) = (w[(t + 1) & 15], w[(t + 14) & 15]);
                    let small0 = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
                    let small1 = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
                    w[t] = w[t].wrapping_add(small0).wrapping_add(w[(t + 9) & 15]).wrapping_add(small1);
                }
            }
            assert_eq!(out[8 * i..8 * i + 8], s, "work-item {i}");
        }
    });
    on_each("philox", |k| {
        let o = k.buffer(&[0u32; 2048]);
        k.arg(0xdead_beefu32);
        k.arg(0x1234_5678u32);
        k.go([2, 1, 1], 256);
        let out: Vec<u32> = k.read(o, 2048);
        for i in 0..512 {
            let (mut c, mut k0, mut k1) = ([i as u32, 0, 1, 2], 0xdead_beefu32, 0x1234_5678u32);
            for _ in 0..10 {
                let (p, q) = (0xD251_1F53u64 * u64::from(c[0]), 0xCD9E_8D57u64 * u64::from(c[2]));
                c = [(q >> 32) as u32 ^ c[1] ^ k0, q as u32, (p >> 32) as u32 ^ c[3] ^ k1, p as u32];
                (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
            }
            assert_eq!(out[4 * i..4 * i + 4], c);
        }
    });
}
