//! Kernels like those of llama.cpp, PyTorch, torchvision and CUB, each compared with a reference in plain Rust.
//!
//! Of 24 files, 13 compiled as first written. Four more have compiled unchanged since the DSL has had uniform structs
//! as parameters, `V<[u8; 12]>`, `1u64 << lane` and variables that start from `read_first_lane`. Two of the others are
//! not valid Rust either. Five had to be rewritten: a `None` needs its type, a method of another `gcn_kernel!` is
//! called as `(&mut x).next()`, memory has `u8` instead of `bool`, a `let` is written without `mut`, and a row of LDS
//! is assigned element by element.
//!
//! In a trial, a CUDA programmer who had only the README and the guide wrote twenty more: 7 compiled as first written
//! and gave the correct result; 14 do now. Of the others, three use `std::ptr::null()` for a device pointer, one lacks
//! the bound for atomics, one has a barrier in a varying loop, and one an untyped `None`; the error messages explain
//! these. `csv_column`, `merge_path` and `rope_factors` are from this trial, as first written: they have compiled since
//! the DSL has had `Result`, assigned `match`es that return, literals next to a type parameter, and constants before
//! type parameters. `fused_adam` compiled but read a null pointer after `&&`; for `components`, the documentation did
//! not say what `compare_exchange` returns.
//!
//! In a second trial with another such programmer, 10 of twenty and 3 of eight more compiled as first written; 16 and 6
//! do now, and all give the correct result. Four of the others are not valid Rust either: `u32` and `usize` mixed in
//! arithmetic, an array that is assigned before it is initialized, a constant of the wrong type in a generic function,
//! an expression of a parameter as a constant argument. One subtracts a device number from a `usize`, and one exchanges
//! two LDS arrays. `knn_heap`, `tokenizer` and `inverse` are from this trial: they have compiled since structs may
//! contain private memory, enums support `derive(PartialEq)`, and device values may index arrays that are assigned.
//!
//! In a third trial, of twelve kernels of other kinds (sparse attention, a regular expression, a k-d tree, a suffix array, LZ4, ray
//! marching, union-find, a Bloom filter, an FFT, motion estimation, mesh simplification, tokenisation), 8 compiled as first written and 10
//! do now; all give the correct result. The other two have tuples as elements of slices, whose layout Rust leaves open. `lz4`, `motion` and
//! `byte_pairs` are from this trial: they have compiled since `read_first_lane` takes uniform values, `mem::swap` exchanges elements, and
//! `into()` takes the type of the place.

mod adamw;
mod argsort;
mod attention;
mod batch_norm_stats;
mod bicubic;
mod block_reduce;
mod byte_pairs;
mod components;
mod conv_transpose;
mod cross_entropy;
mod csv_column;
mod ctc_alpha;
mod cumsum;
mod dequantise_q4k;
mod dequantise_q5;
mod dequantise_q6;
#[path = "../devices.rs"]
mod devices;
mod dot_q8;
mod dropout;
mod embedding;
mod embedding_bag;
mod fake_quantize;
mod features;
mod flash_decode;
mod fused_adam;
mod gated_linear_attn;
mod get_rows_q8;
mod grid_sample;
mod group_norm;
mod histogram_bins;
mod histogram_even;
mod im2col;
mod index_put;
mod inverse;
mod knn_heap;
mod layer_norm_backward;
mod look_back;
mod lz4;
mod merge_path;
mod merge_sort;
mod mmvq;
mod motion;
mod multi_tensor_sgd;
mod multinomial;
mod nll_loss;
mod nms;
mod pool;
mod quantise_q4_0;
mod radix_rank;
mod radix_sort;
mod roi_align;
mod rope_factors;
mod rope_neox;
mod rope_yarn;
mod run_length;
mod searchsorted;
mod segmented_reduce;
mod select_if;
mod softmax_alibi;
mod ssm_scan;
mod timestep_embedding;
mod tokenizer;
mod unique;
mod upscale;
mod wkv;

use devices::everywhere;

/// Pseudo-random numbers below `limit`.
fn numbers(n: usize, limit: u32) -> Vec<u32> {
    let mut state = 0x1234_5677u32;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        ((state >> 15) ^ state) % limit
    };
    (0..n).map(|_| next()).collect()
}

/// Floats from -1 to 1.
fn floats(n: usize) -> Vec<f32> {
    numbers(n, 2001).into_iter().map(|x| x as f32 / 1000.0 - 1.0).collect()
}

/// Checks that the values equal the expected ones within `tolerance`.
fn assert_near(got: &[f32], want: &[f32], tolerance: f32) {
    assert_eq!(got.len(), want.len());
    for (i, (a, b)) in got.iter().zip(want).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {i}: {a}, wanted {b}");
    }
}
