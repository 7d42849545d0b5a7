//! Lesson 22: matrix instructions in bfloat16.
//!
//! Results are scaled and rounded as they are stored; the loop is a library function.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_bf16.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemm_bf16.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_bf16
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_bf16::LESSON)
}
