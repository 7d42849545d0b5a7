//! Floating-point arithmetic that the host does not offer in the same form: half precision and bfloat16, fused multiply-add on hosts
//! without it, directed rounding, and AMD's choice of NaN.
//!
//! All operations are exact: each result is the correctly rounded value of the operation on real numbers.

pub(crate) mod host;
pub(crate) mod narrow;
pub(crate) mod small;
pub(crate) mod soft;

pub(crate) use narrow::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f64_to_f16};
pub(crate) use soft::Round;

/// The quiet NaN that an invalid f32 operation gives.
pub(crate) const NAN32: u32 = 0x7fc0_0000;
/// The quiet NaN that an invalid f64 operation gives.
pub(crate) const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// Returns `r` unless it is a NaN; in that case returns the first NaN among the operands, quieted, or the default NaN if no operand is a
/// NaN.
///
/// Which NaN the host returns depends on the order of operands and on the compiler; on AMD hardware it does not.
#[inline(always)]
pub(crate) fn pick_nan32(operands: [f32; 3], r: f32) -> f32 {
    if !r.is_nan() {
        return r;
    }
    let mut bits = NAN32;
    for x in operands.into_iter().rev() {
        bits = if x.is_nan() { x.to_bits() | 0x0040_0000 } else { bits };
    }
    f32::from_bits(bits)
}

/// As [`pick_nan32`], for f64.
#[inline(always)]
pub(crate) fn pick_nan64(operands: [f64; 3], r: f64) -> f64 {
    if !r.is_nan() {
        return r;
    }
    let mut bits = NAN64;
    for x in operands.into_iter().rev() {
        bits = if x.is_nan() { x.to_bits() | 0x0008_0000_0000_0000 } else { bits };
    }
    f64::from_bits(bits)
}

/// a + b in f32.
#[inline(always)]
pub(crate) fn add32(a: f32, b: f32) -> f32 {
    pick_nan32([a, b, 0.0], a + b)
}

/// a * b in f32.
#[inline(always)]
pub(crate) fn mul32(a: f32, b: f32) -> f32 {
    pick_nan32([a, b, 0.0], a * b)
}

/// a + b in f64.
#[inline(always)]
pub(crate) fn add64(a: f64, b: f64) -> f64 {
    pick_nan64([a, b, 0.0], a + b)
}

/// a * b in f64.
#[inline(always)]
pub(crate) fn mul64(a: f64, b: f64) -> f64 {
    pick_nan64([a, b, 0.0], a * b)
}

/// a * b + c in f64, rounded to odd.
#[inline(always)]
fn fma_to_odd(a: f32, b: f32, c: f32) -> f64 {
    // The product of two f32 is exact in f64.
    sum_to_odd(f64::from(a) * f64::from(b), f64::from(c))
}

/// product + c in f64, rounded to odd: rounding it again to f32 or f16 gives the correct result without double rounding, because f64 has
/// more than two extra bits.
#[inline(always)]
fn sum_to_odd(product: f64, c: f64) -> f64 {
    let (sum, error) = two_sum(product, c);
    let bits = sum.to_bits();
    // If the sum is inexact and its last bit is even, move to the neighbour (whose last bit is odd) in the direction of the exact value.
    let outward = (error > 0.0) == (sum > 0.0);
    let odd = if outward { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let inexact = error != 0.0 && sum.is_finite() && !error.is_nan();
    f64::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
}

/// a + b, rounded once to f32.
#[inline(always)]
pub(crate) fn add_exact(a: f32, b: f64) -> f32 {
    sum_to_odd(b, f64::from(a)) as f32
}

/// The sum of the terms, rounded once to f32; +0 if it is zero. No partial sum may overflow f64.
pub(crate) fn exact_sum(terms: &[f64]) -> f32 {
    let plain: f64 = terms.iter().sum();
    if !plain.is_finite() {
        return plain as f32;
    }
    // Non-overlapping parts in ascending order whose sum is exact (Shewchuk).
    let mut parts: Vec<f64> = Vec::with_capacity(terms.len());
    for term in terms {
        let (mut sum, mut kept) = (*term, 0);
        for i in 0..parts.len() {
            let (high, low) = two_sum(sum, parts[i]);
            if low != 0.0 {
                parts[kept] = low;
                kept += 1;
            }
            sum = high;
        }
        parts.truncate(kept);
        parts.push(sum);
    }
    parts.into_iter().fold(0.0, |below, part| sum_to_odd(part, below)) as f32
}

/// The rounded sum of a and b, and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    // Knuth's TwoSum.
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Fused a * b + c in f32, round to nearest even.
#[inline(always)]
pub(crate) fn fma32(a: f32, b: f32, c: f32) -> f32 {
    pick_nan32([a, b, c], fma32_any_nan(a, b, c))
}

/// As [`fma32`], but a NaN result may be any NaN.
#[inline(always)]
pub(crate) fn fma32_any_nan(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { fma_to_odd(a, b, c) as f32 }
}

/// Computes a * b + acc, fused, for each element of `acc`; a NaN result may be any NaN.
///
/// Rounding an f64 sum to f32 is wrong only if the f64 sum was itself rounded and lies exactly halfway between two f32 values, or below the
/// normal range. Both are rare, so a first pass assumes that neither occurs, and detects whether a second, exact pass is needed.
#[inline(always)]
pub(crate) fn fma32_each(acc: &mut [f32], operands: impl Fn(usize) -> (f32, f32)) {
    if cfg!(target_feature = "fma") {
        acc.iter_mut().enumerate().for_each(|(i, acc)| *acc = operands(i).0.mul_add(operands(i).1, *acc));
        return;
    }
    let mut results = [0f32; 64];
    let mut doubtful = 0u32;
    for (i, acc) in acc.iter().enumerate() {
        let (a, b) = operands(i);
        let sum = f64::from(a) * f64::from(b) + f64::from(*acc);
        let tie = sum.to_bits() & 0x1fff_ffff == 0x1000_0000;
        let tiny = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
        doubtful |= u32::from(tie | tiny | sum.is_nan());
        results[i] = sum as f32;
    }
    if doubtful != 0 {
        for (i, acc) in acc.iter().enumerate() {
            let (a, b) = operands(i);
            results[i] = fma32_any_nan(a, b, *acc);
        }
    }
    let count = acc.len();
    acc.copy_from_slice(&results[..count]);
}

/// Fused a * b + c in f64, round to nearest even.
#[inline(always)]
pub(crate) fn fma64(a: f64, b: f64, c: f64) -> f64 {
    pick_nan64([a, b, c], a.mul_add(b, c))
}

/// Fused a * b + c of half-precision values, rounded once to f16.
#[inline(always)]
pub(crate) fn fma16(a: f32, b: f32, c: f32) -> u16 {
    let r = fma_to_odd(a, b, c);
    if r.is_nan() { f32_to_f16(pick_nan32([a, b, c], r as f32)) } else { f64_to_f16(r) }
}

/// Flushes a denormal to zero of the same sign.
#[inline(always)]
pub(crate) fn flush32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// As [`flush32`], for f16 in the low half.
#[inline(always)]
pub(crate) fn flush16(bits: u32) -> u32 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// As [`flush32`], for f64.
#[inline(always)]
pub(crate) fn flush64(bits: u64) -> u64 {
    if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 0x8000_0000_0000_0000 } else { bits }
}

/// Rounds to an integer, ties to even.
#[inline(always)]
pub(crate) fn rndne64(x: f64) -> f64 {
    x.round_ties_even()
}
