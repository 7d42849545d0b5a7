//! `powf` of f64 against exact products.
//!
//! For `g = x^y` and `y = n / 2^j`, `g^(2^j) = x^n`. Both sides are products, which numbers of 128 bits represent with
//! an error below 2^-127. So their difference gives the error of `g` without any logarithm.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, samples};

/// A positive number: a fraction with its highest bit set, times a power of two.
#[derive(Clone, Copy)]
struct Big {
    fraction: u128,
    exponent: i128,
}

impl Big {
    fn of(x: f64) -> Big {
        let field = x.to_bits() >> 52 & 0x7ff;
        let low = u128::from(x.to_bits() & ((1 << 52) - 1));
        let (fraction, exponent) =
            if field == 0 { (low, -1074) } else { (low | 1 << 52, i128::from(field) - 1075) };
        let shift = fraction.leading_zeros();
        Big { fraction: fraction << shift, exponent: exponent - i128::from(shift) }
    }

    fn times(self, other: Big) -> Big {
        let mask = (1u128 << 64) - 1;
        let ([a1, a0], [b1, b0]) = [self.fraction, other.fraction].map(|x| [x >> 64, x & mask]).into();
        let (first, outer, inner) = (a0 * b0, a0 * b1, a1 * b0);
        let middle = (first >> 64) + (outer & mask) + (inner & mask);
        let high = a1 * b1 + (outer >> 64) + (inner >> 64) + (middle >> 64);
        let low = middle & mask;
        let exponent = self.exponent + other.exponent + 128;
        if high >> 127 == 1 {
            return Big { fraction: high, exponent };
        }
        Big { fraction: high << 1 | low >> 63, exponent: exponent - 1 }
    }

    fn power(self, mut n: u64) -> Big {
        let (mut result, mut square) = (Big::of(1.0), self);
        while n > 0 {
            if n & 1 == 1 {
                result = result.times(square);
            }
            (n, square) = (n >> 1, square.times(square));
        }
        result
    }

    /// `self / other - 1`, for two numbers that are almost equal.
    fn relative(self, other: Big) -> f64 {
        // Shifted to the same exponent and down by two bits, so that the difference has space for a sign.
        let (a, b) = match self.exponent - other.exponent {
            0 => (self.fraction >> 2, other.fraction >> 2),
            1 => (self.fraction >> 1, other.fraction >> 2),
            -1 => (self.fraction >> 2, other.fraction >> 1),
            _ => return f64::INFINITY,
        };
        (a as i128 - b as i128) as f64 / b as f64
    }
}

/// The error of `got` as an approximation of `x^(n / 2^j)`, in units of its last place.
fn error(x: f64, n: i64, j: u32, got: f64) -> f64 {
    let power = Big::of(x).power(n.unsigned_abs());
    let whole = Big::of(got).power(1 << j);
    let ratio = if n < 0 { whole.times(power).relative(Big::of(1.0)) } else { whole.relative(power) };
    // From the error of the power to that of `got`.
    let relative = (ratio.ln_1p() / (1u64 << j) as f64).exp_m1();
    let exponent = ((got.to_bits() >> 52) as i32 - 1023).max(-1022);
    relative.abs() * (got / 2f64.powi(exponent)) * 2f64.powi(52)
}

gcn_kernel! {
    #[workgroup(64)]
    fn powers(x: &[f64], y: &[f64], by: f64, out: &mut [f64], uniform: &mut [f64]) {
        let i = global_id().x;
        out[i] = x[i].powf(y[i]);
        uniform[workgroup_id().x] = x[workgroup_id().x].powf(by);
    }
}

fn run(target: Target, x: &[f64], y: &[f64]) -> Vec<f64> {
    let (mut out, mut uniform) = (vec![0.0; x.len()], vec![0.0; x.len() / 64]);
    let args = (x, y, y[0], &mut out[..], &mut uniform[..]);
    powers.launch(&Device::simulator(target), Grid::x(x.len() as u32 / 64), args).unwrap();
    assert_eq!(uniform[0].to_bits(), out[0].to_bits());
    out
}

#[test]
fn f64_powers_are_within_their_bound() {
    let mut rng = Random::new(11);
    let count = samples(8192);
    let (mut x, mut y, mut exact) = (Vec::new(), Vec::new(), Vec::new());
    while x.len() < count {
        let unit = bits(&mut rng) as f64 / u64::MAX as f64;
        let any = f64::from_bits(bits(&mut rng).rotate_left(x.len() as u32) & !(1 << 63));
        let base = match rng.below(5) {
            0 => 1.0 + (unit - 0.5) / (1u64 << rng.below(40)) as f64,
            1 => unit * 10.0,
            2 => f64::from(rng.below(1000) as u32),
            _ => any,
        };
        let j = [0, 0, 1, 2, 10, 20, 30][rng.below(7)];
        // As large as the result allows, or smaller.
        let most = (740.0 / base.ln().abs()).min(1e15) * (1u64 << j) as f64;
        let n = (most * if rng.one_in(2) { unit } else { 1.0 / (1 << rng.below(30)) as f64 }) as i64;
        let n = if rng.one_in(2) { n } else { -n };
        let power = n as f64 / (1u64 << j) as f64;
        let whole = n.unsigned_abs() < 1 << 53 && power.abs() > 0.0;
        if base > 0.0 && base.is_finite() && base != 1.0 && whole {
            x.push(base);
            y.push(power);
            exact.push((n, j));
        }
    }
    for target in TARGETS {
        let out = run(target, &x, &y);
        let (mut worst, mut least) = ((0.0, 0), (0.0, 0));
        for (i, got) in out.iter().enumerate() {
            let (n, j) = exact[i];
            if *got == 0.0 || got.is_infinite() {
                let log = x[i].ln() * y[i];
                assert!(log.abs() > 709.7 && (*got == 0.0) == (log < 0.0), "{:e}^{:e} = {got:e}", x[i], y[i]);
                continue;
            }
            // The first-order approximation is not valid for roots that are denormal.
            if *got < f64::MIN_POSITIVE && j > 1 {
                continue;
            }
            let off = error(x[i], n, j, *got);
            let side = if *got < f64::MIN_POSITIVE { &mut least } else { &mut worst };
            if off > side.0 {
                *side = (off, i);
            }
        }
        for ((off, i), bound) in [(worst, 0.575), (least, 0.575)] {
            println!("{target}: {:e}^{:e} = {:e} is off by {off:.4} ulp", x[i], y[i], out[i]);
            assert!(off <= bound, "{target}: {:e}^{:e} = {:e} is off by {off} ulp", x[i], y[i], out[i]);
        }
    }
}

#[test]
fn f64_powers_that_are_f64_are_exact() {
    let mut cases: Vec<[f64; 3]> = Vec::new();
    for base in 2..3000u64 {
        for n in 1..54u32 {
            if base.checked_pow(n).is_some_and(|p| p < 1 << 53) {
                let (x, y, power) = (base as f64, f64::from(n), base.pow(n) as f64);
                let negative = if n & 1 == 1 { -power } else { power };
                cases.extend([[x, y, power], [-x, y, negative], [power, 0.5, power.sqrt()]]);
            }
        }
    }
    cases.resize(cases.len().next_multiple_of(64), [1.0; 3]);
    let [x, y, wanted] = [0, 1, 2].map(|i| cases.iter().map(|c| c[i]).collect::<Vec<f64>>());
    for target in TARGETS {
        let out = run(target, &x, &y);
        for i in 0..x.len() {
            // The error of roots that are not integers is tested elsewhere.
            let root = y[i] == 0.5 && wanted[i].fract() != 0.0;
            assert!(
                root || out[i] == wanted[i],
                "{target}: {}^{} = {}, not {}",
                x[i],
                y[i],
                out[i],
                wanted[i]
            );
        }
    }
}

#[test]
fn f64_powers_have_rusts_special_cases() {
    let mut special =
        vec![0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 1e-320, 1e300, 4503599627370497.0, 9007199254740993.0];
    special.extend([
        f64::INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        1e-30,
    ]);
    let negated: Vec<f64> = special.iter().map(|x| -x).collect();
    special.extend(negated);
    special.extend([f64::NAN, -f64::NAN]);
    let (mut x, mut y): (Vec<f64>, Vec<f64>) =
        special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y))).unzip();
    for list in [&mut x, &mut y] {
        list.resize(list.len().next_multiple_of(64), 1.0);
    }
    for target in TARGETS {
        for (i, got) in run(target, &x, &y).into_iter().enumerate() {
            let wanted = x[i].powf(y[i]);
            let near = (got - wanted).abs() <= wanted.abs() * f64::EPSILON;
            let same = got.is_nan() && wanted.is_nan()
                || (got == wanted || near && wanted.is_normal())
                    && got.is_sign_negative() == wanted.is_sign_negative();
            assert!(same, "{target}: {:e}.powf({:e}) = {got:e}, not {wanted:e}", x[i], y[i]);
        }
    }
}
