//! Lesson 4: LDS turns a scattered access into a contiguous one.
//!
//! A tile in LDS lets both the reads and the writes run along rows; one unused word per row avoids bank conflicts.
//!
//! The kernel, the reference and the explanation are in `src/lessons/transpose_lds.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/transpose_lds.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin transpose_lds
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::transpose_lds::LESSON)
}
