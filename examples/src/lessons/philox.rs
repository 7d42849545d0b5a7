//! Lesson 18: random numbers without a state.
//!
//! Philox is a pure function: from a 128-bit counter and a 64-bit key it computes 128 random bits, in ten rounds of two
//! multiplications. Lane i computes number i of the sequence without the others, and the same counter gives the same
//! numbers on every machine, so a run is repeatable.
//!
//! The rounds are written in Rust: an array of four device values, and an `#[unroll] for` that is executed ten times
//! when the kernel is built. The array is not in memory: each of its elements is a register, and its indices are
//! numbers on the host.
//!
//! A product of two u32 has 64 bits, so the factors are widened first: `x as u64 * y as u64`.
//!
//! Random123, the library of the method's authors, publishes the results for some counters and keys; three of the sizes
//! below are these.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::{Comparison, Lesson, Outcome, Size};

/// The multipliers of Philox4x32.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The increments of the key from round to round.
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// The number of rounds.
const ROUNDS: u32 = 10;
/// Lanes of a workgroup.
const LANES: u32 = 256;

gcn_kernel! {
    /// Four words for each lane: Philox4x32-10 of the counter (c0 + i, c1, c2, c3) and the key (k0, k1).
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn philox(c0: u32, c1: u32, c2: u32, c3: u32, k0: u32, k1: u32, words: &mut [u32]) {
        let i = global_id().x;
        let mut c = [c0 + i, splat(c1), splat(c2), splat(c3)];
        #[unroll]
        for round in 0..ROUNDS {
            let (low, high) = (c[0] as u64 * FACTORS[0] as u64, c[2] as u64 * FACTORS[1] as u64);
            let key = [k0 + comptime { round.wrapping_mul(STEPS[0]) }, k1 + comptime { round.wrapping_mul(STEPS[1]) }];
            c = [
                (high >> 32) as u32 ^ c[1] ^ key[0],
                high as u32,
                (low >> 32) as u32 ^ c[3] ^ key[1],
                low as u32,
            ];
        }
        words.store_vector::<4>(4 * i, Vector::from(c));
    }
}

/// Philox4x32-10 of one counter and key, on the host.
pub fn reference(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let product = |k: usize, x: u32| u64::from(FACTORS[k]) * u64::from(x);
    (0..ROUNDS).fold(counter, |c, round| {
        let (low, high) = (product(0, c[0]), product(1, c[2]));
        let key: [u32; 2] = std::array::from_fn(|k| key[k].wrapping_add(round.wrapping_mul(STEPS[k])));
        [(high >> 32) as u32 ^ c[1] ^ key[0], high as u32, (low >> 32) as u32 ^ c[3] ^ key[1], low as u32]
    })
}

/// Counters, keys and results from Random123 1.14, `tests/kat_vectors`, the lines `philox4x32 10`.
const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
    ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

/// The lesson; sizes are the number of lanes, and the index of the known result for lane 0.
pub const LESSON: Lesson = Lesson {
    name: "philox",
    build_with: |target, options| philox.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 0]), Size(&[100, 1]), Size(&[5000, 2])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (n, (c, k, answer)) = (size.0[0], KNOWN[size.0[1] as usize]);
    let mut words = vec![0; 4 * n as usize];
    let args = (c[0], c[1], c[2], c[3], k[0], k[1], &mut words[..]);
    let stats = device.launch(&philox, kernel, Grid::x(n.div_ceil(LANES)), args)?;
    let want: Vec<u32> =
        (0..n).flat_map(|i| reference([c[0].wrapping_add(i), c[1], c[2], c[3]], k)).collect();
    let comparison = Comparison::of(&words, &want).and(Comparison::of(&words[..4], &answer));
    Ok(Outcome { stats, comparison })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_gives_the_known_answers() {
        for (counter, key, answer) in KNOWN {
            assert_eq!(reference(counter, key), answer);
        }
    }
}
