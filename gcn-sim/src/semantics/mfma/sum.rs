//! Sums that the hardware computes in f32 or exactly: [`super::model::Arithmetic::Tree`] and [`super::model::Arithmetic::Exact`].

use super::cut::Format;
use super::dense::STRETCH;
use crate::fp::{add_exact, exact_sum, flush32};

/// The exponent of the smallest normal f32.
const NORMAL: i32 = -126;

/// x, or +0 if it is a denormal or -0.
#[inline(always)]
pub(super) fn flushed_to_plus_zero(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { 0.0 } else { x }
}

#[inline(always)]
fn flushed(x: f32) -> f32 {
    f32::from_bits(flush32(x.to_bits()))
}

/// The smallest and the largest exponent of the elements, ignoring zeros, infinities and NaN, for which the order of additions does not
/// matter.
#[inline(always)]
fn exponents<'v>(values: impl Iterator<Item = &'v f32>) -> (i32, i32) {
    let (mut least, mut largest) = (i32::MAX, 0);
    for value in values {
        let field = (value.to_bits() >> 23 & 0xff) as i32;
        least = least.min(if *value == 0.0 { i32::MAX } else { field });
        largest = largest.max(if field == 0xff { 0 } else { field });
    }
    (least.min(0x1000) - 127, largest - 127)
}

/// Adds groups of products as the MI250X does.
#[inline(always)]
pub(super) fn tree<const FUSED: bool, const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    group: usize,
    formats: [Format; 2],
    acc: &mut [[f32; N]; N],
) {
    let (of_a, of_b) = (exponents(a.as_flattened().iter()), exponents(b.as_flattened().iter()));
    // Products and their sums are multiples of the product of the last bits of two factors. If that value is normal and products are less
    // than 2^128, no sum is denormal or overflows.
    let normal =
        of_a.0 + of_b.0 - formats[0].fraction - formats[1].fraction >= NORMAL && of_a.1 + of_b.1 <= 125;
    // Products of f16 have so few bits and such a small range that their sum with a normal C is never denormal.
    let half = formats[0].least + formats[1].least > -64;
    match group {
        2 => trees::<FUSED, N, 2>(a, b, (normal, half), acc),
        _ => trees::<FUSED, N, 4>(a, b, (normal, half), acc),
    }
}

/// As [`tree`], for groups of size `G`.
#[inline(always)]
fn trees<const FUSED: bool, const N: usize, const G: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    (normal, half): (bool, bool),
    acc: &mut [[f32; N]; N],
) {
    for (a, b) in a.as_chunks::<G>().0.iter().zip(b.as_chunks::<G>().0) {
        match (normal, half) {
            (true, true) => tree_of_group::<FUSED, false, false, N, G>(a, b, acc),
            (true, false) => tree_of_group::<FUSED, false, true, N, G>(a, b, acc),
            _ => tree_of_group::<FUSED, true, true, N, G>(a, b, acc),
        }
    }
}

/// Adds one group. `INNER`: products and their sums may be denormal. `OUTER`: the sum with C may be denormal.
#[inline(always)]
fn tree_of_group<const FUSED: bool, const INNER: bool, const OUTER: bool, const N: usize, const G: usize>(
    a: &[[f32; N]; G],
    b: &[[f32; N]; G],
    acc: &mut [[f32; N]; N],
) {
    let inner = |x: f32| if INNER { flushed(x) } else { x };
    for (row, acc) in acc.iter_mut().enumerate() {
        for j in 0..N {
            let pair = |at: usize| {
                let first = inner(a[at][row] * b[at][j]);
                // The product is exact, so the fused operation rounds like a separate addition.
                if FUSED && !INNER {
                    a[at + 1][row].mul_add(b[at + 1][j], first)
                } else {
                    inner(first + inner(a[at + 1][row] * b[at + 1][j]))
                }
            };
            let sum = if G == 4 { inner(pair(0) + pair(2)) } else { pair(0) };
            let c = acc[j] + sum;
            acc[j] = if OUTER { flushed(c) } else { c };
        }
    }
}

/// Adds groups of products as the MI100 does.
#[inline(always)]
pub(super) fn exact<const FUSED: bool, const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    group: usize,
    formats: [Format; 2],
    acc: &mut [[f32; N]; N],
) {
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let of_b = exponents(b.as_flattened().iter());
        let mut wide = [[0.0; N]; STRETCH];
        for (wide, b) in wide.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
            *wide = f64::from(*b);
        }
        for (row, acc) in acc.iter_mut().enumerate() {
            let mut of_row = [0.0; STRETCH];
            of_row.iter_mut().zip(a).for_each(|(value, a)| *value = a[row]);
            let of_a = exponents(of_row[..a.len()].iter());
            // Products are multiples of 2^last and less than 2^(first + 2), and sums of up to four of them are less than 2^(first + 4).
            let last = of_a.0 + of_b.0 - formats[0].fraction - formats[1].fraction;
            let first = of_a.1 + of_b.1;
            if first + 4 - last <= 53 {
                sums_that_fit::<FUSED, N>(&of_row[..a.len()], &wide, acc);
            } else {
                sums_of_any(&of_row[..a.len()], &wide, acc);
            }
        }
    }
}

/// The sum of C and the products of a group, for products whose sum is exact in f64.
#[inline(always)]
fn sums_that_fit<const FUSED: bool, const N: usize>(a: &[f32], b: &[[f64; N]; STRETCH], acc: &mut [f32; N]) {
    let mut sums = [0f64; N];
    for (a, b) in a.iter().zip(b) {
        let a = f64::from(*a);
        for j in 0..N {
            sums[j] = if FUSED { a.mul_add(b[j], sums[j]) } else { sums[j] + a * b[j] };
        }
    }
    let mut results = [0f32; N];
    let mut doubtful = 0u32;
    for j in 0..N {
        let sum = sums[j] + f64::from(acc[j]);
        let tie = sum.to_bits() & 0x1fff_ffff == 0x1000_0000;
        let tiny = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
        doubtful |= u32::from(tie | tiny);
        results[j] = sum as f32;
    }
    // Rounding the f64 sum to f32 may be wrong if the f64 sum was itself rounded and lies halfway between two f32 values, or below the
    // normal range.
    if doubtful != 0 {
        for j in 0..N {
            results[j] = add_exact(acc[j], sums[j]);
        }
    }
    *acc = results;
}

/// As [`sums_that_fit`], for arbitrary terms.
#[cold]
#[inline(never)]
fn sums_of_any<const N: usize>(a: &[f32], b: &[[f64; N]; STRETCH], acc: &mut [f32; N]) {
    for (j, acc) in acc.iter_mut().enumerate() {
        let mut terms = [0f64; STRETCH + 1];
        terms[STRETCH] = f64::from(*acc);
        for (term, (a, b)) in terms.iter_mut().zip(a.iter().zip(b)) {
            *term = f64::from(*a) * b[j];
        }
        *acc = exact_sum(&terms);
    }
}
