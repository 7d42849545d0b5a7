//! Fork and join: divergent branches that execute both paths one after the other, the path with fewer lanes first (MI100 ISA 4.6). MODE.CSP
//! (bits 31:29) is the number of entries of a stack in SGPRs; each entry has four SGPRs: a mask, then an address.

use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::value::Ty;
use crate::core::wave::Mode;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add(
        "s_cbranch_g_fork",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let pass = cx.scalar_wide(&s.src[0], Ty::B64)?;
            let target = cx.scalar_wide(&s.src[1], Ty::B64)?;
            fork(cx, s, pass, target)
        }),
    );
    ops.add(
        "s_cbranch_i_fork",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let pass = cx.scalar_wide(&s.src[0], Ty::B64)?;
            let target = super::control::branch_address(cx, s);
            fork(cx, s, pass, target)
        }),
    );
    ops.add("s_cbranch_join", Op::new(join));
}

fn stack_pointer(cx: &Cx<'_>) -> u32 {
    cx.w.mode.bits() >> 29
}

fn set_stack_pointer(cx: &mut Cx<'_>, to: u32) {
    let bits = cx.w.mode.bits() & !(7 << 29) | to << 29;
    cx.w.mode = Mode::new(bits);
}

fn fork(cx: &mut Cx<'_>, s: &Step, pass: u64, target: u64) -> Outcome {
    let exec = cx.w.exec();
    let (pass, fail) = (pass & exec, !pass & exec);
    let next = super::control::next_address(cx, s);
    if pass == exec {
        return super::control::jump_to(cx, target);
    }
    if fail == exec {
        return Ok(Next::Fall);
    }
    let fail_first = fail.count_ones() < pass.count_ones();
    let (first, later, address) = if fail_first { (fail, pass, target) } else { (pass, fail, next) };
    let level = stack_pointer(cx);
    if level >= 6 {
        return Err(Fault::Unsupported("a fork with its six-entry stack full"));
    }
    let at = 4 * level as usize;
    cx.w.set_pair(at, later);
    cx.w.set_pair(at + 2, address);
    set_stack_pointer(cx, level + 1);
    cx.w.set_exec(first);
    if fail_first { Ok(Next::Fall) } else { super::control::jump_to(cx, target) }
}

fn join(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let saved = cx.scalar(&s.src[0], Ty::B32)?;
    let level = stack_pointer(cx);
    if level == saved {
        return Ok(Next::Fall);
    }
    let level = level.checked_sub(1).ok_or(Fault::Unsupported("a join without a fork"))?;
    set_stack_pointer(cx, level);
    let at = 4 * level as usize;
    let (mask, address) = (cx.w.pair(at), cx.w.pair(at + 2));
    cx.w.set_exec(mask);
    super::control::jump_to(cx, address)
}
