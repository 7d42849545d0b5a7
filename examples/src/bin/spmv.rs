//! Lesson 13: rows of any length.
//!
//! A sparse matrix in CSR form, one wave per row.
//!
//! The kernel, the reference and the explanation are in `src/lessons/spmv.rs`. This program compiles the
//! kernel for gfx90a and gfx942, writes `target/gcn/spmv.<target>.s` and `.hsaco`, simulates it and compares
//! with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin spmv
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::spmv::LESSON)
}
