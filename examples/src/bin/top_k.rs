//! Lesson 17: order as a number.
//!
//! 64-bit keys whose unsigned order is the desired order of elements.
//!
//! The kernel, the reference and the explanation are in `src/lessons/top_k.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/top_k.<target>.s` and `.hsaco`, simulates it and compares
//! with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin top_k
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::top_k::LESSON)
}
