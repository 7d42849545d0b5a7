//! What instructions take besides their factors.

use gcn_isa::layout::Controls;

use crate::lang::{IntoDevice, V};

/// Lanes that a multiplication takes elements of B from, instead of each lane from itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanePattern {
    /// Lanes 32 to 63 from lanes 0 to 31.
    LowerHalf,
    /// Lanes 0 to 31 from lanes 32 to 63.
    UpperHalf,
    /// Each lane from the one 16 further on, the last 16 from the first.
    RotatedBy16,
    /// Every 16 lanes from lanes 0 to 15.
    Quarter0,
    /// Every 16 lanes from lanes 16 to 31.
    Quarter1,
    /// Every 16 lanes from lanes 32 to 47.
    Quarter2,
    /// Every 16 lanes from lanes 48 to 63.
    Quarter3,
}

/// What a matrix instruction does besides: broadcasts blocks of A, permutes lanes of B, negates.
///
/// Which shapes take what is checked when the kernel is built: blocks of A are broadcast by instructions of several blocks,
/// lane patterns of B exist where the target's instruction has them (most before gfx942), negation for f64 since gfx942.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct MfmaOptions {
    /// Blocks that share one of A, and which of them it is.
    broadcast: Option<(u8, u8)>,
    pattern: Option<LanePattern>,
    /// Bit 0 A, bit 1 B, bit 2 C.
    negated: u8,
}

impl MfmaOptions {
    /// Nothing.
    pub const fn new() -> MfmaOptions {
        MfmaOptions { broadcast: None, pattern: None, negated: 0 }
    }

    /// Every `share` blocks, a power of two, are multiplied with the same block of A: the `from`-th of them.
    pub const fn broadcast_a(self, share: u8, from: u8) -> MfmaOptions {
        MfmaOptions { broadcast: Some((share, from)), ..self }
    }

    /// B's elements come from other lanes.
    pub const fn permute_b(self, pattern: LanePattern) -> MfmaOptions {
        MfmaOptions { pattern: Some(pattern), ..self }
    }

    /// A is negated (f64).
    pub const fn negate_a(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 1, ..self }
    }

    /// B is negated (f64).
    pub const fn negate_b(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 2, ..self }
    }

    /// The accumulator is negated (f64).
    pub const fn negate_c(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 4, ..self }
    }

    /// The instruction's fields, and which operands are negated.
    pub(super) fn controls(self) -> Result<(Controls, u8), String> {
        let mut controls = Controls::default();
        if let Some((share, from)) = self.broadcast {
            if !share.is_power_of_two() {
                return Err(format!(
                    "{share} blocks cannot share a block of A; their number is a power of two"
                ));
            }
            (controls.cbsz, controls.abid) = (share.trailing_zeros() as u8, from);
        }
        if let Some(pattern) = self.pattern {
            controls.blgp = pattern as u8 + 1;
        }
        Ok((controls, self.negated))
    }
}

/// Which two of every four `k` a [`SparseA`](crate::lang::matrix::SparseA) holds: four bits for each group of four of the lane, in the order of
/// its elements, the number of the first element in the lower two. One register holds several such sets for the larger elements.
#[derive(Debug, Clone, Copy)]
pub struct SparseIndex {
    value: V<u32>,
    pub(super) set: u8,
}

impl SparseIndex {
    /// The first set in `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> SparseIndex {
        SparseIndex { value: value.into_device(), set: 0 }
    }

    /// The `n`-th set in the register.
    #[must_use]
    pub fn set(self, n: u8) -> SparseIndex {
        SparseIndex { set: n, ..self }
    }

    /// Loads what the lane of a [`SparseA`](crate::lang::matrix::SparseA) needs from the one index word of its row and `k`.
    pub fn value(self) -> V<u32> {
        self.value
    }
}

/// Scales of one factor of an MX product: a byte for each row of A (column of B) and 32 consecutive `k`, in lane
/// `row + M * (k / 32)`; the exponent of a power of two, 127 meaning 1.
#[derive(Debug, Clone, Copy)]
pub struct Scales {
    pub(super) value: V<u32>,
    pub(super) byte: u8,
}

impl Scales {
    /// In the low byte of `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> Scales {
        Scales { value: value.into_device(), byte: 0 }
    }

    /// In byte `n`, 0 to 3: a register holds the scales for four products.
    #[must_use]
    pub fn byte(self, n: u8) -> Scales {
        Scales { byte: n, ..self }
    }
}
