//! Mathematical functions: the error in units of the last place, compared with the host's f64 functions.
//!
//! The bounds are those in the guide to types. The reference for f64 is the host's library, whose error is below one
//! unit; for shorter types it is as good as exact.

use gcn_dsl::lang::{Approximate, Float};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bf16_of, bits, f16_of, samples};

type Reference = (&'static str, fn(f64, f64) -> f64);

const FUNCTIONS: [Reference; 11] = [
    ("exp", |x, _| x.exp()),
    ("exp2", |x, _| x.exp2()),
    ("exp_m1", |x, _| x.exp_m1()),
    ("ln", |x, _| x.ln()),
    ("log2", |x, _| x.log2()),
    ("log10", |x, _| x.log10()),
    ("sin", |x, _| x.sin()),
    ("cos", |x, _| x.cos()),
    ("tan", |x, _| x.tan()),
    ("tanh", |x, _| x.tanh()),
    ("hypot", f64::hypot),
];

fn all<T: Float>(x: V<T>, y: V<T>) -> Vec<V<T>> {
    vec![
        x.exp(),
        x.exp2(),
        x.exp_m1(),
        x.ln(),
        x.log2(),
        x.log10(),
        x.sin(),
        x.cos(),
        x.tan(),
        x.tanh(),
        x.hypot(y),
    ]
}

type Function = fn(f64) -> f64;

const APPROXIMATE: [(&str, Function); 8] = [
    ("approx_exp2", f64::exp2),
    ("approx_log2", f64::log2),
    ("approx_exp", f64::exp),
    ("approx_ln", f64::ln),
    ("approx_recip", |x| 1.0 / x),
    ("approx_sqrt", f64::sqrt),
    ("approx_rsqrt", |x| 1.0 / x.sqrt()),
    ("powf", |x| x.abs().powf(1.5)),
];

fn approximate<T: Approximate>(x: V<T>, one_and_a_half: V<T>) -> Vec<V<T>> {
    vec![
        x.approx_exp2(),
        x.approx_log2(),
        x.approx_exp(),
        x.approx_ln(),
        x.approx_recip(),
        x.approx_sqrt(),
        x.approx_rsqrt(),
        x.abs().powf(one_and_a_half),
    ]
}

/// The distance of `got` from the exact `wanted` in units of the last place of a format with `digits` bits and
/// exponents from `least` on.
fn ulps(got: f64, wanted: f64, digits: i32, least: i32) -> f64 {
    if got.is_nan() && wanted.is_nan() || got == wanted {
        return 0.0;
    }
    if got.is_infinite() || wanted.is_infinite() || got.is_nan() || wanted.is_nan() {
        // Infinity is accepted if the exact result is within half a unit of the largest number or above it.
        let bound = 2f64.powi(2 - least);
        let near = |x: f64| x.abs() >= bound * (1.0 - 2f64.powi(-digits - 1));
        return if near(got) && near(wanted) && digits < 53 { 0.5 } else { f64::INFINITY };
    }
    let exponent = if wanted == 0.0 { least } else { (wanted.abs().log2().floor() as i32).max(least) };
    // Scaled in two steps, because the quantum of denormals is itself denormal.
    (got - wanted).abs() * 2f64.powi(500) / 2f64.powi(exponent - digits + 501)
}

macro_rules! kernels {
    ($($t:ident $name:ident $test:ident $digits:literal $least:literal $bounds:expr;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(x: &[$t], y: &[$t], out: &mut [$t]) {
                let i = global_id().x;
                let (a, b) = (x[i], y[i]);
                let p = comptime { all(a, b) };
                #[unroll] for k in 0..p.len() { out[i + k as u32 * x.len()] = p[k]; }
            }
        }

        #[test]
        fn $test() {
            let bounds: [f64; 11] = $bounds;
            let (x, y) = inputs::<$t>();
            let n = x.len();
            for target in TARGETS {
                let mut out = vec![<$t>::default(); 11 * n];
                $name.launch(&Device::simulator(target), Grid::x(n as u32 / 64), (&x, &y, &mut out)).unwrap();
                for (k, (function, reference)) in FUNCTIONS.iter().enumerate() {
                    let mut worst = (0.0, 0);
                    for i in 0..n {
                        let wanted = reference(x[i].wide(), y[i].wide());
                        let error = ulps(out[k * n + i].wide(), wanted, $digits, $least);
                        if error > worst.0 { worst = (error, i); }
                    }
                    let (error, i) = worst;
                    let at = format!("{function}({:e}, {:e}) = {:e}", x[i], y[i], out[k * n + i]);
                    println!("{target} {} {function}: {error:.3} ulp, {at}", stringify!($t));
                    assert!(error <= bounds[k], "{target}: {at} is off by {error} ulp");
                    if function == &"sin" || function == &"tanh" {
                        let zero = x.iter().position(|x| x.wide() == 0.0 && x.is_sign_negative()).unwrap();
                        assert!(out[k * n + zero].is_sign_negative(), "{function} keeps the sign of zero");
                    }
                }
            }
        }
    )*};
}

trait Wide {
    fn wide(self) -> f64;
    fn of(x: f64) -> Self;
    const BYTES: usize;
    fn from_raw(bits: u64) -> Self;
}
macro_rules! wide {
    ($($t:ident |$x:ident| $wide:expr, |$y:ident| $of:expr, |$b:ident| $raw:expr;)*) => {$(
        impl Wide for $t {
            fn wide(self) -> f64 { let $x = self; $wide }
            fn of($y: f64) -> $t { $of }
            const BYTES: usize = size_of::<$t>();
            fn from_raw($b: u64) -> $t { $raw }
        }
    )*};
}
wide! {
    f32 |x| f64::from(x), |x| x as f32, |b| f32::from_bits(b as u32);
    f64 |x| x, |x| x, |b| f64::from_bits(b);
    f16 |x| x.to_f64(), |x| f16_of(x), |b| f16::from_bits(b as u16);
    bf16 |x| x.to_f64(), |x| bf16_of(x), |b| bf16::from_bits(b as u16);
}

/// All 16-bit floats; of wider types random bits, numbers of ordinary size, and those near 0, 1 and multiples of pi /
/// 2.
fn inputs<T: Wide>() -> (Vec<T>, Vec<T>) {
    let mut rng = Random::new(T::BYTES as u64);
    let n = if T::BYTES == 2 { 65536 } else { samples(16384) };
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.5,
        2.0,
        1e-30,
        -1e30,
        710.0,
        -746.0,
        88.8,
    ];
    let mut make = |i: usize, all: bool| {
        let unit = bits(&mut rng) as f64 / u64::MAX as f64;
        if all && T::BYTES == 2 {
            return T::from_raw(i as u64);
        }
        match i % 8 {
            _ if i < special.len() => T::of(special[i]),
            0 | 1 => T::from_raw(bits(&mut rng).rotate_left(i as u32)),
            2 => T::of(1.0 + (unit - 0.5) / (1u64 << (i % 40)) as f64),
            3 => T::of((i as f64) * std::f64::consts::FRAC_PI_2),
            4 => T::of((unit - 0.5) * 2000.0),
            5 => T::of((unit - 0.5) * 3.0),
            _ => T::of((unit - 0.5) * 180.0),
        }
    };
    let x: Vec<T> = (0..n).map(|i| make(i, true)).collect();
    let y = (0..n).map(|i| make(i + 5, false)).collect();
    (x, y)
}

kernels! {
    f32 of_f32 f32_functions 24 -126
        [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.501];
    f16 of_f16 f16_functions 11 -14 [0.501; 11];
    bf16 of_bf16 bf16_functions 8 -126 [0.501; 11];
    f64 of_f64 f64_functions 53 -1022 [1.5, 1.5, 2.0, 2.5, 2.5, 2.5, 2.0, 2.0, 3.0, 4.0, 2.5];
}

gcn_kernel! {
    #[workgroup(64)]
    fn rough(x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let a = x[i];
        let p = comptime { approximate(a, gcn_dsl::lang::splat(1.5f32)) };
        #[unroll] for k in 0..p.len() { out[i + k as u32 * x.len()] = p[k]; }
    }
}

#[test]
fn approximations_of_f32() {
    let mut rng = Random::new(41);
    let n = samples(16384);
    let x: Vec<f32> =
        (0..n).map(|_| (bits(&mut rng) as f64 / u64::MAX as f64 * 80.0 + 1e-6) as f32).collect();
    for target in TARGETS {
        let mut out = vec![0f32; 8 * n];
        rough.launch(&Device::simulator(target), Grid::x(n as u32 / 64), (&x, &mut out)).unwrap();
        for (k, (function, reference)) in APPROXIMATE.iter().enumerate() {
            let error = |i: usize| ulps(f64::from(out[k * n + i]), reference(f64::from(x[i])), 24, -126);
            let worst = (0..n).max_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
            println!("{target} {function}: {:.3} ulp at {:e}", error(worst), x[worst]);
            // Two instructions: the argument of the exponential is rounded, and so is the logarithm near 1.
            let bound = match *function {
                "approx_exp" => 90.0,
                "approx_ln" => 2.5,
                "powf" => 2.0,
                _ => 1.0,
            };
            assert!(
                error(worst) <= bound,
                "{target} {function}({:e}) is off by {} ulp",
                x[worst],
                error(worst)
            );
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn powers(x: &[f32], y: &[f32], out: &mut [f32], square: &mut [f64]) {
        let i = global_id().x;
        out[i] = x[i].powf(y[i]);
        out[i + x.len()] = x[i].powi(-3);
        square[i] = (x[i] as f64).powi(2);
    }
}

#[test]
fn powers_have_rusts_special_cases() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e30,
        -1e-30,
        1.5,
    ];
    let (mut x, mut y): (Vec<f32>, Vec<f32>) =
        special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y))).unzip();
    let mut rng = Random::new(5);
    for _ in 0..samples(4096) {
        x.push(f32::from_bits(bits(&mut rng) as u32).abs());
        y.push((bits(&mut rng) as f64 / u64::MAX as f64 * 60.0 - 30.0) as f32);
    }
    let n = x.len();
    for target in TARGETS {
        let (mut out, mut square) = (vec![0f32; 2 * n], vec![0f64; n]);
        powers
            .launch(&Device::simulator(target), Grid::x(n as u32 / 64), (&x, &y, &mut out, &mut square))
            .unwrap();
        for i in 0..n {
            let wanted = f64::from(x[i]).powf(f64::from(y[i]));
            let error = ulps(f64::from(out[i]), wanted, 24, -126);
            assert!(error <= 2.0, "{target}: {:e}.powf({:e}) = {:e}, not {wanted:e}", x[i], y[i], out[i]);
            if i < special.len() * special.len() {
                let sign = x[i].powf(y[i]).is_sign_negative();
                assert!(out[i].is_nan() || out[i].is_sign_negative() == sign, "{} {}", x[i], y[i]);
            }
            let cube = 1.0 / (x[i] * x[i] * x[i]);
            let same = out[i + n] == cube || cube.is_nan() || (out[i + n] - cube).abs() <= cube.abs() * 1e-6;
            assert!(same, "{}: {} {cube}", x[i], out[i + n]);
            assert!(square[i] == f64::from(x[i]) * f64::from(x[i]) || x[i].is_nan());
        }
    }
}
