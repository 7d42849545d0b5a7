//! Tests of the allocator: hand-made cases, random programs, and programs that are really run.

mod build;
mod exec;
mod hand;
mod limits;
mod mutate;
mod pins;
mod random;
mod split;
mod tied;
