//! Lesson 26: one matrix product for MI300 and for Radeon.
//!
//! Tiles use the matrix instruction that the target has.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_wmma.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemm_wmma.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_wmma
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_wmma::LESSON)
}
