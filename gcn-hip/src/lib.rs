#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! `exports` gives C code its symbols, `abi` has the functions behind them, `state` what they work on. `host` and `heap` are
//! memory, `module` and `hostcall` are what kernels need; `work` and `graph` what streams do.
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
mod settings;
mod state;
mod work;
