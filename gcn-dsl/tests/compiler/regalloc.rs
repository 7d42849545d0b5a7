//! Tests of the register allocator: hand-made cases, random programs, and the execution of allocated programs.

mod build;
mod exec;
mod hand;
mod limits;
mod mutate;
mod pins;
mod random;
mod split;
mod tied;
