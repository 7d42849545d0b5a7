//! Lesson 12: lanes that finish at different times.
//!
//! A loop whose condition varies between lanes, and arithmetic that rounds as Rust's does.
//!
//! The kernel, the reference and the explanation are in `src/lessons/mandelbrot.rs`. This program compiles
//! the kernel for gfx90a and gfx942, writes `target/gcn/mandelbrot.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin mandelbrot
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::mandelbrot::LESSON)
}
