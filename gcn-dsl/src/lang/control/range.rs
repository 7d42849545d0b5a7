//! `for` over ranges of device integers.

use std::marker::PhantomData;
use std::panic::Location;

use super::loops::{Exits, loop_guard};
use crate::ir::build::unroll::{self, Counted};
use crate::ir::{Bin, Inst, Place, Pred, Region, Stmt, Type, Value, Variable};
use crate::lang::context::{Context, source};
use crate::lang::values::flow::Leave;
use crate::lang::values::flow::{Flow, InLoop};
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::values::literal::Literal;
use crate::lang::values::merge::Never;
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::{Elem, Scalar};

/// Pairs of bounds that a device `for` accepts, uniform or varying.
#[diagnostic::on_unimplemented(
    message = "a device `for` cannot run from `{Self}` to `{End}`",
    label = "bounds must be device integers of one type",
    note = "for a loop over host values that is unrolled when the kernel is built write `#[unroll] for`"
)]
pub trait ForRange<End>: Sized {
    /// The type of the loop counter: `S<T>` or `V<T>`.
    type Index: ForIndex;
    /// Converts both bounds to the type of the counter.
    fn bounds(self, end: End) -> (Self::Index, Self::Index);
}

/// Types of a loop counter.
pub trait ForIndex: Copy + crate::lang::AsIs {
    /// [`Uniform`] if all lanes run the same number of iterations, otherwise [`Varying`].
    type How: Kind;
    /// The IR type.
    const IR: Type;
    /// The IR type of a comparison of two counters.
    const BOOL: Type = Type { elem: Elem::Bool, ..Self::IR };
    /// The IR value.
    fn ir(self) -> Value;
    /// The counter with this IR value.
    fn of(value: Value) -> Self;
}

/// Integer types that loops can count in.
pub trait Counter: Scalar {}

macro_rules! indices {
    ($($handle:ident $how:ident)*) => {$(
        impl<T: Counter> ForIndex for $handle<T> {
            type How = $how;
            const IR: Type = Type { place: Place::$how, elem: T::ELEM, count: 1 };
            fn ir(self) -> Value {
                self.value
            }
            fn of(value: Value) -> Self {
                $handle::from_value(value)
            }
        }
    )*};
}
indices!(S Uniform V Varying);

macro_rules! for_ranges {
    ($generics:tt $t:ty: $($a:ty, $b:ty => $out:ident;)*) => {
        $(for_ranges!(@one $generics $t: $a, $b => $out);)*
    };
    (@one [$($generics:tt)*] $t:ty: $a:ty, $b:ty => $out:ident) => {
        impl<$($generics)*> ForRange<$b> for $a {
            type Index = $out<$t>;
            #[track_caller]
            fn bounds(self, end: $b) -> ($out<$t>, $out<$t>) { (self.into_device(), end.into_device()) }
        }
    };
}
for_each_type!(N in [u32, i32, u8, i8, u16, i16, u64, i64] {
    impl Counter for N {}
    for_ranges! { [] N: N, N => S; N, S<N> => S; S<N>, N => S; N, V<N> => V; V<N>, N => V;
        Literal<N>, N => S; N, Literal<N> => S; }
});
for_ranges! { [T: Counter] T: S<T>, S<T> => S; S<T>, V<T> => V; V<T>, S<T> => V; V<T>, V<T> => V;
Literal<T>, Literal<T> => S; Literal<T>, S<T> => S; S<T>, Literal<T> => S; Literal<T>, V<T> => V; V<T>, Literal<T> => V; }

/// Host numbers of type `usize` as bounds: the loop counts in `u32`.
macro_rules! usize_ranges {
    ($($a:ty, $b:ty => $out:ident;)*) => {$(
        impl ForRange<$b> for $a {
            type Index = $out<u32>;
            #[track_caller]
            fn bounds(self, end: $b) -> ($out<u32>, $out<u32>) {
                (Bound::bound(self).into_device(), Bound::bound(end).into_device())
            }
        }
    )*};
}
usize_ranges! { usize, usize => S; Literal<usize>, usize => S; usize, Literal<usize> => S;
S<u32>, usize => S; V<u32>, usize => V; usize, S<u32> => S; usize, V<u32> => V; }

/// A bound, converted to the counter's type.
trait Bound {
    type Number;
    fn bound(self) -> Self::Number;
}
impl Bound for usize {
    type Number = u32;
    #[track_caller]
    fn bound(self) -> u32 {
        let loc = Location::caller();
        u32::try_from(self).unwrap_or_else(|_| {
            with(|c| {
                c.fail(loc, format!("a `for` of a kernel counts to {} at most, not to {self}", u32::MAX));
            });
            0
        })
    }
}
impl Bound for Literal<usize> {
    type Number = u32;
    #[track_caller]
    fn bound(self) -> u32 {
        self.0.bound()
    }
}
for_each_type!(End in [S<u32>, V<u32>] {
    impl Bound for End {
        type Number = End;
        fn bound(self) -> End {
            self
        }
    }
});

/// Types of a step: those that convert to the counter's type, and the host's `usize` if the loop counts in `u32`.
#[diagnostic::on_unimplemented(
    message = "a `for` that counts in `{I}` does not step by `{Self}`",
    label = "expected `{I}`, found `{Self}`",
    note = "convert with `as`; a step is one value for all lanes"
)]
pub trait Step<I> {
    /// The step as a value of the counter's type.
    fn step(self) -> I;
}
impl<I, K: IntoDevice<I>> Step<I> for K {
    #[track_caller]
    fn step(self) -> I {
        self.into_device()
    }
}
for_each_type!(By in [S<u32>, V<u32>] {
    impl Step<By> for usize {
        #[track_caller]
        fn step(self) -> By {
            self.bound().into_device()
        }
    }
});

/// The range of a `for`: `a..b` or `a..=b`, with `rev` and `step_by`.
#[derive(Debug)]
pub struct Range<I> {
    start: I,
    end: I,
    inclusive: bool,
    reversed: bool,
    step: Option<I>,
}

/// The range `a..b`.
#[track_caller]
pub fn range<A: ForRange<B>, B>(a: A, b: B) -> Range<A::Index> {
    let (start, end) = a.bounds(b);
    Range { start, end, inclusive: false, reversed: false, step: None }
}

/// The range `a..=b`.
#[track_caller]
pub fn range_inclusive<A: ForRange<B>, B>(a: A, b: B) -> Range<A::Index> {
    Range { inclusive: true, ..range(a, b) }
}

impl<I: ForIndex> Range<I> {
    /// `.rev()`: counts from the last element to the first.
    pub fn rev(self) -> Range<I> {
        Range { reversed: true, ..self }
    }

    /// `.step_by(k)`; `k` is read as unsigned and must not be 0.
    #[track_caller]
    pub fn step_by<K: Step<I>>(self, step: K) -> Range<I> {
        let step = step.step();
        if with(|c| c.builder.as_const(step.ir())) == Some(0) {
            // Inside the closure `Location::caller()` would be this function.
            let loc = Location::caller();
            with(|c| c.fail(loc, "the step of a `for` must not be 0".into()));
        }
        Range { step: Some(step), ..self }
    }
}

/// The expansion of `#[unroll(1)]` before the `for` that `guard` has begun.
pub fn rolled<I, F, B, R>(guard: &ForLoop<I, F, B, R>) {
    with(|c| c.builder.keep_rolled(guard.counter));
}

/// The guard of a `for` whose body is being built.
#[derive(Debug)]
pub struct ForLoop<I, F, B, R> {
    pub(super) counter: Variable,
    range: Range<I>,
    enter: Value,
    /// For varying bounds: the block around the loop, which each lane leaves after its last iteration. `None` for
    /// uniform bounds.
    done: Option<crate::ir::Label>,
    exits: Exits,
    types: PhantomData<(F, B, R)>,
}

loop_guard!(ForLoop<I>);

/// Begins a `for`. `breaks` is true if it contains a `break`, `continues` if it contains a `continue`.
///
/// The bounds are tested before the first iteration and at the end of each iteration, such that the counter cannot
/// overflow.
#[track_caller]
pub fn for_begin<I: ForIndex, F: Flow, B: Kind, R: Kind>(
    range: Range<I>,
    _flow: &F,
    breaks: bool,
    continues: bool,
) -> ForLoop<I, F, B, R> {
    let loc = Location::caller();
    let varying = I::How::VARYING;
    let mut exits = Exits::open(breaks);
    let (counter, enter, done) = with(|c| {
        let (start, end) = (range.start.ir(), range.end.ir());
        let pred = if range.inclusive { Pred::Le } else { Pred::Lt };
        let enter = c.value(Inst::Cmp(pred, start, end), I::BOOL, loc);
        let first = match (range.reversed, range.inclusive) {
            (false, _) => start,
            (true, true) => end,
            (true, false) => {
                let one = c.builder.constant(1, I::IR);
                c.value(Inst::Bin(Bin::Sub, end, one), I::IR, loc)
            }
        };
        let counter = c.builder.declare(I::IR);
        c.builder.write(counter, first, Some(source(loc)));
        c.builder.open(varying); // the lanes with at least one iteration
        let done = varying.then(|| c.builder.open_block());
        c.builder.open(varying); // body
        (counter, enter, done)
    });
    exits.open_trip(continues);
    ForLoop { counter, range, enter, done, exits, types: PhantomData }
}

impl<I: ForIndex, F: Flow, B: Kind, R: Kind> ForLoop<I, F, B, R> {
    /// The kind of the exit by the bounds.
    pub fn kind(&self) -> Leave<I::How> {
        Leave::new()
    }

    /// The value of the loop variable in this iteration.
    pub fn index(&self) -> I {
        I::of(with(|c| c.builder.read(self.counter, None)))
    }

    /// Ends the loop.
    #[track_caller]
    pub fn end(mut self, _left: &Leave<B>, _returned: &Leave<R>) {
        let loc = Location::caller();
        self.exits.close_trip();
        let varying = I::How::VARYING;
        let test = self.advance(loc);
        with(|c| {
            match self.done {
                Some(done) => {
                    let leave = Region { stmts: vec![Stmt::Exit(done)] };
                    c.builder.stmt(Stmt::If { cond: test, then: leave, els: Region::default() });
                    let body = c.builder.close(varying);
                    c.builder.stmt(Stmt::Loop { body });
                    c.builder.close_block(done);
                }
                None => {
                    let body = c.builder.close(varying);
                    // If the loop certainly runs at least one iteration, it needs no branch around it, and its body can
                    // use every value that is known here.
                    if !varying && c.builder.as_const(self.enter).is_some_and(|enter| enter != 0) {
                        c.builder.close(varying);
                        return c.builder.looped(None, test, body);
                    }
                    match self.counted(test) {
                        Some(counted) => unroll::counted(&mut c.builder, counted, body),
                        None => c.builder.stmt(Stmt::DoWhile { body, cond: test }),
                    }
                }
            }
            let then = c.builder.close(varying);
            c.builder.branch(self.enter, varying, then, Region::default());
        });
        self.exits.close();
    }

    /// A description of the loop if it counts up by one to an exclusive end, otherwise `None`.
    fn counted(&self, again: Value) -> Option<Counted> {
        let Range { start, end, inclusive, reversed, step } = &self.range;
        let plain = !inclusive && !reversed && step.is_none();
        plain.then(|| Counted { counter: self.counter, start: start.ir(), end: end.ir(), again })
    }

    /// Advances the counter. Returns a condition: for uniform bounds, that another iteration follows; for varying
    /// bounds, that none follows.
    fn advance(&self, loc: &'static Location<'static>) -> Value {
        let Range { end, reversed, step, .. } = &self.range;
        with(|c| {
            let i = c.builder.read(self.counter, None);
            // Test the counter before it changes, so that its old value is dead afterwards.
            let tested = self.test_of_old(c, i, loc);
            let by = step.map_or_else(|| c.builder.constant(1, I::IR), ForIndex::ir);
            let op = if *reversed { Bin::Sub } else { Bin::Add };
            let next = c.value(Inst::Bin(op, i, by), I::IR, loc);
            c.builder.write(self.counter, next, None);
            // `i < end` is true here, so `i + 1` does not overflow.
            tested.unwrap_or_else(|| self.compare(c, Pred::Gt, [end.ir(), next], loc))
        })
    }

    /// The test at the end of an iteration, if it can be made on the counter before it is advanced. `None` if the
    /// advanced counter must be tested.
    fn test_of_old(&self, c: &mut Context, i: Value, loc: &'static Location<'static>) -> Option<Value> {
        let Range { start, end, inclusive, reversed, step } = &self.range;
        let ([a, b], again) = match (step, reversed, inclusive) {
            (None, true, _) => ([i, start.ir()], Pred::Ne),
            (None, false, true) => ([i, end.ir()], Pred::Ne),
            (None, false, false) => return None,
            // The test is `i + step < end`. To avoid overflow, compare `i` with a limit that is the same in every
            // iteration.
            (Some(step), false, false) if self.done.is_some() && I::IR.elem == Elem::U32 => {
                let least = c.value(Inst::Bin(Bin::Max, end.ir(), step.ir()), I::IR, loc);
                let limit = c.value(Inst::Bin(Bin::Sub, least, step.ir()), I::IR, loc);
                ([i, limit], Pred::Lt)
            }
            // Compare the distance to the end with the step. As an unsigned number the distance cannot overflow.
            (Some(step), ..) => {
                let (far, near) = if *reversed { (i, start.ir()) } else { (end.ir(), i) };
                let unsigned = Type { elem: unsigned(I::IR.elem), ..I::IR };
                let left = c.value(Inst::Bin(Bin::Sub, far, near), I::IR, loc);
                let left = c.value(Inst::Cast(left), unsigned, loc);
                let step = c.value(Inst::Cast(step.ir()), unsigned, loc);
                let to_last = *reversed || *inclusive;
                ([left, step], if to_last { Pred::Ge } else { Pred::Gt })
            }
        };
        Some(self.compare(c, again, [a, b], loc))
    }

    /// The comparison of `a` and `b` by the predicate `again`; for varying bounds, its negation.
    fn compare(
        &self,
        c: &mut Context,
        again: Pred,
        [a, b]: [Value; 2],
        loc: &'static Location<'static>,
    ) -> Value {
        let ended = match again {
            Pred::Ne => Pred::Eq,
            Pred::Ge => Pred::Lt,
            Pred::Lt => Pred::Ge,
            _ => Pred::Le,
        };
        c.value(Inst::Cmp(if self.done.is_some() { ended } else { again }, a, b), I::BOOL, loc)
    }
}

/// The unsigned type of the same width.
fn unsigned(elem: Elem) -> Elem {
    match elem {
        Elem::I8 => Elem::U8,
        Elem::I16 => Elem::U16,
        Elem::I32 => Elem::U32,
        Elem::I64 => Elem::U64,
        other => other,
    }
}
