//! The kernels, in reading order.

use crate::Lesson;

pub mod block_reduce;
pub mod gemm_f16;
pub mod gemm_f64;
pub mod saxpy;
pub mod transpose_lds;
pub mod vector_add_2d;

/// Every lesson, in reading order.
pub const ALL: [Lesson; 6] = [
    saxpy::LESSON,
    vector_add_2d::LESSON,
    block_reduce::LESSON,
    transpose_lds::LESSON,
    gemm_f16::LESSON,
    gemm_f64::LESSON,
];
