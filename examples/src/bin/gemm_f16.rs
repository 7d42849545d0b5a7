//! Lesson 5: matrix instructions fed from LDS tiles, at the limit of the machine.
//!
//! How fragment types carry the layout of a matrix instruction, and how memory, LDS and matrix pipe work at
//! the same time.
//!
//! The kernel, the reference and the explanation are in `src/lessons/gemm_f16.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/gemm_f16.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_f16
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_f16::LESSON)
}
