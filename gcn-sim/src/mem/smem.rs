//! Scalar memory.

use super::access::Place;
use super::name;
use crate::exec::{Cx, Fault, Next, Outcome};
use crate::op::{Op, Ops};
use crate::step::{Src, Step};
use crate::value::Ty;

pub(crate) fn add(ops: &mut Ops) {
    for (suffix, words) in [("dword", 1), ("dwordx2", 2), ("dwordx4", 4), ("dwordx8", 8), ("dwordx16", 16)] {
        ops.add(name(&["s_load_", suffix]), Op::new(move |cx: &mut Cx<'_>, s: &Step| load(cx, s, words)));
        ops.add(
            name(&["s_buffer_load_", suffix]),
            Op::new(move |cx: &mut Cx<'_>, s: &Step| buffer_load(cx, s, words)),
        );
        if words <= 4 {
            ops.add(
                name(&["s_store_", suffix]),
                Op::new(move |cx: &mut Cx<'_>, s: &Step| store(cx, s, words)),
            );
        }
    }
    for name in ["s_memtime", "s_memrealtime"] {
        ops.add(
            name,
            Op::new(|cx: &mut Cx<'_>, s: &Step| {
                // There is no clock in functional mode; the instruction count at least rises.
                let now = cx.w.count;
                cx.w.set_pair(s.sdst as usize, now);
                Ok(Next::Fall)
            }),
        );
    }
}

/// Immediate plus SGPR offset.
fn offset(cx: &Cx<'_>, s: &Step) -> Result<i64, Fault> {
    let register = match s.src[1] {
        Src::None => 0,
        ref src => i64::from(cx.scalar(src, Ty::B32)?),
    };
    Ok(register + s.imm + i64::from(s.inst.mods.offset))
}

fn read_word(cx: &mut Cx<'_>, address: u64) -> Result<u32, Fault> {
    cx.load(Place::Global(address), 4, 0).map_err(without_lane)
}

/// Scalar accesses have no lane.
fn without_lane(fault: Fault) -> Fault {
    match fault {
        Fault::OutOfBounds { space, write, address, bytes, .. } => {
            Fault::OutOfBounds { space, write, lane: None, address, bytes }
        }
        other => other,
    }
}

fn put(cx: &mut Cx<'_>, s: &Step, values: &[u32]) -> Outcome {
    let first = s.sdst as usize;
    let registers = cx.w.s.get_mut(first..first + values.len());
    registers.ok_or(Fault::Unsupported("a scalar load beyond the SGPRs"))?.copy_from_slice(values);
    Ok(Next::Fall)
}

fn load(cx: &mut Cx<'_>, s: &Step, words: usize) -> Outcome {
    // The two low address bits are ignored.
    let start = cx.scalar_wide(&s.src[0], Ty::B64)?.wrapping_add_signed(offset(cx, s)?) & !3;
    let mut values = [0; 16];
    for (i, value) in values.iter_mut().enumerate().take(words) {
        *value = read_word(cx, start + 4 * i as u64)?;
    }
    put(cx, s, &values[..words])
}

/// Reads beyond the resource's records give 0.
fn buffer_load(cx: &mut Cx<'_>, s: &Step, words: usize) -> Outcome {
    let Src::Scalar(resource) = s.src[0] else {
        return Err(Fault::Unsupported("a resource outside the SGPRs"));
    };
    let word = |cx: &Cx<'_>, i: usize| cx.w.s[resource as usize + i];
    let base = u64::from(word(cx, 0)) | u64::from(word(cx, 1) & 0xffff) << 32;
    let stride = u64::from(word(cx, 1) >> 16 & 0x3fff).max(1);
    let size = u64::from(word(cx, 2)) * stride;
    let start = offset(cx, s)? as u64 & !3;
    let mut values = [0; 16];
    for (i, value) in values.iter_mut().enumerate().take(words) {
        let at = start + 4 * i as u64;
        if at + 4 <= size {
            *value = read_word(cx, (base & !3).wrapping_add(at))?;
        }
    }
    put(cx, s, &values[..words])
}

fn store(cx: &mut Cx<'_>, s: &Step, words: usize) -> Outcome {
    let Src::Scalar(data) = s.src[2] else {
        return Err(Fault::Unsupported("scalar store of other than SGPRs"));
    };
    let start = cx.scalar_wide(&s.src[0], Ty::B64)?.wrapping_add_signed(offset(cx, s)?) & !3;
    for i in 0..words {
        let value = cx.w.s[data as usize + i];
        cx.store(Place::Global(start + 4 * i as u64), 4, 0, value).map_err(without_lane)?;
    }
    Ok(Next::Fall)
}
