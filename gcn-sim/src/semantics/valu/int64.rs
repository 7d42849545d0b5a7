//! 64-bit integer instructions, and 32-bit additions with carry.

use super::each::Vector;
use super::write::write_mask;
use super::{each, op1, op2, op3};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::Ty;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_mov_b64", op1(|a: u64| a));
    ops.add("v_lshlrev_b64", op2(|a: u32, b: u64| b << (a & 63)));
    ops.add("v_lshrrev_b64", op2(|a: u32, b: u64| b >> (a & 63)));
    ops.add("v_ashrrev_i64", op2(|a: u32, b: i64| b >> (a & 63)));
    ops.add("v_lshl_add_u64", op3(|a: u64, b: u32, c: u64| (a << (b & 7)).wrapping_add(c)));
    ops.add("v_add_nc_u64", op2(|a: u64, b: u64| a.wrapping_add(b)));
    ops.add("v_sub_nc_u64", op2(|a: u64, b: u64| a.wrapping_sub(b)));
    ops.add("v_mul_u64", op2(|a: u64, b: u64| a.wrapping_mul(b)));
    ops.add("v_min_u64", op2(|a: u64, b: u64| a.min(b)));
    ops.add("v_max_u64", op2(|a: u64, b: u64| a.max(b)));
    ops.add("v_min_i64", op2(|a: i64, b: i64| a.min(b)));
    ops.add("v_max_i64", op2(|a: i64, b: i64| a.max(b)));
    ops.add("v_mad_nc_u64_u32", op3(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c)));
    ops.add("v_mad_nc_i64_i32", op3(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)));
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

/// An addition or subtraction with carry-out and, if `carry_in` is set, with carry-in from the mask in `src2`. `saturate` computes the
/// result to use if `clamp` is set.
fn carry(
    carry_in: bool,
    f: impl Fn(u32, u32, bool) -> (u32, bool) + Copy + Send + Sync + 'static,
    saturate: impl Fn(u32, u32, bool) -> u32 + Copy + Send + Sync + 'static,
) -> Op {
    each::op(Carry { carry_in, f, saturate })
}

/// The execution of [`carry`].
#[derive(Clone, Copy)]
struct Carry<F, G> {
    carry_in: bool,
    f: F,
    saturate: G,
}

impl<F, G> Vector for Carry<F, G>
where
    F: Fn(u32, u32, bool) -> (u32, bool) + Copy + Send + Sync + 'static,
    G: Fn(u32, u32, bool) -> u32 + Copy + Send + Sync + 'static,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let Carry { carry_in, f, saturate } = self;
        let carries = if carry_in { cx.scalar_wide(&s.src[2], Ty::B64)? } else { 0 };
        let clamp = s.inst.mods.clamp;
        let sum = each::Flagged(move |carry, a: u32, b: u32, ()| {
            let (sum, overflow) = f(a, b, carry);
            (if clamp { saturate(a, b, carry) } else { sum }, overflow)
        });
        let mask = write_mask(cx, s);
        let carry_out = each::run::<FUSED, u32, u32, (), u32, _>(cx, s, [0, 1, 2], carries, sum)?;
        cx.w.set_mask(s.sdst as usize, carry_out & mask);
        Ok(())
    }
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
    each::op(MultiplyAdd(f)).result(Ty::B64)
}

/// The execution of [`multiply_add`].
#[derive(Clone, Copy)]
struct MultiplyAdd<F>(F);

impl<F: Fn(u32, u32, u64) -> (u64, bool) + Copy + Send + Sync + 'static> Vector for MultiplyAdd<F> {
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let exec = cx.w.exec();
        let sum = each::Flagged(move |_, a, b, c| (self.0)(a, b, c));
        let carry_out = each::run::<FUSED, u32, u32, u64, u64, _>(cx, s, [0, 1, 2], 0, sum)?;
        cx.w.set_mask(s.sdst as usize, carry_out & exec);
        Ok(())
    }
}
