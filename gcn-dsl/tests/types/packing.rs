//! Scalar code for several neighbouring elements: packed if the target can, with the bits of the single operations.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits};

const HALF: f16 = f16::from_f32_const(0.5);
/// The number of lanes, each of which handles four elements.
const LANES: usize = 64;

gcn_kernel! {
    #[workgroup(64)]
    fn polynomial(x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 4;
        #[unroll] for k in 0..4u32 {
            let v = x[i + k];
            y[i + k] = (v * v + v) * v - HALF;
        }
    }
}

gcn_kernel! {
    /// Exchanged halves, a scalar, signs, and a value that is read twice.
    #[workgroup(64)]
    fn mixed(s: f16, x: &[f16], y: &[f16], out: &mut [f16]) {
        let i = global_id().x * 4;
        #[unroll] for k in 0..4u32 {
            let (a, b) = (x[i + (k ^ 1)], y[i + k]);
            let sum = a + b * s;
            out[i + k] = sum.mul_add(-b, sum).min(a).max(b - s);
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn looped(n: u32, x: &[f16], y: &mut [f16]) {
        let mut i = lane_id() * 4;
        while i < n {
            #[unroll] for k in 0..4u32 {
                y[i + k] = y[i + k] * HALF + x[i + k];
            }
            i += 256;
        }
    }
}

gcn_kernel! {
    /// `sum` is both stored and read by packed code.
    #[workgroup(64)]
    fn shared(x: &[f16], y: &mut [f16], sums: &mut [f32]) {
        let i = global_id().x * 2;
        #[unroll] for k in 0..2u32 {
            let sum = x[i + k] + HALF;
            sums[i + k] = sum as f32;
            y[i + k] = sum * sum;
        }
    }
}

gcn_kernel! {
    /// Neighbouring vectors, which are loaded and stored together.
    #[workgroup(64)]
    fn vectors(x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 4;
        #[unroll] for k in 0..2u32 {
            y.store_vector(i + 2 * k, x.load_vector::<2>(i + 2 * k));
        }
    }
}

gcn_kernel! {
    /// Signed bytes, four of which fill a dword.
    #[workgroup(64)]
    fn bytes(x: &[i8], y: &mut [i8]) {
        let i = global_id().x * 8;
        #[unroll] for k in 0..8u32 {
            y[i + k] = x[i + (7 - k)].max(-3) + 1;
        }
    }
}

macro_rules! integers {
    ($($name:ident $t:ident)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(s: $t, x: &[$t], y: &[$t], out: &mut [$t]) {
                let i = global_id().x * 4;
                #[unroll] for k in 0..4u32 {
                    let (a, b) = (x[i + k], y[i + k]);
                    out[i + k] = (a * b + s - 3).min(b).max(a - 7) + b;
                }
            }
        }
    )*};
}
integers! { signed i16 unsigned u16 }

fn halves(seed: u64, count: usize) -> Vec<f16> {
    let mut random = Random::new(seed);
    (0..count).map(|_| f16::from_f32((random.below(1 << 13) as f32 - 4096.0) / 1024.0)).collect()
}

/// Random bits; another number replaces NaNs.
fn numbers(seed: u64, count: usize) -> Vec<f16> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| f16::from_bits(bits(&mut random) as u16))
        .map(|x| if x.is_nan() { HALF } else { x })
        .collect()
}

fn assert_bits(target: Target, got: &[f16], wanted: impl Fn(usize) -> f16) {
    for (i, got) in got.iter().enumerate() {
        let wanted = wanted(i);
        let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
        assert!(same, "{target}, element {i}: {got:?}, not {wanted:?}");
    }
}

#[test]
fn a_polynomial_is_packed_and_exact() {
    for target in TARGETS {
        let kernel = polynomial.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        // The same numbers as in clang 22's code for this loop with -O3.
        let count = |name: &str| text.matches(name).count();
        assert_eq!(
            (count("v_pk_mul_f16"), count("v_pk_add_f16"), count("v_mul_f16")),
            (4, 4, 0),
            "{target}: {text}"
        );
        for short in 0..4 {
            let count = 4 * LANES - short;
            let x = numbers(3, count);
            let mut y = vec![f16::NAN; count];
            polynomial.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
            assert_bits(target, &y, |i| (x[i] * x[i] + x[i]) * x[i] - HALF);
        }
    }
}

#[test]
fn halves_signs_and_scalars_are_sources() {
    let s = f16::from_f32(1.25);
    let (x, y) = (halves(5, 4 * LANES), halves(6, 4 * LANES));
    for target in TARGETS {
        let text = mixed.build(target).unwrap().assembly(Comments::None);
        assert!(text.contains("v_pk_fma_f16") && !text.contains("v_perm"), "{target}: {text}");
        let mut out = vec![f16::NAN; 4 * LANES];
        mixed.launch(&Device::simulator(target), Grid::x(1), (s, &x, &y, &mut out)).unwrap();
        assert_bits(target, &out, |i| {
            let (a, b) = (x[i ^ 1], y[i]);
            let sum = a + b * s;
            // Exact before it is rounded, because numbers of this size have few bits.
            let fused = f16::from_f64(f64::from(sum) * -f64::from(b) + f64::from(sum));
            fused.min(a).max(b - s)
        });
    }
}

#[test]
fn loops_are_packed_and_end_where_the_slice_does() {
    for target in TARGETS {
        let text = looped.build(target).unwrap().assembly(Comments::None);
        assert!(text.contains("v_pk_mul_f16"), "{target}: {text}");
        for count in [0, 1, 3, 255, 257, 1022] {
            let (x, before) = (halves(7, count), halves(8, count));
            let mut y = before.clone();
            looped.launch(&Device::simulator(target), Grid::x(1), (count as u32, &x, &mut y)).unwrap();
            assert_bits(target, &y, |i| before[i] * HALF + x[i]);
        }
    }
}

#[test]
fn the_last_element_of_neighbouring_vectors_is_moved() {
    for target in TARGETS {
        for count in [4 * LANES - 1, 4 * LANES - 3, 5] {
            let x = halves(10, count);
            let mut y = vec![f16::NAN; count];
            vectors.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
            assert_bits(target, &y, |i| x[i]);
        }
    }
}

#[test]
fn bytes_are_moved_by_dwords_and_keep_their_signs() {
    for target in TARGETS {
        let text = bytes.build(target).unwrap().assembly(Comments::None);
        assert_eq!(text.matches("buffer_load_dwordx2").count(), 1, "{target}: {text}");
        assert_eq!(text.matches("buffer_store_dwordx2").count(), 1, "{target}: {text}");
        for count in [8 * LANES, 8 * LANES - 1, 8 * LANES - 5, 17] {
            let x: Vec<i8> = (0..count).map(|i| (i * 37) as i8).collect();
            let mut y = vec![0i8; count];
            bytes.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
            for (i, got) in y.iter().enumerate() {
                // Elements out of bounds are 0.
                let from = x.get(i / 8 * 8 + (7 - i % 8)).copied().unwrap_or(0);
                assert_eq!(*got, from.max(-3).wrapping_add(1), "{target}, element {i} of {count}");
            }
        }
    }
}

#[test]
fn what_others_read_is_computed_once() {
    for target in TARGETS {
        let text = shared.build(target).unwrap().assembly(Comments::None);
        let count = |name: &str| text.matches(name).count();
        assert_eq!((count("v_add_f16"), count("v_pk_add_f16")), (2, 0), "{target}: {text}");
        let x = halves(9, 2 * LANES);
        let (mut y, mut sums) = (vec![HALF; 2 * LANES], vec![0f32; 2 * LANES]);
        shared.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut sums)).unwrap();
        assert_bits(target, &y, |i| (x[i] + HALF) * (x[i] + HALF));
        assert!(sums.iter().zip(&x).all(|(sum, x)| *sum == f32::from(*x + HALF)));
    }
}

macro_rules! exact_integers {
    ($($test:ident $name:ident $t:ident $min:literal)*) => {$(
        #[test]
        fn $test() {
            let mut random = Random::new(11);
            let [x, y] = [(); 2].map(|()| (0..4 * LANES).map(|_| bits(&mut random) as $t).collect::<Vec<$t>>());
            for target in TARGETS {
                let text = $name.build(target).unwrap().assembly(Comments::None);
                assert!(text.contains("v_pk_mul_lo_u16") && text.contains($min), "{target}: {text}");
                let mut out = vec![0 as $t; 4 * LANES];
                $name.launch(&Device::simulator(target), Grid::x(1), (9, &x, &y, &mut out)).unwrap();
                for (i, got) in out.iter().enumerate() {
                    let (a, b) = (x[i], y[i]);
                    let sum = a.wrapping_mul(b).wrapping_add(9).wrapping_sub(3);
                    assert_eq!(*got, sum.min(b).max(a.wrapping_sub(7)).wrapping_add(b), "{target}: {a} {b}");
                }
            }
        }
    )*};
}
exact_integers! { signed_words signed i16 "v_pk_min_i16" unsigned_words unsigned u16 "v_pk_min_u16" }
