//! Loops marked by `#[pipeline]`.

use gcn_isa::program::SourceLoc;

use super::Variable;

/// A loop to pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The loop's counter, which identifies the loop as the innermost one that writes it.
    pub counter: Variable,
    /// The number of trips in flight at a time; if it is `None`, [`super::pipeline::run`] chooses.
    pub stages: Option<u8>,
    /// The number of buffers of the LDS arrays that the loop fills. If it is `None`, [`super::pipeline::run`] chooses,
    /// provided that it also chooses the stages; otherwise there is one.
    pub buffers: Option<u8>,
    /// The location of the attribute.
    pub at: Option<SourceLoc>,
}
