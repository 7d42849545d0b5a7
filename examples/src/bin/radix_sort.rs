//! Lesson 21: a kernel as one step of an algorithm.
//!
//! Three kernels that together sort, ballots, and ranks among equal elements.
//!
//! The kernel, the reference and the explanation are in `src/lessons/radix_sort.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/radix_sort.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin radix_sort
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::radix_sort::LESSON)
}
