//! Sums over the bytes of words, and parts of words as operands: one instruction each if the target has it. The bits
//! must equal Rust's.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::TARGETS;

/// The number of lanes, each of which sums eight bytes of both arrays.
const LANES: usize = 64;
const EACH: usize = 8;
/// Targets on which `neg_lo` says whether a factor of a product is signed, and one earlier target.
const RDNA: [Target; 3] = [Target::GFX1030, Target::GFX1100, Target::GFX1201];

macro_rules! products {
    ($($name:ident $t:ident $wide:ident)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(x: &[$t], y: &[$t], out: &mut [$wide]) {
                let i = local_id().x * 8;
                let (x, y) = (x.assume_whole_dwords(), y.assume_whole_dwords());
                let mut sum = splat(comptime { 7 as $wide });
                #[unroll] for k in 0..8u32 {
                    sum += x[i + k] as $wide * y[i + k] as $wide;
                }
                out[local_id().x] = sum;
            }
        }
    )*};
}
products! { dot_signed i8 i32 dot_unsigned u8 u32 }

gcn_kernel! {
    /// Sums in reverse order, of bytes at different positions, with a term that is read twice, and of fewer than four
    /// terms.
    #[workgroup(64)]
    fn other_terms(x: &[i8], y: &[i8], out: &mut [i32]) {
        let i = local_id().x * 8;
        let (x, y) = (x.assume_whole_dwords(), y.assume_whole_dwords());
        let mut sum: V<i32> = 0;
        #[unroll] for k in 0..4u32 {
            sum += y[i + 3 - k] as i32 * x[i + 3 - k] as i32;
        }
        let twice = x[i + 4] as i32 * y[i + 4] as i32;
        sum += twice + x[i + 5] as i32 * y[i + 5] as i32 + x[i + 6] as i32 * y[i + 6] as i32 + x[i + 7] as i32 * y[i + 6] as i32;
        out[local_id().x] = sum + (twice & 0xff);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn byte_distances(x: &[u8], y: &[u8], out: &mut [u32]) {
        let i = local_id().x * 8;
        let (x, y) = (x.assume_whole_dwords(), y.assume_whole_dwords());
        let mut sum: V<u32> = 0;
        #[unroll] for k in 0..8u32 {
            sum += (x[i + k] as i32 - y[i + k] as i32).abs() as u32;
        }
        out[local_id().x] = sum;
    }
}

gcn_kernel! {
    /// Every part of a word, signed and unsigned, and a part that two instructions read.
    #[workgroup(64)]
    fn word_parts(x: &[u32], y: &[u32], out: &mut [u32]) {
        let (x, y) = (x[local_id().x], y[local_id().x]);
        let mut sum: V<u32> = 0;
        #[unroll] for k in 0..4u32 {
            let byte = (x >> (8 * k)) & 255;
            sum = sum.rotate_left(3) ^ (byte << 2) ^ (y - byte);
            let signed = (x >> (8 * k)) as i8 as i32;
            sum = sum.rotate_left(3) ^ signed.max(y as i32) as u32 ^ (signed as f32).to_bits();
        }
        #[unroll] for k in 0..2u32 {
            let word = (x >> (16 * k)) & 0xffff;
            let signed = (x >> (16 * k)) as i16 as i32;
            sum = sum.rotate_left(3) ^ word.min(y) ^ (signed + (y & 255) as i32) as u32;
        }
        out[local_id().x] = sum;
    }
}

fn words(random: &mut Random) -> Vec<u32> {
    (0..LANES).map(|_| random.next_u32()).collect()
}

fn bytes(random: &mut Random) -> Vec<u8> {
    (0..LANES * EACH).map(|_| random.next_u32() as u8).collect()
}

#[test]
fn sums_of_products_are_rusts() {
    let mut random = Random::new(11);
    let (x, y) = (bytes(&mut random), bytes(&mut random));
    let [a, b] = [&x, &y].map(|bytes| bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<i8>>());
    for target in TARGETS.into_iter().chain(RDNA) {
        let device = Device::simulator(target);
        let (mut out, mut sums, mut other) = (vec![0; LANES], vec![0; LANES], vec![0; LANES]);
        dot_unsigned.launch(&device, Grid::x(1), (&x, &y, &mut out)).unwrap();
        dot_signed.launch(&device, Grid::x(1), (&a, &b, &mut sums)).unwrap();
        other_terms.launch(&device, Grid::x(1), (&a, &b, &mut other)).unwrap();
        for lane in 0..LANES {
            let of = lane * EACH..(lane + 1) * EACH;
            let want: u32 =
                x[of.clone()].iter().zip(&y[of.clone()]).map(|(x, y)| u32::from(*x) * u32::from(*y)).sum();
            assert_eq!(out[lane], 7 + want, "{target}, lane {lane}");
            let products: Vec<i32> = a[of.clone()]
                .iter()
                .zip(&b[of.clone()])
                .map(|(x, y)| i32::from(*x) * i32::from(*y))
                .collect();
            assert_eq!(sums[lane], 7 + products.iter().sum::<i32>(), "{target}, lane {lane}");
            let crossed = i32::from(a[of.start + 7]) * i32::from(b[of.start + 6]);
            let want = products[..7].iter().sum::<i32>() + crossed + (products[4] & 0xff);
            assert_eq!(other[lane], want, "{target}, lane {lane}");
        }
    }
}

#[test]
fn sums_of_distances_are_rusts() {
    let mut random = Random::new(12);
    let (x, y) = (bytes(&mut random), bytes(&mut random));
    for target in TARGETS {
        let mut out = vec![0; LANES];
        byte_distances.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out)).unwrap();
        for (lane, sum) in out.into_iter().enumerate() {
            let of = lane * EACH..(lane + 1) * EACH;
            let want: u32 = x[of.clone()].iter().zip(&y[of]).map(|(x, y)| u32::from(x.abs_diff(*y))).sum();
            assert_eq!(sum, want, "{target}, lane {lane}");
        }
    }
}

#[test]
fn parts_of_words_are_rusts() {
    let mut random = Random::new(13);
    let (x, y) = (words(&mut random), words(&mut random));
    let want = |x: u32, y: u32| {
        let mut sum = 0u32;
        for k in 0..4 {
            let (byte, signed) = (x >> (8 * k) & 255, i32::from((x >> (8 * k)) as i8));
            sum = sum.rotate_left(3) ^ (byte << 2) ^ y.wrapping_sub(byte);
            sum =
                sum.rotate_left(3) ^ signed.max(y.cast_signed()).cast_unsigned() ^ (signed as f32).to_bits();
        }
        for k in 0..2 {
            let (word, signed) = (x >> (16 * k) & 0xffff, i32::from((x >> (16 * k)) as i16));
            sum = sum.rotate_left(3) ^ word.min(y) ^ (signed + (y & 255).cast_signed()).cast_unsigned();
        }
        sum
    };
    for target in TARGETS {
        let mut out = vec![0; LANES];
        word_parts.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out)).unwrap();
        for lane in 0..LANES {
            assert_eq!(out[lane], want(x[lane], y[lane]), "{target}, lane {lane}");
        }
    }
}

#[test]
fn the_instructions_are_chosen() {
    let count = |assembly: &str, what: &str| assembly.lines().filter(|line| line.contains(what)).count();
    for target in TARGETS {
        let assembly = |built: String, what| (count(&built, what), target);
        // gfx900 has no products of bytes.
        let products = if target == Target::GFX900 { 0 } else { EACH / 4 };
        let signed = dot_signed.build(target).unwrap().assembly(Comments::None);
        assert_eq!(assembly(signed, "v_dot4_i32_i8"), (products, target));
        let unsigned = dot_unsigned.build(target).unwrap().assembly(Comments::None);
        assert_eq!(assembly(unsigned, "v_dot4_u32_u8"), (products, target));
        let distances = byte_distances.build(target).unwrap().assembly(Comments::None);
        assert_eq!(assembly(distances, "v_sad_u8"), (EACH / 4, target));
        let parts = word_parts.build(target).unwrap().assembly(Comments::None);
        assert!(count(&parts, "BYTE_") > 12 && count(&parts, "WORD_") > 1, "{target}: {parts}");
        assert!(count(&parts, "sext(") > 4, "{target}: {parts}");
    }
    for target in RDNA {
        let signed = dot_signed.build(target).unwrap().assembly(Comments::None);
        let name = if target.signs_by_neg_lo() { "v_dot4_i32_iu8" } else { "v_dot4_i32_i8" };
        assert_eq!(count(&signed, name), EACH / 4, "{target}");
    }
}
