//! 64-bit integer instructions, and 32-bit additions with carry.

use super::read::Fetch;
use super::write::{Finish, write_mask};
use super::{op1, op2, op3};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, Raw, Ty};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_mov_b64", op1(|a: u64| a));
    ops.add("v_lshlrev_b64", op2(|a: u32, b: u64| b << (a & 63)));
    ops.add("v_lshrrev_b64", op2(|a: u32, b: u64| b >> (a & 63)));
    ops.add("v_ashrrev_i64", op2(|a: u32, b: i64| b >> (a & 63)));
    ops.add("v_lshl_add_u64", op3(|a: u64, b: u32, c: u64| (a << (b & 7)).wrapping_add(c)));
    ops.add("v_mad_u64_u32", multiply_add_u64());
    ops.add("v_mad_i64_i32", multiply_add_i64());

    ops.add("v_add_co_u32", carry(false, |a, b, _| wide_add(a, b, false), |a, b, _| a.saturating_add(b)));
    ops.add(
        "v_addc_co_u32",
        carry(true, wide_add, |a, b, c| a.saturating_add(b).saturating_add(u32::from(c))),
    );
    ops.add("v_sub_co_u32", carry(false, |a, b, _| wide_sub(a, b, false), |a, b, _| a.saturating_sub(b)));
    ops.add(
        "v_subb_co_u32",
        carry(true, wide_sub, |a, b, c| a.saturating_sub(b).saturating_sub(u32::from(c))),
    );
    ops.add("v_subrev_co_u32", carry(false, |a, b, _| wide_sub(b, a, false), |a, b, _| b.saturating_sub(a)));
    ops.add(
        "v_subbrev_co_u32",
        carry(true, |a, b, c| wide_sub(b, a, c), |a, b, c| b.saturating_sub(a).saturating_sub(u32::from(c))),
    );
}

fn wide_add(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, sum >> 32 != 0)
}

fn wide_sub(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, difference >> 32 != 0)
}

/// An addition or subtraction with carry-out and, if `carry_in`, carry-in from the mask in `src2`. `saturate` gives the
/// result when `clamp` is set.
fn carry(
    carry_in: bool,
    f: impl Fn(u32, u32, bool) -> (u32, bool) + Copy + Send + Sync + 'static,
    saturate: impl Fn(u32, u32, bool) -> u32 + Copy + Send + Sync + 'static,
) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b) = (u32::ZERO, u32::ZERO);
        let carries = if carry_in { cx.scalar_wide(&s.src[2], Ty::B64)? } else { 0 };
        let a = u32::fetch(cx, s, 0, Ty::B32, &mut buffer_a)?;
        let b = u32::fetch(cx, s, 1, Ty::B32, &mut buffer_b)?;
        let (mut out, mut carry_out) = (u32::ZERO, 0u64);
        for lane in 0..LANES {
            let carry = carries >> lane & 1 == 1;
            let (sum, overflow) = f(a[lane], b[lane], carry);
            out[lane] = if s.inst.mods.clamp { saturate(a[lane], b[lane], carry) } else { sum };
            carry_out |= u64::from(overflow) << lane;
        }
        let mask = write_mask(cx, s);
        u32::finish(cx, s, Ty::B32, &mut out);
        cx.w.set_mask(s.sdst as usize, carry_out & mask);
        Ok(Next::Fall)
    })
}

/// {carry, D} = S0 * S1 + S2, unsigned.
fn multiply_add_u64() -> Op {
    multiply_add(|a, b, c| {
        let sum = u128::from(u64::from(a) * u64::from(b)) + u128::from(c);
        (sum as u64, sum >> 64 != 0)
    })
}

/// {overflow, D} = S0 * S1 + S2, signed.
fn multiply_add_i64() -> Op {
    multiply_add(|a, b, c| {
        let product = i64::from(a as i32) * i64::from(b as i32);
        let (sum, overflow) = product.overflowing_add(c as i64);
        (sum as u64, overflow)
    })
}

fn multiply_add(f: impl Fn(u32, u32, u64) -> (u64, bool) + Copy + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (u32::ZERO, u32::ZERO, u64::ZERO);
        let a = u32::fetch(cx, s, 0, Ty::B32, &mut buffer_a)?;
        let b = u32::fetch(cx, s, 1, Ty::B32, &mut buffer_b)?;
        let c = u64::fetch(cx, s, 2, Ty::B64, &mut buffer_c)?;
        let (mut out, mut carry_out) = (u64::ZERO, 0u64);
        for lane in 0..LANES {
            let (sum, overflow) = f(a[lane], b[lane], c[lane]);
            out[lane] = sum;
            carry_out |= u64::from(overflow) << lane;
        }
        let exec = cx.w.exec();
        u64::finish(cx, s, Ty::B64, &mut out);
        cx.w.set_mask(s.sdst as usize, carry_out & exec);
        Ok(Next::Fall)
    })
    .result(Ty::B64)
}
