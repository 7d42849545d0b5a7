//! Commands against the tools of LLVM that do the same, whole process against whole process.
//!
//! `cargo bench -p gcn-tools --bench llvm`; needs LLVM 22's `llc`, `llvm-mc` and `ld.lld`, without which it
//! says so and does nothing (`GCN_REQUIRE_LLVM=1`: fails). The processes run in turn, so that the ratio holds
//! on a machine that is busy otherwise; where Linux counts the processor time of children, the ratio of that
//! is the one to look at.

mod asm;
mod fix;
mod times;

fn main() {
    // Tests build and run benchmarks, too, without this.
    if std::env::args().any(|a| a == "--bench") {
        asm::compare();
        fix::compare();
    }
}
