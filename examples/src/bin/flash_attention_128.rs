//! Lesson 25 with heads of 128 elements.
//!
//! Like `flash_attention`, and from the same file `src/lessons/flash_attention.rs`:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin flash_attention_128
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::flash_attention::WIDE)
}
