//! Which functions of instructions there are, and which instructions have none.

pub mod excluded;
mod functions;
mod types;

pub use functions::*;
