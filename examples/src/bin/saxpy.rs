//! Lesson 1: one lane per element.
//!
//! A kernel says what one lane does; which of its values exist once per wave and which once per lane, and what becomes of an `if`.
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
