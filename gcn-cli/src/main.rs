//! The `gcn` command.
#![forbid(unsafe_code)]
fn main() {}
