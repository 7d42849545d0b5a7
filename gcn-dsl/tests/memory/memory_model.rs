//! Atomics and fences of the language.
//!
//! - `code`: what they are lowered to, against the tables of `gcn_isa::memory_model` (which have LLVM as witness), for
//!   every operation, ordering, scope, memory and target.
//! - `values`: what they compute, in the simulator, against plain Rust.

mod code;
mod values;
