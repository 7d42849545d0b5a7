//! 16-bit integer instructions.

use super::{op1, op2, op3};
use crate::core::machine::{Cx, Step};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    two_operands(ops);
    three_operands(ops);
    ops.add("v_sat_pk_u8_i16", saturate_pair());
    // Source: the values in the tests of AMD's emulator (rocjitsu).
    ops.add("v_sat_pk4_i4_i8", op1(|a: u32| nibbles(a, |byte| (byte as i8).clamp(-8, 7) as u8 & 0xf)));
    ops.add("v_sat_pk4_u4_u8", op1(|a: u32| nibbles(a, |byte| byte.min(0xf))));
}

/// Four numbers of 4 bits, each made of a byte.
fn nibbles(bytes: u32, of: impl Fn(u8) -> u8) -> u16 {
    bytes.to_le_bytes().iter().rev().fold(0, |all, byte| all << 4 | u16::from(of(*byte)))
}

/// A result of two bytes. Up to RDNA 2 it replaces the whole destination, whose upper half becomes zero; from RDNA 3 on it replaces half of
/// a register (RDNA3 ISA: `D0.b16`, RDNA4 ISA: 16 bits; LLVM 22 writes `v0.l`).
fn saturate_pair() -> Op {
    let byte = |x: i16| x.clamp(0, 255) as u16;
    let pair = move |a: u32| byte(a as i16) | byte((a >> 16) as i16) << 8;
    let (half, whole) = (op1(pair).exec, op1(move |a: u32| u32::from(pair(a))).exec);
    Op::new(move |cx: &mut Cx<'_>, s: &Step| match s.arch.has_half_vgprs() {
        true => Ok(half.run(cx, s)?),
        false => Ok(whole.run(cx, s)?),
    })
}

fn two_operands(ops: &mut Ops) {
    ops.add(
        "v_add_u16",
        op2(|a: u16, b: u16| a.wrapping_add(b)).saturating(op2(|a: u16, b: u16| a.saturating_add(b))),
    );
    ops.add(
        "v_sub_u16",
        op2(|a: u16, b: u16| a.wrapping_sub(b)).saturating(op2(|a: u16, b: u16| a.saturating_sub(b))),
    );
    ops.add(
        "v_subrev_u16",
        op2(|a: u16, b: u16| b.wrapping_sub(a)).saturating(op2(|a: u16, b: u16| b.saturating_sub(a))),
    );
    ops.add(
        "v_add_i16",
        op2(|a: i16, b: i16| a.wrapping_add(b)).saturating(op2(|a: i16, b: i16| a.saturating_add(b))),
    );
    ops.add(
        "v_sub_i16",
        op2(|a: i16, b: i16| a.wrapping_sub(b)).saturating(op2(|a: i16, b: i16| a.saturating_sub(b))),
    );
    ops.add(
        "v_mul_lo_u16",
        op2(|a: u16, b: u16| a.wrapping_mul(b)).saturating(op2(|a: u16, b: u16| a.saturating_mul(b))),
    );
    ops.add("v_mov_b16", op1(|a: u16| a));
    ops.add("v_not_b16", op1(|a: u16| !a));
    ops.add("v_and_b16", op2(|a: u16, b: u16| a & b));
    ops.add("v_or_b16", op2(|a: u16, b: u16| a | b));
    ops.add("v_xor_b16", op2(|a: u16, b: u16| a ^ b));
    ops.add("v_lshlrev_b16", op2(|a: u16, b: u16| b << (a & 15)));
    ops.add("v_lshrrev_b16", op2(|a: u16, b: u16| b >> (a & 15)));
    ops.add("v_ashrrev_i16", op2(|a: u16, b: i16| b >> (a & 15)));
    ops.add("v_min_i16", op2(|a: i16, b: i16| a.min(b)));
    ops.add("v_max_i16", op2(|a: i16, b: i16| a.max(b)));
    ops.add("v_min_u16", op2(|a: u16, b: u16| a.min(b)));
    ops.add("v_max_u16", op2(|a: u16, b: u16| a.max(b)));
}

fn three_operands(ops: &mut Ops) {
    for name in ["v_mad_u16", "v_mad_legacy_u16"] {
        ops.add(
            name,
            op3(|a: u16, b: u16, c: u16| a.wrapping_mul(b).wrapping_add(c)).saturating(op3(
                |a: u16, b: u16, c: u16| {
                    (u32::from(a) * u32::from(b)).saturating_add(u32::from(c)).min(0xffff) as u16
                },
            )),
        );
    }
    for name in ["v_mad_i16", "v_mad_legacy_i16"] {
        ops.add(
            name,
            op3(|a: i16, b: i16, c: i16| a.wrapping_mul(b).wrapping_add(c)).saturating(op3(
                |a: i16, b: i16, c: i16| {
                    (i64::from(a) * i64::from(b) + i64::from(c)).clamp(-0x8000, 0x7fff) as i16
                },
            )),
        );
    }
    ops.add(
        "v_mad_u32_u16",
        op3(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
            .saturating(op3(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).saturating_add(c))),
    );
    ops.add(
        "v_mad_i32_i16",
        op3(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
            .saturating(op3(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).saturating_add(c))),
    );
    ops.add("v_min3_i16", op3(|a: i16, b: i16, c: i16| a.min(b).min(c)));
    ops.add("v_max3_i16", op3(|a: i16, b: i16, c: i16| a.max(b).max(c)));
    ops.add("v_med3_i16", op3(|a: i16, b: i16, c: i16| a.max(b).min(a.min(b).max(c))));
    ops.add("v_min3_u16", op3(|a: u16, b: u16, c: u16| a.min(b).min(c)));
    ops.add("v_max3_u16", op3(|a: u16, b: u16, c: u16| a.max(b).max(c)));
    ops.add("v_med3_u16", op3(|a: u16, b: u16, c: u16| a.max(b).min(a.min(b).max(c))));
}
