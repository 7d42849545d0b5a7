//! Executes a step with the rounding and denormal modes in MODE.

use super::indexed;
use super::valu::overflow;
use crate::core::fault::{Fault, Next, Ran};
use crate::core::machine::{Cx, Step};

#[inline(always)]
pub(crate) fn execute(cx: &mut Cx<'_>, step: &Step) -> Ran {
    if cx.w.mode.is_plain() { step.exec.run(cx, step) } else { execute_otherwise(cx, step) }
}

/// Executes a step in a mode that changes what instructions do.
#[inline(never)]
fn execute_otherwise(cx: &mut Cx<'_>, step: &Step) -> Ran {
    if cx.w.mode.vskip && !step.inst.desc.is_salu() && !step.inst.desc.is_smem() {
        return Ok(Next::Fall);
    }
    if indexed::may_move(cx, step)
        && let Some(moved) = indexed::step(cx, step)?
    {
        return execute_as_is(cx, &moved);
    }
    execute_as_is(cx, step)
}

#[inline]
fn execute_as_is(cx: &mut Cx<'_>, step: &Step) -> Ran {
    if !cx.w.mode.is_special() {
        return step.exec.run(cx, step);
    }
    execute_specially(cx, step)
}

/// Executes a step in a directed rounding mode, or with FP16_OVFL.
fn execute_specially(cx: &mut Cx<'_>, step: &Step) -> Ran {
    let missing = Fault::Unsupported("its result in a directed rounding mode");
    let directed = step.directed.as_ref().ok_or(missing);
    let exec = if cx.w.mode.is_directed() { directed? } else { &step.exec };
    match step.overflow.filter(|_| cx.w.mode.keeps_f16_finite()) {
        Some(form) => overflow::run(cx, step, form, &**exec).map_err(Box::new),
        None => exec.run(cx, step),
    }
}
