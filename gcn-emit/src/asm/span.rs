//! Positions in the source text.

/// A range of bytes of the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    /// The offset of the first byte.
    pub at: u32,
    /// The number of bytes; 0 if something is missing.
    pub len: u32,
}

impl Span {
    /// The bytes `start..end`. Texts longer than 4 GiB are rejected before anything else is parsed.
    pub fn new(start: usize, end: usize) -> Span {
        Span { at: start as u32, len: end.saturating_sub(start) as u32 }
    }
}
