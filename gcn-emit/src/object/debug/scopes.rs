//! The scopes of a kernel: blocks that declare variables (3.5), and inlined functions (3.3.8), which may be nested in
//! each other.

use std::ops::Range;

use gcn_isa::program::Call;

use super::types::Type;

/// One inlined call of a function.
pub(super) struct Inlined {
    pub(super) call: &'static Call,
    /// The file of the call.
    pub(super) file: u64,
    /// The code of the function and of the calls in it, by byte offset in the kernel; the ranges are in ascending order
    /// and not adjacent.
    pub(super) ranges: Vec<Range<u32>>,
    pub(super) inner: Vec<Inlined>,
    /// The function's blocks that declare variables.
    pub(super) blocks: Vec<Block>,
}

/// A block with the variables that it declares.
pub(super) struct Block {
    /// The first line and column; `end` contains the last ones, which are part of the block.
    pub(super) start: (u32, u32),
    pub(super) end: (u32, u32),
    /// The block's code, by byte offset in the kernel.
    pub(super) ranges: Vec<Range<u32>>,
    pub(super) variables: Vec<Local>,
    pub(super) inner: Vec<Block>,
    /// The functions that were inlined into the block, except for those in its inner blocks.
    pub(super) calls: Vec<Inlined>,
}

/// A variable.
pub(super) struct Local {
    pub(super) name: String,
    pub(super) file: u64,
    pub(super) line: u32,
    pub(super) ty: Type,
    /// The variable's location, by byte offset in the kernel.
    pub(super) locations: Vec<(Range<u32>, Vec<u8>)>,
}
