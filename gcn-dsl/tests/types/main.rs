//! Scalar types in the simulator against plain Rust: operators, methods, casts, mathematical functions.
//!
//! `GCN_FUZZ_COUNT` multiplies the random samples.

mod carried;
mod casts;
mod contract;
mod counts;
mod divisors;
mod eight;
mod floats;
mod folded;
mod halves;
mod integers;
mod math;
mod methods;
mod packed;
mod packing;
mod patterns;
mod powers;
mod remainder;
mod scalar_floats;
mod short;
mod short_steps;
mod small;
mod sums;

use gcn_dsl::prelude::Target;
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_count;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

/// How many samples to take where `thorough` are enough for a thorough run.
fn samples(thorough: usize) -> usize {
    (thorough * fuzz_count(4)).div_ceil(4).next_multiple_of(256)
}

/// Random bits: anything, few bits, runs of ones, near the ends.
fn bits(rng: &mut Random) -> u64 {
    let any = |rng: &mut Random| {
        (rng.below(1 << 22) as u64) << 44 | (rng.below(1 << 22) as u64) << 22 | rng.below(1 << 22) as u64
    };
    match rng.below(8) {
        0 => rng.below(16) as u64,
        1 => (rng.below(16) as u64).wrapping_neg(),
        2 => 1 << rng.below(64),
        3 => (1u64 << rng.below(64)).wrapping_sub(1 + rng.below(3) as u64),
        4 => any(rng) >> rng.below(64),
        5 => any(rng) << rng.below(64),
        _ => any(rng),
    }
}

/// `x` rounded once to a float of `digits` bits with exponents from `least`, ties to even; infinite beyond `most`.
///
/// The conversions from f64 of the crate `half` drop the low word before they round, so they are not a reference.
fn rounded(x: f64, digits: i32, least: i32, most: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // f64's own denormals are far below every quantum here.
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let quantum = 2f64.powi(exponent - digits + 1);
    let result = (x / quantum).round_ties_even() * quantum;
    if result.abs() > most { f64::INFINITY.copysign(x) } else { result }
}

fn f16_of(x: f64) -> half::f16 {
    half::f16::from_f64(rounded(x, 11, -14, 65504.0))
}

fn bf16_of(x: f64) -> half::bf16 {
    half::bf16::from_f64(rounded(x, 8, -126, half::bf16::MAX.to_f64()))
}

/// How many instructions of the kernel begin so.
fn instructions(kernel: &str, mnemonic: &str) -> usize {
    kernel.lines().filter(|line| line.trim_start().starts_with(mnemonic)).count()
}
