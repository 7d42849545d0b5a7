//! The checker against golden programs, against exhaustive search, and rule family by rule family.

mod advice;
mod counters;
mod distance;
mod families;
mod flow;
mod full;
mod holds;
mod memory;
mod search;

use gcn_isa::Program;
use gcn_isa::check::{CheckReport, MemoryModel, Options, check_with};

/// The checker as it judges our own waits: every access of LDS may concern every other.
pub fn strict(program: &Program) -> CheckReport {
    check_with(program, Options { memory_model: MemoryModel::Strict, ..Options::default() })
}
