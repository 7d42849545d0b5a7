//! The lessons as tests: results, LLVM's opinion of the output, and what each single wait is good for.

mod lines;
mod links;
mod llvm;
mod oracle;
mod own_checker;
mod results;
mod tight;
mod waits;
