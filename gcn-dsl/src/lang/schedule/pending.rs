//! Results of asynchronous operations.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::counters::{Counter, Stream};

use crate::ir::mark::Mark;
use crate::ir::{Bin, Inst, Pred, Schedule};
use crate::lang::context::try_with;
use crate::lang::numbers::arithmetic::BesideLiteral;
use crate::lang::{Compare, IntoDevice, V, with};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $stream:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl WaitCounter for $name {
            const STREAM: Stream = Stream::$stream;
        }
    )*};
}
counters! {
    /// Vector loads from buffers, global memory and scratch, including loads into LDS. They are counted by `vmcnt`; on
    /// RDNA 4 by `loadcnt`.
    Loads = Vmem;
    /// Vector stores to buffers, global memory and scratch. On GFX9 they are counted by `vmcnt`, together with the
    /// loads; on RDNA 1 to 3 by `vscnt`; on RDNA 4 by `storecnt`. RDNA may complete stores in any order, so a wait for
    /// one store waits for all.
    Stores = Store;
    /// Loads from LDS and stores to it. They are counted by `lgkmcnt`; on RDNA 4 by `dscnt`.
    LdsAccesses = Lds;
    /// Scalar loads, which may complete in any order. They are counted by `lgkmcnt`, together with LDS accesses; on
    /// RDNA 4 by `kmcnt`.
    ScalarLoads = Smem;
}

/// Kinds of asynchronous operations, as types. A wait for one kind also waits for other kinds that share its hardware
/// counter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of outstanding operations",
    label = "nothing counts it",
    note = "the kinds are `Loads`, `Stores` (of buffers and global memory), `LdsAccesses` and `ScalarLoads`"
)]
pub trait WaitCounter: Copy {
    /// The kind of operation. Together with the instruction set it determines the hardware counter.
    const STREAM: Stream;
}

/// The hardware counter of `C` on the target that the kernel is built for.
fn counter<C: WaitCounter>() -> Counter {
    C::STREAM.counter(with(|c| c.target.instruction_set()))
}

/// A `T` that an operation counted by `C` has not delivered yet. The only thing that a kernel can do with it is to
/// [`wait`] for it.
///
/// In a `#[schedule(manual)]` block, the `…_async` methods of memory and [`issue`] return such results.
#[must_use = "the operation runs until `wait(…)`: wait for it, or use the plain load or store"]
#[derive(Debug)]
pub struct Pending<T, C: WaitCounter> {
    /// The result; `None` after it has been taken.
    value: Option<T>,
    operation: u32,
    started: &'static Location<'static>,
    counter: PhantomData<C>,
}

impl<T, C: WaitCounter> Drop for Pending<T, C> {
    fn drop(&mut self) {
        if self.value.is_some() && !std::thread::panicking() {
            let message = "nobody waits for this operation: call `wait(…)` on what it returned, or use the plain load or store, \
                           which the compiler waits for";
            try_with(|c| c.fail(self.started, message.to_owned()));
        }
    }
}

impl<T, C: WaitCounter> Pending<T, C> {
    /// Waits until the operation is complete; see [`wait`].
    #[track_caller]
    pub fn wait(mut self) -> T {
        let (wait, loc) =
            (Schedule::Wait { op: self.operation, counter: counter::<C>() }, Location::caller());
        with(|c| c.effect(Inst::Schedule(Box::new(wait)), loc));
        self.done()
    }

    /// The result. `drained` proves that a [`wait_all`] on the same counter came after the operation's start.
    #[track_caller]
    pub fn after(mut self, drained: &Drained<C>) -> T {
        if self.operation >= drained.operations {
            let message = "this operation started after the `wait_all` that it is said to be done by; wait for it itself";
            let loc = Location::caller();
            with(|c| c.fail(loc, message.to_owned()));
        }
        self.done()
    }

    fn done(&mut self) -> T {
        self.value.take().unwrap_or_else(|| unreachable!("waiting takes the value by move"))
    }
}

/// Runs `start`, which starts an asynchronous operation counted by `C`. This is for instructions of [`isa`](crate::isa)
/// that have no `…_async` method.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     #[schedule(manual)]
///     fn double(x: &mut [f32]) {
///         let i = global_id().x;
///         let element = issue::<Loads, _>(|| x[i]);
///         x[i] = wait(element) * 2.0;
///     }
/// }
/// # double.build(Target::GFX942).unwrap();
/// ```
#[track_caller]
pub fn issue<C: WaitCounter, T>(start: impl FnOnce() -> T) -> Pending<T, C> {
    let begun = begin();
    let value = start();
    begun.end(value)
}

/// An operation whose instructions are being emitted.
pub(super) struct Begun {
    operation: u32,
    started: &'static Location<'static>,
}

/// Begins an operation: the instructions emitted from here to [`Begun::end`] start it.
#[track_caller]
pub(super) fn begin() -> Begun {
    let started = Location::caller();
    let operation = with(|c| {
        if c.schedule.manual == 0 {
            let message = "asynchronous operations exist where the order of instructions is the written one: put \
                           `#[schedule(manual)]` before the block or before the kernel";
            c.fail(started, message.to_owned());
        }
        let operation = c.schedule.operations;
        c.schedule.operations += 1;
        c.effect(mark(Mark::Issue(operation)), started);
        operation
    });
    Begun { operation, started }
}

impl Begun {
    pub fn end<T, C: WaitCounter>(self, value: T) -> Pending<T, C> {
        let Begun { operation, started } = self;
        with(|c| c.effect(mark(Mark::Issued(operation)), started));
        Pending { value: Some(value), operation, started, counter: PhantomData }
    }
}

pub(super) fn mark(mark: Mark) -> Inst {
    Inst::Schedule(Box::new(Schedule::Mark(mark)))
}

/// Types of the argument of [`wait`]: a [`Pending`], or a tuple or array of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to wait for",
    label = "not a `Pending` result",
    note = "`…_async` methods and `issue` return what can be waited for; other values are there already"
)]
pub trait Awaitable {
    /// The type of the result.
    type Output;
    /// Waits, and returns the result.
    fn wait_for(self) -> Self::Output;
}

impl<T, C: WaitCounter> Awaitable for Pending<T, C> {
    type Output = T;
    #[track_caller]
    fn wait_for(self) -> T {
        self.wait()
    }
}

impl<P: Awaitable, const N: usize> Awaitable for [P; N] {
    type Output = [P::Output; N];
    #[track_caller]
    fn wait_for(self) -> Self::Output {
        let mut all = self.into_iter();
        std::array::from_fn(|_| {
            all.next().unwrap_or_else(|| unreachable!("as many results as operations")).wait_for()
        })
    }
}

tuples!(Awaitable: results of wait_for);

/// Waits until `pending` is complete and returns its result. The counter value of the wait is the largest that is
/// sufficient: the number of younger operations that certainly have been started after this one, whatever path was
/// taken.
#[track_caller]
pub fn wait<P: Awaitable>(pending: P) -> P::Output {
    pending.wait_for()
}

/// Proof that all operations on counter `C` that were started before it are complete; see [`Pending::after`].
#[derive(Debug)]
pub struct Drained<C> {
    operations: u32,
    counter: PhantomData<C>,
}

/// Waits until all operations on counter `C` are complete.
#[track_caller]
pub fn wait_all<C: WaitCounter>() -> Drained<C> {
    let loc = Location::caller();
    let counter = counter::<C>();
    let operations = with(|c| {
        c.effect(Inst::Schedule(Box::new(Schedule::WaitAll(counter))), loc);
        c.schedule.operations
    });
    Drained { operations, counter: PhantomData }
}

/// A trait that is never implemented, whose message says that a result has not been waited for. For a missing operator
/// rustc prints the message of this trait alone.
#[diagnostic::on_unimplemented(
    message = "this value is still on its way, and nothing can be computed with it",
    label = "needs `wait(…)`",
    note = "`wait(a)` gives the value of a pending load `a`; a plain `x[i]` waits by itself"
)]
pub trait CallWaitFirst {}

macro_rules! awaited {
    ($($tr:ident $method:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, C: WaitCounter, R> std::ops::$tr<R> for Pending<T, C>
        where
            Pending<T, C>: CallWaitFirst,
        {
            type Output = T;
            fn $method(self, _: R) -> T {
                self.wait()
            }
        }
    )*};
    (@alone $($tr:ident $method:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, C: WaitCounter> std::ops::$tr for Pending<T, C>
        where
            Pending<T, C>: CallWaitFirst,
        {
            type Output = T;
            fn $method(self) -> T {
                self.wait()
            }
        }
    )*};
}
awaited! {
    Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor Shl shl Shr shr
}
awaited! { @alone Neg neg Not not }

#[diagnostic::do_not_recommend]
impl<T, C: WaitCounter, R> Compare<R> for Pending<T, C>
where
    Pending<T, C>: CallWaitFirst,
{
    type Output = V<bool>;
    fn compare(self, _: Pred, _: R) -> V<bool> {
        V::default()
    }
}

#[diagnostic::do_not_recommend]
impl<T, C: WaitCounter, U> BesideLiteral<U> for Pending<T, C>
where
    Pending<T, C>: CallWaitFirst,
{
    type Output = T;
    fn after(self, _: Bin, _: U) -> T {
        self.wait()
    }
}

#[diagnostic::do_not_recommend]
impl<X, T, C: WaitCounter> IntoDevice<X> for Pending<T, C>
where
    Pending<T, C>: CallWaitFirst,
    T: IntoDevice<X>,
{
    fn into_device(self) -> X {
        self.wait().into_device()
    }
}
