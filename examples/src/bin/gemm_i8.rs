//! Lesson 23: matrix instructions on integers.
//!
//! Exact sums of i8 products in i32.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_i8.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemm_i8.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_i8
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_i8::LESSON)
}
