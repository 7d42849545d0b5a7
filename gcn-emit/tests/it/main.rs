//! Integration tests of the crate, in one binary.

mod asm;
mod codec;
mod decode;
mod disasm;
mod fuzz;
mod llvm;
mod object;
