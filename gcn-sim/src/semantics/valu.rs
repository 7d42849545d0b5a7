//! Vector ALU: fetches operands with their modifiers, runs a lane function for all lanes, and writes the results.
//!
//! A lane function is a pure Rust function of a lane's operands. It runs for all lanes, and the write is masked by EXEC. The effects of the
//! encoding (DPP, SDWA, neg, abs, `op_sel`, omod, clamp, denormal flushing) are applied before or after the lane function.

pub(crate) mod cmp;
pub(crate) mod convert;
pub(crate) mod divide;
pub(crate) mod dot;
pub(crate) mod each;
pub(crate) mod float16;
pub(crate) mod float32;
pub(crate) mod float64;
pub(crate) mod groups;
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
pub(crate) mod sad;
pub(crate) mod small;
pub(crate) mod trans;
pub(crate) mod write;

use std::marker::PhantomData;
use std::sync::Arc;

use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::Value;
use crate::fp::Round;
use crate::semantics::op::Op;

pub(crate) use each::Lane;
use each::{Each, Vector};
pub(crate) use read::Fetch;
pub(crate) use write::Finish;

/// The inputs of a lane function in addition to its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env {
    /// True in IEEE mode, in which signaling NaNs are quieted.
    pub ieee: bool,
}

impl Env {
    #[inline(always)]
    fn of(cx: &Cx<'_>) -> Env {
        Env { ieee: cx.w.mode.ieee }
    }
}

/// An instruction with one source.
pub(crate) fn op1<A: Lane, D: Lane>(f: impl Fn(A) -> D + Copy + Send + Sync + 'static) -> Op {
    op3e(move |_, a, (), ()| f(a))
}

/// An instruction with two sources.
pub(crate) fn op2<A: Lane, B: Lane, D: Lane>(f: impl Fn(A, B) -> D + Copy + Send + Sync + 'static) -> Op {
    op3e(move |_, a, b, ()| f(a, b))
}

/// As [`op2`], for a lane function that takes [`Env`].
pub(crate) fn op2e<A: Lane, B: Lane, D: Lane>(
    f: impl Fn(Env, A, B) -> D + Copy + Send + Sync + 'static,
) -> Op {
    op3e(move |env, a, b, ()| f(env, a, b))
}

/// An instruction with three sources (the third may be a tied destination or a literal).
pub(crate) fn op3<A: Lane, B: Lane, C: Lane, D: Lane>(
    f: impl Fn(A, B, C) -> D + Copy + Send + Sync + 'static,
) -> Op {
    op3e(move |_, a, b, c| f(a, b, c))
}

/// As [`op3`], for a lane function that takes [`Env`].
pub(crate) fn op3e<A: Lane, B: Lane, C: Lane, D: Lane>(
    f: impl Fn(Env, A, B, C) -> D + Copy + Send + Sync + 'static,
) -> Op {
    each::op(Plain { f, of: PhantomData::<fn(A, B, C) -> D> }).result(D::TY)
}

/// An instruction that computes the result of each lane from the lane's operands.
#[derive(Clone, Copy)]
struct Plain<F, T> {
    f: F,
    of: PhantomData<T>,
}

impl<A: Lane, B: Lane, C: Lane, D: Lane, F> Vector for Plain<F, fn(A, B, C) -> D>
where
    F: Fn(Env, A, B, C) -> D + Copy + Send + Sync + 'static,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let (env, f) = (Env::of(cx), self.f);
        let lanewise = Each(move |a: A, b: B, c: C| f(env, a, b, c));
        each::run::<FUSED, A, B, C, D, _>(cx, s, [0, 1, 2], 0, lanewise)?;
        Ok(())
    }
}

/// The rounding mode that applies to results of type `V`.
fn rounding<V: Value>(cx: &Cx<'_>) -> Round {
    if V::TY == crate::core::value::Ty::F32 { cx.w.mode.round32 } else { cx.w.mode.round16_64 }
}

/// Defines functions that turn a lane function with a rounding mode into an instruction's variant for directed rounding.
macro_rules! directed {
    ($name:ident, $inner:ident, $($arg:ident: $ty:ident),+) => {
        /// The variant of an instruction for directed rounding: the lane function takes the rounding mode of its result type.
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
                Ok(exec.run(cx, s)?)
            })
        }
    };
}

directed!(round1, op1, a: A);
directed!(round2, op2, a: A, b: B);
directed!(round3, op3, a: A, b: B, c: C);
