//! The lessons as tests: results, LLVM's judgement of the output, and the need for each single wait.

mod debug_info;
mod ir;
mod lines;
mod links;
mod llvm;
mod oracle;
mod own_checker;
mod rdna;
mod results;
mod tight;
mod waits;
mod wmma;
