//! Positions in the source text.

/// Bytes of the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    /// Offset of the first byte.
    pub at: u32,
    /// Number of bytes; 0 where something is missing.
    pub len: u32,
}

impl Span {
    /// Bytes `start..end`. Texts longer than 4 GiB are refused before anything else is read.
    pub fn new(start: usize, end: usize) -> Span {
        Span { at: start as u32, len: end.saturating_sub(start) as u32 }
    }
}
