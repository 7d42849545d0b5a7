//! What the hardware is: targets, registers, every instruction once, counters, hazard rules, and the machine
//! program with the analyses that need nothing else.
//!
//! ```
//! use gcn_isa::{Target, table};
//!
//! let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
//! assert_eq!(row.opcode, 0x4c);
//! assert_eq!(row.passes(Target::GFX942), Some(8));
//! ```
#![forbid(unsafe_code)]

pub mod cfg;
pub mod check;
pub mod counters;
pub mod dataflow;
pub mod evidence;
pub mod hazards;
pub mod indexing;
pub mod inst;
pub mod layout;
pub mod memory_model;
pub mod operand;
pub mod program;
pub mod reference;
pub mod reg;
pub mod semantics;
pub mod table;
pub mod target;
pub mod wait;

pub use inst::{Dpp, Inst, Mods, Sdwa};
pub use operand::{Inline, Operand, SrcSpecial};
pub use program::{Entry, EntryKind, Label, Line, Program};
pub use reg::{Reg, RegFile};
pub use table::{Access, Class, Format, InstDesc, OperandDesc};
pub use target::{Target, TargetSet};
