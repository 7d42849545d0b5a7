//! Runs AMD GFX9 and CDNA machine code on the CPU, hazards included.
//!
//! A [`Machine`] is a kernel's code, decoded; [`Memory`] is what its pointers point into; [`run`] executes a grid of
//! workgroups. In [`Mode::Strict`] a missing `s_waitcnt` or wait state is an error that names the rule.
//!
//! ```
//! use gcn_isa::Target;
//! use gcn_sim::{KernelState, Machine, Memory, Options, run};
//!
//! // s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v1, 42; v_lshlrev_b32 v0, 2, v0; s_waitcnt lgkmcnt(0);
//! // global_store_dword v0, v1, s[4:5]; s_endpgm
//! let text: Vec<u8> = [0xc0060100, 0, 0x7e0202aa, 0x24000082, 0xbf8cc07f, 0xdc708000, 0x00040100, 0xbf810000u32]
//!     .iter()
//!     .flat_map(|word| word.to_le_bytes())
//!     .collect();
//! let machine = Machine::new(Target::GFX942, &text, KernelState::default())?;
//! let mut memory = Memory::new();
//! let out = memory.alloc(64 * 4);
//! run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &out.to_le_bytes(), &Options::strict())?;
//! assert_eq!(memory.read(out + 63 * 4, 4).unwrap(), [42, 0, 0, 0]);
//! # Ok::<(), gcn_sim::SimError>(())
//! ```
//!
//! What is exact and what is not: integer and IEEE operations are exact in all rounding modes the program asks for (an
//! instruction that does not know a directed mode says so); transcendental instructions are within the documented error
//! bound, not bit-exact; matrix and dot products are summed in ascending k.
//! [`fidelity()`] says it for each opcode. Memory is sequentially consistent.
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
