//! Lesson 20: concurrent additions to the same elements.
//!
//! Atomic additions of floats, whose order is not defined.
//!
//! The kernel, the reference and the explanation are in `src/lessons/embedding_scatter.rs`. This program
//! compiles the kernel for gfx90a and gfx942, writes `target/gcn/embedding_scatter.<target>.s` and `.hsaco`,
//! simulates it and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin embedding_scatter
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::embedding_scatter::LESSON)
}
