//! Lesson 7: a tile with a border.
//!
//! How a workgroup loads a tile with the elements around it, and what wrapping arithmetic is good for.
//!
//! The kernel, the reference and the explanation are in `src/lessons/stencil.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/stencil.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin stencil
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::stencil::LESSON)
}
