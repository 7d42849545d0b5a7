#![doc = include_str!("../README.md")]
//!
//! # What is exact
//!
//! Integer and IEEE operations are exact in all rounding modes that the program selects (an instruction that does not support a directed
//! mode reports an error). Transcendental instructions are within the documented error bound, but not bit-exact. Matrix instructions add
//! products as the hardware does if that was validated, or as a chain ([`MatrixArithmetic`]). Dot products are summed in ascending order of
//! k. [`fidelity()`] lists the grade of each opcode. Memory is sequentially consistent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // reopened in fp::host alone
#![cfg_attr(not(feature = "launch"), allow(dead_code, reason = "what only `launch` asks of the machine"))]
#![allow(clippy::type_complexity, reason = "a table of (mnemonic, function) says in its type what a row is")]
#![allow(clippy::needless_range_loop, reason = "a lane number indexes several registers in step")]

mod core;
mod fp;
#[cfg(feature = "launch")]
pub mod launch;
mod run;
mod semantics;
pub mod timed;
pub mod timeline;
pub mod tune;
mod watch;

#[doc(hidden)] // for tests only
pub use fp::host::{Way, forced};
#[doc(hidden)] // for tests only
pub use watch::sanitize::{Alone, Registers};

/// The prefix of the UUID of simulated devices in HIP, by which programs distinguish them from hardware.
pub const DEVICE_UUID: &str = "GCN-SIM-";

pub use crate::core::error::{LaunchError, SimError};
pub use crate::core::finding::{Access, AccessKind, Finding, FindingKind, Party, Stale};
pub use crate::core::grid::Grid;
pub use crate::core::kernel::{FloatMode, KernelState, Preload, UserSgprs};
pub use crate::core::machine::Machine;
pub use crate::core::matrix::{MatrixArithmetic, UnknownMatrixArithmetic};
pub use crate::core::memory::{AllocError, Memory, MemoryError, Range};
pub use crate::core::options::{Mode, Options, Sanitize, UnknownMode, UnknownSanitizer};
pub use crate::core::probe::Probed;
pub use crate::core::site::{Hazard, Instruction, OutOfBounds, Site, Space};
pub use run::dispatch::{Hooks, Progress, Stats, run, run_with, with_threads};
pub use run::patience::PATIENCE;
pub use semantics::coverage::{Coverage, Refusal, coverage};
pub use semantics::fidelity::{Fidelity, Grade, fidelity, fidelity_of};
