//! The instruction functions: which exist, and which instructions have none.

pub mod excluded;
mod functions;
mod types;

pub use functions::*;
