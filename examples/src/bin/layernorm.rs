//! Lesson 15: narrow storage, wide arithmetic.
//!
//! f16 in memory and f32 in registers.
//!
//! The kernel, the reference and the explanation are in `src/lessons/layernorm.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/layernorm.<target>.s` and `.hsaco`, simulates it and
//! compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin layernorm
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::layernorm::LESSON)
}
