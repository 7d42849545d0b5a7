//! The scopes of a kernel: blocks that declare variables (3.5), and functions that were inlined (3.3.8), each inside the other.

use std::ops::Range;

use gcn_isa::program::Call;

use super::types::Type;

/// A function that was inlined at one place.
pub(super) struct Inlined {
    pub(super) call: &'static Call,
    /// The file of the call.
    pub(super) file: u64,
    /// Its code and that of the calls in it, by byte offset in the kernel, in ascending order with room between.
    pub(super) ranges: Vec<Range<u32>>,
    pub(super) inner: Vec<Inlined>,
    /// Its blocks that declare variables.
    pub(super) blocks: Vec<Block>,
}

/// A block with the variables that it declares.
pub(super) struct Block {
    /// Line and column, both ends included.
    pub(super) start: (u32, u32),
    pub(super) end: (u32, u32),
    /// Its code, by byte offset in the kernel.
    pub(super) ranges: Vec<Range<u32>>,
    pub(super) variables: Vec<Local>,
    pub(super) inner: Vec<Block>,
    /// The functions that were inlined into it, but for those in its inner blocks.
    pub(super) calls: Vec<Inlined>,
}

/// A variable.
pub(super) struct Local {
    pub(super) name: String,
    pub(super) file: u64,
    pub(super) line: u32,
    pub(super) ty: Type,
    /// Where it is, by byte offset in the kernel.
    pub(super) locations: Vec<(Range<u32>, Vec<u8>)>,
}
