#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod buffer_format;
pub mod cfg;
pub mod check;
pub mod counters;
pub mod dataflow;
pub mod delay;
pub mod evidence;
pub mod hazards;
mod hwreg;
pub mod immediate;
pub mod indexing;
pub mod inst;
pub mod layout;
pub mod memory_model;
pub mod mods;
pub mod operand;
pub mod order;
pub mod program;
pub mod reference;
pub mod reg;
pub mod semantics;
pub mod table;
pub mod target;
pub mod wait;

pub use inst::Inst;
pub use mods::{Dpp, Mods, Sdwa};
pub use operand::{Inline, Operand, SrcSpecial};
pub use program::{Entry, EntryKind, Label, Line, Program};
pub use reg::{Reg, RegFile};
pub use table::{Access, Class, Format, InstDesc, OperandDesc};
pub use target::{InstructionSet, Target, TargetSet, WaveSize};
