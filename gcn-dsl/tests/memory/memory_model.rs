//! Atomics and fences of the DSL.
//!
//! - `code`: the instructions to which they are lowered, compared with the tables of `gcn_isa::memory_model` (which are
//!   tested
//!   against LLVM), for every operation, ordering, scope, memory and target.
//! - `values`: what they compute in the simulator, compared with plain Rust.

mod code;
mod values;
