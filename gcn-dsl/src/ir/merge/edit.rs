//! The changes that the merging of adjacent memory accesses makes at an instruction, and helpers for vector and scalar accesses.

use super::super::align::{Alignment, Split};
use super::super::{Inst, Kernel, Stmt, Value};

/// The changes at one instruction: the statements to insert before it, and whether it is removed.
#[derive(Default, Clone)]
pub(super) struct Edit {
    pub before: Vec<Stmt>,
    pub removed: bool,
}

/// The size of the aligned blocks within which accesses at `base` may be merged.
pub(super) fn block_bytes(kernel: &Kernel, alignment: &mut Alignment, base: &Split, widest: u32) -> u32 {
    match base.base {
        Some(v) => widest.min(1 << alignment.bits(kernel, v)),
        None => widest,
    }
}

/// The instruction that extracts `dwords` dwords, starting at number `dword`, of a value of `of` dwords.
pub(super) fn part(from: Value, dword: u32, dwords: u32, of: u32) -> Inst {
    if dwords == of { Inst::Bitcast(from) } else { Inst::Extract { from, dword: dword as u8 } }
}
