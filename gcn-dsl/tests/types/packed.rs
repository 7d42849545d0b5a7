//! Short vectors: packed arithmetic equals that of the elements, and is used if the target has it.

use gcn_dsl::lang::{Arithmetic, Float};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bf16_of, bits, f16_of};

fn common<T: Arithmetic>(a: Vector<T, 4>, b: Vector<T, 4>, s: V<T>) -> Vec<Vector<T, 4>> {
    vec![a + b, a - b, a * b, a.min(b), a.max(b), -a, a + s, a.with(2, s), Vector::select(a.lt(b), a, b)]
}

fn fused<T: Float>(a: Vector<T, 4>, b: Vector<T, 4>, s: V<T>) -> Vec<Vector<T, 4>> {
    vec![a.mul_add(b, Vector::splat(s))]
}

fn none<T: Arithmetic>(_: Vector<T, 4>, _: Vector<T, 4>, _: V<T>) -> Vec<Vector<T, 4>> {
    Vec::new()
}

macro_rules! kernels {
    ($($t:ident $fused:ident $name:ident $test:ident |$bits:ident| $make:expr, |$a:ident, $b:ident, $s:ident| $results:expr;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(x: &[$t], y: &[$t], s: &[$t], out: &mut [$t], sums: &mut [$t]) {
                let i = global_id().x;
                let (a, b, c) = (x.load_vector::<4>(i * 4), y.load_vector::<4>(i * 4), s[i]);
                let results = comptime { [common(a, b, c), $fused(a, b, c)].concat() };
                #[unroll] for k in 0..results.len() {
                    out.store_vector(i * 4 + k as u32 * x.len(), results[k]);
                }
                sums[i] = a.sum();
            }
        }

        #[test]
        fn $test() {
            let mut rng = Random::new(17);
            let n = 4096;
            for target in TARGETS {
                let mut make = || { let $bits = bits(&mut rng); $make };
                let (x, y): (Vec<$t>, Vec<$t>) = (0..n).map(|_| (make(), make())).unzip();
                let s: Vec<$t> = (0..n / 4).map(|_| make()).collect();
                let (mut out, mut sums) = (vec![<$t>::default(); n * 10], vec![<$t>::default(); n / 4]);
                let args = (&x[..], &y[..], &s[..], &mut out[..], &mut sums[..]);
                $name.launch(&Device::simulator(target), Grid::x(n as u32 / 256), args).unwrap();
                for i in 0..n {
                    let ($a, $b, $s) = (x[i], y[i], s[i / 4]);
                    let common: [$t; 8] = $results;
                    let (sum, fused) = (common[6], common[7]);
                    let third = if i % 4 == 2 { $s } else { $a };
                    let less = if $a < $b { $a } else { $b };
                    let wanted = [common[0], common[1], common[2], common[3], common[4], common[5], sum, third, less, fused];
                    let count = if stringify!($fused) == "none" { 9 } else { 10 };
                    for (k, wanted) in wanted[..count].iter().enumerate() {
                        let got = out[k * n + i];
                        let zeros = matches!(k, 3 | 4) && got == *wanted;
                        #[allow(clippy::eq_op, reason = "a NaN is not itself")]
                        let nans = got != got && *wanted != *wanted || matches!(k, 3 | 4) && ($a != $a || $b != $b);
                        let same = got.to_le_bytes() == wanted.to_le_bytes();
                        assert!(same || zeros || nans, "{target} {:?} {:?} {:?} result {k}: {got:?}, not {wanted:?}", $a, $b, $s);
                    }
                }
            }
        }
    )*};
}

/// Eight results: `+ - *`, min, max, negation, `a + s`, `a * b + s`.
macro_rules! integers {
    ($a:ident $b:ident $s:ident) => {
        [
            $a.wrapping_add($b),
            $a.wrapping_sub($b),
            $a.wrapping_mul($b),
            $a.min($b),
            $a.max($b),
            $a.wrapping_neg(),
            $a.wrapping_add($s),
            0,
        ]
    };
}
macro_rules! halves {
    ($round:ident $a:ident $b:ident $s:ident) => {{
        let (a, b, s) = ($a.to_f64(), $b.to_f64(), $s.to_f64());
        let fused = if stringify!($round) == "bf16_of" {
            f64::from((a as f32).mul_add(b as f32, s as f32))
        } else {
            a.mul_add(b, s)
        };
        [a + b, a - b, a * b, a.min(b), a.max(b), -a, a + s, fused].map($round)
    }};
}

kernels! {
    i16 none of_i16 vectors_of_i16 |b| b as i16, |a, b, s| integers!(a b s);
    u16 none of_u16 vectors_of_u16 |b| b as u16, |a, b, s| integers!(a b s);
    u8 none of_u8 vectors_of_u8 |b| b as u8, |a, b, s| integers!(a b s);
    f16 fused of_f16 vectors_of_f16 |b| f16_of((b as i16) as f64 / 64.0), |a, b, s| halves!(f16_of a b s);
    bf16 fused of_bf16 vectors_of_bf16 |b| bf16_of((b as i16) as f64 / 64.0), |a, b, s| halves!(bf16_of a b s);
    f32 fused of_f32 vectors_of_f32 |b| f32::from_bits(b as u32),
        |a, b, s| [a + b, a - b, a * b, a.min(b), a.max(b), -a, a + s, a.mul_add(b, s)];
}

gcn_kernel! {
    #[workgroup(64)]
    fn pairs(x: &[f32], y: &[f16], out: &mut [f32], halves: &mut [f16], brains: &mut [bf16]) {
        let i = global_id().x * 2;
        let (a, b) = (x.load_vector::<2>(i), y.load_vector::<2>(i));
        out.store_vector(i, a.mul_add(a, b as f32x2) * 0.5);
        halves.store_vector(i, b.mul_add(b, b) + f16::ONE);
        brains.store_vector(i, a as bf16x2);
    }
}

#[test]
fn packed_instructions_are_selected() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.37 - 20.0).collect();
    let y: Vec<f16> = x.iter().map(|x| f16::from_f32(x * 0.1)).collect();
    for target in TARGETS {
        let text = pairs.build(target).unwrap().assembly(Comments::None);
        let count = |what: &str| text.matches(what).count();
        let packed_f32 = usize::from(target >= Target::GFX90A);
        assert_eq!(
            (count("v_pk_fma_f32"), count("v_pk_mul_f32")),
            (packed_f32, packed_f32),
            "{target}\n{text}"
        );
        assert_eq!((count("v_pk_fma_f16"), count("v_pk_add_f16")), (1, 1), "{target}\n{text}");
        assert_eq!(count("v_cvt_pk_bf16_f32"), usize::from(target == Target::GFX950), "{target}\n{text}");
        let (mut out, mut halves, mut brains) =
            (vec![0f32; 128], vec![f16::ZERO; 128], vec![bf16::ZERO; 128]);
        pairs
            .launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out, &mut halves, &mut brains))
            .unwrap();
        for i in 0..128 {
            assert_eq!(out[i], x[i].mul_add(x[i], y[i].to_f32()) * 0.5);
            let (b, square) = (y[i].to_f64(), f16_of(y[i].to_f64().mul_add(y[i].to_f64(), y[i].to_f64())));
            assert_eq!(halves[i], f16_of(square.to_f64() + 1.0), "{b}");
            assert_eq!(brains[i], bf16_of(f64::from(x[i])));
        }
    }
}
