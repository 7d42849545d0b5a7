//! The lessons, and the code that they share.
//!
//! Each lesson is one file in [`lessons`]: the kernel, the same computation in plain Rust, and the problem
//! sizes on which both are compared. The programs in `src/bin` run one lesson each ([`teach`]). In reading
//! order:
//!
//! 1. `saxpy`: one lane per element; slices that know their length.
//! 2. `vector_add_2d`: a grid of two dimensions, and lanes that must not run.
//! 3. `block_reduce`: lanes of a wave, waves of a workgroup: shuffles, LDS, a barrier.
//! 4. `transpose_lds`: LDS turns a scattered access into a contiguous one.
//! 5. `gemm_f16`: matrix instructions fed from LDS tiles, at the limit of the machine.
//! 6. `gemm_f64`: the same in double precision, with a layout that suits it.
//! 7. `stencil`: a tile with a border.
//! 8. `convolution`: a family of kernels.
//! 9. `histogram`: many lanes, one counter.
//! 10. `prefix_scan`: each result depends on all elements before it.
//! 11. `gemv`: a kernel bound by memory bandwidth.
//! 12. `mandelbrot`: lanes that finish at different times.
//! 13. `spmv`: rows of any length.
//! 14. `softmax`: one workgroup per row.
//! 15. `layernorm`: narrow storage, wide arithmetic.
//! 16. `quantise`: eight bits and a scale.
//! 17. `top_k`: order as a number.
//! 18. `philox`: random numbers without a state.
//! 19. `fft`: data that moves between lanes.
//! 20. `embedding_scatter`: concurrent additions to the same elements.
//! 21. `radix_sort`: a kernel as one step of an algorithm.
//! 22. `gemm_bf16`: results scaled and rounded as they are stored; a loop from a library.
//! 23. `gemm_i8`: matrix instructions on integers.
//! 24. `gemm_batched`: sixteen small products by one instruction.
//! 25. `flash_attention`: products chained in registers, with a softmax in between.
//! 26. `gemm_wmma`: one product for MI300 and for Radeon.
//!
//! `gemm_naive` is lesson 5 without its groups of waves, `gemm_naive_256` the same with larger tiles,
//! `flash_attention_128` lesson 25 with larger heads. `gemm_fp8` is only for gfx942 and gfx950, which have matrix
//! instructions for 8-bit floats.
#![forbid(unsafe_code)]

mod compare;
pub mod data;
mod lesson;
pub mod lessons;
pub mod library;
mod output;
mod product;
mod steady;
mod teach;

pub use compare::{Comparison, Element};
pub use lesson::{Lesson, Outcome, Size, TARGETS};
pub use output::{OutputError, folder_for, write};
pub use steady::{Arg, Steady};
pub use teach::{LessonError, teach, teach_with};

/// Makes `cargo test` compile the README's program.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// Does the same for this crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct OwnReadme;

/// Does the same for the page about tuning.
#[cfg(doctest)]
#[doc = include_str!("../../docs/tuning.md")]
pub struct Tuning;
