//! Lesson 14: one workgroup per row.
//!
//! Reductions over a workgroup, and functions that the hardware approximates.
//!
//! The kernel, the reference and the explanation are in `src/lessons/softmax.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/softmax.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin softmax
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::softmax::LESSON)
}
