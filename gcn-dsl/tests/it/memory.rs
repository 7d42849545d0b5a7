//! Memory: private arrays, constant memory, merged accesses, LDS, pointers, atomics.

mod constant;
mod private;
