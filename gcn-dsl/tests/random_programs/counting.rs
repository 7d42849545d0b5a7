//! Loops over counter types that are known only at run time.

use std::rc::Rc;

use gcn_dsl::__private::{
    self as lang, Flow, ForIndex, ForRange, IntoDevice, Kind, Leave, Uniform, WholeWorkgroup,
};

use super::ast::{Range, Stmt, has_breaks, has_continues};
use super::value::{D, Val};

/// A loop that has been begun: the actions of `break` and `continue`.
pub trait Exits {
    fn leave(&self);
    fn next(&self);
}

macro_rules! exits {
    ($($name:ident $(<$param:ident: $bound:ident>)?;)*) => {$(
        impl<$($param: $bound,)? F: Flow, B: Kind, R: Kind> Exits for lang::$name<$($param,)? F, B, R> {
            fn leave(&self) {
                _ = lang::$name::leave(self);
            }
            fn next(&self) {
                _ = lang::$name::next(self);
            }
        }
    )*};
}
exits! { Loop; While<K: Kind>; ForLoop<I: ForIndex>; }

/// The loops that have been begun and not ended.
pub type Open = Vec<Rc<dyn Exits>>;

/// Builds the body of a loop, which lanes leave through `guard`. Returns the guard. The flow's type is always [`WholeWorkgroup`]:
/// `typing` checks what it would check, and with a single type there is less to compile.
pub fn looped<T, G: Exits + 'static>(
    tracer: &mut T,
    open: fn(&mut T) -> &mut Open,
    guard: G,
    body: impl FnOnce(&mut T),
) -> G {
    let guard = Rc::new(guard);
    open(tracer).push(guard.clone());
    body(tracer);
    _ = open(tracer).pop();
    Rc::try_unwrap(guard).unwrap_or_else(|_| unreachable!("only the stack had another"))
}

/// The kind of all exits in a program that is not type-checked.
pub fn together() -> Leave<Uniform> {
    Leave::together()
}

/// Builds a `for`. `body` gets the counter.
pub fn run<T>(
    tracer: &mut T,
    open: fn(&mut T) -> &mut Open,
    (range, ends): (Range, (Val, Val)),
    stmts: &[Stmt],
    body: &mut dyn FnMut(&mut T, Val),
) {
    let exits = (has_breaks(stmts), has_continues(stmts));
    macro_rules! pairs {
        ($($variant:ident)*) => {
            match ends {
                $((Val::$variant(a), Val::$variant(b)) => match (a, b) {
                    (D::V(a), b) => one(tracer, open, (range, a, b.lane()), exits, body),
                    (a, D::V(b)) => one(tracer, open, (range, a.lane(), b), exits, body),
                    (D::H(a), D::H(b)) => one(tracer, open, (range, a, b), exits, body),
                    (a, b) => one(tracer, open, (range, a.wave(), b.wave()), exits, body),
                },)*
                other => unreachable!("a loop over {other:?}"),
            }
        };
    }
    pairs!(I8 U8 I16 U16 I32 U32 I64 U64);
}

fn one<T, A: ForRange<B>, B>(
    tracer: &mut T,
    open: fn(&mut T) -> &mut Open,
    (range, a, b): (Range, A, B),
    (breaks, continues): (bool, bool),
    body: &mut dyn FnMut(&mut T, Val),
) where
    A::Index: 'static,
    A::Index: MayPipeline,
    Val: From<A::Index>,
    u8: Step<A::Index>,
{
    let bounds = if range.inclusive { lang::range_inclusive(a, b) } else { lang::range(a, b) };
    let bounds = if range.reversed { bounds.rev() } else { bounds };
    let bounds = match range.step {
        Some(step) => bounds.step_by(step.step()),
        None => bounds,
    };
    let guard: lang::ForLoop<A::Index, WholeWorkgroup, Uniform, Uniform> =
        lang::for_begin(bounds, &WholeWorkgroup::new(), breaks, continues);
    if let Some(stages) = range.stages {
        MayPipeline::pipeline(&guard, stages.into());
    }
    let index = Val::from(guard.index());
    let guard = looped(tracer, open, guard, |t| body(t, index));
    guard.end(&together(), &together());
}

/// A small number, as the step of a counter.
pub trait Step<I> {
    fn step(self) -> I;
}

/// A counter whose loop can be pipelined: calls `lang::pipeline` for uniform counters and does nothing for others.
trait MayPipeline: ForIndex {
    fn pipeline(guard: &lang::ForLoop<Self, WholeWorkgroup, Uniform, Uniform>, stages: usize);
}

macro_rules! steps {
    ($($t:ty)*) => {$(
        impl MayPipeline for lang::S<$t> {
            fn pipeline(guard: &lang::ForLoop<Self, WholeWorkgroup, Uniform, Uniform>, stages: usize) {
                lang::pipeline(guard, Some(stages), None);
            }
        }
        impl MayPipeline for lang::V<$t> {
            fn pipeline(_: &lang::ForLoop<Self, WholeWorkgroup, Uniform, Uniform>, _: usize) {}
        }
        impl Step<lang::S<$t>> for u8 {
            fn step(self) -> lang::S<$t> {
                (self as $t).into_device()
            }
        }
        impl Step<lang::V<$t>> for u8 {
            fn step(self) -> lang::V<$t> {
                (self as $t).into_device()
            }
        }
    )*};
}
steps! { i8 u8 i16 u16 i32 u32 i64 u64 }
