//! Lesson 2: a grid of two dimensions, and lanes that must not run.
//!
//! Why lanes beyond the right edge of an image must be masked although slices check their bounds.
//!
//! The kernel, the reference and the explanation are in `src/lessons/vector_add_2d.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/vector_add_2d.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin vector_add_2d
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::vector_add_2d::LESSON)
}
