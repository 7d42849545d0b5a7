//! Instructions by name: typed functions, `asm!` and `gcn_asm!`; also a comparison with LLVM's code for the same
//! kernels.

mod asm;
mod asm_lines;
mod beside_llvm;
mod functions;
mod isa;
