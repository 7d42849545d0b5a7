//! A node of a path search.

use smallvec::SmallVec;

use super::calls::Calls;
use super::outstanding::Outstanding;

/// A block that is entered with the operation outstanding.
pub(super) struct Node<'a> {
    pub block: usize,
    pub state: Outstanding<'a>,
    pub calls: Calls,
    /// The node from which this one was first reached; the start is its own parent.
    pub parent: usize,
    pub end: End,
}

/// How the search of a node ends.
pub(super) enum End {
    /// At the second instruction, with the operation outstanding.
    Second,
    /// At the line that completes the operation.
    Finished(usize),
    /// At the block's end, with the operation outstanding. The list has the block and the node of each successor in
    /// which it is still outstanding.
    Open(SmallVec<[(usize, usize); 2]>),
}
