//! The functions of [`crate::isa`]: the instructions that have one, and those that have none.

pub mod excluded;
mod functions;
pub(crate) mod types;

pub use functions::*;
