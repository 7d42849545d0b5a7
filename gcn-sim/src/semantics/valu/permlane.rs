//! Permutations within and between rows of 16 lanes (RDNA).

use super::read::raw32;
use super::write::write32;
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, Ty};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    for (name, other_row) in [("v_permlane16_b32", false), ("v_permlanex16_b32", true)] {
        ops.add(name, Op::new(move |cx: &mut Cx<'_>, s: &Step| by_table(cx, s, other_row)));
    }
    for (name, other_row) in [("v_permlane16_var_b32", false), ("v_permlanex16_var_b32", true)] {
        ops.add(name, Op::new(move |cx: &mut Cx<'_>, s: &Step| by_lane(cx, s, other_row)));
    }
    ops.add("v_permlane64_b32", Op::new(swap_halves));
    for (name, from) in GROUPS {
        ops.add(name, Op::new(move |cx: &mut Cx<'_>, s: &Step| within_groups(cx, s, from)));
    }
}

/// For a lane's position in its group, a selector and the size of the group: the position of the lane that it reads.
type InGroup = fn(u32, u32, u32) -> u32;

/// The permutations of gfx12.5 within groups of lanes. Source: HIP's `amd_warp_functions.h`, whose comments state what the instructions read.
const GROUPS: [(&str, InGroup); 4] = [
    ("v_permlane_bcast_b32", |_, selector, size| selector & (size - 1)),
    // A lane that would read outside of its group reads its own value.
    ("v_permlane_up_b32", |own, delta, _| own.checked_sub(delta).unwrap_or(own)),
    ("v_permlane_down_b32", |own, delta, size| {
        own.checked_add(delta).filter(|from| *from < size).unwrap_or(own)
    }),
    ("v_permlane_xor_b32", |own, mask, size| Some(own ^ mask).filter(|from| *from < size).unwrap_or(own)),
];

/// Source 1 has the selector, source 2 the size of the groups. Lanes are read whether they are active or not.
fn within_groups(cx: &mut Cx<'_>, s: &Step, from: InGroup) -> Outcome {
    let (selector, size) = (cx.scalar(&s.src[1], Ty::B32)?, cx.scalar(&s.src[2], Ty::B32)?);
    let wave = cx.w.size() as u32;
    if !size.is_power_of_two() || size > wave {
        return Err(Fault::Unsupported(
            "a permutation in groups whose size is not a power of two up to that of the wave",
        ));
    }
    let data = raw32(cx, &s.src[0], Ty::B32)?;
    let mut out = [0; LANES];
    for (lane, out) in (0..wave).zip(&mut out) {
        let own = lane & (size - 1);
        *out = data[(lane - own + from(own, selector, size)) as usize];
    }
    let exec = cx.w.exec();
    write32(cx, s.vdst, exec, &out);
    Ok(Next::Fall)
}

/// Each lane reads the lane of a row that a table selects. The table has sixteen entries of four bits; source 1 contains the first eight.
fn by_table(cx: &mut Cx<'_>, s: &Step, other_row: bool) -> Outcome {
    let low = cx.scalar(&s.src[1], Ty::B32)?;
    let high = cx.scalar(&s.src[2], Ty::B32)?;
    let table = u64::from(low) | u64::from(high) << 32;
    permute(cx, s, other_row, |lane| (table >> (lane % 16 * 4) & 0xf) as usize)
}

/// Each lane reads the lane of a row that the lane's value of source 1 selects.
fn by_lane(cx: &mut Cx<'_>, s: &Step, other_row: bool) -> Outcome {
    let lanes = raw32(cx, &s.src[1], Ty::B32)?;
    permute(cx, s, other_row, |lane| (lanes[lane] & 0xf) as usize)
}

/// `op_sel` has the meaning of DPP's modifiers: bit 0 allows reading inactive lanes; with bit 1, a lane whose source lane cannot be read
/// gets 0.
fn permute(cx: &mut Cx<'_>, s: &Step, other_row: bool, place: impl Fn(usize) -> usize) -> Outcome {
    let (fetch_inactive, bound_ctrl) = (s.inst.mods.op_sel & 1 == 1, s.inst.mods.op_sel >> 1 & 1 == 1);
    let data = raw32(cx, &s.src[0], Ty::B32)?;
    let exec = cx.w.exec();
    let (mut out, mut mask) = ([0; LANES], exec);
    for lane in 0..LANES {
        let row = ((lane / 16) ^ usize::from(other_row)) * 16;
        let from = row + place(lane);
        if fetch_inactive || exec >> from & 1 == 1 {
            out[lane] = data[from];
        } else if !bound_ctrl {
            mask &= !(1 << lane);
        }
    }
    write32(cx, s.vdst, mask, &out);
    Ok(Next::Fall)
}

/// Each lane reads the corresponding lane of the other half of the wave, active or not. In waves of 32 lanes the instruction has no effect.
fn swap_halves(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    if cx.w.lanes != u64::MAX {
        return Ok(Next::Fall);
    }
    let mut data = raw32(cx, &s.src[0], Ty::B32)?;
    data.rotate_left(LANES / 2);
    let exec = cx.w.exec();
    write32(cx, s.vdst, exec, &data);
    Ok(Next::Fall)
}
