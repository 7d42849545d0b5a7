//! `%` of floats, which must equal Rust's own bit for bit.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bf16_of, bits, f16_of, samples};

/// Factors of a divisor: the remainder of a multiple is zero; near a multiple it is the smallest or the largest.
const FACTORS: [f64; 5] = [3.0, 1023.0, 1.0e6 + 1.0, 7.0e15, 0.75];

macro_rules! kernels {
    ($($t:ident $name:ident $test:ident |$b:ident| $raw:expr, |$w:ident| $of:expr, |$x:ident, $y:ident| $rest:expr;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(a: $t, x: &[$t], y: &[$t], out: &mut [$t], uniform: &mut [$t]) {
                let i = global_id().x;
                out[i] = x[i] % y[i];
                let mut rest = a;
                rest %= y[workgroup_id().x];
                uniform[workgroup_id().x] = rest;
            }
        }

        #[test]
        fn $test() {
            let raw = |$b: u64| -> $t { $raw };
            let of = |$w: f64| -> $t { $of };
            let mut special = vec![<$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, raw(1), raw(3), raw(0x7f)];
            let usual = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -360.0, 1e-3, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            special.extend(usual.map(of));
            let pairs = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y)));
            let (mut x, mut y): (Vec<$t>, Vec<$t>) = pairs.unzip();
            let mut rng = Random::new(stringify!($test).len() as u64);
            for i in 0..samples(8192) - x.len() {
                let mut any = || { let b = bits(&mut rng); raw(b.rotate_left(b as u32 & 31) ^ b >> 32) };
                let divisor = any();
                x.push(if i % 3 == 0 { of(FACTORS[i % 5] * f64::from(divisor)) } else { any() });
                y.push(divisor);
            }
            let n = x.len();
            for (t, target) in TARGETS.into_iter().enumerate() {
                let a = x[n - 1 - t];
                let (mut out, mut uniform) = (vec![<$t>::default(); n], vec![<$t>::default(); n / 64]);
                let args = (a, &x[..], &y[..], &mut out[..], &mut uniform[..]);
                $name.launch(&Device::simulator(target), Grid::x(n as u32 / 64), args).unwrap();
                let check = |$x: $t, $y: $t, got: $t| {
                    let wanted: $t = $rest;
                    let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                    assert!(same, "{target}: {:e} % {:e} = {got:e}, not {wanted:e}", $x, $y);
                };
                (0..n).for_each(|i| check(x[i], y[i], out[i]));
                (0..n / 64).for_each(|i| check(a, y[i], uniform[i]));
            }
        }
    )*};
}

kernels! {
    f32 of_f32 f32_remainders |b| f32::from_bits(b as u32), |w| w as f32, |x, y| x % y;
    f64 of_f64 f64_remainders_are_rusts |b| f64::from_bits(b), |w| w, |x, y| x % y;
    // f64 represents these numbers and their remainder exactly.
    f16 of_f16 f16_remainder |b| f16::from_bits(b as u16), |w| f16_of(w), |x, y| f16_of(x.to_f64() % y.to_f64());
    bf16 of_bf16 bf16_remains |b| bf16::from_bits(b as u16), |w| bf16_of(w), |x, y| bf16_of(x.to_f64() % y.to_f64());
}

gcn_kernel! {
    #[workgroup(64)]
    fn with_host(x: &mut [f32]) {
        let i = global_id().x;
        if i < 40 {
            x[i] = 1.0e30 % x[i] + x[i] % 1e-3;
        }
    }
}

/// Only some lanes are active, and each takes as many trips as it needs.
#[test]
fn where_lanes_have_left() {
    let x: Vec<f32> = (0..64).map(|i| 1.7f32.powi(i * 3 - 100)).collect();
    for target in TARGETS {
        let mut got = x.clone();
        with_host.launch(&Device::simulator(target), Grid::x(1), (&mut got,)).unwrap();
        for (i, (x, got)) in x.iter().zip(got).enumerate() {
            let wanted = if i < 40 { 1.0e30 % x + x % 1e-3 } else { *x };
            assert_eq!(got.to_bits(), wanted.to_bits(), "{target} {x:e}");
        }
    }
}
