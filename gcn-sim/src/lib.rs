#![doc = include_str!("../README.md")]
//!
//! # What is exact
//!
//! Integer and IEEE operations are exact in all rounding modes the program asks for (an
//! instruction that does not know a directed mode says so); transcendental instructions are within the documented error
//! bound, not bit-exact; matrix and dot products are summed in ascending k.
//! [`fidelity()`] says it for each opcode. Memory is sequentially consistent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "launch"), allow(dead_code, reason = "what only `launch` asks of the machine"))]
#![allow(clippy::type_complexity, reason = "a table of (mnemonic, function) says in its type what a row is")]
#![allow(clippy::needless_range_loop, reason = "a lane number indexes several registers in step")]

mod coverage;
mod dispatch;
mod error;
mod exec;
mod faithful;
mod fidelity;
mod fp;
mod grid;
mod gws;
mod indexed;
mod kernel;
#[cfg(feature = "launch")]
pub mod launch;
mod machine;
mod mem;
mod memory;
mod mfma;
mod op;
mod probe;
mod sanitize;
mod scalar;
mod step;
mod strict;
pub mod timed;
mod trace;
mod valu;
mod value;
mod watch;
mod wave;
mod workgroup;

pub use coverage::{Coverage, Refusal, coverage};
pub use dispatch::{Mode, Options, Progress, Stats, run, run_with, with_threads};
pub use error::{Hazard, Instruction, LaunchError, OutOfBounds, SimError, Site, Space};
pub use faithful::Stale;
pub use fidelity::{Fidelity, Grade, fidelity, fidelity_of};
pub use grid::Grid;
pub use kernel::{FloatMode, KernelState, Preload, UserSgprs};
pub use machine::Machine;
pub use memory::{AllocError, Memory, MemoryError, Range};
pub use probe::Probed;
pub use sanitize::{Access, AccessKind, Finding, FindingKind, Party, Sanitize};
