//! Kernels like those of llama.cpp, PyTorch, torchvision and CUB, each compared with a reference in plain Rust.
//!
//! Of 24 files, 13 compiled as first written. Four more have compiled unchanged since uniform structs as parameters,
//! `V<[u8; 12]>`, `1u64 << lane` and variables that start from `read_first_lane` were added to the language. Plain Rust refuses two
//! of the others as well. Five were written differently: a `None` needs its type, a method of another `gcn_kernel!`
//! `(&mut x).next()`, memory `u8` for `bool` and `let` without `mut`, and a row of LDS is assigned element by element.
//!
//! A trial of twenty more, by a CUDA programmer who had README and guide alone: 7 compiled as first written, and gave the right result;
//! 14 do now. Of the others three write `std::ptr::null()` for a pointer of the device, one lacks the bound of atomics, one has a barrier
//! in a varying loop, and one an untyped `None`, and the messages say so.
//! `csv_column`, `merge_path` and `rope_factors` are three of the others, as first written: they compile since `Result`, assigned matches
//! that return, literals beside a type parameter, and constants before type parameters. `fused_adam` compiled and read a null pointer
//! after `&&`; `components` wanted to know what `compare_exchange` returns.
//!
//! In a second trial, by another such programmer, 10 of twenty and 3 of eight more compiled as first written; 16 and 6 do now, and all
//! give the right result. Plain Rust refuses four of the others: numbers of `u32` and `usize` beside each other, an array that is filled
//! before it has a value, a constant of the wrong type in a generic function, an expression of a parameter as a constant argument; one
//! subtracts a number of the device from a `usize`, and one exchanges two LDS arrays. `knn_heap`, `tokenizer` and `inverse` are from this trial: they compile since structs have private memory,
//! enums say `derive(PartialEq)`, and values of the device index arrays that are assigned.

mod adamw;
mod argsort;
mod attention;
mod batch_norm_stats;
mod bicubic;
mod block_reduce;
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
mod merge_path;
mod merge_sort;
mod mmvq;
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

/// Numbers without a pattern, below `limit`.
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

/// The values are those wanted but for rounding.
fn assert_near(got: &[f32], want: &[f32], tolerance: f32) {
    assert_eq!(got.len(), want.len());
    for (i, (a, b)) in got.iter().zip(want).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {i}: {a}, wanted {b}");
    }
}
