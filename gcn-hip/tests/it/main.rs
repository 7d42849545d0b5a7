//! Tests of the library from the view of a program: loaded by the dynamic loader, or linked with programs that clang compiles.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "a C library is called")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test passes what `hip_runtime_api.h` asks for, or what it forbids"
)]

mod api;
mod book;
mod calls;
mod clang;
mod events;
mod faults;
mod features;
mod fuzz;
mod graphs;
mod kernels;
mod launches;
mod memory;
mod nodes;
mod nulls;
mod programs;
mod ranges;
mod rtc;
mod settings;
mod symbols;
