//! The node of a path search: a block that was entered with the operation outstanding.

use smallvec::SmallVec;

use super::calls::Calls;
use super::outstanding::Outstanding;

/// A block entered with the operation outstanding.
pub(super) struct Node<'a> {
    pub block: usize,
    pub state: Outstanding<'a>,
    pub calls: Calls,
    /// The node from which it was first reached; for the start, itself.
    pub parent: usize,
    pub end: End,
}

/// How a node ends.
pub(super) enum End {
    /// The second instruction, with the operation outstanding.
    Second,
    /// The line that finishes the operation.
    Finished(usize),
    /// The block's end with the operation outstanding; the nodes after it, one for each successor where it is still
    /// outstanding.
    Open(SmallVec<[(usize, usize); 2]>),
}
