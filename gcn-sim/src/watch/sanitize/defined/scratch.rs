//! The undefined bits of a wave's scratch.

use crate::core::trace::{Kind, Path, Touch};
use crate::core::value::LANES;

/// The undefined bits in the scratch of all lanes, one lane after the other. Initially all bits are undefined.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    /// The undefined bits of each byte.
    bits: Vec<u8>,
    /// A bit for each byte that has been written, in words of 64 bits.
    written: Vec<u64>,
    /// The size of a lane's scratch in bytes.
    size: usize,
    /// The last address from which a load has read undefined bits.
    pub found: Option<u64>,
}

impl Scratch {
    pub(super) fn clear(&mut self, bytes: usize) {
        self.bits.clear();
        self.bits.resize(bytes, u8::MAX);
        self.written.clear();
        self.written.resize(bytes.div_ceil(64), 0);
        self.size = bytes / LANES;
        self.found = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// True if any of the accesses is to scratch.
    pub(super) fn concern(&self, touches: &[Touch]) -> bool {
        !self.is_empty() && touches.iter().any(|touch| touch.space == Path::Scratch)
    }

    /// The byte range of an access to scratch; empty for other accesses, and for accesses that are out of bounds.
    fn bytes(&self, touch: &Touch) -> std::ops::Range<usize> {
        let start = usize::from(touch.lane.unwrap_or(0)) * self.size + touch.address as usize;
        let end = start + usize::from(touch.bytes);
        if touch.space == Path::Scratch && end <= self.bits.len() { start..end } else { 0..0 }
    }

    fn is_written(&self, byte: usize) -> bool {
        self.written[byte / 64] >> (byte % 64) & 1 == 1
    }

    /// Sets the undefined bits that an access writes, if it writes scratch.
    pub(super) fn write(&mut self, touch: &Touch, bits: u128) {
        if touch.kind == Kind::Read {
            return;
        }
        let bytes = self.bytes(touch);
        if bytes.is_empty() {
            return;
        }
        self.bits[bytes.clone()].copy_from_slice(&bits.to_le_bytes()[..bytes.len()]);
        let (word, mask) = (bytes.start / 64, ((1u128 << bytes.len()) - 1) << (bytes.start % 64));
        self.written[word] |= mask as u64;
        if mask >> 64 != 0 {
            self.written[word + 1] |= (mask >> 64) as u64;
        }
    }

    /// True if the access reads undefined bits.
    fn finds(&self, touch: &Touch) -> bool {
        let defined = |bytes: &[u8]| match *bytes {
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) == 0,
            ref others => others.iter().all(|bits| *bits == 0),
        };
        touch.kind == Kind::Read && !defined(&self.bits[self.bytes(touch)])
    }

    /// True if any of the accesses reads undefined bits.
    pub(super) fn finds_any(&self, touches: &[Touch]) -> bool {
        !self.is_empty() && touches.iter().any(|touch| self.finds(touch))
    }

    /// If a load reads undefined bits, records it and returns true.
    pub(super) fn find(&mut self, touches: &[Touch]) -> bool {
        let found = touches.iter().find(|touch| self.finds(touch)).map(|touch| touch.address);
        self.found = found.or(self.found);
        found.is_some()
    }

    /// Treats uninitialised bytes that a load reads as defined if it also reads written bytes of the same lane: they are probably padding
    /// of a structure that is copied. [`Scratch::show`] reverts this.
    pub(super) fn hide_padding(&mut self, touches: &[Touch]) -> Vec<usize> {
        let lane = |touch: &Touch| 1u64 << touch.lane.unwrap_or(0);
        let written = touches.iter().filter(|t| self.bytes(t).any(|byte| self.is_written(byte)));
        let partly = written.fold(0, |all, touch| all | lane(touch));
        let of_these = touches.iter().filter(|t| partly & lane(t) != 0).flat_map(|t| self.bytes(t));
        let padding: Vec<usize> = of_these.filter(|byte| !self.is_written(*byte)).collect();
        padding.iter().for_each(|byte| self.bits[*byte] = 0);
        padding
    }

    pub(super) fn show(&mut self, padding: &[usize]) {
        padding.iter().for_each(|byte| self.bits[*byte] = u8::MAX);
    }

    /// The mask of undefined bits of each byte, which is exchanged with the contents of the separate wave's scratch.
    pub(super) fn bits(&mut self) -> &mut Vec<u8> {
        &mut self.bits
    }
}
