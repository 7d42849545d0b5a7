#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod activation;
pub mod attention;
pub mod gemm;
pub mod tile;
