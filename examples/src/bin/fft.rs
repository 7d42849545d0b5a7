//! Lesson 19: data that moves between lanes.
//!
//! A Fourier transform in LDS, with stages that are unrolled when the kernel is built.
//!
//! The kernel, the reference and the explanation are in `src/lessons/fft.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/fft.<target>.s` and `.hsaco`, simulates it and compares
//! with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin fft
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::fft::LESSON)
}
