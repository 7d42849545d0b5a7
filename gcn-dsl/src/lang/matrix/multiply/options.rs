//! Modifiers of matrix instructions, and their operands other than the factors: sparse indices and scales.

use gcn_isa::layout::Controls;

use crate::lang::{IntoDevice, V};

/// A permutation of lanes: from which lane each lane takes its elements of B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanePattern {
    /// Lanes 32 to 63 take the elements of lanes 0 to 31.
    LowerHalf,
    /// Lanes 0 to 31 take the elements of lanes 32 to 63.
    UpperHalf,
    /// Each lane takes the elements of the lane whose number is 16 higher; the last 16 lanes take those of the first
    /// 16.
    RotatedBy16,
    /// Each group of 16 lanes takes the elements of lanes 0 to 15.
    Quarter0,
    /// Each group of 16 lanes takes the elements of lanes 16 to 31.
    Quarter1,
    /// Each group of 16 lanes takes the elements of lanes 32 to 47.
    Quarter2,
    /// Each group of 16 lanes takes the elements of lanes 48 to 63.
    Quarter3,
}

/// Modifiers of a matrix instruction: broadcast of blocks of A, permutation of the lanes of B, negation.
///
/// The build checks that the shape supports the modifiers. Blocks of A can be broadcast by instructions with several
/// blocks; the lanes of B can be permuted if the target's instruction allows it (most before gfx942 do); and f64
/// instructions can negate operands since gfx942.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct MfmaOptions {
    /// The number of blocks that share one block of A, and the number of the shared block.
    broadcast: Option<(u8, u8)>,
    pattern: Option<LanePattern>,
    /// Bit 0 negates A, bit 1 B, bit 2 C.
    negated: u8,
}

impl MfmaOptions {
    /// No modifier.
    pub const fn new() -> MfmaOptions {
        MfmaOptions { broadcast: None, pattern: None, negated: 0 }
    }

    /// Multiplies all blocks of each group of `share` blocks (a power of two) with the same block of A: block `from` of
    /// the group.
    pub const fn broadcast_a(self, share: u8, from: u8) -> MfmaOptions {
        MfmaOptions { broadcast: Some((share, from)), ..self }
    }

    /// Takes the elements of B from other lanes.
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

    /// The values of the instruction's fields, and a mask of the operands to negate.
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

/// For a [`SparseA`](crate::lang::matrix::SparseA): which two of every four `k` are stored. Each group of four `k` of
/// the lane has four bits, in the order of the lane's elements: two bits for the position of the first stored element,
/// then two for that of the second. With larger elements a lane needs fewer bits, and one register contains several
/// such sets of bits.
#[derive(Debug, Clone, Copy)]
pub struct SparseIndex {
    value: V<u32>,
    pub(super) set: u8,
}

impl SparseIndex {
    /// An index that uses the first set in `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> SparseIndex {
        SparseIndex { value: value.into_device(), set: 0 }
    }

    /// The index with the `n`-th set in the register.
    #[must_use]
    pub fn set(self, n: u8) -> SparseIndex {
        SparseIndex { set: n, ..self }
    }

    /// The register that contains the index.
    pub fn value(self) -> V<u32> {
        self.value
    }
}

/// Scales of one factor of an MX product: one byte for each row of A (column of B) and block of 32 consecutive `k`, in
/// lane `row + M * (k / 32)`. The byte is the exponent of a power of two, biased by 127.
#[derive(Debug, Clone, Copy)]
pub struct Scales {
    pub(super) value: V<u32>,
    pub(super) byte: u8,
}

impl Scales {
    /// Scales that use the low byte of `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> Scales {
        Scales { value: value.into_device(), byte: 0 }
    }

    /// Scales that use byte `n` (0 to 3), so that one register can contain the scales of four products.
    #[must_use]
    pub fn byte(self, n: u8) -> Scales {
        Scales { byte: n, ..self }
    }
}
