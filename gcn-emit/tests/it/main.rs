//! Integration tests of the crate, in one binary.

mod codec;
mod llvm;
mod object;
