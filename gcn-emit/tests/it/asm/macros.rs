//! Tests macros, repetitions, conditions and included files.

mod errors;
mod files;
mod generate;
mod hostile;
mod llvm;
