//! Instructions that communicate between lanes or select by a lane mask, and moves to and from AGPRs.

use std::marker::PhantomData;

use super::each::Vector;
use super::read::{Fetch, scalar32};
use super::write::{Finish, write_mask, write32};
use super::{Lane, each, op1};
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, Raw, Ty, lanes};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_nop", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    ops.add("v_pipeflush", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    ops.add("v_clrexcp", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    for name in ["v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"] {
        ops.add(name, op1(|a: u32| a));
    }
    ops.add("v_readfirstlane_b32", Op::new(read_first_lane));
    ops.add("v_readlane_b32", Op::new(read_lane));
    ops.add("v_writelane_b32", Op::new(write_lane));
    ops.add("v_cndmask_b32", each::op(Select(PhantomData::<fn(u32)>)));
    ops.add("v_cndmask_b16", each::op(Select(PhantomData::<fn(u16)>)));
    ops.add("v_swap_b16", Op::new(swap_halves));
    ops.add("v_mbcnt_lo_u32_b32", mask_count(|lane| if lane < 32 { (1u32 << lane) - 1 } else { u32::MAX }));
    ops.add("v_mbcnt_hi_u32_b32", mask_count(|lane| if lane < 32 { 0 } else { (1u32 << (lane - 32)) - 1 }));
    ops.add("v_swap_b32", Op::new(swap));
    ops.add("v_swaprel_b32", Op::new(swap));
    // `v_permlane16_swap` swaps rows 1 and 3 of the first register with rows 0 and 2 of the second; `v_permlane32_swap` swaps the upper
    // half of the first with the lower half of the second.
    ops.add("v_permlane16_swap_b32", Op::new(|cx: &mut Cx<'_>, s: &Step| swap_rows(cx, s, 16)));
    ops.add("v_permlane32_swap_b32", Op::new(|cx: &mut Cx<'_>, s: &Step| swap_rows(cx, s, 32)));
}

fn read_first_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    // If no lane is active, lane 0 is read.
    let first = cx.w.exec().trailing_zeros() as usize % LANES;
    cx.w.s[s.sdst as usize] = of_lane(cx, &s.src[0], first)?;
    Ok(Next::Fall)
}

fn read_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let lane = cx.scalar(&s.src[1], Ty::B32)? as usize % cx.w.size();
    cx.w.s[s.sdst as usize] = of_lane(cx, &s.src[0], lane)?;
    Ok(Next::Fall)
}

/// The value of an operand in a lane.
fn of_lane(cx: &Cx<'_>, src: &Src, lane: usize) -> Result<u32, Fault> {
    match src {
        Src::Vector(slot) => Ok(cx.w.v[*slot as usize][lane]),
        other => scalar32(cx, other, Ty::B32),
    }
}

fn write_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let value = cx.scalar(&s.src[0], Ty::B32)?;
    let lane = cx.scalar(&s.src[1], Ty::B32)? as usize % cx.w.size();
    cx.w.v[s.vdst as usize][lane] = value;
    Ok(Next::Fall)
}

/// Selects src1 in lanes whose mask bit is set, and src0 in the others.
#[derive(Clone, Copy)]
struct Select<T>(PhantomData<T>);

impl<A: Lane> Vector for Select<fn(A)> {
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let mask = cx.scalar_wide(&s.src[2], Ty::B64)?;
        // The value has 16 or 32 bits and is copied unchanged: denormals are not flushed.
        let selected = each::Masked(|bit, a: A, b: A, ()| if bit { b } else { a });
        each::run::<FUSED, A, A, (), A, _>(cx, s, [0, 1, 2], mask, selected)?;
        Ok(())
    }
}

/// src1 plus the number of bits of src0 that are set below the lane's position.
fn mask_count(below: fn(usize) -> u32) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b) = (u32::ZERO, u32::ZERO);
        let a = u32::fetch(cx, s, 0, Ty::B32, &mut buffer_a)?;
        let b = u32::fetch(cx, s, 1, Ty::B32, &mut buffer_b)?;
        let mut out = u32::ZERO;
        for lane in 0..LANES {
            out[lane] = (a[lane] & below(lane)).count_ones().wrapping_add(b[lane]);
        }
        u32::finish(cx, s, Ty::B32, &mut out);
        Ok(Next::Fall)
    })
}

fn swap(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let Src::Vector(other) = s.src[1] else {
        return Err(Fault::Unsupported("a swap with a non-vector operand"));
    };
    let mask = write_mask(cx, s);
    let (a, b) = (cx.w.v[s.vdst as usize], cx.w.v[other as usize]);
    write32(cx, s.vdst, mask, &b);
    write32(cx, other, mask, &a);
    Ok(Next::Fall)
}

/// Swaps two 16-bit halves of registers.
fn swap_halves(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let Src::Vector(other) = s.src[1] else {
        return Err(Fault::Unsupported("a swap with a non-vector operand"));
    };
    let desc = s.inst.desc;
    let second = desc.operands.iter().find(|o| o.name == "vdst1").and_then(|o| desc.half_bit(o));
    let shift = |upper: bool| if upper { 16 } else { 0 };
    let from = shift(second.is_some_and(|bit| s.inst.mods.op_sel >> bit & 1 == 1));
    let to = shift(s.half == Some(1));
    let (to_slot, other) = (s.vdst as usize, other as usize);
    for lane in lanes(write_mask(cx, s)) {
        let (a, b) = (cx.w.v[to_slot][lane] >> to & 0xffff, cx.w.v[other][lane] >> from & 0xffff);
        let put = |register: &mut u32, shift: u32, half: u32| {
            *register = *register & !(0xffff << shift) | half << shift;
        };
        put(&mut cx.w.v[to_slot][lane], to, b);
        put(&mut cx.w.v[other][lane], from, a);
    }
    Ok(Next::Fall)
}

/// Swaps the odd rows of the first register with the even rows of the second; EXEC is ignored.
fn swap_rows(cx: &mut Cx<'_>, s: &Step, row: usize) -> Outcome {
    let Src::Vector(other) = s.src[1] else {
        return Err(Fault::Unsupported("a swap with a non-vector operand"));
    };
    let (mut a, mut b) = (cx.w.v[s.vdst as usize], cx.w.v[other as usize]);
    for lane in (0..LANES).filter(|lane| lane / row % 2 == 1) {
        std::mem::swap(&mut a[lane], &mut b[lane - row]);
    }
    cx.w.v[s.vdst as usize] = a;
    cx.w.v[other as usize] = b;
    Ok(Next::Fall)
}
