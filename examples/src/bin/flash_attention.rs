//! Lesson 25: attention that never stores the matrix of scores.
//!
//! Two products chained in registers, with a softmax in between.
//!
//! The kernel, the reference and the explanation are in `src/lessons/flash_attention.rs`. This program
//! compiles the kernel for gfx90a and gfx942, writes `target/gcn/flash_attention.<target>.s` and `.hsaco`,
//! simulates it and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin flash_attention
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::flash_attention::LESSON)
}
