//! Lesson 8: a family of kernels.
//!
//! Const generics, loops that are unrolled when the kernel is built, and values that all lanes share.
//!
//! The kernel, the reference and the explanation are in `src/lessons/convolution.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/convolution.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin convolution
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::convolution::LESSON)
}
