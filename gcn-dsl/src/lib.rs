//! AMD GPU kernels in Rust.
#![deny(unsafe_code)]

pub mod mir;
