//! Reductions and scans over the lanes of a wave.

use super::{Bin, Value};
use crate::scalar::Elem;

/// The result that each lane gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spread {
    /// All values of the lane's segment combined. Over a whole wave the result is uniform.
    Reduce,
    /// The lane's own value and all values before it in its segment.
    Inclusive,
    /// All values before it in its segment; the identity for the first lane.
    Exclusive,
}

/// A reduction or scan. Inactive lanes count as the identity of the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wave {
    /// The operation: an associative and commutative one.
    pub op: Bin,
    /// The result that each lane gets.
    pub spread: Spread,
    /// Lanes in a segment: 16, 32 or 64.
    pub width: u8,
    /// The values, varying.
    pub value: Value,
    /// Every lane of the wave is known to be active.
    pub all_active: bool,
}

/// The bits of the neutral element. For float sums it is -0.0, which preserves the sign of zero. For the minimum and
/// maximum of floats it is a NaN in a reduction, since every number wins against it, and an infinity in a scan.
pub fn identity(op: Bin, elem: Elem, spread: Spread) -> u64 {
    let bits = 8 * elem.bytes();
    let register = |low: u64| if elem.dwords() == 2 { low } else { low & 0xffff_ffff };
    // Largest and smallest as registers hold them.
    let (least, most) = match (elem.is_signed(), bits) {
        (true, 64) => (i64::MIN as u64, i64::MAX as u64),
        (true, _) => (register(-(1i64 << (bits - 1)) as u64), (1u64 << (bits - 1)) - 1),
        (false, 64) => (0, u64::MAX),
        (false, _) => (0, (1u64 << bits) - 1),
    };
    // One, infinity, a quiet NaN.
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
