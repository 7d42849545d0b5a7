//! Integration tests of `gcn-dsl`, one binary.

mod asm;
mod asm_lines;
mod barrier;
mod beside_llvm;
mod bounds;
mod capability;
mod conflicts;
mod control;
mod device;
mod embed;
mod errors;
mod fill;
mod fragments;
mod functions;
#[cfg(feature = "hip")]
mod hip;
mod invariant;
mod isa;
mod lanes;
mod language;
#[path = "../../../testing/llvm_tools.rs"]
mod llvm_tools;
mod manual;
mod matrix;
mod memory;
mod memory_model;
mod mixed;
mod order;
mod phases;
mod pinned;
mod pipeline;
mod random_programs;
mod registers;
mod rng;
mod schedule;
mod schedule_text;
mod spill_lds;
mod tile;
mod timing;
mod transposed;
mod types;
