//! Operands that are known in part, folded into one instruction: conditions as carries, counts that are added to a sum,
//! halves of 64-bit masks that are all zeros or ones.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, instructions};

const N: usize = 128;

gcn_kernel! {
    /// A condition as 0 or 1, or inverted, added on either side and subtracted.
    #[workgroup(64)]
    fn carries(x: &[u32], y: &[u32], sums: &mut [u32], signed: &mut [i32]) {
        let i = global_id().x;
        let (a, b) = (x[i], y[i]);
        sums[i] = a + if a > b { 1 } else { 0 };
        sums[i + 128] = if a == b { 0 } else { 1 } + b;
        sums[i + 256] = a - (a < b) as u32;
        signed[i] = b as i32 - if a & 1 == 0 { 0 } else { 1 };
        if a & 2 == 0 {
            signed[i + 128] = (a < 1000) as i32 + a as i32;
        }
    }

    #[workgroup(64)]
    fn counts(x: &[u32], y: &[u32], sums: &mut [u32], wide: &mut [u32]) {
        let i = global_id().x;
        let mut sum: V<u32> = 0;
        for k in 0..4 {
            sum += (x[(i + k) & 127] ^ y[i]).count_ones();
        }
        sums[i] = sum;
        wide[i] = y[i] + (x[i] as u64 | (y[i] as u64) << 32).count_ones();
    }

    /// Masks one half of which is all zeros or ones, and a number whose upper half is zero.
    #[workgroup(64)]
    fn halves(x: &[u64], y: &[u32], out: &mut [u64]) {
        let i = global_id().x;
        let (v, w) = (x[i], y[i] as u64);
        out[i] = v & 0x0000_0000_f0f0_f0f0;
        out[i + 128] = v & 0xffff_ffff_0000_0001;
        out[i + 256] = (v | 0xffff_ffff_0000_0000) ^ 0x1234;
        out[i + 384] = v ^ w;
        out[i + 512] = (v >> 28 & 0xf0f0_f0f0) << 28;
        out[i + 640] = w | 0x5_0000_0000;
    }
}

fn inputs() -> (Vec<u32>, Vec<u32>) {
    let mut rng = Random::new(71);
    let x: Vec<u32> = (0..N).map(|i| if i % 5 == 0 { 7 } else { bits(&mut rng) as u32 }).collect();
    let y = (0..N).map(|i| if i % 3 == 0 { x[i] } else { bits(&mut rng) as u32 }).collect();
    (x, y)
}

#[test]
fn conditions_are_carries() {
    let (x, y) = inputs();
    for target in TARGETS {
        let (mut sums, mut signed) = (vec![0; 3 * N], vec![0; 2 * N]);
        let args = (&x[..], &y[..], &mut sums[..], &mut signed[..]);
        carries.launch(&Device::simulator(target), Grid::x(2), args).unwrap();
        for (i, (a, b)) in x.iter().copied().zip(y.iter().copied()).enumerate() {
            assert_eq!(sums[i], a.wrapping_add(u32::from(a > b)), "{target}: {a} {b}");
            assert_eq!(sums[i + N], b.wrapping_add(u32::from(a != b)), "{target}: {a} {b}");
            assert_eq!(sums[i + 2 * N], a.wrapping_sub(u32::from(a < b)), "{target}: {a} {b}");
            assert_eq!(signed[i], (b as i32).wrapping_sub((a & 1) as i32), "{target}: {a} {b}");
            let kept = if a & 2 == 0 { (a as i32).wrapping_add(i32::from(a < 1000)) } else { 0 };
            assert_eq!(signed[i + N], kept, "{target}: {a}");
        }
        let text = carries.build(target).unwrap().assembly(Comments::None);
        let sums = instructions(&text, "v_addc_co_u32") + instructions(&text, "v_subbrev_co_u32");
        assert_eq!((sums, instructions(&text, "v_cndmask_b32")), (5, 0), "{text}");
    }
}

#[test]
fn counts_start_at_the_sum() {
    let (x, y) = inputs();
    for target in TARGETS {
        let (mut sums, mut wide) = (vec![0; N], vec![0; N]);
        counts
            .launch(&Device::simulator(target), Grid::x(2), (&x[..], &y[..], &mut sums[..], &mut wide[..]))
            .unwrap();
        for i in 0..N {
            let sum: u32 = (0..4).map(|k| (x[(i + k) % N] ^ y[i]).count_ones()).sum();
            assert_eq!(sums[i], sum, "{target}: {i}");
            assert_eq!(wide[i], y[i].wrapping_add(x[i].count_ones() + y[i].count_ones()), "{target}: {i}");
        }
    }
    let text = counts.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert_eq!(instructions(&text, "v_bcnt_u32_b32"), 6, "four of the loop, and two of the halves: {text}");
}

#[test]
fn halves_of_masks_decide() {
    let (x, y) = inputs();
    let x: Vec<u64> =
        x.iter().zip(y.iter().rev()).map(|(x, y)| u64::from(*x) | u64::from(*y) << 32).collect();
    for target in TARGETS {
        let mut out = vec![0; 6 * N];
        halves.launch(&Device::simulator(target), Grid::x(2), (&x[..], &y[..], &mut out[..])).unwrap();
        for (i, (v, w)) in x.iter().copied().zip(y.iter().map(|y| u64::from(*y))).enumerate() {
            let expected = [
                v & 0xf0f0_f0f0,
                v & 0xffff_ffff_0000_0001,
                (v | 0xffff_ffff_0000_0000) ^ 0x1234,
                v ^ w,
                (v >> 28 & 0xf0f0_f0f0) << 28,
                w | 0x5_0000_0000,
            ];
            for (k, expected) in expected.into_iter().enumerate() {
                assert_eq!(out[i + k * N], expected, "{target}: {v:#x} {w:#x}, result {k}");
            }
        }
    }
}
