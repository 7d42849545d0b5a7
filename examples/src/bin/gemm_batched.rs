//! Lesson 24: many small matrices at once.
//!
//! One instruction multiplies sixteen pairs of 4 x 4 matrices.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_batched.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/gemm_batched.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_batched
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_batched::LESSON)
}
