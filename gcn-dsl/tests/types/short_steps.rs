//! The error of the functions of f32 over their arguments, if the results of `v_exp_f32`, `v_log_f32` and `v_rcp_f32`
//! are off by up to one unit of the last place, which is what AMD's manual guarantees.
//!
//! The steps of `gcn_dsl`'s functions are repeated here in the host's arithmetic (`short.rs` compares their bits with
//! those of the kernels). As the result of the hardware, both f32 neighbours of the exact value are tried: other
//! results within a unit are between these. The reference is the host's f64 function, whose error is negligible. `cargo
//! test --release -p gcn-dsl-tests --test types every_f32 -- --ignored --nocapture` tests all 2^32 arguments; its
//! output is in the guide to types. For functions that are odd or even, like their steps, it tests only the positive
//! half.

/// Which of the two possible results each instruction gives, from first to last.
#[derive(Default)]
pub(crate) struct Hardware {
    choices: u32,
    asked: u32,
}

impl Hardware {
    fn give(&mut self, f: fn(f64) -> f64, x: f32) -> f32 {
        let exact = f(f64::from(flushed(x)));
        let near = exact as f32;
        let other = self.choices >> self.asked & 1 == 1 && near.is_finite() && f64::from(near) != exact;
        self.asked += 1;
        flushed(match f64::from(near) < exact {
            _ if !other => near,
            true => near.next_up(),
            false => near.next_down(),
        })
    }

    fn exp2(&mut self, x: f32) -> f32 {
        self.give(f64::exp2, x)
    }

    fn log2(&mut self, x: f32) -> f32 {
        self.give(f64::log2, x)
    }

    fn recip(&mut self, x: f32) -> f32 {
        self.give(|x| 1.0 / x, x)
    }
}

fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x }
}

pub(crate) struct Function {
    pub(crate) name: &'static str,
    exact: fn(f64) -> f64,
    pub(crate) steps: fn(f32, &mut Hardware) -> f32,
    /// The number of instructions that are off by up to one unit.
    rough: u32,
    /// True for odd and even functions.
    symmetric: bool,
}

#[rustfmt::skip]
pub(crate) const FUNCTIONS: [Function; 10] = [
    Function { name: "exp", exact: f64::exp, steps: exp, rough: 1, symmetric: false },
    Function { name: "exp2", exact: f64::exp2, steps: exp2, rough: 1, symmetric: false },
    Function { name: "exp_m1", exact: f64::exp_m1, steps: exp_m1, rough: 0, symmetric: false },
    Function { name: "ln", exact: f64::ln, steps: |x, h| natural(x, h, LN), rough: 1, symmetric: false },
    Function { name: "log2", exact: f64::log2, steps: log2, rough: 1, symmetric: false },
    Function { name: "log10", exact: f64::log10, steps: |x, h| natural(x, h, LOG10), rough: 1, symmetric: false },
    Function { name: "sin", exact: f64::sin, steps: |x, _| sin_cos(x).0, rough: 0, symmetric: true },
    Function { name: "cos", exact: f64::cos, steps: |x, _| sin_cos(x).1, rough: 0, symmetric: true },
    Function { name: "tan", exact: f64::tan, steps: tan, rough: 1, symmetric: true },
    Function { name: "tanh", exact: f64::tanh, steps: tanh, rough: 2, symmetric: true },
];

const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, f32::from_bits(0x32a5_7060)];
/// The logarithms of 2 and of e to some base, each in two parts.
type Base = [u32; 4];
const LN: Base = [0x3f31_7200, 0x35bf_be8e, 0x3f80_0000, 0];
const LOG10: Base = [0x3e9a_2000, 0x369a_84fc, 0x3ede_5bd9, 0xb22d_91af];
const FRAC_PI_2: [u32; 3] = [0x3fc9_0fda, 0x33a2_2168, 0x27c2_34c5];

fn polynomial<const N: usize>(x: f32, coefficients: [u32; N]) -> f32 {
    let high_first = coefficients.into_iter().rev().map(f32::from_bits);
    high_first.reduce(|sum, c| sum.mul_add(x, c)).unwrap()
}

fn ldexp(x: f32, by: i32) -> f32 {
    (f64::from(x) * 2f64.powi(by.clamp(-400, 400))) as f32
}

fn exp2(x: f32, hardware: &mut Hardware) -> f32 {
    if x < -126.0 { ldexp(hardware.exp2(x + 64.0), -64) } else { hardware.exp2(x) }
}

fn exp(x: f32, hardware: &mut Hardware) -> f32 {
    let high = x * LOG2_E[0];
    let low = x.mul_add(LOG2_E[1], x.mul_add(LOG2_E[0], -high));
    let k = high.round_ties_even();
    let r = if x.abs() > 1000.0 { x } else { (high - k) + low };
    ldexp(hardware.exp2(r), k as i32)
}

fn nearest(x: f32, factor: f32) -> (f32, u32) {
    let sum = x.mul_add(factor, 12_582_912.0);
    (sum - 12_582_912.0, sum.to_bits())
}

#[expect(clippy::manual_clamp, reason = "NaN becomes a number, as in the kernel")]
fn exp_m1(x: f32, _: &mut Hardware) -> f32 {
    let inside = x.max(-17.5).min(89.0);
    let (k, bits) = nearest(inside, LOG2_E[0]);
    let r = (-k).mul_add(f32::from_bits(0xb102_e308), (-k).mul_add(std::f32::consts::LN_2, inside));
    let p = polynomial(r, [0x3f00_0000, 0x3e2a_aa6e, 0x3d2a_aa8c, 0x3c09_065d, 0x3ab6_892a]);
    let tail = (r * r).mul_add(p, r);
    let power = f32::from_bits((bits << 23).wrapping_add(126 << 23));
    let half = power.mul_add(tail, power - 0.5);
    if x.is_nan() || x == 0.0 { x } else { half + half }
}

fn log2(x: f32, hardware: &mut Hardware) -> f32 {
    if x < f32::MIN_POSITIVE { hardware.log2(ldexp(x, 32)) - 32.0 } else { hardware.log2(x) }
}

fn natural(x: f32, hardware: &mut Hardware, base: Base) -> f32 {
    if !x.is_finite() || x <= 0.0 {
        // The logarithm of the fraction, which is not denormal.
        return hardware.log2(if x < 0.0 { -0.5 } else { x });
    }
    let near = x * std::f32::consts::FRAC_1_SQRT_2;
    let (size, up) = if near < f32::MIN_POSITIVE { (near * 2f32.powi(64), 64) } else { (near, 0) };
    let e = (size.to_bits() >> 23) as i32 - 126 - up;
    let (m, e) = (ldexp(x, -e), e as f32);
    let f = m - 1.0;
    let s = f * hardware.recip(m + 1.0);
    let s2 = s * s;
    let rest = s * s2.mul_add(polynomial(s2, [0x3f2a_aaae, 0x3ecc_bdfb, 0x3e97_783c]), -f);
    let [two, two_low, scale, scale_low] = base.map(f32::from_bits);
    let low = if scale_low == 0.0 {
        e.mul_add(two_low, rest)
    } else {
        rest.mul_add(scale, e.mul_add(two_low, f * scale_low))
    };
    e.mul_add(two, f.mul_add(scale, low))
}

fn tanh(x: f32, hardware: &mut Hardware) -> f32 {
    let (size, x2) = (x.abs(), x * x);
    let p = polynomial(x2, [0xbeaa_aaaa, 0x3e08_87d3, 0xbd5c_d91d, 0x3cb0_4d8e, 0xbbfd_7161, 0x3ae7_1058]);
    let power = hardware.exp2(size * (2.0 * LOG2_E[0]));
    let far = hardware.recip(power + 1.0).mul_add(-2.0, 1.0);
    let near = (size * x2).mul_add(p, size);
    (if size < 0.8 { near } else { far }).copysign(x)
}

/// 2/pi in binary, 256 bits after the point: the constant's digits as in `v_trig_preop_f64`.
const TWO_OVER_PI: [u64; 4] =
    [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561];

/// The quadrant of a large finite angle, and the remainder. The product with 2/pi modulo 4 has 126 bits after the
/// point.
fn large(x: f32) -> (u32, f64) {
    let field = x.to_bits() >> 23 & 0xff;
    let fraction = u128::from(x.to_bits() & 0x7f_ffff | 0x80_0000);
    // The first bit of 2/pi whose product with the last bit of the fraction is below 4.
    let first = field as i32 - 150 - 2;
    let bit = |i: i32| if i < 0 { 0 } else { TWO_OVER_PI[i as usize / 64] >> (63 - i % 64) & 1 };
    let window = (first..first + 128).fold(0u128, |w, i| w << 1 | u128::from(bit(i)));
    let product = window.wrapping_mul(fraction);
    let rest = (product << 2) as i128;
    let n = (product >> 126) as u32 + u32::from(rest < 0);
    let r = rest as f64 * 2f64.powi(-128) * std::f64::consts::FRAC_PI_2;
    if x < 0.0 { (n.wrapping_neg(), -r) } else { (n, r) }
}

fn sin_cos(x: f32) -> (f32, f32) {
    let (k, n) = nearest(x, std::f32::consts::FRAC_2_PI);
    let [first, second, third] = FRAC_PI_2.map(f32::from_bits);
    let r = (-k).mul_add(third, (-k).mul_add(second, (-k).mul_add(first, x)));
    let (n, r) = match x.abs() >= 131_072.0 {
        true if x.is_infinite() => (0, f32::NAN),
        true => (large(x).0, large(x).1 as f32),
        false => (n, r),
    };
    let r2 = r * r;
    let sine = (r.abs() * r2).mul_add(polynomial(r2, [0xbe2a_aaa9, 0x3c08_85fb, 0xb94d_5743]), r.abs());
    let inner = r2.mul_add(polynomial(r2, [0x3d2a_aaaa, 0xbab6_0955, 0x37cd_e16a]), -0.5);
    let cosine = r2.mul_add(inner, 1.0);
    let turned =
        |x: f32, sign: u32, n: u32| f32::from_bits(x.to_bits() & !(1 << 31) | (sign ^ n << 30) & 1 << 31);
    let sign = r.to_bits();
    if n & 1 == 1 {
        (turned(cosine, 0, n), turned(sine, sign, n.wrapping_add(1)))
    } else {
        (turned(sine, sign, n), turned(cosine, 0, n.wrapping_add(1)))
    }
}

fn tan(x: f32, hardware: &mut Hardware) -> f32 {
    let (k, n) = nearest(x, std::f32::consts::FRAC_2_PI);
    let [first, second, third] = FRAC_PI_2.map(f32::from_bits);
    let near = (-k).mul_add(first, x);
    let far = k * second;
    let lost = k.mul_add(third, k.mul_add(second, -far));
    let r = near - far;
    let (n, r, less) = match x.abs() >= 131_072.0 {
        true if x.is_infinite() => (0, f32::NAN, 0.0),
        true => {
            let (n, exact) = large(x);
            (n, exact as f32, (f64::from(exact as f32) - exact) as f32)
        }
        false => (n, r, (r - near) + far + lost),
    };
    let r2 = r * r;
    let c = [0x3eaa_aaab, 0x3e08_8839, 0x3d5d_2cd6, 0x3cb0_e7ae, 0x3c24_b6f3, 0x3a88_72b2, 0x3b80_b5c5];
    let rest = (r * r2).mul_add(polynomial(r2, c), -less);
    let t = r + rest;
    let low = rest - (t - r);
    let inverse = hardware.recip(t);
    let error = (-low).mul_add(inverse, (-t).mul_add(inverse, 1.0));
    if n & 1 == 1 { -error.mul_add(inverse, inverse) } else { t }
}

/// `a + b`, and the rounding error of the sum.
fn sum(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `x^y` for a positive `x`.
pub(crate) fn power(x: f32, y: f32, hardware: &mut Hardware) -> f32 {
    // Denormals are scaled first, which is exact.
    let (size, up) = if x < f32::MIN_POSITIVE { (x * 2f32.powi(64), 64) } else { (x, 0) };
    let m = f32::from_bits(size.to_bits() & 0x7f_ffff | 0x3f00_0000);
    let e = (size.to_bits() >> 23) as i32 - 126 - up;
    let (c, log) = match m {
        _ if m < 0.561_231 => (0.5, -1.0),
        _ if m < std::f32::consts::FRAC_1_SQRT_2 => {
            (f32::from_bits(0x3f21_0007), f32::from_bits(0xbf2b_48f8))
        }
        _ if m < 0.890_898_7 => (f32::from_bits(0x3f4a_ea2d), f32::from_bits(0xbeab_a885)),
        _ => (1.0, 0.0),
    };
    let (difference, (total, lost)) = (m - c, sum(c, m));
    let inverse = hardware.recip(total);
    let s = difference * inverse;
    let rest = inverse * (-s).mul_add(lost, (-s).mul_add(total, difference));
    let s2 = s * s;
    let rest = rest.mul_add(s2, rest);
    let rest = s.mul_add(s2 * polynomial(s2, [0x3eaa_aaab, 0x3e4c_cccd, 0x3e12_4925]), rest);
    let [scale, scale_low] = [0x4038_aa3b, 0x3325_7060].map(f32::from_bits);
    let near = s * scale;
    let low = rest.mul_add(scale, s.mul_add(scale_low, s.mul_add(scale, -near)));
    let (whole, lost) = sum(e as f32, log);
    let (log, lost_too) = sum(whole, near);
    let low = low + lost + lost_too;
    let within = y.clamp(-17_179_869_184.0, 17_179_869_184.0);
    let high = within * log;
    let low = within.mul_add(low, within.mul_add(log, -high));
    let k = high.round_ties_even();
    let r = ((high - k) + low).clamp(-2.0, 2.0);
    ldexp(hardware.exp2(r), k as i32)
}

/// The distance in units of the last place of the exact result.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got.is_nan() && exact.is_nan() || f64::from(got) == exact || got == rounded && got.is_infinite() {
        return 0.0;
    }
    if got.is_nan() || exact.is_nan() || exact.is_infinite() {
        return f64::INFINITY;
    }
    // Infinity counts as the power of two after the largest number.
    let got = if got.is_infinite() { f64::from(got.signum()) * 2f64.powi(128) } else { f64::from(got) };
    let exponent = i64::from((exact.abs().to_bits() >> 52) as u32) - 1023;
    let unit = exponent.clamp(-126, 127) - 23;
    (got - exact).abs() * f64::from_bits(((1023 - unit) as u64) << 52)
}

/// The largest error of `function` over the arguments from `first` on in steps of `step`, and the argument with that
/// error.
fn worst(function: &Function, first: u32, step: u32) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut bits = Some(first);
    while let Some(now) = bits.filter(|now| !function.symmetric || now >> 31 == 0) {
        let x = f32::from_bits(now);
        let exact = (function.exact)(f64::from(x));
        for choices in 0..1 << function.rough {
            let error = ulps((function.steps)(x, &mut Hardware { choices, asked: 0 }), exact);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        bits = now.checked_add(step);
    }
    worst
}

fn check(step: u32) {
    for function in &FUNCTIONS {
        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let (error, at) = std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads)
                .map(|first| scope.spawn(move || worst(function, first * step, threads * step)))
                .collect();
            let parts = parts.into_iter().map(|part| part.join().unwrap());
            parts.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
        });
        println!("{}: {error:.4} ulp at {at:e}", function.name);
        assert!(error <= 2.0, "{}({at:e}) is off by {error} ulp", function.name);
    }
}

#[test]
fn a_sample_of_f32() {
    check(16411);
}

#[test]
#[ignore = "all 2^32 arguments of ten functions take half an hour; the test above takes a sample"]
fn every_f32() {
    check(1);
}

/// Bases and exponents whose powers have any size; most are near the ends of the range, where errors are largest.
pub(crate) fn powers(count: usize) -> Vec<(f32, f32)> {
    let mut rng = gcn_test_support::Random::new(33);
    let mut unit = || super::bits(&mut rng) as f64 / u64::MAX as f64;
    let pair = |i: usize| {
        let x = match i % 4 {
            0 => f32::from_bits((unit() * f64::from(0x7f80_0000)) as u32),
            1 => (1.0 + (unit() - 0.5) / (1u64 << (i / 4 % 23)) as f64) as f32,
            _ => (0.5 + 1.5 * unit()) as f32,
        };
        let log = f64::from(x).log2().abs().max(1e-9);
        let most = if i.is_multiple_of(3) { unit() * 150.0 } else { 120.0 + unit() * 30.0 };
        (x, if (i / 4).is_multiple_of(2) { most / log } else { -most / log } as f32)
    };
    (0..count).map(pair).filter(|(x, _)| *x > 0.0).collect()
}

#[test]
fn powers_of_f32() {
    let mut worst = (0.0, (0.0, 0.0));
    for (x, y) in powers(super::samples(1 << 18)) {
        let exact = f64::from(x).powf(f64::from(y));
        for choices in 0..4 {
            let error = ulps(power(x, y, &mut Hardware { choices, asked: 0 }), exact);
            if error > worst.0 {
                worst = (error, (x, y));
            }
        }
    }
    let (error, (x, y)) = worst;
    println!("powf: {error:.4} ulp at {x:e}, {y:e}");
    assert!(error <= 2.0, "{x:e}^{y:e} is off by {error} ulp");
}
