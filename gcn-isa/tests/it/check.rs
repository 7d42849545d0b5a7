//! Tests the checker against golden programs, against exhaustive search, and for each family of rules.

mod advice;
mod copies;
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

/// Checks with the options that are used for our own waits: any two LDS accesses may be to the same bytes.
pub fn strict(program: &Program) -> CheckReport {
    check_with(program, Options { memory_model: MemoryModel::Strict, ..Options::default() })
}
