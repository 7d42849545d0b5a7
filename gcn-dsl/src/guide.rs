//! The guide to the DSL, with a page for each topic. Its examples are compiled and run.
//!
//! - [From CUDA](cuda): the ten differences of the first hour.
//! - [From MI300 to Radeon](radeon): kernels of CDNA on RDNA 1 to 4.
//! - [Control flow](control_flow): `if`, `match`, loops and exits, on uniform and varying conditions.
//! - [Functions](functions): `#[device]` functions, tuples, arrays and structs.
//! - [Numbers](types): element types, operators, methods, conversions, packs of small floats.
//! - [Lanes](lanes): shuffles, reductions and scans.
//! - [Memory](memory): slices, pointers, LDS, private arrays, atomics.
//! - [Matrices](matrix): tiles, fragments and matrix instructions.
//! - [Schedules](scheduling): phases of LDS, pipelined loops, the order of instructions, waits.
//! - [Registers](registers): limits, spilling, pinned registers, reports.
//! - [The host's side](host): buffers, streams, events, modules.
//! - [Embedding](embedding): host values in kernels, assembly, debugging.

// Links of the guide to other pages: in the documentation they lead to modules, in the repository to files. If a link
// is defined twice, the first definition is used, so these definitions precede those of the page itself, which are at
// its end.
macro_rules! page {
    ($name:ident, $file:literal) => {
        #[doc = "[host]: host"]
        #[doc = "[matrix]: matrix"]
        #[doc = "[registers]: registers"]
        #[doc = "[types]: types"]
        #[doc = concat!("[memory-model]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/memory-model.md")]
        #[doc = concat!("[timing]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/timing.md\n")]
        #[doc = include_str!(concat!("../guide/", $file))]
        pub mod $name {}
    };
}

page!(control_flow, "control-flow.md");
page!(cuda, "cuda.md");
page!(embedding, "embedding.md");
page!(functions, "functions.md");
page!(host, "host.md");
page!(lanes, "lanes.md");
page!(matrix, "matrix.md");
page!(memory, "memory.md");
page!(radeon, "radeon.md");
page!(registers, "registers.md");
page!(scheduling, "scheduling.md");
page!(types, "types.md");
