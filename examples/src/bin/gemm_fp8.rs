//! 8-bit floats: the same bits mean different numbers on different targets.
//!
//! Products of 8-bit floats with sums in f32.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_fp8.rs`. This program compiles the
//! kernel for gfx942 and gfx950, writes `target/gcn/gemm_fp8.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_fp8
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_fp8::LESSON)
}
