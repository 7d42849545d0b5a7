//! The table of two-instruction patterns.

/// The origin of a source of the replacement instruction.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A source of the inner instruction.
    Inner(usize),
    /// The source of the outer instruction that is not the result of the inner instruction.
    Outer,
    /// The number of set bits of the other source of the outer instruction, which must be a mask of low bits.
    Bits,
    /// For a left shift followed by a right shift by at least as many bits: the first bit of the original value that
    /// remains.
    First,
    /// For the same pair of shifts: the number of bits that remain.
    Width,
}
use Source::{Bits, First, Inner, Outer, Width};

/// The source of the outer instruction that must be the result of the inner one.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum At {
    Either,
    Only(usize),
}
use At::{Either, Only};

pub(super) struct Pattern {
    pub outer: &'static str,
    pub at: At,
    pub inner: &'static str,
    pub result: &'static str,
    pub sources: [Source; 3],
}

const fn row(
    outer: &'static str,
    at: At,
    inner: &'static str,
    result: &'static str,
    sources: [Source; 3],
) -> Pattern {
    Pattern { outer, at, inner, result, sources }
}

/// The two sources of the inner instruction, then the other source of the outer one.
const IN_ORDER: [Source; 3] = [Inner(0), Inner(1), Outer];
/// As [`IN_ORDER`], for shifts with reversed operands.
const SHIFTED: [Source; 3] = [Inner(1), Inner(0), Outer];

/// The patterns in order of preference; the first that matches is used.
#[rustfmt::skip]
pub(super) const PATTERNS: &[Pattern] = &[
    row("v_add_u32",     Either,  "v_mul_u32_u24", "v_mad_u32_u24",  IN_ORDER),
    row("v_add_u32",     Either,  "v_mul_i32_i24", "v_mad_i32_i24",  IN_ORDER),
    row("v_add_u32",     Either,  "v_mul_lo_u32",  "v_mad_u32",      IN_ORDER),
    row("v_add_u32",     Either,  "v_lshlrev_b32", "v_lshl_add_u32", SHIFTED),
    row("v_add_u32",     Either,  "s_lshl_b32",    "v_lshl_add_u32", IN_ORDER),
    row("v_add_u32",     Either,  "v_xor_b32",     "v_xad_u32",      IN_ORDER),
    row("v_lshlrev_b32", Only(1), "v_add_u32",     "v_add_lshl_u32", IN_ORDER),
    row("v_add_u32",     Either,  "v_add_u32",     "v_add3_u32",     IN_ORDER),
    row("v_and_b32",     Either,  "v_lshrrev_b32", "v_bfe_u32",      [Inner(1), Inner(0), Bits]),
    row("v_ashrrev_i32", Only(1), "v_lshlrev_b32", "v_bfe_i32",      [Inner(1), First, Width]),
    row("v_lshrrev_b32", Only(1), "v_lshlrev_b32", "v_bfe_u32",      [Inner(1), First, Width]),
    row("v_or_b32",      Either,  "v_lshlrev_b32", "v_lshl_or_b32",  SHIFTED),
    row("v_or_b32",      Either,  "v_and_b32",     "v_and_or_b32",   IN_ORDER),
    row("v_or_b32",      Either,  "v_or_b32",      "v_or3_b32",      IN_ORDER),
    row("v_xor_b32",     Either,  "v_xor_b32",     "v_xor3_b32",     IN_ORDER),
    row("v_min_u32",     Either,  "v_min_u32",     "v_min3_u32",     IN_ORDER),
    row("v_min_i32",     Either,  "v_min_i32",     "v_min3_i32",     IN_ORDER),
    row("v_min_f32",     Either,  "v_min_f32",     "v_min3_f32",     IN_ORDER),
    row("v_min_f16",     Either,  "v_min_f16",     "v_min3_f16",     IN_ORDER),
    row("v_max_u32",     Either,  "v_max_u32",     "v_max3_u32",     IN_ORDER),
    row("v_max_i32",     Either,  "v_max_i32",     "v_max3_i32",     IN_ORDER),
    row("v_max_f32",     Either,  "v_max_f32",     "v_max3_f32",     IN_ORDER),
    row("v_max_f16",     Either,  "v_max_f16",     "v_max3_f16",     IN_ORDER),
];
