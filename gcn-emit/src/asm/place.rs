//! Places in sections under construction.

/// Number of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StreamId(pub u32);

/// A place in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub stream: StreamId,
    /// The number of gaps of the stream before it.
    pub gaps: u32,
    /// Bytes of the stream before it, without gaps.
    pub bytes: u64,
}
