//! A matrix multiplication as one would write it first, with larger tiles.
//!
//! Like `gemm_naive`, and from the same file `src/lessons/gemm_naive.rs`:
//!
//! ```text
//! cargo run --release -p gcn-examples --bin gemm_naive_256
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    gcn_examples::teach(&gcn_examples::lessons::gemm_naive::LARGE)
}
