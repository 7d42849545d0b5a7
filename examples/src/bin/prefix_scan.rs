//! Lesson 10: each result depends on all elements before it.
//!
//! A scan in a wave, over waves, and over launches.
//!
//! The kernel, the reference and the explanation are in `src/lessons/prefix_scan.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/prefix_scan.<target>.s` and `.hsaco`, simulates it
//! and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin prefix_scan
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::prefix_scan::LESSON)
}
