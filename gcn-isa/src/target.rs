//! Processors, instruction sets, and the facts in which they differ.
//!
//! A [`Target`] is a processor with the name that users know: a row of one table with the facts about the chip (its number in ELF files,
//! register files, LDS). An [`InstructionSet`] is the level at which tables, hazards and counters distinguish targets; several processors
//! may have the same instruction set. Code outside the tables queries a fact ([`Target::has_unified_agprs`]) and never compares names.

mod instruction_set;
mod processor;
mod reg_file;
mod set;
mod subtarget;

pub use instruction_set::{Family, Generation, InstructionSet, NamedSgprs, WaveSize};
pub use processor::{Target, UnknownTarget, VgprFile};
pub use reg_file::RegFile;
pub use set::{TargetSet, UnknownSet};
pub use subtarget::Subtarget;

/// The number of lanes of a wave on every target in [`Target::GFX9`], for types and constants. Code that knows its
/// target calls [`Target::wave_size`].
pub const WAVE_SIZE: u32 = 64;
