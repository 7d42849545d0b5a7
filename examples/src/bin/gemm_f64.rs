//! Lesson 6: matrix instructions in double precision.
//!
//! The same structure with another layout, and 64-bit scalars as arguments.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_f64.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemm_f64.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_f64
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_f64::LESSON)
}
