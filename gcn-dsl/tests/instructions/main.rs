//! Instructions by name: typed functions, `asm!` and `gcn_asm!`; LLVM's code for the same kernels beside ours.

mod asm;
mod asm_lines;
mod beside_llvm;
mod functions;
mod isa;
