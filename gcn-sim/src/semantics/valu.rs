//! Vector ALU: fetching operands with their modifiers, running a lane function over 64 lanes, writing results.
//!
//! A lane function is a pure Rust function of its operands; it runs for all lanes, and the write is masked. Everything
//! an encoding can add (DPP, SDWA, neg, abs, `op_sel`, omod, clamp, denormal flushing) happens around it.

pub(crate) mod cmp;
pub(crate) mod convert;
pub(crate) mod divide;
pub(crate) mod dot;
pub(crate) mod float16;
pub(crate) mod float32;
pub(crate) mod float64;
pub(crate) mod int16;
pub(crate) mod int32;
pub(crate) mod int64;
pub(crate) mod lane;
pub(crate) mod mix;
pub(crate) mod number;
pub(crate) mod overflow;
pub(crate) mod packed;
pub(crate) mod permlane;
pub(crate) mod read;
pub(crate) mod relative;
pub(crate) mod sad;
pub(crate) mod small;
pub(crate) mod trans;
pub(crate) mod write;

use std::sync::Arc;

use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, LOWER, Raw, Value};
use crate::fp::Round;
use crate::semantics::op::Op;

pub(crate) use read::Fetch;
use read::is_short;
pub(crate) use write::Finish;

/// The inputs of a lane function besides its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env {
    /// IEEE mode: signaling NaNs are made quiet.
    pub ieee: bool,
}

impl Env {
    #[inline(always)]
    fn of(cx: &Cx<'_>) -> Env {
        Env { ieee: cx.w.mode.ieee }
    }
}

/// A value a lane function can take and give.
pub(crate) trait Lane: Value<Raw: Fetch + Finish> {}
impl<V: Value<Raw: Fetch + Finish>> Lane for V {}

/// An instruction with one vector source.
pub(crate) fn op1<A: Lane, D: Lane>(f: impl Fn(A) -> D + Copy + Send + Sync + 'static) -> Op {
    op1e(move |_, a| f(a))
}

/// As [`op1`], with the environment.
pub(crate) fn op1e<A: Lane, D: Lane>(f: impl Fn(Env, A) -> D + Copy + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let env = Env::of(cx);
        if is_short(cx, s, D::TY) {
            let mut buffer = [A::Raw::default(); LOWER];
            let a = A::Raw::fetch_lower(cx, s, 0, A::TY, &mut buffer)?;
            let mut out = [D::Raw::default(); LOWER];
            for i in 0..LOWER {
                out[i] = f(env, A::from_raw(a[i])).into_raw();
            }
            D::Raw::finish_lower(cx, s, &out);
            return Ok(Next::Fall);
        }
        let mut buffer = A::Raw::ZERO;
        let a = A::Raw::fetch(cx, s, 0, A::TY, &mut buffer)?;
        let mut out = D::Raw::ZERO;
        for i in 0..LANES {
            out[i] = f(env, A::from_raw(a[i])).into_raw();
        }
        D::Raw::finish(cx, s, D::TY, &mut out);
        Ok(Next::Fall)
    })
    .result(D::TY)
}

/// An instruction with two vector sources.
pub(crate) fn op2<A: Lane, B: Lane, D: Lane>(f: impl Fn(A, B) -> D + Copy + Send + Sync + 'static) -> Op {
    op2e(move |_, a, b| f(a, b))
}

/// As [`op2`], with the environment.
pub(crate) fn op2e<A: Lane, B: Lane, D: Lane>(
    f: impl Fn(Env, A, B) -> D + Copy + Send + Sync + 'static,
) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let env = Env::of(cx);
        if is_short(cx, s, D::TY) {
            let (mut buffer_a, mut buffer_b) = ([A::Raw::default(); LOWER], [B::Raw::default(); LOWER]);
            let a = A::Raw::fetch_lower(cx, s, 0, A::TY, &mut buffer_a)?;
            let b = B::Raw::fetch_lower(cx, s, 1, B::TY, &mut buffer_b)?;
            let mut out = [D::Raw::default(); LOWER];
            for i in 0..LOWER {
                out[i] = f(env, A::from_raw(a[i]), B::from_raw(b[i])).into_raw();
            }
            D::Raw::finish_lower(cx, s, &out);
            return Ok(Next::Fall);
        }
        let (mut buffer_a, mut buffer_b) = (A::Raw::ZERO, B::Raw::ZERO);
        let a = A::Raw::fetch(cx, s, 0, A::TY, &mut buffer_a)?;
        let b = B::Raw::fetch(cx, s, 1, B::TY, &mut buffer_b)?;
        let mut out = D::Raw::ZERO;
        for i in 0..LANES {
            out[i] = f(env, A::from_raw(a[i]), B::from_raw(b[i])).into_raw();
        }
        D::Raw::finish(cx, s, D::TY, &mut out);
        Ok(Next::Fall)
    })
    .result(D::TY)
}

/// An instruction with three vector sources (the third may be a tied destination or a literal).
pub(crate) fn op3<A: Lane, B: Lane, C: Lane, D: Lane>(
    f: impl Fn(A, B, C) -> D + Copy + Send + Sync + 'static,
) -> Op {
    op3e(move |_, a, b, c| f(a, b, c))
}

/// As [`op3`], with the environment.
pub(crate) fn op3e<A: Lane, B: Lane, C: Lane, D: Lane>(
    f: impl Fn(Env, A, B, C) -> D + Copy + Send + Sync + 'static,
) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let env = Env::of(cx);
        if is_short(cx, s, D::TY) {
            let (mut buffer_a, mut buffer_b) = ([A::Raw::default(); LOWER], [B::Raw::default(); LOWER]);
            let mut buffer_c = [C::Raw::default(); LOWER];
            let a = A::Raw::fetch_lower(cx, s, 0, A::TY, &mut buffer_a)?;
            let b = B::Raw::fetch_lower(cx, s, 1, B::TY, &mut buffer_b)?;
            let c = C::Raw::fetch_lower(cx, s, 2, C::TY, &mut buffer_c)?;
            let mut out = [D::Raw::default(); LOWER];
            for i in 0..LOWER {
                out[i] = f(env, A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i])).into_raw();
            }
            D::Raw::finish_lower(cx, s, &out);
            return Ok(Next::Fall);
        }
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (A::Raw::ZERO, B::Raw::ZERO, C::Raw::ZERO);
        let a = A::Raw::fetch(cx, s, 0, A::TY, &mut buffer_a)?;
        let b = B::Raw::fetch(cx, s, 1, B::TY, &mut buffer_b)?;
        let c = C::Raw::fetch(cx, s, 2, C::TY, &mut buffer_c)?;
        let mut out = D::Raw::ZERO;
        for i in 0..LANES {
            out[i] = f(env, A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i])).into_raw();
        }
        D::Raw::finish(cx, s, D::TY, &mut out);
        Ok(Next::Fall)
    })
    .result(D::TY)
}

/// The rounding mode that applies to results of type `V`.
fn rounding<V: Value>(cx: &Cx<'_>) -> Round {
    if V::TY == crate::core::value::Ty::F32 { cx.w.mode.round32 } else { cx.w.mode.round16_64 }
}

/// Wraps a lane function that takes a rounding mode for use as a directed-rounding variant.
macro_rules! directed {
    ($name:ident, $inner:ident, $($arg:ident: $ty:ident),+) => {
        /// Directed-rounding variant of an instruction: the lane function takes the rounding mode of its result type.
        pub(crate) fn $name<$($ty: Lane,)+ D: Lane>(
            f: impl Fn(Round, $($ty),+) -> D + Copy + Send + Sync + 'static,
        ) -> Op {
            let per_mode = |round: Round| $inner(move |$($arg: $ty),+| f(round, $($arg),+)).exec;
            let [even, up, down, zero] = [Round::NearestEven, Round::Up, Round::Down, Round::Zero].map(per_mode);
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let exec: &Arc<dyn crate::core::machine::Exec> = match rounding::<D>(cx) {
                    Round::NearestEven => &even,
                    Round::Up => &up,
                    Round::Down => &down,
                    Round::Zero => &zero,
                };
                exec.run(cx, s)
            })
        }
    };
}

directed!(round1, op1, a: A);
directed!(round2, op2, a: A, b: B);
directed!(round3, op3, a: A, b: B, c: C);
