//! Integration tests of the crate, in one binary.

mod asm;
mod calls;
mod code;
mod codec;
mod decode;
mod disasm;
mod findings;
mod fuzz;
mod lines;
mod lint;
mod llvm;
mod object;
mod processors;
mod rewrite;
