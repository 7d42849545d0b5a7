//! The loops that `#[pipeline]` names.

use gcn_isa::program::SourceLoc;

use super::Variable;

/// A loop to pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The loop's counter, which identifies the loop: the innermost one that writes it.
    pub counter: Variable,
    /// Trips in flight at a time; `None`: [`super::pipeline::run`] chooses.
    pub stages: Option<u8>,
    /// Buffers of the LDS arrays that the loop fills; `None`: [`super::pipeline::run`] chooses if it chooses the stages as well, otherwise one.
    pub buffers: Option<u8>,
    /// The attribute's position.
    pub at: Option<SourceLoc>,
}
