//! Memory: slices, pointers, atomics, private and constant arrays, LDS, the memory model, barriers, and devices.

mod barrier;
mod constant;
mod device;
mod far;
mod lds;
mod memory_model;
mod merged;
mod phases;
mod pointers;
mod private;
mod tails;
