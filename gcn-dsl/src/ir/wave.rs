//! Reductions and scans over the lanes of a wave.

use super::{Bin, Value};
use crate::scalar::Elem;

/// The kind of result: which lanes' values are combined for each lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spread {
    /// For each lane, the reduction of all values of its segment. Over a whole wave the result is uniform.
    Reduce,
    /// For each lane, the reduction of its own value and those of all lower lanes of its segment.
    Inclusive,
    /// For each lane, the reduction of the values of all lower lanes of its segment; for the first lane, the identity.
    Exclusive,
}

/// A reduction or scan. Inactive lanes count as the identity of the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wave {
    /// The operation, which is associative and commutative.
    pub op: Bin,
    /// The kind of result.
    pub spread: Spread,
    /// The number of lanes in a segment: 16, 32 or 64.
    pub width: u8,
    /// The values; varying.
    pub value: Value,
    /// True if all lanes of the wave are known to be active.
    pub all_active: bool,
}

/// The bits of the identity element. For float sums it is -0.0, which preserves the sign of zero. For the minimum and
/// maximum of floats it is a NaN in a reduction, where any number takes precedence over a NaN, and an infinity in a
/// scan.
pub fn identity(op: Bin, elem: Elem, spread: Spread) -> u64 {
    let bits = 8 * elem.bytes();
    let register = |low: u64| if elem.dwords() == 2 { low } else { low & 0xffff_ffff };
    // The smallest and the largest value, as bits in a register.
    let (least, most) = match (elem.is_signed(), bits) {
        (true, 64) => (i64::MIN as u64, i64::MAX as u64),
        (true, _) => (register(-(1i64 << (bits - 1)) as u64), (1u64 << (bits - 1)) - 1),
        (false, 64) => (0, u64::MAX),
        (false, _) => (0, (1u64 << bits) - 1),
    };
    // The bits of one, infinity and a quiet NaN.
    let (one, infinity, nan) = match elem {
        Elem::F16 => (0x3c00, 0x7c00, 0x7e00),
        Elem::Bf16 => (0x3f80, 0x7f80, 0x7fc0),
        Elem::F32 => (0x3f80_0000, 0x7f80_0000, 0x7fc0_0000),
        _ => (1f64.to_bits(), f64::INFINITY.to_bits(), 0x7ff8 << 48),
    };
    let sign = 1u64 << (bits - 1);
    match (op, elem.is_float()) {
        (Bin::Add, true) => sign,
        (Bin::Mul, true) => one,
        (Bin::Min | Bin::Max, true) if spread == Spread::Reduce => nan,
        (Bin::Min, true) => infinity,
        (Bin::Max, true) => infinity | sign,
        (Bin::Mul, false) => 1,
        (Bin::Min, false) => most,
        (Bin::Max, false) => least,
        (Bin::And, false) if elem.is_signed() => register(u64::MAX),
        (Bin::And, false) => most,
        _ => 0,
    }
}
