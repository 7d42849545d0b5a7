//! Memory: private arrays, constant memory, merged accesses, LDS, pointers, atomics.

mod constant;
mod far;
mod lds;
mod merged;
mod pointers;
mod private;
mod tails;
