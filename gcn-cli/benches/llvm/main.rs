//! Compares commands with the LLVM tools that do the same, by the time of whole processes.
//!
//! Run with `cargo bench -p gcn-tools --bench llvm`. Needs `llc`, `llvm-mc` and `ld.lld` of LLVM 22; without them the benchmark prints a
//! note and does nothing (with `GCN_REQUIRE_LLVM=1` it fails). The two programs run alternately, so that the ratio is valid on a busy
//! machine. Where Linux reports the processor time of child processes, that ratio is the more reliable one.

mod asm;
mod fix;
mod times;

fn main() {
    // `cargo test` also builds and runs benchmarks, but without this argument.
    if std::env::args().any(|a| a == "--bench") {
        asm::compare();
        fix::compare();
    }
}
