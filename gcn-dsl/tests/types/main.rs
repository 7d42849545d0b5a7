//! Scalar types in the simulator, compared with plain Rust: operators, methods, casts, mathematical functions.
//!
//! `GCN_FUZZ_COUNT` multiplies the number of random samples.

mod carried;
mod casts;
mod contract;
mod counts;
mod divisors;
mod eight;
mod floats;
mod folded;
mod halves;
mod integer_sums;
mod integers;
mod known;
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

/// The number of samples in this run, if `thorough` are enough for a thorough run.
fn samples(thorough: usize) -> usize {
    (thorough * fuzz_count(4)).div_ceil(4).next_multiple_of(256)
}

/// Random bits: arbitrary ones, few set bits, runs of ones, and numbers near the ends of the range.
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

/// `x` rounded once to a float with `digits` bits and exponents from `least` on, ties to even; infinite above `most`.
///
/// The conversions from f64 of the crate `half` discard the low word before they round, so they cannot be the
/// reference.
fn rounded(x: f64, digits: i32, least: i32, most: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // The denormals of f64 are far below every quantum here.
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

/// The number of instructions of the kernel that start with `mnemonic`.
fn instructions(kernel: &str, mnemonic: &str) -> usize {
    kernel.lines().filter(|line| line.trim_start().starts_with(mnemonic)).count()
}
