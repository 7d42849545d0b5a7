//! Random programs: the simulator in strict mode, compared bit by bit with an interpreter in plain Rust.
//!
//! A program is data ([`ast`]). It is built as a kernel with the functions that the macro expands to ([`trace`]), and
//! executed lane by lane in [`interpret`]. [`reduce`] minimizes a failing program, and [`print`] shows it as the source
//! of a `gcn_kernel!`.
//!
//! `GCN_FUZZ_COUNT=20000 cargo test --release -p gcn-dsl-tests --test random_programs` runs that many; `GCN_FUZZ_SEED` starts
//! elsewhere, `GCN_FUZZ_TARGET=gfx1100/32` takes one target, here in waves of 32 lanes, and
//! `GCN_FUZZ_ASSEMBLY` shows the code of a failing program. [`through_macro`] lets rustc compile a few dozen from their source, [`spelled`] some in
//! other words.

mod ast;
mod bits;
mod cells;
mod counting;
mod data;
mod found;
mod generate;
mod held;
mod interpret;
mod memory;
mod objects;
mod pipelined;
mod pointers;
mod print;
mod radeon;
mod reduce;
mod run;
#[rustfmt::skip]
#[allow(unused, overlapping_range_endpoints, clippy::all, clippy::pedantic, reason = "a generator's taste")]
mod sample;
mod shapes;
mod spelled;
#[rustfmt::skip]
#[allow(unused, overlapping_range_endpoints, clippy::all, clippy::pedantic, reason = "a generator's taste")]
mod spelled_sample;
mod spelling;
mod through_macro;
mod tight;
mod trace;
mod trips;
mod typing;
mod value;
mod variables;
