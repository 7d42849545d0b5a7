//! 32-bit integer and bit instructions.

use std::sync::Arc;

use super::read::Fetch;
use super::write::write_mask;
use super::{op1, op2, op3};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::{Raw, Ty, lanes};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    moves_and_bits(ops);
    arithmetic(ops);
    multiplication(ops);
    three_operands(ops);
    sums_with_limits(ops);
    bytes(ops);
}

/// The greater or lesser of a sum and a third source (gfx12.5). LLVM 22 selects these instructions for saturating additions, and AMD's
/// emulator lets the sum wrap around, so the result is known only if the sum does not overflow.
fn sums_with_limits(ops: &mut Ops) {
    type Wide = fn(u32) -> i64;
    let (signed, unsigned): (Wide, Wide) = (|x| (x as i32).into(), u32::into);
    let (least, greatest): (fn(i64, i64) -> i64, fn(i64, i64) -> i64) = (Ord::min, Ord::max);
    for (name, wide, select, range) in [
        ("v_add_max_i32", signed, greatest, i32::MIN.into()..=i32::MAX.into()),
        ("v_add_min_i32", signed, least, i32::MIN.into()..=i32::MAX.into()),
        ("v_add_max_u32", unsigned, greatest, 0..=u32::MAX.into()),
        ("v_add_min_u32", unsigned, least, 0..=u32::MAX.into()),
    ] {
        let op = op3(move |a: u32, b: u32, c: u32| select(wide(a) + wide(b), wide(c)) as u32);
        let exec = op.exec.clone();
        let checked = move |cx: &mut Cx<'_>, s: &Step| {
            let (mut a, mut b) = (u32::ZERO, u32::ZERO);
            let (a, b) = (*u32::fetch(cx, s, 0, Ty::B32, &mut a)?, *u32::fetch(cx, s, 1, Ty::B32, &mut b)?);
            if lanes(write_mask(cx, s)).any(|lane| !range.contains(&(wide(a[lane]) + wide(b[lane])))) {
                return Err(Fault::Unsupported(
                    "a sum that overflows before its maximum or minimum: public sources disagree whether it saturates",
                ));
            }
            Ok(exec.run(cx, s)?)
        };
        ops.add(name, Op { exec: Arc::new(checked), ..op });
    }
}

fn moves_and_bits(ops: &mut Ops) {
    for name in ["v_mov_b32", "v_movrels_b32", "v_movreld_b32", "v_movrelsd_b32", "v_movrelsd_2_b32"] {
        ops.add(name, op1(|a: u32| a));
    }
    ops.add("v_not_b32", op1(|a: u32| !a));
    ops.add("v_bfrev_b32", op1(u32::reverse_bits));
    ops.add("v_screen_partition_4se_b32", op1(shader_engines));
    ops.add("v_ffbl_b32", op1(|a: u32| if a == 0 { u32::MAX } else { a.trailing_zeros() }));
    ops.add("v_ffbh_u32", op1(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }));
    ops.add("v_ffbh_i32", op1(first_bit_unlike_sign));
    ops.add("v_and_b32", op2(|a: u32, b: u32| a & b));
    ops.add("v_or_b32", op2(|a: u32, b: u32| a | b));
    ops.add("v_xor_b32", op2(|a: u32, b: u32| a ^ b));
    ops.add("v_xnor_b32", op2(|a: u32, b: u32| !(a ^ b)));
    ops.add("v_lshlrev_b32", op2(|a: u32, b: u32| b << (a & 31)));
    ops.add("v_lshrrev_b32", op2(|a: u32, b: u32| b >> (a & 31)));
    ops.add("v_ashrrev_i32", op2(|a: u32, b: i32| b >> (a & 31)));
    ops.add("v_bfm_b32", op2(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)));
    ops.add("v_bcnt_u32_b32", op2(|a: u32, b: u32| a.count_ones().wrapping_add(b)));
}

/// The number of bits above the highest bit that differs from the sign bit; -1 if all bits equal the sign bit.
pub(crate) fn first_bit_unlike_sign(a: i32) -> i32 {
    let flipped = a ^ (a >> 31);
    if flipped == 0 { -1 } else { flipped.leading_zeros() as i32 }
}

fn arithmetic(ops: &mut Ops) {
    let add_u = |a: u32, b: u32| a.wrapping_add(b);
    let sub_u = |a: u32, b: u32| a.wrapping_sub(b);
    ops.add("v_add_u32", op2(add_u).saturating(op2(|a: u32, b: u32| a.saturating_add(b))));
    ops.add("v_sub_u32", op2(sub_u).saturating(op2(|a: u32, b: u32| a.saturating_sub(b))));
    ops.add(
        "v_subrev_u32",
        op2(|a: u32, b: u32| b.wrapping_sub(a)).saturating(op2(|a: u32, b: u32| b.saturating_sub(a))),
    );
    ops.add("v_add_i32", op2(add_u).saturating(op2(|a: i32, b: i32| a.saturating_add(b))));
    ops.add("v_sub_i32", op2(sub_u).saturating(op2(|a: i32, b: i32| a.saturating_sub(b))));
    ops.add("v_min_i32", op2(|a: i32, b: i32| a.min(b)));
    ops.add("v_max_i32", op2(|a: i32, b: i32| a.max(b)));
    ops.add("v_min_u32", op2(|a: u32, b: u32| a.min(b)));
    ops.add("v_max_u32", op2(|a: u32, b: u32| a.max(b)));
}

fn multiplication(ops: &mut Ops) {
    ops.add("v_mad_u32", op3(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)));
    ops.add("v_mul_lo_u32", op2(|a: u32, b: u32| a.wrapping_mul(b)));
    ops.add("v_mul_lo_i32", op2(|a: u32, b: u32| a.wrapping_mul(b)));
    ops.add("v_mul_hi_u32", op2(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32));
    ops.add("v_mul_hi_i32", op2(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32));
    ops.add(
        "v_mul_i32_i24",
        op2(|a: i32, b: i32| product_i24(a, b) as i32)
            .saturating(op2(|a: i32, b: i32| clamp_i32(product_i24(a, b)))),
    );
    ops.add("v_mul_hi_i32_i24", op2(|a: i32, b: i32| (product_i24(a, b) >> 32) as i32));
    ops.add(
        "v_mul_u32_u24",
        op2(|a: u32, b: u32| product_u24(a, b) as u32)
            .saturating(op2(|a: u32, b: u32| clamp_u32(product_u24(a, b)))),
    );
    ops.add("v_mul_hi_u32_u24", op2(|a: u32, b: u32| (product_u24(a, b) >> 32) as u32));
    ops.add(
        "v_mad_i32_i24",
        op3(|a: i32, b: i32, c: i32| (product_i24(a, b) as i32).wrapping_add(c))
            .saturating(op3(|a: i32, b: i32, c: i32| clamp_i32(product_i24(a, b) + i64::from(c)))),
    );
    ops.add(
        "v_mad_u32_u24",
        op3(|a: u32, b: u32, c: u32| (product_u24(a, b) as u32).wrapping_add(c))
            .saturating(op3(|a: u32, b: u32, c: u32| clamp_u32(product_u24(a, b) + u64::from(c)))),
    );
}

fn product_i24(a: i32, b: i32) -> i64 {
    i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
}

fn product_u24(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

fn clamp_i32(x: i64) -> i32 {
    x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

fn clamp_u32(x: u64) -> u32 {
    x.min(u64::from(u32::MAX)) as u32
}

fn three_operands(ops: &mut Ops) {
    ops.add("v_add3_u32", op3(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)));
    ops.add("v_lshl_add_u32", op3(|a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c)));
    ops.add("v_add_lshl_u32", op3(|a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31)));
    ops.add("v_lshl_or_b32", op3(|a: u32, b: u32, c: u32| a << (b & 31) | c));
    ops.add("v_and_or_b32", op3(|a: u32, b: u32, c: u32| a & b | c));
    ops.add("v_or3_b32", op3(|a: u32, b: u32, c: u32| a | b | c));
    ops.add("v_xad_u32", op3(|a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c)));
    ops.add("v_bfe_u32", op3(|a: u32, b: u32, c: u32| a >> (b & 31) & low_bits(c)));
    ops.add("v_bfe_i32", op3(bit_field_signed));
    ops.add("v_bfi_b32", op3(|a: u32, b: u32, c: u32| a & b | !a & c));
    ops.add("v_alignbit_b32", op3(|a: u32, b: u32, c: u32| (joined(a, b) >> (c & 31)) as u32));
    ops.add("v_alignbyte_b32", op3(|a: u32, b: u32, c: u32| (joined(a, b) >> (8 * (c & 3))) as u32));
    ops.add("v_xor3_b32", op3(|a: u32, b: u32, c: u32| a ^ b ^ c));
    ops.add("v_maxmin_i32", op3(|a: i32, b: i32, c: i32| a.max(b).min(c)));
    ops.add("v_minmax_i32", op3(|a: i32, b: i32, c: i32| a.min(b).max(c)));
    ops.add("v_maxmin_u32", op3(|a: u32, b: u32, c: u32| a.max(b).min(c)));
    ops.add("v_minmax_u32", op3(|a: u32, b: u32, c: u32| a.min(b).max(c)));
    ops.add("v_min3_i32", op3(|a: i32, b: i32, c: i32| a.min(b).min(c)));
    ops.add("v_max3_i32", op3(|a: i32, b: i32, c: i32| a.max(b).max(c)));
    ops.add("v_med3_i32", op3(|a: i32, b: i32, c: i32| a.max(b).min(a.min(b).max(c))));
    ops.add("v_min3_u32", op3(|a: u32, b: u32, c: u32| a.min(b).min(c)));
    ops.add("v_max3_u32", op3(|a: u32, b: u32, c: u32| a.max(b).max(c)));
    ops.add("v_med3_u32", op3(|a: u32, b: u32, c: u32| a.max(b).min(a.min(b).max(c))));
}

fn low_bits(width: u32) -> u32 {
    (1u32 << (width & 31)) - 1
}

fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The field of `c` bits at bit `b`, sign-extended; bits of the field beyond bit 31 are copies of the sign.
fn bit_field_signed(a: i32, b: u32, c: u32) -> i32 {
    let width = c & 31;
    if width == 0 {
        return 0;
    }
    let field = i64::from(a) >> (b & 31);
    (field << (64 - width) >> (64 - width)) as i32
}

fn bytes(ops: &mut Ops) {
    ops.add("v_perm_b32", op3(permute_bytes));
    ops.add(
        "v_lerp_u8",
        op3(|a: u32, b: u32, c: u32| by_byte(|i| (byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1)),
    );
    ops.add(
        "v_sad_u8",
        op3(|a: u32, b: u32, c: u32| sum_of_differences(a, b, |_| true).wrapping_add(c))
            .saturating(op3(|a: u32, b: u32, c: u32| sum_of_differences(a, b, |_| true).saturating_add(c))),
    );
    ops.add(
        "v_msad_u8",
        op3(|a: u32, b: u32, c: u32| sum_of_differences(a, b, |reference| reference != 0).wrapping_add(c))
            .saturating(op3(|a: u32, b: u32, c: u32| {
                sum_of_differences(a, b, |reference| reference != 0).saturating_add(c)
            })),
    );
    ops.add(
        "v_sad_hi_u8",
        op3(|a: u32, b: u32, c: u32| (sum_of_differences(a, b, |_| true) << 16).wrapping_add(c)),
    );
    ops.add(
        "v_sad_u16",
        op3(|a: u32, b: u32, c: u32| {
            (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
        }),
    );
    // The unsigned distance; the Vega manual is wrong about that (Mesa's errata, confirmed by the GCN3 manual).
    ops.add(
        "v_sad_u32",
        op3(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c))
            .saturating(op3(|a: u32, b: u32, c: u32| a.abs_diff(b).saturating_add(c))),
    );
}

fn byte(x: u32, i: u32) -> u32 {
    x >> (8 * i) & 0xff
}

fn by_byte(f: impl Fn(u32) -> u32) -> u32 {
    (0..4).fold(0, |out, i| out | (f(i) & 0xff) << (8 * i))
}

/// The sum of the absolute differences of corresponding bytes of `a` and `b`, omitting those for which `counts` rejects the byte of `b`.
fn sum_of_differences(a: u32, b: u32, counts: impl Fn(u32) -> bool) -> u32 {
    (0..4).filter(|&i| counts(byte(b, i))).map(|i| byte(a, i).abs_diff(byte(b, i))).sum()
}

/// Byte permutation: selectors 0 to 7 select a byte of {a, b} (b is the lower half), selectors 8 to 11 the sign of byte 1, 3, 5 or 7;
/// selector 12 gives 0x00, and larger selectors give 0xff.
fn permute_bytes(a: u32, b: u32, select: u32) -> u32 {
    let source = joined(a, b);
    by_byte(|i| {
        let selector = byte(select, i);
        let pick = |n: u32| (source >> (8 * n) & 0xff) as u32;
        match selector {
            0..=7 => pick(selector),
            8..=11 => 0xff * (pick(2 * (selector - 8) + 1) >> 7),
            12 => 0,
            _ => 0xff,
        }
    })
}

/// The set of shader engines, on a device with four engines, that a rectangle of 32-pixel tiles touches. `select` contains the x and y
/// coordinates of the rectangle's first and last tile modulo 4, two bits each: first x, first y, last x, last y, from bit 7 down. A
/// rectangle that is at least four tiles wide or high touches all engines (CDNA2 ISA, `V_SCREEN_PARTITION_4SE_B32`).
fn shader_engines(select: u32) -> u32 {
    let field = |low: u32| select >> low & 3;
    let (first, last) = ((field(6), field(4)), (field(2), field(0)));
    let (width, height) = (last.0.wrapping_sub(first.0) & 3, last.1.wrapping_sub(first.1) & 3);
    if width == 3 || height == 3 {
        return 0xf;
    }
    let engine = |x: u32, y: u32| ((x ^ y >> 1) & 1) << 1 | (y ^ x >> 1) & 1;
    let tiles = (0..=width).flat_map(|x| (0..=height).map(move |y| (first.0 + x, first.1 + y)));
    tiles.fold(0, |set, (x, y)| set | 1 << engine(x, y))
}
