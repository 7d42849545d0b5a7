//! Lesson 11: a kernel bound by memory bandwidth.
//!
//! Wide loads, and which values are uniform over the wave.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemv.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemv.<target>.s` and `.hsaco`, simulates it and compares
//! with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemv
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemv::LESSON)
}
