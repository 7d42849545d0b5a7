//! Kernels as people port them from CUDA, compared with plain Rust. They were written from the README and the guide,
//! before the DSL had all the features that they use.

mod blocks;
#[path = "../devices.rs"]
mod devices;
mod generic;
mod images;
mod norms;
mod random;
mod reductions;
mod scans;
mod sorting;
mod sparse;
mod tables;

use devices::everywhere;

/// Pseudo-random numbers below `limit`.
fn numbers(n: usize, limit: u32) -> Vec<u32> {
    let mut state = 0x9e37_79b9u32;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        ((state >> 16) ^ state) % limit
    };
    (0..n).map(|_| next()).collect()
}

/// Floats from -1 to 1.
fn floats(n: usize) -> Vec<f32> {
    numbers(n, 2001).into_iter().map(|x| x as f32 / 1000.0 - 1.0).collect()
}

fn near(a: f32, b: f32, tolerance: f32) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}
