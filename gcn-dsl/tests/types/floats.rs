//! Floats: operators and the methods that are exact or correctly rounded, compared with Rust's.

use gcn_dsl::lang::Float;
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bf16_of, bits, f16_of, samples};

fn all<T: Float>(x: V<T>, y: V<T>) -> (Vec<V<T>>, Vec<V<bool>>) {
    let values = vec![
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        x.abs(),
        x.min(y),
        x.max(y),
        x.sqrt(),
        x.recip(),
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.round(),
        x.round_ties_even(),
        x.fract(),
        x.copysign(y),
        x.signum(),
        x.clamp(y.min(-y), y.max(-y)),
        x.mul_add(y, x),
    ];
    use gcn_dsl::lang::{eq, ge, gt, le, lt, ne};
    let conditions = vec![
        x.is_nan(),
        x.is_infinite(),
        x.is_finite(),
        lt(x, y),
        le(x, y),
        gt(x, y),
        ge(x, y),
        eq(x, y),
        ne(x, y),
    ];
    (values, conditions)
}

macro_rules! kernels {
    ($($t:ident $name:ident $test:ident |$bits:ident| $make:expr, |$x:ident, $y:ident| $results:expr, $wide:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(x: &[$t], y: &[$t], out: &mut [$t], holds: &mut [u32]) {
                let i = global_id().x;
                let n = x.len();
                let (a, b) = (x[i], y[i]);
                let (p, q) = comptime { all(a, b) };
                #[unroll] for k in 0..p.len() { out[i + k as u32 * n] = p[k]; }
                #[unroll] for k in 0..q.len() { holds[i + k as u32 * n] = select(q[k], 1, 0); }
            }
        }

        #[test]
        fn $test() {
            let mut rng = Random::new(stringify!($test).len() as u64);
            for target in TARGETS {
                // All 16-bit values; for wider types, random ones.
                let n = if size_of::<$t>() == 2 { 65536 } else { samples(4096) };
                let mut make = |i: usize, all: bool| -> $t {
                    let $bits = if all && size_of::<$t>() == 2 { i as u64 } else { bits(&mut rng) };
                    $make
                };
                let x: Vec<$t> = (0..n).map(|i| make(i, true)).collect();
                let y: Vec<$t> = (0..n).map(|i| if i % 9 == 0 { x[i] } else { make(i, false) }).collect();
                let (mut out, mut holds) = (vec![<$t>::default(); 20 * n], vec![0u32; 9 * n]);
                let args = (&x[..], &y[..], &mut out[..], &mut holds[..]);
                $name.launch(&Device::simulator(target), Grid::x(n as u32 / 64), args).unwrap();
                for i in 0..n {
                    let ($x, $y) = (x[i], y[i]);
                    let wanted: [$t; 20] = $results;
                    for (k, wanted) in wanted.iter().enumerate() {
                        let got = out[k * n + i];
                        let same = got.to_bits() == wanted.to_bits()
                            || got.is_nan() && wanted.is_nan()
                            // Either of 0.0 and -0.0 may count as the smaller one.
                            || matches!(k, 6 | 7) && got == *wanted && x[i] == y[i]
                            || k == 18 && got == *wanted && (x[i] == y[i] || y[i] == <$t>::default());
                        // Signalling NaNs in the minimum and maximum: the hardware makes them quiet first.
                        let signalling = matches!(k, 6 | 7) && ($x.is_nan() || $y.is_nan());
                        assert!(same || signalling, "{target} {:e} {:e} result {k}: {got:e}, not {wanted:e}", $x, $y);
                    }
                    let (p, q) = ($x, $y);
                    let wanted = [
                        p.is_nan(), p.is_infinite(), p.is_finite(), p < q, p <= q, p > q, p >= q, p == q, p != q,
                    ];
                    for (k, wanted) in wanted.iter().enumerate() {
                        assert_eq!(holds[k * n + i] == 1, *wanted, "{target} {p:e} {q:e} condition {k}");
                    }
                }
            }
        }
    )*};
}

/// Rust's own operations for f32 and f64.
macro_rules! native {
    ($x:ident $y:ident) => {
        [
            $x + $y,
            $x - $y,
            $x * $y,
            $x / $y,
            -$x,
            $x.abs(),
            $x.min($y),
            $x.max($y),
            $x.sqrt(),
            $x.recip(),
            $x.floor(),
            $x.ceil(),
            $x.trunc(),
            $x.round(),
            $x.round_ties_even(),
            $x.fract(),
            $x.copysign($y),
            $x.signum(),
            if $x.is_nan() { $x } else { $x.max($y.min(-$y)).min($y.max(-$y)) },
            $x.mul_add($y, $x),
        ]
    };
}

/// 16-bit floats: in f64 sums and products are exact, and quotients and roots of 11 bits are far enough from ties.
macro_rules! through_f64 {
    ($t:ident $round:ident $x:ident $y:ident) => {{
        let (a, b) = ($x.to_f64(), $y.to_f64());
        let sign = if a.is_nan() { a } else { a.signum() };
        let clamped = if a.is_nan() { a } else { a.max(b.min(-b)).min(b.max(-b)) };
        // bf16 has no fused instruction: the result in f32 is rounded again.
        let fused = if stringify!($t) == "bf16" {
            f64::from((a as f32).mul_add(b as f32, a as f32))
        } else {
            a.mul_add(b, a)
        };
        [
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            a.abs(),
            a.min(b),
            a.max(b),
            a.sqrt(),
            1.0 / a,
            a.floor(),
            a.ceil(),
            a.trunc(),
            a.round(),
            a.round_ties_even(),
            a - a.trunc(),
            a.copysign(b),
            sign,
            clamped,
            fused,
        ]
        .map($round)
    }};
}

kernels! {
    f32 of_f32 f32_is_rusts |b| f32::from_bits((b ^ b >> 32) as u32), |x, y| native!(x y), f32;
    f64 of_f64 f64_is_rusts |b| f64::from_bits(b.rotate_left(b as u32 & 31)), |x, y| native!(x y), f64;
    f16 of_f16 f16_rounds_once |b| f16::from_bits(b as u16), |x, y| through_f64!(f16 f16_of x y), f64;
    bf16 of_bf16 bf16_rounds_once |b| bf16::from_bits(b as u16), |x, y| through_f64!(bf16 bf16_of x y), f64;
}
