#![doc = include_str!("../README.md")]
//!
//! ```
//! use gcn_report::check::{Checked, json};
//! use gcn_report::input::{self, Broken};
//! use gcn_isa::hazards::{Config, Grade};
//!
//! let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\ns_mov_b32 m0, 0\ns_nop 0\nglobal_load_dword v1, v0, s[4:5]\n\
//!             v_add_u32 v2, v1, v1\ns_endpgm\n";
//! let inputs = input::read("kernel.s", text.into(), &Default::default(), Broken::LeaveOut, &Default::default())?;
//! let checked = Checked::new(&inputs[0], Grade::Documented, Config::default(), false);
//! let report = json::file(&checked);
//! assert_eq!(report["findings"][0]["second"]["line"], 5);
//! # Ok::<(), gcn_report::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod check;
pub mod container;
pub mod disasm;
pub mod editing;
mod error;
pub mod explain;
pub mod input;
pub mod inspect;
pub mod launch;

pub use error::Error;
