//! Lesson 9: many lanes, one counter.
//!
//! Atomics in LDS and in device memory, and their scopes.
//!
//! The kernel, the reference and the explanation are in `src/lessons/histogram.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/histogram.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin histogram
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::histogram::LESSON)
}
