//! Cross-lane functions in the simulator against plain Rust: every element type, random data, random active lanes.

mod grid;
mod mask;
mod reduce;
mod same;
mod sanitized;
mod shuffle;
mod workgroup;

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::Target;
use gcn_isa::WaveSize;
use gcn_test_support::Random;
use half::{bf16, f16};

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

/// The places where cross-lane functions consist of different instructions: each target of GFX9, and of RDNA one
/// without and one with an instruction that exchanges a wave's halves, in waves of both sizes.
fn places() -> Vec<(Target, WaveSize)> {
    let targets = TARGETS.into_iter().chain([Target::GFX1030, Target::GFX1100]);
    targets.flat_map(|target| target.wave_sizes().iter().map(move |wave| (target, *wave))).collect()
}

fn options(wave: WaveSize) -> BuildOptions {
    BuildOptions { wave: Some(wave), ..BuildOptions::default() }
}

/// An element type with test values.
trait Sample: Copy + PartialEq + std::fmt::Debug + Default {
    /// Any value, for moves between lanes.
    fn any(rng: &mut Random) -> Self;
    /// A value for sums: every sum of 1024 such values is exact.
    fn term(rng: &mut Random) -> Self;
    /// A value for products: every product of 1024 such values is exact.
    fn factor(rng: &mut Random) -> Self;
    /// Identities and operations, in the order of `OPS`.
    fn identity(op: usize) -> Self;
    fn apply(op: usize, a: Self, b: Self) -> Self;
}

fn bits(rng: &mut Random) -> u64 {
    (rng.below(1 << 22) as u64) << 44 | (rng.below(1 << 22) as u64) << 22 | rng.below(1 << 22) as u64
}

/// The operations are sum, product, min, max and, for integers, and, or, xor.
const FLOAT_OPS: usize = 4;

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn any(rng: &mut Random) -> $t { bits(rng) as $t }
            fn term(rng: &mut Random) -> $t { bits(rng) as $t }
            fn factor(rng: &mut Random) -> $t { bits(rng) as $t | 1 }
            fn identity(op: usize) -> $t { [0, 1, $t::MAX, $t::MIN, !0, 0, 0][op] }
            fn apply(op: usize, a: $t, b: $t) -> $t {
                match op {
                    0 => a.wrapping_add(b),
                    1 => a.wrapping_mul(b),
                    2 => a.min(b),
                    3 => a.max(b),
                    4 => a & b,
                    5 => a | b,
                    _ => a ^ b,
                }
            }
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

macro_rules! floats {
    ($($t:ident $make:expr;)*) => {$(
        impl Sample for $t {
            fn any(rng: &mut Random) -> $t { $make(rng.below(4000) as f32 / 4.0 - 300.0) }
            fn term(rng: &mut Random) -> $t { $make(rng.below(3) as f32 - 1.0) }
            fn factor(rng: &mut Random) -> $t { $make(if rng.one_in(3) { -1.0 } else { 1.0 }) }
            fn identity(op: usize) -> $t { $make([-0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY][op]) }
            fn apply(op: usize, a: $t, b: $t) -> $t {
                match op {
                    0 => a + b,
                    1 => a * b,
                    2 => if a < b { a } else { b },
                    _ => if a > b { a } else { b },
                }
            }
        }
    )*};
}
floats! { f32 |x: f32| x; f64 |x: f32| f64::from(x); f16 f16::from_f32; bf16 bf16::from_f32; }

/// The expected results in the lanes of one segment: the reduction of all, the inclusive scan, the exclusive scan.
fn expected<T: Sample>(op: usize, values: &[T], active: &[bool]) -> Vec<[T; 3]> {
    let mut running = T::identity(op);
    let mut out = Vec::new();
    for (value, active) in values.iter().zip(active) {
        let before = running;
        if *active {
            running = T::apply(op, running, *value);
        }
        out.push([T::default(), running, before]);
    }
    out.iter_mut().for_each(|lane| lane[0] = running);
    out
}

/// Random active lanes: all, few, many, one, whole rows.
fn masks(rng: &mut Random, lanes: usize, round: usize) -> Vec<bool> {
    let one = rng.below(64);
    (0..lanes)
        .map(|i| match round % 6 {
            0 => true,
            1 => rng.one_in(8) || i % 64 == one,
            2 => !rng.one_in(8),
            3 => i % 64 == one,
            4 => i / 16 % 2 == 1,
            _ => rng.one_in(2),
        })
        .collect()
}
