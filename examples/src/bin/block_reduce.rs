//! Lesson 3: lanes of a wave, waves of a workgroup.
//!
//! Two ways to pass a value to another lane, shuffles and LDS, and the barrier that the second one needs.
//!
//! The kernel, the reference and the explanation are in `src/lessons/block_reduce.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/block_reduce.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin block_reduce
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::block_reduce::LESSON)
}
