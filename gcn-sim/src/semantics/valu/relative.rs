//! Moves from and to VGPRs whose numbers are relative to M0 (RDNA).

use super::read::raw32;
use super::write::{write_mask, write32};
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::Ty;
use crate::semantics::op::{Op, Ops};

/// Computes the distances of source and destination from a value of M0.
type Distances = fn(m0: u32) -> [u32; 2];

pub(crate) fn add(ops: &mut Ops) {
    let list: [(&'static str, Distances); 4] = [
        ("v_movrels_b32", |m0| [m0, 0]),
        ("v_movreld_b32", |m0| [0, m0]),
        ("v_movrelsd_b32", |m0| [m0, m0]),
        ("v_movrelsd_2_b32", |m0| [m0 & 0x3ff, m0 >> 16 & 0x3ff]),
    ];
    for (name, distances) in list {
        ops.add(name, Op::new(move |cx: &mut Cx<'_>, s: &Step| move_at(cx, s, distances)));
    }
    ops.add("v_swaprel_b32", Op::new(swap_at));
}

/// The slot that is `by` registers after another slot.
fn moved(cx: &Cx<'_>, slot: u16, by: u32) -> Result<u16, Fault> {
    let beyond = Fault::Unsupported("a relative move beyond the VGPRs");
    let to = u32::from(slot).checked_add(by).filter(|to| (*to as usize) < cx.w.room());
    to.map(|to| to as u16).ok_or(beyond)
}

/// The slot of the destination that the instruction names. Some forms declare the destination as a source, because M0 determines which
/// register is written.
fn named_destination(cx: &Cx<'_>, s: &Step) -> u16 {
    s.inst.operands.first().and_then(|o| o.reg()).map_or(s.vdst, |reg| cx.machine.registers().slot(reg))
}

fn move_at(cx: &mut Cx<'_>, s: &Step, distances: Distances) -> Outcome {
    if !s.plain_src || !s.plain_dst {
        return Err(Fault::Unsupported("a relative move with DPP or SDWA"));
    }
    let [by_source, by_destination] = distances(cx.w.m0());
    let source = match s.src[0] {
        Src::Vector(slot) => Src::Vector(moved(cx, slot, by_source)?),
        other => other,
    };
    let data = raw32(cx, &source, Ty::B32)?;
    let to = moved(cx, named_destination(cx, s), by_destination)?;
    let mask = write_mask(cx, s);
    write32(cx, to, mask, &data);
    Ok(Next::Fall)
}

fn swap_at(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let m0 = cx.w.m0();
    let other = match (s.src[0], s.src[1]) {
        (Src::Vector(slot), _) | (_, Src::Vector(slot)) => slot,
        _ => return Err(Fault::Unsupported("a swap with a non-vector operand")),
    };
    let other = moved(cx, other, m0 & 0x3ff)?;
    let to = moved(cx, named_destination(cx, s), m0 >> 16 & 0x3ff)?;
    let (a, b) = (cx.w.v[to as usize], cx.w.v[other as usize]);
    let mask = write_mask(cx, s);
    write32(cx, to, mask, &b);
    write32(cx, other, mask, &a);
    Ok(Next::Fall)
}
