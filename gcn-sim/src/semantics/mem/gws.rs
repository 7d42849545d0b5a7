//! The instructions of global wave sync.

use super::ds_extra::vector;
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::gws::Queued;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::LANES;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("ds_gws_init", Op::new(init));
    ops.add("ds_gws_barrier", Op::new(barrier));
    ops.add("ds_gws_sema_p", Op::new(acquire));
    ops.add("ds_gws_sema_v", Op::new(release_one));
    ops.add("ds_gws_sema_br", Op::new(release));
    ops.add("ds_gws_sema_release_all", Op::new(release_all));
}

/// The resource number: `M0[21:16]` plus the offset.
pub(crate) fn resource(cx: &Cx<'_>, s: &Step) -> u8 {
    ((cx.w.m0() >> 16).wrapping_add(s.inst.mods.offset as u32) & 63) as u8
}

/// The datum of the first active lane, or of lane 0 if none is active.
fn data(cx: &Cx<'_>, s: &Step) -> Result<u32, Fault> {
    let register = s.src.iter().find(|src| !matches!(src, Src::None)).unwrap_or(&Src::None);
    let lane = cx.w.exec().trailing_zeros() as usize % LANES;
    Ok(cx.w.v[vector(register)? as usize][lane])
}

fn unless_queued(queued: Option<Queued>) -> Outcome {
    Ok(queued.map_or(Next::Fall, Next::Queue))
}

fn init(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    cx.memory.gws().init(resource(cx, s), data(cx, s)?);
    Ok(Next::Fall)
}

fn barrier(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    unless_queued(cx.memory.gws().barrier(resource(cx, s), data(cx, s)?))
}

fn acquire(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    unless_queued(cx.memory.gws().acquire(resource(cx, s)))
}

fn release_one(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    cx.memory.gws().release(resource(cx, s), 1);
    Ok(Next::Fall)
}

fn release(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    cx.memory.gws().release(resource(cx, s), data(cx, s)?);
    Ok(Next::Fall)
}

fn release_all(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    cx.memory.gws().release_all(resource(cx, s));
    Ok(Next::Fall)
}
