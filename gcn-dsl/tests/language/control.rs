//! Control flow in the simulator (strict mode) against plain Rust.

use gcn_dsl::prelude::*;

mod counted;
mod exits;
mod loops;
mod matching;
mod unrolled;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

fn simulators() -> impl Iterator<Item = Device> {
    TARGETS.into_iter().map(Device::simulator)
}

/// Small and large numbers, many of which are equal.
fn numbers(n: usize) -> Vec<u32> {
    let mut state = 0x1234_5678_9abc_def1u64;
    (0..n)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if i % 3 == 0 { (state >> 60) as u32 } else { (state >> 32) as u32 % 300 }
        })
        .collect()
}
