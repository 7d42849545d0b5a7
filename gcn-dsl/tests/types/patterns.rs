//! Combinations of several operations for which instruction selection has one instruction, compared with the same
//! expressions on the host.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, f16_of};

const N: usize = 256;

/// True if the code for `target` has the instruction.
fn has(kernel: &str, mnemonic: &str) -> bool {
    kernel.lines().any(|line| line.trim_start().starts_with(mnemonic))
}

gcn_kernel! {
    #[workgroup(64)]
    fn mixed(x: &[f16], y: &[f32], sum: &mut [f32], difference: &mut [f32], product: &mut [f32], fused: &mut [f32]) {
        let i = global_id().x;
        let (a, b) = (x[i] as f32, y[i]);
        sum[i] = a + b;
        difference[i] = b - a;
        product[i] = a * b;
        fused[i] = a.mul_add(x[i + 64] as f32, b);
    }
}

#[test]
fn conversions_from_f16_are_sources() {
    let mut rng = Random::new(51);
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 6e-8, -6e-8];
    let mut x: Vec<f16> = special.iter().flat_map(|x| [f16_of(*x); 8]).collect();
    let mut y: Vec<f32> = (0..64).map(|i| special[i % 8] as f32).collect();
    x.resize_with(N + 64, || f16::from_bits(bits(&mut rng) as u16));
    y.resize_with(N, || f32::from_bits(bits(&mut rng) as u32));
    for target in TARGETS {
        let mut out = [const { [0f32; N] }; 4];
        let [s, d, p, f] = &mut out;
        mixed.launch(&Device::simulator(target), Grid::x(N as u32 / 64), (&x, &y, s, d, p, f)).unwrap();
        for i in 0..N {
            let (a, b, c) = (x[i].to_f32(), y[i], x[i + 64].to_f32());
            for (got, want) in out.iter().map(|o| o[i]).zip([a + b, b - a, a * b, a.mul_add(c, b)]) {
                let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(same, "{target}: of {a:e}, {b:e}, {c:e} {got:e}, not {want:e}");
            }
        }
        let text = mixed.build(target).unwrap().assembly(Comments::None);
        assert_eq!(has(&text, "v_fma_mix_f32"), target != Target::GFX900, "{text}");
        assert_eq!(has(&text, "v_cvt_f32_f16"), target == Target::GFX900, "{text}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn ranks(x: &[u32], rank: &mut [u32], picked: &mut [u64], ones: &mut [u32]) {
        let i = global_id().x;
        let is_set = x[i] & 1 == 1;
        let votes = ballot(is_set);
        let same = select(is_set, votes, !votes);
        picked[i] = same.bits();
        rank[i] = (same & ((splat(1u64) << lane_id()) - 1)).count_ones();
        ones[i] = same.count_ones();
    }
}

#[test]
fn ranks_among_equal_lanes() {
    let mut rng = Random::new(52);
    let x: Vec<u32> = (0..N).map(|_| bits(&mut rng) as u32).collect();
    for target in TARGETS {
        let (mut rank, mut picked, mut ones) = ([0u32; N], [0u64; N], [0u32; N]);
        let args = (&x[..], &mut rank[..], &mut picked[..], &mut ones[..]);
        ranks.launch(&Device::simulator(target), Grid::x(N as u32 / 64), args).unwrap();
        for i in 0..N {
            let wave = &x[i / 64 * 64..][..64];
            let same = (0..64).filter(|k| wave[*k] & 1 == x[i] & 1).fold(0u64, |mask, k| mask | 1 << k);
            let below = same & ((1 << (i % 64)) - 1);
            assert_eq!(
                (picked[i], rank[i], ones[i]),
                (same, below.count_ones(), same.count_ones()),
                "{target}"
            );
        }
        let text = ranks.build(target).unwrap().assembly(Comments::None);
        assert!(has(&text, "v_mbcnt_hi_u32_b32") && !has(&text, "v_lshlrev_b64"), "{text}");
    }
}

gcn_kernel! {
    #[workgroup(1024)]
    fn quotients(out: &mut [u32]) {
        let i = local_id().x;
        #[unroll]
        for d in 2..60u32 {
            out[d * 2048 + i] = i / d;
            out[d * 2048 + 1024 + i] = i % d;
        }
    }
}

#[test]
fn quotients_of_small_numbers() {
    for target in TARGETS {
        let mut out = vec![0u32; 60 * 2048];
        quotients.launch(&Device::simulator(target), Grid::x(1), (&mut out,)).unwrap();
        for d in 2..60usize {
            for i in 0..1024 {
                let got = (out[d * 2048 + i], out[d * 2048 + 1024 + i]);
                assert_eq!(got, ((i / d) as u32, (i % d) as u32), "{target}: {i} by {d}");
            }
        }
        let text = quotients.build(target).unwrap().assembly(Comments::None);
        // Multipliers of 33 bits, such as the one for 7, have no short form.
        assert!(has(&text, "v_mul_u32_u24") && has(&text, "v_mad_i32_i24"), "{text}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn permutations(x: &[u32], y: &[u32], swapped: &mut [u32], gathered: &mut [u32], filled: &mut [u32]) {
        let i = global_id().x;
        let (a, b) = (x[i], y[i]);
        swapped[i] = (a & 0xff00ff00) | ((a & 0xff) << 16) | ((a >> 16) & 0xff);
        gathered[i] = ((a >> 8) & 0xff) | (b & 0xff00) | ((a >> 24) << 16) | (b & 0xff000000);
        filled[i] = (a >> 24) | ((b & 0xff) << 16) | 0xff00;
    }

    #[workgroup(64)]
    fn chosen_bits(x: &[u32], y: &[u32], z: &[u32], by_value: &mut [u32], by_constant: &mut [u32], by_xor: &mut [u32]) {
        let i = global_id().x;
        let (a, b, c) = (x[i], y[i], z[i]);
        by_value[i] = (a & b) | (!a & c);
        by_constant[i] = (0x0ff0_1234 & b) | (c & 0xf00f_edcb);
        by_xor[i] = b ^ ((c ^ b) & a);
    }
}

#[test]
fn bytes_and_bits_of_two_words() {
    let mut rng = Random::new(53);
    let [x, y, z] = [(); 3].map(|()| (0..N).map(|_| bits(&mut rng) as u32).collect::<Vec<u32>>());
    for target in TARGETS {
        let device = Device::simulator(target);
        let mut out = [const { [0u32; N] }; 6];
        let [p, q, r, s, t, u] = &mut out;
        permutations.launch(&device, Grid::x(N as u32 / 64), (&x, &y, p, q, r)).unwrap();
        chosen_bits.launch(&device, Grid::x(N as u32 / 64), (&x, &y, &z, s, t, u)).unwrap();
        for i in 0..N {
            let (a, b, c) = (x[i].to_le_bytes(), y[i].to_le_bytes(), z[i]);
            let word = u32::from_le_bytes;
            let want = [
                word([a[2], a[1], a[0], a[3]]),
                word([a[1], b[1], a[3], b[3]]),
                word([a[3], 0xff, b[0], 0]),
                x[i] & y[i] | !x[i] & c,
                0x0ff0_1234 & y[i] | c & 0xf00f_edcb,
                x[i] & c | !x[i] & y[i],
            ];
            assert_eq!(out.each_ref().map(|o| o[i]), want, "{target}: {a:x?} {b:x?} {c:x}");
        }
        let text = permutations.build(target).unwrap().assembly(Comments::None);
        assert_eq!(text.matches("v_perm_b32").count(), 3, "{text}");
        let text = chosen_bits.build(target).unwrap().assembly(Comments::None);
        assert_eq!(text.matches("v_bfi_b32").count(), 3, "{text}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn limits(x: &[i32], y: &[f32], whole: &mut [i32], natural: &mut [u32], wide: &mut [f32], unit: &mut [f32], raw: &mut [f32]) {
        let i = global_id().x;
        whole[i] = x[i].max(-7).min(1000);
        natural[i] = (x[i] as u32).min(77).max(3);
        let sum = y[i] + 3.0;
        wide[i] = sum.max(0.0).min(6.0);
        unit[i] = (y[i] * 0.25).max(0.0).min(1.0);
        raw[i] = y[i].max(0.0).min(1.0);
    }
}

#[test]
fn limits_of_an_interval() {
    let mut rng = Random::new(54);
    let special = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, 4.0, -3.0, 1e-42, -1e-42];
    let x: Vec<i32> = (0..N).map(|_| bits(&mut rng) as i32 >> (bits(&mut rng) % 32)).collect();
    let mut y: Vec<f32> = special.to_vec();
    y.resize_with(N, || f32::from_bits(bits(&mut rng) as u32 & 0x8fff_ffff | 0x3000_0000));
    for target in TARGETS {
        let (mut whole, mut natural) = ([0i32; N], [0u32; N]);
        let mut out = [const { [0f32; N] }; 3];
        let [w, u, r] = &mut out;
        limits
            .launch(
                &Device::simulator(target),
                Grid::x(N as u32 / 64),
                (&x, &y, &mut whole, &mut natural, w, u, r),
            )
            .unwrap();
        for i in 0..N {
            assert_eq!(whole[i], x[i].clamp(-7, 1000), "{target}: {}", x[i]);
            assert_eq!(natural[i], (x[i] as u32).clamp(3, 77), "{target}: {}", x[i]);
            // As in Rust, the maximum of a NaN and 0 is 0.
            #[expect(clippy::manual_clamp, reason = "`clamp` keeps a NaN")]
            let want =
                [(y[i] + 3.0).max(0.0).min(6.0), (y[i] * 0.25).max(0.0).min(1.0), y[i].max(0.0).min(1.0)];
            assert_eq!(out.each_ref().map(|o| o[i]), want, "{target}: {:e}", y[i]);
        }
        let text = limits.build(target).unwrap().assembly(Comments::None);
        assert!(has(&text, "v_med3_i32") && has(&text, "v_med3_u32") && has(&text, "v_med3_f32"), "{text}");
        assert_eq!(text.matches(" clamp").count(), 1, "{text}");
        // A value from memory may be a signalling NaN.
        assert!(has(&text, "v_max_f32") && has(&text, "v_min_f32"), "{text}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn small_branches(x: &[u32], y: &[i32], crc: &mut [u32], best: &mut [u32], last: &mut [i32]) {
        let i = global_id().x;
        let mut c = x[i];
        #[unroll]
        for _ in 0..8 {
            c = if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
        }
        crc[i] = c;
        let (mut least, mut at) = (splat(i32::MAX), splat(0u32));
        let (mut swapped, mut other) = (y[i], y[i + 1]);
        for k in 0..5u32 {
            let value = y[i + k];
            if value < least {
                least = value;
                at = k;
            }
            if value > 0 {
                let old = swapped;
                swapped = other;
                other = old;
            } else {
                other = value;
            }
        }
        best[i] = at;
        last[i] = swapped - other;
    }
}

#[test]
fn small_branches_are_selects() {
    let mut rng = Random::new(55);
    let x: Vec<u32> = (0..N).map(|_| bits(&mut rng) as u32).collect();
    let y: Vec<i32> = (0..N + 8).map(|_| bits(&mut rng) as i32 % 100).collect();
    for target in TARGETS {
        let (mut crc, mut best, mut last) = ([0u32; N], [0u32; N], [0i32; N]);
        small_branches
            .launch(
                &Device::simulator(target),
                Grid::x(N as u32 / 64),
                (&x, &y, &mut crc, &mut best, &mut last),
            )
            .unwrap();
        for i in 0..N {
            let step = |c: u32, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
            let (mut least, mut at, mut swapped, mut other) = (i32::MAX, 0, y[i], y[i + 1]);
            for (k, value) in y[i..i + 5].iter().copied().enumerate() {
                if value < least {
                    (least, at) = (value, k as u32);
                }
                (swapped, other) = if value > 0 { (other, swapped) } else { (swapped, value) };
            }
            let want = ((0..8).fold(x[i], step), at, swapped - other);
            assert_eq!((crc[i], best[i], last[i]), want, "{target}: {i}");
        }
        let text = small_branches.build(target).unwrap().assembly(Comments::None);
        assert!(has(&text, "v_cndmask_b32") && !text.contains("saveexec"), "{text}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn signed_bytes(x: &[u32], y: &[u32], dot: &mut [i32], small: &mut [i32]) {
        let i = global_id().x;
        let mut sum = splat(0i32);
        // Three products and not four, for which there is one instruction.
        #[unroll]
        for k in 0..3u32 {
            sum += ((x[i] >> (8 * k)) as i8 as i32) * ((y[i] >> (8 * k)) as i8 as i32);
        }
        dot[i] = sum;
        small[i] = ((x[i] as i32 >> 16) - 5) * (y[i] as u8 as i32 - (x[i] & 0xff) as i32);
    }
}

#[test]
fn products_of_signed_bytes() {
    let mut rng = Random::new(56);
    let [x, y] = [(); 2].map(|()| (0..N).map(|_| bits(&mut rng) as u32).collect::<Vec<u32>>());
    for target in TARGETS {
        let (mut dot, mut small) = ([0i32; N], [0i32; N]);
        signed_bytes
            .launch(&Device::simulator(target), Grid::x(N as u32 / 64), (&x, &y, &mut dot, &mut small))
            .unwrap();
        for i in 0..N {
            let signed = |x: u32| x.to_le_bytes().map(|b| i32::from(b.cast_signed()));
            let want: i32 = signed(x[i]).iter().zip(signed(y[i])).take(3).map(|(x, y)| x * y).sum();
            assert_eq!(dot[i], want, "{target}");
            let low = i32::from(y[i] as u8) - i32::from(x[i] as u8);
            assert_eq!(small[i], ((x[i].cast_signed() >> 16) - 5) * low, "{target}");
        }
        let text = signed_bytes.build(target).unwrap().assembly(Comments::None);
        assert!(
            has(&text, "v_mul_i32_i24") && has(&text, "v_mad_i32_i24") && !has(&text, "v_mul_lo_u32"),
            "{text}"
        );
    }
}
