//! Lesson 18: random numbers without a state.
//!
//! Philox4x32-10, which reproduces the published test vectors bit for bit.
//!
//! The kernel, the reference and the explanation are in `src/lessons/philox.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/philox.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin philox
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::philox::LESSON)
}
