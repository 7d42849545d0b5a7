//! Processors, instruction sets, and the facts by which they differ.
//!
//! A [`Target`] is a processor, as users name it: a row of one table, with what belongs to the chip (its number in ELF files, its files
//! of registers, its LDS). An [`InstructionSet`] is what tables, hazards and counters know, and several processors have the same. Code
//! outside the tables asks for a fact ([`Target::has_unified_agprs`]) and never for a name.

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

/// Lanes of a wave on every target that can be compiled for, for types and constants. Code that knows its target asks it
/// ([`Target::wave_size`]).
pub const WAVE_SIZE: u32 = 64;
