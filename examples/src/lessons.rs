//! The kernels, in reading order.

use crate::Lesson;

pub mod block_reduce;
pub mod convolution;
pub mod embedding_scatter;
pub mod fft;
pub mod flash_attention;
pub mod gemm_batched;
pub mod gemm_bf16;
pub mod gemm_f16;
pub mod gemm_f64;
pub mod gemm_fp8;
pub mod gemm_i8;
pub mod gemm_naive;
pub mod gemm_wmma;
pub mod gemv;
pub mod histogram;
pub mod layernorm;
pub mod mandelbrot;
pub mod philox;
pub mod prefix_scan;
pub mod quantise;
pub mod radix_sort;
pub mod saxpy;
pub mod softmax;
pub mod spmv;
pub mod stencil;
pub mod top_k;
pub mod transpose_lds;
pub mod vector_add_2d;

/// Kernels that belong to a lesson as a variant, or are for few targets.
pub const VARIANTS: &[Lesson] = &[
    gemm_naive::LESSON,
    gemm_naive::LARGE,
    gemm_fp8::LESSON,
    flash_attention::CAUSAL,
    flash_attention::WIDE,
];

/// Every lesson, in reading order.
pub const ALL: &[Lesson] = &[
    saxpy::LESSON,
    vector_add_2d::LESSON,
    block_reduce::LESSON,
    transpose_lds::LESSON,
    gemm_f16::LESSON,
    gemm_f64::LESSON,
    stencil::LESSON,
    convolution::LESSON,
    histogram::LESSON,
    prefix_scan::LESSON,
    gemv::LESSON,
    mandelbrot::LESSON,
    spmv::LESSON,
    softmax::LESSON,
    layernorm::LESSON,
    quantise::LESSON,
    top_k::LESSON,
    philox::LESSON,
    fft::LESSON,
    embedding_scatter::LESSON,
    radix_sort::LESSON,
    gemm_bf16::LESSON,
    gemm_i8::LESSON,
    gemm_batched::LESSON,
    flash_attention::LESSON,
    gemm_wmma::LESSON,
];
