#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! `exports` defines the symbols for C code, `abi` implements their functions, and `state` contains the runtime's state. `host` and `heap`
//! manage memory, `module` and `hostcall` serve kernels, and `work` and `graph` represent work in streams.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod abi;
mod device;
mod error;
mod exports;
mod graph;
mod heap;
mod host;
mod hostcall;
mod module;
mod registry;
mod report;
mod rtc;
mod settings;
mod state;
mod work;
