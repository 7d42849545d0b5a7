//! The lessons as tests: results, LLVM's opinion of the output, and what each single wait is good for.

mod lines;
mod links;
mod llvm;
#[path = "../../../testing/llvm_tools.rs"]
mod llvm_tools;
mod oracle;
mod own_checker;
mod results;
mod tight;
mod waits;
