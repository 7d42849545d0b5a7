//! In kernels, the functions of f32 have the same bits as the steps in `short_steps.rs` with correctly rounded
//! instructions, as in the simulator.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::short_steps::{FUNCTIONS, Hardware, power, powers};
use super::{TARGETS, bits, samples};

fn all(x: V<f32>) -> Vec<V<f32>> {
    let (sine, cosine) = x.sin_cos();
    vec![x.exp(), x.exp2(), x.exp_m1(), x.ln(), x.log2(), x.log10(), sine, cosine, x.tan(), x.tanh()]
}

gcn_kernel! {
    #[workgroup(64)]
    fn functions(x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let a = x[i];
        let p = comptime { all(a) };
        #[unroll] for k in 0..p.len() { out[i + k as u32 * x.len()] = p[k]; }
    }
}

#[test]
fn kernels_take_the_measured_steps() {
    let mut rng = Random::new(32);
    let mut x =
        vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 131_072.0, -131_071.99, 1e-40, -1e-40];
    x.resize_with(samples(16384), || match rng.below(3) {
        0 => f32::from_bits(bits(&mut rng) as u32),
        1 => (bits(&mut rng) as f64 / u64::MAX as f64 * 200.0 - 100.0) as f32,
        _ => ((bits(&mut rng) >> 44) as f64 * std::f64::consts::FRAC_PI_2) as f32,
    });
    let n = x.len();
    for target in TARGETS {
        let mut out = vec![0f32; FUNCTIONS.len() * n];
        functions.launch(&Device::simulator(target), Grid::x(n as u32 / 64), (&x, &mut out)).unwrap();
        for (k, function) in FUNCTIONS.iter().enumerate() {
            for (x, got) in x.iter().zip(&out[k * n..]) {
                let wanted = (function.steps)(*x, &mut Hardware::default());
                let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                assert!(same, "{target}: {}({x:e}) is {got:e}, not {wanted:e}", function.name);
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn raised(x: &[f32], y: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        out[i] = x[i].powf(y[i]);
    }
}

#[test]
fn powers_take_the_measured_steps() {
    let (mut x, mut y): (Vec<f32>, Vec<f32>) = powers(samples(16384)).into_iter().unzip();
    let n = x.len().next_multiple_of(64);
    x.resize(n, 1.5);
    y.resize(n, 2.5);
    for target in TARGETS {
        let mut out = vec![0f32; n];
        raised.launch(&Device::simulator(target), Grid::x(n as u32 / 64), (&x, &y, &mut out)).unwrap();
        for i in 0..n {
            let wanted = power(x[i], y[i], &mut Hardware::default());
            assert_eq!(out[i].to_bits(), wanted.to_bits(), "{target}: {:e}^{:e}", x[i], y[i]);
        }
    }
}
