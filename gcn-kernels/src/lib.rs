//! Matrix kernels.
#![forbid(unsafe_code)]

pub mod tile;
