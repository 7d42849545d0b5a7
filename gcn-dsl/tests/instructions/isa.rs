//! Single instructions in the simulator (strict mode), compared with plain Rust; at least one for each kind of operand.

mod carry;
mod lanes;
mod memory;
mod rdna;
mod scalar;

use gcn_dsl::prelude::*;

pub const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

/// Small, huge and extreme numbers.
pub fn numbers(n: usize, seed: u64) -> Vec<u32> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..n)
        .map(|i| match i % 5 {
            0 => (next() >> 60) as u32,
            1 => u32::MAX - (next() >> 61) as u32,
            _ => (next() >> 32) as u32,
        })
        .collect()
}

pub fn floats(n: usize, seed: u64) -> Vec<f32> {
    let finite = |x: f32| if x.is_finite() { x } else { 1.5 };
    numbers(n, seed).into_iter().map(|bits| finite(f32::from_bits(bits))).collect()
}

/// The positions of the texts in the kernel's assembly, which must contain each.
pub fn assert_text(kernel: &gcn_dsl::BuiltKernel, texts: &[&str]) {
    let assembly = kernel.assembly(Comments::None);
    for text in texts {
        assert!(assembly.contains(text), "no `{text}` in\n{assembly}");
    }
}
