//! Forms that instruction selection has for several operations at once, against the same expressions on the host.

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
        picked[i] = same;
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
        // Multipliers of 33 bits, as that of 7, have no short form.
        assert!(has(&text, "v_mul_u32_u24") && has(&text, "v_mad_i32_i24"), "{text}");
    }
}
