//! `if`, `while` and `for` in a kernel.
//!
//! The flow a statement runs in is a type: [`Top`] where all lanes run, [`Div`]`<F>` under a varying condition inside flow
//! `F`. A uniform condition keeps the flow. Functions that need all lanes, `barrier()` and `mfma()`, take the flow and exist
//! for [`Top`] only, so that rustc refuses them in divergent code.

use std::marker::PhantomData;
use std::panic::Location;

use super::var::Flatten;
use super::{IntoDevice, S, V, with};
use crate::ir::{Bin, Inst, Pred, Region, Stmt, Type, Value, Variable};
use crate::scalar::{Elem, Scalar};

/// All lanes of the workgroup run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Top(());

/// Some lanes of flow `F` run.
#[derive(Debug, Clone, Copy)]
pub struct Div<F>(PhantomData<F>);

/// A flow.
pub trait Flow: Copy {
    /// The token; it has no data.
    fn token() -> Self;
}

impl Top {
    /// The flow of a kernel's body.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Top {
        Top(())
    }
}

impl Flow for Top {
    fn token() -> Top {
        Top(())
    }
}

impl<F: Flow> Flow for Div<F> {
    fn token() -> Div<F> {
        Div(PhantomData)
    }
}

/// What an `if` or `while` in a kernel can branch on.
#[diagnostic::on_unimplemented(
    message = "`if` and `while` in a kernel need a device condition, not `{Self}`",
    label = "expected `S<bool>` or `V<bool>`, found `{Self}`",
    note = "a host `bool` is known when the kernel is built: write `comptime if` (or `#[unroll] for`) to choose code at build time"
)]
pub trait Condition<F: Flow> {
    /// The flow inside.
    type Inside: Flow;
    /// How values of both branches join.
    type How;
    /// True for `V<bool>`.
    const VARYING: bool;
    /// The condition's value.
    fn value(&self) -> Value;
}

/// Joins of a uniform `if`.
#[derive(Debug, Clone, Copy)]
pub struct JoinUniform;
/// Joins of a varying `if`.
#[derive(Debug, Clone, Copy)]
pub struct JoinVarying;

impl<F: Flow> Condition<F> for S<bool> {
    type Inside = F;
    type How = JoinUniform;
    const VARYING: bool = false;
    fn value(&self) -> Value {
        self.value
    }
}

impl<F: Flow> Condition<F> for V<bool> {
    type Inside = Div<F>;
    type How = JoinVarying;
    const VARYING: bool = true;
    fn value(&self) -> Value {
        self.value
    }
}

/// An open `if` with flow `Inside` in its branches, whose values join as `How` says.
#[derive(Debug)]
pub struct If<Inside, How> {
    cond: Value,
    varying: bool,
    types: PhantomData<(Inside, How)>,
}

/// An open `else`.
#[derive(Debug)]
pub struct Else<Inside, How> {
    cond: Value,
    varying: bool,
    then: Region,
    types: PhantomData<(Inside, How)>,
}

/// Begins an `if`.
#[track_caller]
pub fn if_begin<C: Condition<F>, F: Flow>(cond: C, _flow: &F) -> If<C::Inside, C::How> {
    with(|c| c.builder.open(C::VARYING));
    If { cond: cond.value(), varying: C::VARYING, types: PhantomData }
}

impl<Inside: Flow, How> If<Inside, How> {
    /// The flow inside.
    pub fn flow(&self) -> Inside {
        Inside::token()
    }

    /// Begins the `else`.
    pub fn otherwise(self) -> Else<Inside, How> {
        let then = with(|c| {
            let then = c.builder.close(self.varying);
            c.builder.open(self.varying);
            then
        });
        Else { cond: self.cond, varying: self.varying, then, types: PhantomData }
    }

    /// Ends an `if` without `else`.
    pub fn end(self) {
        with(|c| {
            let then = c.builder.close(self.varying);
            c.builder.stmt(Stmt::If { cond: self.cond, then, els: Region::default() });
        });
    }
}

impl<Inside: Flow, How> Else<Inside, How> {
    /// The flow inside.
    pub fn flow(&self) -> Inside {
        Inside::token()
    }

    /// Ends the `else`; the `if` expression's value joins those of both branches.
    #[track_caller]
    pub fn end<A, B>(self, then: A, els: B) -> A::Output
    where
        A: Merge<How, B>,
    {
        let (loc, varying) = (Location::caller(), self.varying);
        let (mut then_values, mut else_values) = (Vec::new(), Vec::new());
        // What the branch's value needs (a splat, a constant) belongs to its own branch.
        let els_region = {
            A::right(els).flatten(&mut else_values);
            with(|c| c.builder.close(varying))
        };
        with(|c| c.builder.reopen(self.then, varying));
        A::left(then).flatten(&mut then_values);
        let then_region = with(|c| c.builder.close(varying));
        let (then_region, els_region, joined) = with(|c| {
            let variables: Vec<Variable> = then_values
                .iter()
                .map(|v| {
                    let ty = c.builder.kernel().ty(*v);
                    c.builder.declare(ty)
                })
                .collect();
            let mut branch = |region: Region, values: &[Value]| {
                c.builder.reopen(region, varying);
                for (var, v) in variables.iter().zip(values) {
                    let inst = Inst::Write { var: *var, value: *v, keep: varying };
                    c.effect(inst, loc);
                }
                c.builder.close(varying)
            };
            (branch(then_region, &then_values), branch(els_region, &else_values), variables)
        });
        with(|c| {
            c.builder.stmt(Stmt::If { cond: self.cond, then: then_region, els: els_region });
            let values: Vec<Value> = joined.iter().map(|var| c.builder.read(*var, None)).collect();
            A::Output::unflatten(&mut values.into_iter())
        })
    }
}

/// Values of the two branches of an `if` that join to one, `How` the condition says.
#[diagnostic::on_unimplemented(
    message = "the branches of this `if` give `{Self}` and `{B}`, which do not join to one device value",
    label = "branches do not join",
    note = "both need the same element type; a host value joins as a constant"
)]
pub trait Merge<How, B>: Sized {
    /// The joined value: varying if the condition or a branch is.
    type Output: Flatten;
    /// The `then` value.
    fn left(self) -> Self::Output;
    /// The `else` value.
    fn right(b: B) -> Self::Output;
}

impl Flatten for () {
    fn flatten(&self, _: &mut Vec<Value>) {}
    fn unflatten(_: &mut dyn Iterator<Item = Value>) -> Self {}
}

impl<How> Merge<How, ()> for () {
    type Output = ();
    fn left(self) {}
    fn right((): ()) {}
}

macro_rules! merge {
    ($($how:ident { $($a:ty, $b:ty => $out:ty;)* })*) => {$($(
        impl<T: Scalar> Merge<$how, $b> for $a {
            type Output = $out;
            #[track_caller]
            fn left(self) -> $out { self.into_device() }
            #[track_caller]
            fn right(b: $b) -> $out { b.into_device() }
        }
    )*)*};
}

merge! {
    JoinUniform {
        S<T>, S<T> => S<T>;
        S<T>, T => S<T>;
        S<T>, V<T> => V<T>;
        V<T>, S<T> => V<T>;
        V<T>, V<T> => V<T>;
        V<T>, T => V<T>;
    }
    JoinVarying {
        S<T>, S<T> => V<T>;
        S<T>, T => V<T>;
        S<T>, V<T> => V<T>;
        V<T>, S<T> => V<T>;
        V<T>, V<T> => V<T>;
        V<T>, T => V<T>;
    }
}

macro_rules! merge_host {
    ($($t:ty),*) => {$(
        merge_host!(@one $t, JoinUniform, S<$t>, S<$t>);
        merge_host!(@one $t, JoinUniform, V<$t>, V<$t>);
        merge_host!(@one $t, JoinUniform, $t, S<$t>);
        merge_host!(@one $t, JoinVarying, S<$t>, V<$t>);
        merge_host!(@one $t, JoinVarying, V<$t>, V<$t>);
        merge_host!(@one $t, JoinVarying, $t, V<$t>);
    )*};
    (@one $t:ty, $how:ty, $b:ty, $out:ty) => {
        impl Merge<$how, $b> for $t {
            type Output = $out;
            fn left(self) -> $out { self.into_device() }
            fn right(b: $b) -> $out { b.into_device() }
        }
    };
}
merge_host!(bool, i8, u8, i16, u16, i32, u32, i64, u64, half::f16, half::bf16, f32, f64);

impl<How, A: Merge<How, B>, B: Copy, const N: usize> Merge<How, [B; N]> for [A; N] {
    type Output = [A::Output; N];
    fn left(self) -> Self::Output {
        self.map(A::left)
    }
    fn right(b: [B; N]) -> Self::Output {
        b.map(A::right)
    }
}

/// A `while` whose condition is being computed.
#[derive(Debug)]
pub struct LoopHead<F>(PhantomData<F>);

/// A `while` whose body is being built.
#[derive(Debug)]
pub struct Loop<Inside> {
    head: Region,
    cond: Value,
    varying: bool,
    inside: PhantomData<Inside>,
}

/// Begins a `while`.
pub fn loop_begin<F: Flow>(_flow: &F) -> LoopHead<F> {
    // Later trips run with fewer lanes if the condition turns out to vary; a write in the head would have to keep the
    // others, so the head counts as divergent.
    with(|c| c.builder.open(true));
    LoopHead(PhantomData)
}

impl<F: Flow> LoopHead<F> {
    /// Takes the condition, begins the body.
    pub fn test<C: Condition<F>>(self, cond: C) -> Loop<C::Inside> {
        let head = with(|c| {
            let head = c.builder.close(true);
            c.builder.open(C::VARYING);
            head
        });
        Loop { head, cond: cond.value(), varying: C::VARYING, inside: PhantomData }
    }
}

impl<Inside: Flow> Loop<Inside> {
    /// The flow inside.
    pub fn flow(&self) -> Inside {
        Inside::token()
    }

    /// Ends the loop.
    pub fn end(self) {
        with(|c| {
            let body = c.builder.close(self.varying);
            c.builder.stmt(Stmt::While { head: self.head, cond: self.cond, body });
        });
    }
}

/// A `for` whose body is being built.
#[derive(Debug)]
pub struct For<I, F> {
    counter: Variable,
    shape: ForShape,
    last: Value,
    step: Option<Value>,
    inclusive: bool,
    types: PhantomData<(I, F)>,
}

#[derive(Debug)]
enum ForShape {
    /// Uniform bounds: tested before the loop and at its bottom.
    Bottom { enter: Value },
    /// Varying bounds: tested at the top.
    Top { head: Region, cond: Value },
}

/// Bounds of a device `for`, uniform or varying, and the type that counts.
#[diagnostic::on_unimplemented(
    message = "a device `for` cannot run from `{Self}` to `{End}`",
    label = "bounds must be device integers of one type",
    note = "for a loop over host values that is unrolled when the kernel is built write `#[unroll] for`"
)]
pub trait ForRange<End>: Sized {
    /// `S<T>` or `V<T>`.
    type Index: ForIndex;
    /// Both bounds as that type.
    fn bounds(self, end: End) -> (Self::Index, Self::Index);
}

/// A loop counter.
pub trait ForIndex: Copy {
    /// True for `V<T>`.
    const VARYING: bool;
    /// The IR type.
    const IR: Type;
    /// The flow inside a loop with such a counter.
    type Inside<F: Flow>: Flow;
    /// The IR value.
    fn ir(self) -> Value;
    /// The handle of an IR value.
    fn of(value: Value) -> Self;
}

macro_rules! for_ranges {
    ($($t:ty),*) => {$(
        impl ForIndex for S<$t> {
            const VARYING: bool = false;
            const IR: Type = S::<$t>::TYPE;
            type Inside<F: Flow> = F;
            fn ir(self) -> Value { self.value }
            fn of(value: Value) -> Self { S::from_value(value) }
        }
        impl ForIndex for V<$t> {
            const VARYING: bool = true;
            const IR: Type = V::<$t>::TYPE;
            type Inside<F: Flow> = Div<F>;
            fn ir(self) -> Value { self.value }
            fn of(value: Value) -> Self { V::from_value(value) }
        }
        for_ranges!(@pairs $t: $t, $t => S; $t, S<$t> => S; S<$t>, $t => S; S<$t>, S<$t> => S;
            $t, V<$t> => V; V<$t>, $t => V; S<$t>, V<$t> => V; V<$t>, S<$t> => V; V<$t>, V<$t> => V;);
    )*};
    (@pairs $t:ty: $($a:ty, $b:ty => $out:ident;)*) => {$(
        impl ForRange<$b> for $a {
            type Index = $out<$t>;
            #[track_caller]
            fn bounds(self, end: $b) -> ($out<$t>, $out<$t>) { (self.into_device(), end.into_device()) }
        }
    )*};
}
for_ranges!(u32, i32);

/// Begins `for i in a..b`.
#[track_caller]
pub fn for_begin<A: ForRange<B>, B, F: Flow>(a: A, b: B, _flow: &F) -> For<A::Index, F> {
    let (a, b) = a.bounds(b);
    For::begin(a, b, None, false, Location::caller())
}

/// Begins `for i in a..=b`.
#[track_caller]
pub fn for_begin_inclusive<A: ForRange<B>, B, F: Flow>(a: A, b: B, _flow: &F) -> For<A::Index, F> {
    let (a, b) = a.bounds(b);
    For::begin(a, b, None, true, Location::caller())
}

/// Begins `for i in (a..b).step_by(k)`; `k` must not be 0.
#[track_caller]
pub fn for_begin_step<A: ForRange<B>, B, K: IntoDevice<A::Index>, F: Flow>(
    a: A,
    b: B,
    step: K,
    _flow: &F,
) -> For<A::Index, F> {
    let (a, b) = a.bounds(b);
    let step = step.into_device().ir();
    if with(|c| c.builder.as_const(step)) == Some(0) {
        with(|c| c.fail(Location::caller(), "the step of a `for` must not be 0".into()));
    }
    For::begin(a, b, Some(step), false, Location::caller())
}

impl<I: ForIndex, F: Flow> For<I, F> {
    fn begin(a: I, b: I, step: Option<Value>, inclusive: bool, loc: &'static Location<'static>) -> Self {
        with(|c| {
            let counter = c.builder.declare(I::IR);
            c.effect(Inst::Write { var: counter, value: a.ir(), keep: false }, loc);
            let bool_ty = Type { elem: Elem::Bool, ..I::IR };
            let pred = if inclusive { Pred::Le } else { Pred::Lt };
            let shape = if I::VARYING {
                c.builder.open(true);
                let i = c.builder.read(counter, None);
                let cond = c.value(Inst::Cmp(pred, i, b.ir()), bool_ty, loc);
                let head = c.builder.close(true);
                c.builder.open(true);
                ForShape::Top { head, cond }
            } else {
                let enter = c.value(Inst::Cmp(pred, a.ir(), b.ir()), bool_ty, loc);
                c.builder.open(false); // then-region of the entry test
                c.builder.open(false); // body
                ForShape::Bottom { enter }
            };
            For { counter, shape, last: b.ir(), step, inclusive, types: PhantomData }
        })
    }

    /// The flow inside.
    pub fn flow(&self) -> I::Inside<F> {
        I::Inside::token()
    }

    /// The loop variable on this trip.
    pub fn index(&self) -> I {
        I::of(with(|c| c.builder.read(self.counter, None)))
    }

    /// Ends the loop.
    #[track_caller]
    pub fn end(self) {
        let loc = Location::caller();
        with(|c| {
            let bool_ty = Type { elem: Elem::Bool, ..I::IR };
            let i = c.builder.read(self.counter, None);
            let step = self.step.unwrap_or_else(|| c.builder.constant(1, I::IR));
            let next = c.value(Inst::Bin(Bin::Add, i, step), I::IR, loc);
            match self.shape {
                ForShape::Top { head, cond } => {
                    c.builder.write(self.counter, next, None);
                    let body = c.builder.close(true);
                    c.builder.stmt(Stmt::While { head, cond, body });
                }
                ForShape::Bottom { enter } => {
                    // Written so that the last step cannot overflow: `i < end` holds here, so `end - i` is exact.
                    let again = match (self.inclusive, self.step) {
                        (true, _) => c.value(Inst::Cmp(Pred::Ne, i, self.last), bool_ty, loc),
                        (false, None) => c.value(Inst::Cmp(Pred::Lt, next, self.last), bool_ty, loc),
                        (false, Some(step)) => {
                            let unsigned = Type { elem: Elem::U32, ..I::IR };
                            let left = c.value(Inst::Bin(Bin::Sub, self.last, i), I::IR, loc);
                            let left = c.value(Inst::Bitcast(left), unsigned, loc);
                            let step = c.value(Inst::Bitcast(step), unsigned, loc);
                            c.value(Inst::Cmp(Pred::Gt, left, step), bool_ty, loc)
                        }
                    };
                    c.builder.write(self.counter, next, None);
                    let body = c.builder.close(false);
                    c.builder.stmt(Stmt::DoWhile { body, cond: again });
                    let then = c.builder.close(false);
                    c.builder.stmt(Stmt::If { cond: enter, then, els: Region::default() });
                }
            }
        });
    }
}

/// Ends of an `#[unroll] for` that starts at an `A`: host integers of one type.
#[diagnostic::on_unimplemented(
    message = "the bounds of an `#[unroll] for` must be known when the kernel is built; they are `{A}` and `{Self}`",
    label = "not a host integer of the same type",
    note = "use a const generic, a constant or a literal as bound, or drop `#[unroll]` for a loop on the device"
)]
pub trait UnrollEnd<A>: Sized {
    /// The values of `start..self`.
    fn exclusive(self, start: A) -> Vec<Self>;
    /// The values of `start..=self`.
    fn inclusive(self, start: A) -> Vec<Self>;
}

macro_rules! unroll_ends {
    ($($t:ty),*) => {$(
        impl UnrollEnd<$t> for $t {
            fn exclusive(self, start: $t) -> Vec<$t> { (start..self).collect() }
            fn inclusive(self, start: $t) -> Vec<$t> { (start..=self).collect() }
        }
    )*};
}
unroll_ends!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

/// The expansion of `#[unroll] for i in a..b`.
///
/// Not a range: that a range of device values is no iterator would be a second message about wrong bounds.
pub fn unroll<A, B: UnrollEnd<A>>(a: A, b: B) -> std::vec::IntoIter<B> {
    b.exclusive(a).into_iter()
}

/// The expansion of `#[unroll] for i in a..=b`.
pub fn unroll_inclusive<A, B: UnrollEnd<A>>(a: A, b: B) -> std::vec::IntoIter<B> {
    b.inclusive(a).into_iter()
}
