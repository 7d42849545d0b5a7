//! A matrix multiplication as one would write it first: tiles, LDS, one loop.
//!
//! What a plain tiled loop achieves; read it before lesson 5.
//!
//! The kernel and the explanation are in `src/lessons/gemm_naive.rs`. This program compiles the kernel, writes
//! `target/gcn/gemm_naive.<target>.s` and `.hsaco`, simulates it and compares with the reference:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_naive
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_naive::LESSON)
}
