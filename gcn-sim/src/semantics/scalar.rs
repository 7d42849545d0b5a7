//! Scalar ALU and program control.

mod alu;
mod control;
mod float;
mod fork;

use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::scalar::ScalarValue;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    alu::add(ops);
    control::add(ops);
    float::add(ops);
    fork::add(ops);
}

/// D = f(S0); SCC is not changed.
fn s1<A: ScalarValue, D: ScalarValue>(f: impl Fn(A) -> D + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let a = A::read(cx, &s.src[0])?;
        f(a).write(cx, s.sdst);
        Ok(Next::Fall)
    })
}

/// D, SCC = f(S0).
fn s1c<A: ScalarValue, D: ScalarValue>(f: impl Fn(A) -> (D, bool) + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let a = A::read(cx, &s.src[0])?;
        let (d, scc) = f(a);
        d.write(cx, s.sdst);
        cx.w.scc = scc;
        Ok(Next::Fall)
    })
}

/// D = f(S0, S1); SCC is not changed.
fn s2<A: ScalarValue, B: ScalarValue, D: ScalarValue>(f: impl Fn(A, B) -> D + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (a, b) = (A::read(cx, &s.src[0])?, B::read(cx, &s.src[1])?);
        f(a, b).write(cx, s.sdst);
        Ok(Next::Fall)
    })
}

/// D, SCC = f(S0, S1, SCC).
fn s2c<A: ScalarValue, B: ScalarValue, D: ScalarValue>(
    f: impl Fn(A, B, bool) -> (D, bool) + Send + Sync + 'static,
) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (a, b) = (A::read(cx, &s.src[0])?, B::read(cx, &s.src[1])?);
        let (d, scc) = f(a, b, cx.w.scc);
        d.write(cx, s.sdst);
        cx.w.scc = scc;
        Ok(Next::Fall)
    })
}

/// SCC = f(S0, S1).
fn sc<A: ScalarValue, B: ScalarValue>(f: impl Fn(A, B) -> bool + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (a, b) = (A::read(cx, &s.src[0])?, B::read(cx, &s.src[1])?);
        cx.w.scc = f(a, b);
        Ok(Next::Fall)
    })
}
