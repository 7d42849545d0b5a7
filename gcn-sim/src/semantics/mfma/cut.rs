//! Sums of truncated products: [`super::model::Arithmetic::Cut`].
//!
//! Let M be the largest exponent of a group's products, where the exponent of a product is the sum of its factors' exponents, and let E be
//! the larger of M and C's exponent. Products are represented as integers in units of 2^(M-24), C in units of 2^(E-24), and the sum in
//! units of 2^(E-32). A row of the result is computed with the host's vectors of 32-bit integers. Elements for which 32-bit integers do not
//! suffice (infinities, NaN, exponents near the ends of the range) are computed one by one.

use gcn_isa::layout::ElemType;

use super::dense::STRETCH;

/// An input format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// The number of fraction bits.
    pub fraction: i32,
    /// The exponent of the smallest normal number, which is also that of denormals.
    pub least: i32,
}

impl Format {
    /// The format of an input type; `None` for types without a model.
    pub(super) fn of(ty: ElemType) -> Option<Format> {
        let (fraction, least) = match ty {
            ElemType::F16 => (10, -14),
            ElemType::Bf16 => (7, -126),
            ElemType::Xf32 => (10, -126),
            ElemType::Fp8 => (3, -7),
            ElemType::Bf8 => (2, -15),
            _ => return None,
        };
        Some(Format { fraction, least })
    }
}

/// The number of fraction bits of products, relative to the largest exponent.
const BITS: i32 = 24;
/// The exponent that represents zero. It is so small that it is never the largest of a group, unless all products are zero.
const OF_ZERO: i32 = -0x800;
/// The exponent that represents infinity and NaN. It is so large that it is always the largest, even for a product with zero.
const OF_SPECIAL: i32 = 0x2000;
/// The range of exponents for which sums are computed with vectors. In it, all products and C are finite, and the scale factors are normal
/// numbers.
const LEAST: i32 = -100;
const MOST: i32 = 125;

/// The elements of a line of A or B, decomposed: significands as integers, exponents, and signs (0 or -1).
#[derive(Clone, Copy)]
struct Parts<const N: usize> {
    significand: [i32; N],
    exponent: [i32; N],
    sign: [i32; N],
}

impl<const N: usize> Parts<N> {
    const ZERO: Parts<N> = Parts { significand: [0; N], exponent: [OF_ZERO; N], sign: [0; N] };

    /// Decomposes elements that were widened to f32. Significands are shifted left by `up`.
    #[inline(always)]
    fn of(values: &[f32; N], format: Format, up: i32) -> Parts<N> {
        let mut parts = Parts::ZERO;
        for i in 0..N {
            let bits = values[i].to_bits() as i32;
            let field = bits >> 23 & 0xff;
            let hidden = if field == 0 { 0 } else { 1 << 23 };
            let own = field.max(1);
            let biased = own.max(format.least + 127);
            // If the shift is limited here, no bit of the significand would be left anyway: only zero is that far below the smallest
            // exponent.
            let down = (23 - format.fraction + biased - own).min(31);
            let significand = ((bits & 0x7f_ffff | hidden) >> down) << up;
            let exponent = if field == 0xff { OF_SPECIAL } else { biased - 127 };
            parts.exponent[i] = if significand == 0 { OF_ZERO } else { exponent };
            parts.significand[i] = significand;
            parts.sign[i] = bits >> 31;
        }
        parts
    }
}

/// x * 2^-n, rounded down.
#[inline(always)]
fn floored(x: i32, n: i32) -> i32 {
    x >> n.clamp(0, 31)
}

/// 2^n, where n must be the exponent of a normal f32.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

/// Adds the products of `a` and `b` in groups of `group` consecutive k.
#[inline(always)]
pub(super) fn add<const HALVES: bool, const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    group: usize,
    [of_a, of_b]: [Format; 2],
    acc: &mut [[f32; N]; N],
) {
    let up = BITS - of_a.fraction - of_b.fraction;
    let (mut a_parts, mut b_parts) = ([Parts::ZERO; STRETCH], [Parts::ZERO; STRETCH]);
    for (parts, values) in a_parts.iter_mut().zip(a) {
        *parts = Parts::of(values, of_a, up);
    }
    for (parts, values) in b_parts.iter_mut().zip(b) {
        *parts = Parts::of(values, of_b, 0);
    }
    let parts = [&a_parts[..a.len()], &b_parts[..b.len()]];
    match group {
        4 => groups::<HALVES, N, 4>([a, b], parts, acc),
        8 => groups::<HALVES, N, 8>([a, b], parts, acc),
        _ => groups::<HALVES, N, 16>([a, b], parts, acc),
    }
}

/// As [`add`], for groups of size `G`.
#[inline(always)]
fn groups<const HALVES: bool, const N: usize, const G: usize>(
    [a, b]: [&[[f32; N]]; 2],
    parts: [&[Parts<N>]; 2],
    acc: &mut [[f32; N]; N],
) {
    let [a_parts, b_parts] = parts.map(|parts| parts.as_chunks::<G>().0);
    let values = a.as_chunks::<G>().0.iter().zip(b.as_chunks::<G>().0);
    for ((a_parts, b_parts), (a, b)) in a_parts.iter().zip(b_parts).zip(values) {
        for (row, acc) in acc.iter_mut().enumerate() {
            let before = *acc;
            let (mut after, mut alone) = ([0.0; N], [0; N]);
            let sums = cut_sums::<HALVES, N, G>(a_parts, b_parts, row);
            if side_by_side::<HALVES, N>(&sums, &before, &mut after, &mut alone)
                && specials(a, b, row, &before, &mut after, &mut alone)
            {
                one_by_one::<HALVES, N>(a_parts, b_parts, row, &before, &mut after, &alone);
            }
            *acc = after;
        }
    }
}

/// For each column, the largest exponent of a group's products and the sum of its truncated products.
#[inline(always)]
fn cut_sums<const HALVES: bool, const N: usize, const G: usize>(
    a: &[Parts<N>; G],
    b: &[Parts<N>; G],
    row: usize,
) -> ([i32; N], [i32; N]) {
    if !HALVES {
        return cut_sums_of::<1, N, G>(a, b, row);
    }
    // Products of even and of odd k are summed separately, eight each.
    let (even, odd) = (cut_sums_of::<2, N, 8>(a, b, row), cut_sums_of::<2, N, 8>(&a[1..], &b[1..], row));
    let (mut largest, mut sums) = ([0; N], [0; N]);
    for j in 0..N {
        largest[j] = even.0[j].max(odd.0[j]);
        sums[j] = floored(even.1[j], largest[j] - even.0[j]) + floored(odd.1[j], largest[j] - odd.0[j]);
    }
    (largest, sums)
}

/// As [`cut_sums`], for `G` products: every `STEP`-th product, starting with the first.
// Written so that the compiler vectorises it: all data are in local arrays, which cannot alias, and the loop body handles one column
// completely, so that its values stay in the host's registers. With more than eight products the compiler does not keep them in registers.
#[inline(always)]
fn cut_sums_of<const STEP: usize, const N: usize, const G: usize>(
    a: &[Parts<N>],
    b: &[Parts<N>],
    row: usize,
) -> ([i32; N], [i32; N]) {
    let (mut significands, mut exponents, mut signs) = ([0; G], [0; G], [0; G]);
    for i in 0..G {
        let a = &a[STEP * i];
        (significands[i], exponents[i], signs[i]) = (a.significand[row], a.exponent[row], a.sign[row]);
    }
    let b: [&Parts<N>; G] = std::array::from_fn(|i| &b[STEP * i]);
    let (mut largest, mut sums) = ([0; N], [0; N]);
    for j in 0..N {
        let (mut most, mut sum) = (2 * OF_ZERO, 0);
        for i in 0..G {
            most = most.max(exponents[i] + b[i].exponent[j]);
        }
        for i in 0..G {
            let below = (most - exponents[i] - b[i].exponent[j]) as u32;
            let product = significands[i].wrapping_mul(b[i].significand[j]) as u32;
            let cut = if below < 32 { product >> below } else { 0 } as i32;
            let sign = signs[i] ^ b[i].sign[j];
            sum += (cut ^ sign) - sign;
        }
        (largest[j], sums[j]) = (most, sum);
    }
    (largest, sums)
}

/// Adds a group's sums to a row of the accumulator with vector operations. Returns true if some elements are outside of the range that
/// vector operations handle; `alone` marks these elements.
#[inline(always)]
fn side_by_side<const HALVES: bool, const N: usize>(
    (largest, sums): &([i32; N], [i32; N]),
    before: &[f32; N],
    after: &mut [f32; N],
    alone: &mut [i32; N],
) -> bool {
    for j in 0..N {
        let bits = before[j].to_bits() as i32;
        let field = bits >> 23 & 0xff;
        let hidden = if field == 0 { 0 } else { 1 << 23 };
        let of_c = field.max(1) - 127;
        let sign = bits >> 31;
        let significand = ((bits & 0x7f_ffff | hidden) ^ sign) - sign;
        let exponent = largest[j].max(of_c);
        let below = exponent - of_c;
        let mut c = floored(significand << 1, below);
        if HALVES && below > BITS + 1 {
            c = 0;
        }
        // 256 * high + low is the sum in units of 2^(exponent - 32).
        let below = exponent - largest[j];
        let near = below.min(8);
        let sum = floored(sums[j], below - near);
        let high = (sum >> near) + c;
        let low = sum << (8 - near) & 0xff;
        // Truncates the sum to 32 significant bits: if the magnitude in `high` exceeds 24 bits, clears as many low bits as it exceeds them
        // by. For a negative sum, the magnitude minus one is used instead; this differs only for powers of two, which have no bits to
        // clear.
        let upper = ((high ^ high >> 31) & !0xff) as f32;
        let beyond = ((upper.to_bits() >> 23) as i32 - (127 + 23)).max(0);
        let low = low & (-1 << beyond);
        // Both terms are exact, so their sum is rounded only once.
        let rounded = (high & !0xff) as f32 + ((high & 0xff) << 8 | low) as f32 * (1.0 / 256.0);
        after[j] = rounded * power_of_two(exponent.clamp(LEAST, MOST) - BITS);
        let tiny = exponent < LEAST && (sum | significand) != 0;
        alone[j] = i32::from(tiny | (exponent > MOST));
    }
    alone.iter().fold(0, |any, one| any | one) != 0
}

/// Handles elements with infinities or NaNs among their terms: the result is the sum of those terms. A product beyond the range of f32
/// counts as an infinity. Returns true if elements remain that must be computed one by one.
#[inline(always)]
fn specials<const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    row: usize,
    before: &[f32; N],
    acc: &mut [f32; N],
    alone: &mut [i32; N],
) -> bool {
    let special = |x: f32| if x.to_bits() & 0x7f80_0000 == 0x7f80_0000 { x } else { 0.0 };
    let mut sums = [0.0; N];
    for j in 0..N {
        sums[j] = special(before[j]);
    }
    for (a, b) in a.iter().zip(b) {
        for j in 0..N {
            // Products within the range of f32 are exact.
            sums[j] += special(a[row] * b[j]);
        }
    }
    for j in 0..N {
        let found = sums[j].to_bits() << 1 != 0;
        acc[j] = if found { sums[j] } else { acc[j] };
        alone[j] = if found { 0 } else { alone[j] };
    }
    alone.iter().fold(0, |any, one| any | one) != 0
}

/// As [`side_by_side`], for elements with any exponents. Computes one element at a time, exactly as the model defines it.
#[cold]
#[inline(never)]
fn one_by_one<const HALVES: bool, const N: usize>(
    a: &[Parts<N>],
    b: &[Parts<N>],
    row: usize,
    before: &[f32; N],
    acc: &mut [f32; N],
    alone: &[i32; N],
) {
    for column in (0..N).filter(|column| alone[*column] != 0) {
        let products = |parity: usize, step: usize| {
            let parts = a.iter().zip(b).skip(parity).step_by(step);
            let parts = parts.map(move |(a, b)| {
                let magnitude = i64::from(a.significand[row] * b.significand[column]);
                let negative = a.sign[row] ^ b.sign[column] != 0;
                (a.exponent[row] + b.exponent[column], if negative { -magnitude } else { magnitude })
            });
            let parts = parts.filter(|(_, product)| *product != 0);
            let largest = parts.clone().map(|(exponent, _)| exponent).max();
            let cut = |largest: i32| {
                // Integer division truncates.
                parts.map(|(exponent, product)| product / (1 << (largest - exponent).min(62))).sum::<i64>()
            };
            largest.map(|largest| (largest, cut(largest)))
        };
        let floor = |x: i64, n: i32| x >> n.clamp(0, 63);
        let sums = if HALVES { [products(0, 2), products(1, 2)] } else { [products(0, 1), None] };
        let largest = sums.iter().flatten().map(|sum| sum.0).max();
        let sum = sums.iter().flatten().map(|(e, sum)| floor(*sum, largest.unwrap_or(0) - e)).sum::<i64>();
        let bits = before[column].to_bits();
        let of_c = (bits >> 23 & 0xff).max(1) as i32 - 127;
        // C as an integer in units of 2^(of_c - 23).
        let c = (f64::from(before[column]) * 2f64.powi(23 - of_c)) as i64;
        let exponent = largest.map_or(of_c, |largest| largest.max(of_c));
        let sum = largest.map_or(0, |largest| floor(sum << 8, exponent - largest));
        let c = if HALVES && of_c < exponent - BITS - 1 { 0 } else { floor(c << 1, exponent - of_c) };
        let total = sum + 256 * c;
        // Keeps 31 bits below the leading bit, but no bit below the last bit of the smallest normal number.
        let beyond = (64 - total.unsigned_abs().leading_zeros() as i32 - 32).max(-125 - exponent).max(0);
        let total = total >> beyond << beyond;
        acc[column] = (total as f64 * 2f64.powi(exponent - BITS - 8)) as f32;
    }
}
