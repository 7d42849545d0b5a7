//! The instruction functions: which exist, and which instructions have none.

pub mod excluded;
mod functions;
pub(crate) mod types;

pub use functions::*;
