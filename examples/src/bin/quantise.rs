//! Lesson 16: eight bits and a scale.
//!
//! Blocks of integers with a common scale, and how a varying value becomes a uniform one.
//!
//! The kernel, the reference and the explanation are in `src/lessons/quantise.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/quantise.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin quantise
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::quantise::LESSON)
}
