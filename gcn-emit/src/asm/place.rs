//! Positions in sections under construction.

/// The number of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StreamId(pub u32);

/// A position in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub stream: StreamId,
    /// The number of gaps that precede the position in the stream.
    pub gaps: u32,
    /// The number of bytes that precede the position in the stream, without gaps.
    pub bytes: u64,
}
