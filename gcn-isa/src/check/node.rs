//! A node of a path search.

use smallvec::SmallVec;

use super::calls::Calls;
use super::outstanding::Outstanding;

/// A block that is entered with the operation outstanding.
pub(super) struct Node<'a> {
    pub block: usize,
    pub state: Outstanding<'a>,
    pub calls: Calls,
    /// The node from which this node was first reached. The parent of the start is the start itself.
    pub parent: usize,
    pub end: End,
}

/// How the search from a node ends.
pub(super) enum End {
    /// The search reached the second instruction while the operation was outstanding.
    Second,
    /// The search reached this line, which completes the operation.
    Finished(usize),
    /// The search reached the block's end while the operation was outstanding. The list has the block and the node of each successor in
    /// which the operation is still outstanding.
    Open(SmallVec<[(usize, usize); 2]>),
}
