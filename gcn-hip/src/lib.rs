#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! `exports` defines the symbols for C code, `abi` implements their functions, `state` holds their state.
//! `host` and `heap` are memory, `module` and `hostcall` serve kernels, `work` and `graph` streams.
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
