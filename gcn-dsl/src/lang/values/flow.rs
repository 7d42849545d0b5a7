//! Flows: which lanes run, as types.

use std::marker::PhantomData;

use super::kind::{Kind, Uniform, Varying};

/// All lanes of the workgroup run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Top(());

/// Some lanes of flow `F` run.
#[derive(Debug, Clone, Copy)]
pub struct Div<F>(PhantomData<F>);

/// A loop's body in flow `F`. Lanes may have left on an earlier trip: by the loop's condition, `break` or `continue` as `B`
/// says, by `return` as `R` says.
#[derive(Debug, Clone, Copy)]
pub struct InLoop<F, B, R>(PhantomData<(F, B, R)>);

/// After a statement in flow `F` in which lanes may have left by `break` or `continue` as `B` says, by `return` as `R` says.
#[derive(Debug, Clone, Copy)]
pub struct After<F, B, R>(PhantomData<(F, B, R)>);

/// A flow.
pub trait Flow: Copy {
    /// The same type for two flows in which the same lanes run.
    type Lanes;
    /// The same type for two flows in which the same lanes run of those that still run in the function. Lanes that returned
    /// read no variable any more.
    type Scope;
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
    type Lanes = Top;
    type Scope = Top;
    fn token() -> Top {
        Top(())
    }
}

impl<F: Flow> Flow for Div<F> {
    type Lanes = Div<F::Lanes>;
    type Scope = Div<F::Scope>;
    fn token() -> Div<F> {
        Div(PhantomData)
    }
}

macro_rules! leaving {
    ($($name:ident)*) => {$(
        impl<F: Flow, B: Kind, R: Kind> Flow for $name<F, B, R> {
            type Lanes = <B::Or<R> as Kind>::Pick<F::Lanes, $name<F::Lanes, Varying, Varying>>;
            type Scope = B::Pick<F::Scope, $name<F::Scope, Varying, Varying>>;
            fn token() -> Self {
                $name(PhantomData)
            }
        }
    )*};
}
leaving!(InLoop After);

/// How lanes leave a construct; `K` is inferred from the exits.
#[derive(Debug)]
pub struct Leave<K>(PhantomData<fn() -> K>);

impl<K> Leave<K> {
    /// The kind of exits that are noted in it.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Leave<K> {
        Leave(PhantomData)
    }

    /// Lanes leave so.
    pub fn note(&self, _kind: &Leave<K>) {}
}

impl Leave<Uniform> {
    /// No lane leaves alone.
    pub fn together() -> Leave<Uniform> {
        Leave(PhantomData)
    }
}

/// Lanes leave in one of two ways.
pub fn either<A: Kind, B: Kind>(_a: &Leave<A>, _b: &Leave<B>) -> Leave<A::Or<B>> {
    Leave(PhantomData)
}

/// The flow after a statement with exits, from the kinds of its `break`s and `continue`s and of its `return`s.
pub fn after<F: Flow, B: Kind, R: Kind>(_flow: &F, _left: &Leave<B>, _returned: &Leave<R>) -> After<F, B, R> {
    After::token()
}

/// [`Flow::Lanes`] of flows in which every lane of the workgroup runs.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform (`S<bool>`)",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call after it"
)]
pub trait EveryLane {}
impl EveryLane for Top {}

/// Flows whose [`Flow::Scope`] is the same type.
#[diagnostic::on_unimplemented(
    message = "a uniform variable cannot be assigned where only some of its lanes may run",
    label = "not all lanes that have this variable get here, but a uniform `S<T>` has one value for all of them",
    note = "lanes are missing under a varying condition, in a loop with a varying `break` and after a varying `continue`",
    note = "declare the variable as varying: `let mut x: V<T> = …`"
)]
pub trait SameScope<S> {}
impl<S> SameScope<S> for S {}

/// Flows in which every lane of the workgroup runs.
///
/// Rustc reports this trait or the one that it stands on, so that both have the message.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform (`S<bool>`)",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call after it"
)]
pub trait Convergent {}
impl<F: Flow> Convergent for F where F::Lanes: EveryLane {}
