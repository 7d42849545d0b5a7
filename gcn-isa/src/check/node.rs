//! What a search for paths is made of: the blocks that it entered with the operation outstanding.

use smallvec::SmallVec;

use super::calls::Calls;
use super::outstanding::Outstanding;

/// A block entered with the operation outstanding.
pub(super) struct Node<'a> {
    pub block: usize,
    pub state: Outstanding<'a>,
    pub calls: Calls,
    /// The node from which it was first reached; itself for the start.
    pub parent: usize,
    pub end: End,
}

/// How a node ends.
pub(super) enum End {
    /// The second instruction, with the operation outstanding.
    Second,
    /// The line that finishes the operation.
    Finished(usize),
    /// The block's end with the operation outstanding; the nodes after it, one for each successor after which it is
    /// still outstanding.
    Open(SmallVec<[(usize, usize); 2]>),
}
