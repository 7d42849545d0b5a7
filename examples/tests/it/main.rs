//! Tests of the lessons: their results, LLVM's view of the output, and the necessity of each wait.

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
