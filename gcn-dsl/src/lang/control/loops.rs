//! `loop`, `while`, and unrolled loops.

use std::marker::PhantomData;
use std::panic::Location;

use super::branch::Condition;
use super::exit::{JoinAll, join};
use crate::ir::{Label, Region, Stmt, Value};
use crate::lang::values::data::Flatten;
use crate::lang::values::flow::Leave;
use crate::lang::values::flow::{Flow, InLoop};
use crate::lang::values::kind::Kind;
use crate::lang::values::kind::Uniform;
use crate::lang::values::merge::Never;
use crate::lang::with;

/// The blocks that lanes can leave in a loop: the whole loop by `break`, and the current iteration by `continue`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exits {
    whole: Option<Label>,
    trip: Option<Label>,
}

impl Exits {
    /// Opens the block around the loop, if `break` occurs in it.
    pub fn open(breaks: bool) -> Exits {
        Exits { whole: breaks.then(|| with(|c| c.builder.open_block())), trip: None }
    }

    /// Opens the block around an iteration, if `continue` occurs in it.
    pub fn open_trip(&mut self, continues: bool) {
        self.trip = continues.then(|| with(|c| c.builder.open_block()));
    }

    pub fn close_trip(&mut self) {
        self.trip.take().into_iter().for_each(|label| with(|c| c.builder.close_block(label)));
    }

    pub fn close(self) {
        self.whole.into_iter().for_each(|label| with(|c| c.builder.close_block(label)));
    }

    pub fn leave(&self) -> Never {
        exit(self.whole)
    }

    pub fn next(&self) -> Never {
        exit(self.trip)
    }
}

fn exit(label: Option<Label>) -> Never {
    let label = label.unwrap_or_else(|| unreachable!("the macro says which exits a loop has"));
    with(|c| c.builder.exit(label));
    Never
}

/// Methods that the guards of all loops have.
macro_rules! loop_guard {
    ($name:ident $(<$($param:ident),*>)?) => {
        impl<$($($param,)*)? F: Flow, B: Kind, R: Kind> $name<$($($param,)*)? F, B, R> {
            /// The flow in the body.
            pub fn flow(&self) -> InLoop<F, B, R> {
                InLoop::token()
            }

            /// The kind of the exits by which lanes leave the loop before it ends for all lanes.
            pub fn left(&self) -> Leave<B::Or<R>> {
                Leave::new()
            }

            /// `break`.
            pub fn leave(&self) -> Never {
                self.exits.leave()
            }

            /// `continue`.
            pub fn next(&self) -> Never {
                self.exits.next()
            }
        }
    };
}
pub(super) use loop_guard;

/// The guard of a `while` whose condition is under construction.
#[derive(Debug)]
pub struct WhileHead<F, B, R> {
    exits: Exits,
    types: PhantomData<(F, B, R)>,
}

/// The guard of a `while` whose body is being built.
#[derive(Debug)]
pub struct While<K, F, B, R> {
    head: Region,
    cond: Value,
    exits: Exits,
    types: PhantomData<(K, F, B, R)>,
}

loop_guard!(While<K>);

/// Begins a `while`; `breaks` is true if it contains a `break`.
pub fn while_begin<F: Flow, B: Kind, R: Kind>(_flow: &F, breaks: bool) -> WhileHead<F, B, R> {
    let exits = Exits::open(breaks);
    // If the condition turns out to be varying, later iterations compute it with fewer lanes. A write to a variable in
    // this part must then keep the values of the other lanes, so this part counts as divergent.
    with(|c| c.builder.open(true));
    WhileHead { exits, types: PhantomData }
}

impl<F: Flow, B: Kind, R: Kind> WhileHead<F, B, R> {
    /// The flow in which the condition is computed.
    pub fn flow(&self) -> InLoop<F, B, R> {
        InLoop::token()
    }

    /// Takes the condition and begins the body; `continues` is true if the loop contains a `continue`.
    pub fn test<C: Condition<F>>(self, cond: C, continues: bool) -> While<C::How, F, B, R> {
        let head = with(|c| {
            let head = c.builder.close(true);
            c.builder.open(C::How::VARYING);
            head
        });
        let mut exits = self.exits;
        exits.open_trip(continues);
        While { head, cond: cond.value(), exits, types: PhantomData }
    }
}

impl<K: Kind, F: Flow, B: Kind, R: Kind> While<K, F, B, R> {
    /// The kind of the exit by the condition.
    pub fn kind(&self) -> Leave<K> {
        Leave::new()
    }

    /// Ends the loop.
    pub fn end(mut self, _left: &Leave<B>, _returned: &Leave<R>) {
        self.exits.close_trip();
        with(|c| {
            let body = c.builder.close(K::VARYING);
            c.builder.looped(Some(self.head), self.cond, body);
        });
        self.exits.close();
    }
}

/// The guard of a `loop` whose body is being built.
#[derive(Debug)]
pub struct Loop<F, B, R> {
    exits: Exits,
    types: PhantomData<(F, B, R)>,
}

loop_guard!(Loop);

/// Begins a `loop`. `breaks` is true if it contains a `break`, `continues` if it contains a `continue`.
pub fn loop_begin<F: Flow, B: Kind, R: Kind>(_flow: &F, breaks: bool, continues: bool) -> Loop<F, B, R> {
    let mut exits = Exits::open(breaks);
    with(|c| c.builder.open(true));
    exits.open_trip(continues);
    Loop { exits, types: PhantomData }
}

impl<F: Flow, B: Kind, R: Kind> Loop<F, B, R> {
    /// A uniform kind, since a `loop` has no condition by which lanes could leave.
    pub fn kind(&self) -> Leave<Uniform> {
        Leave::together()
    }

    /// Ends the loop.
    pub fn end(mut self, _left: &Leave<B>, _returned: &Leave<R>) {
        self.exits.close_trip();
        with(|c| {
            let body = c.builder.close(true);
            c.builder.stmt(Stmt::Loop { body });
        });
        self.exits.close();
    }

    /// Ends the loop, whose value is merged from those of its `break`s.
    #[track_caller]
    pub fn end_with<J: JoinAll<B>>(mut self, _left: &Leave<B>, _returned: &Leave<R>, values: J) -> J::Output
    where
        J::Output: Flatten,
    {
        self.exits.close_trip();
        let whole = self.exits.whole.unwrap_or_else(|| unreachable!("a `break` has the value"));
        let body = with(|c| {
            let body = c.builder.close(true);
            c.builder.stmt(Stmt::Loop { body });
            c.builder.close(true)
        });
        join::<B, J>(body, values, Location::caller(), |body| Stmt::Block { label: whole, body })
    }
}

/// The guard of an unrolled loop that lanes can leave.
#[derive(Debug)]
pub struct Unrolled<F, B, R>(PhantomData<(F, B, R)>);

/// Begins an `#[unroll] for` that lanes can leave.
pub fn unrolled_begin<F: Flow, B: Kind, R: Kind>(_flow: &F) -> Unrolled<F, B, R> {
    Unrolled(PhantomData)
}

impl<F: Flow, B: Kind, R: Kind> Unrolled<F, B, R> {
    /// The flow in the body.
    pub fn flow(&self) -> InLoop<F, B, R> {
        InLoop::token()
    }

    /// The kind of the loop's exits.
    pub fn left(&self) -> Leave<B::Or<R>> {
        Leave::new()
    }

    /// Ends the loop.
    pub fn end(self, _left: &Leave<B>, _returned: &Leave<R>) {}
}

/// Types of the upper bound of an `#[unroll] for` whose lower bound is an `A`: host integers, both of one type.
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

for_each_type!(N in [u8, i8, u16, i16, u32, i32, u64, i64, usize, isize] {
    impl UnrollEnd<N> for N {
        fn exclusive(self, start: N) -> Vec<N> { (start..self).collect() }
        fn inclusive(self, start: N) -> Vec<N> { (start..=self).collect() }
    }
});

/// The expansion of `#[unroll] for i in a..b`.
///
/// The result is an iterator over a list, not a range: for wrong bounds rustc would otherwise also report that a range
/// of device values is not an iterator.
pub fn unroll<A, B: UnrollEnd<A>>(a: A, b: B) -> std::vec::IntoIter<B> {
    b.exclusive(a).into_iter()
}

/// The expansion of `#[unroll] for i in a..=b`.
pub fn unroll_inclusive<A, B: UnrollEnd<A>>(a: A, b: B) -> std::vec::IntoIter<B> {
    b.inclusive(a).into_iter()
}
