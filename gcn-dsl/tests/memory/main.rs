//! Memory: slices, pointers, atomics, private and constant arrays, LDS, the memory model, barriers, and devices.

mod barrier;
mod checked;
mod constant;
mod device;
mod far;
mod kept;
mod lds;
mod memory_model;
mod merged;
mod modules;
mod objects;
mod phases;
mod pointers;
mod private;
mod shared_structs;
mod streams;
mod tails;
mod times;

/// The devices on which buffers and streams are tested.
fn devices() -> Vec<gcn_dsl::Device> {
    use gcn_dsl::prelude::*;
    vec![Device::simulator(Target::GFX90A), Device::simulator(Target::GFX942)]
}
