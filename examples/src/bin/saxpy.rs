//! Lesson 1: one lane per element.
//!
//! How a kernel says what one lane does, which values are per wave and which per lane, and what becomes of an
//! `if`.
//!
//! The kernel, the reference and the explanation are in `src/lessons/saxpy.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/saxpy.<target>.s` and `.hsaco`, simulates it and compares
//! with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin saxpy
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::saxpy::LESSON)
}
