//! Flows: types that say which lanes execute a statement.

use std::marker::PhantomData;

use super::kind::{Kind, Uniform, Varying};

/// All lanes of the workgroup are active.
#[derive(Debug, Clone, Copy, Default)]
pub struct WholeWorkgroup(());

/// Under a varying condition: a subset of the lanes of flow `F` is active.
#[derive(Debug, Clone, Copy)]
pub struct SomeLanesOf<F>(PhantomData<F>);

/// In the body of a loop that is in flow `F`. Lanes may have left in an earlier iteration: `B` is the kind (uniform or
/// varying) of exits by the loop's condition, `break` or `continue`, and `R` that of exits by `return`.
#[derive(Debug, Clone, Copy)]
pub struct InLoop<F, B, R>(PhantomData<(F, B, R)>);

/// After a statement in flow `F` in which lanes may have left: `B` is the kind of exits by `break` or `continue`, and
/// `R` that of exits by `return`.
#[derive(Debug, Clone, Copy)]
pub struct After<F, B, R>(PhantomData<(F, B, R)>);

/// Types that say which lanes are active.
pub trait Flow: Copy {
    /// A canonical form: it is equal for two flows in which the same lanes are active.
    type Lanes;
    /// A canonical form: it is equal for two flows in which the same lanes are active, not counting lanes that have
    /// returned from the function, because those read no variable any more.
    type Scope;
    /// The only value of the type; it has no data.
    fn token() -> Self;
}

impl WholeWorkgroup {
    /// The flow of a kernel's body.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> WholeWorkgroup {
        WholeWorkgroup(())
    }
}

impl Flow for WholeWorkgroup {
    type Lanes = WholeWorkgroup;
    type Scope = WholeWorkgroup;
    fn token() -> WholeWorkgroup {
        WholeWorkgroup(())
    }
}

impl<F: Flow> Flow for SomeLanesOf<F> {
    type Lanes = SomeLanesOf<F::Lanes>;
    type Scope = SomeLanesOf<F::Scope>;
    fn token() -> SomeLanesOf<F> {
        SomeLanesOf(PhantomData)
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

/// The kind `K` of the exits from a construct; rustc infers it from the recorded exits.
#[derive(Debug)]
pub struct Leave<K>(PhantomData<fn() -> K>);

impl<K> Leave<K> {
    /// A record for exits whose kind has not been inferred yet.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Leave<K> {
        Leave(PhantomData)
    }

    /// Records an exit, which makes rustc unify its kind with `K`.
    pub fn note(&self, _kind: &Leave<K>) {}
}

impl Leave<Uniform> {
    /// The kind of an exit that all lanes take together.
    pub fn together() -> Leave<Uniform> {
        Leave(PhantomData)
    }
}

/// The kind of a set of exits, some of kind `A` and some of kind `B`.
pub fn either<A: Kind, B: Kind>(_a: &Leave<A>, _b: &Leave<B>) -> Leave<A::Or<B>> {
    Leave(PhantomData)
}

/// The flow after a statement with exits. `B` is the kind of its exits by `break` or `continue`, `R` that of its exits
/// by `return`.
pub fn after<F: Flow, B: Kind, R: Kind>(_flow: &F, _left: &Leave<B>, _returned: &Leave<R>) -> After<F, B, R> {
    After::token()
}

/// Implemented by the [`Flow::Lanes`] of flows in which every lane of the workgroup is active.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform: `workgroup_any(c)` and `workgroup_all(c)` answer for the workgroup, `any(c)` and `read_first_lane(c)` for a wave",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call after it"
)]
pub trait EveryLane {}
impl EveryLane for WholeWorkgroup {}

/// Implemented by the [`Flow::Scope`]s of two flows if they are equal.
#[diagnostic::on_unimplemented(
    message = "a uniform variable cannot be assigned where only some of its lanes may run",
    label = "not all lanes that have this variable get here, but a uniform `S<T>` has one value for all of them",
    note = "lanes are missing under a varying condition, in a loop with a varying `break` and after a varying `continue`",
    note = "declare the variable as varying: `let mut x: V<T> = …`"
)]
pub trait SameScope<S> {}
impl<S> SameScope<S> for S {}

/// Flows in which every lane of the workgroup is active.
///
/// rustc may report either this trait or [`EveryLane`], on which it depends, so both have the message.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform: `workgroup_any(c)` and `workgroup_all(c)` answer for the workgroup, `any(c)` and `read_first_lane(c)` for a wave",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call after it"
)]
pub trait Convergent {}
impl<F: Flow> Convergent for F where F::Lanes: EveryLane {}
