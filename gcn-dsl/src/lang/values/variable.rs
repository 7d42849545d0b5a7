//! The variables that `let mut` declares in a kernel.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Reg;
use gcn_isa::program::SourceLoc;

use super::data::{AssignIn, Declare, Flatten, holding, read_all, write_all};
use crate::ir::named::Leaf;
use crate::ir::{Type, Value, Variable};
use crate::lang::context::{Context, source};
use crate::lang::values::flow::Flow;
use crate::lang::values::literal::Vary;
use crate::lang::{IntoDevice, values::debug_name, with};

/// The flow `F` in which a variable is declared and the flow `G` in which it is assigned.
#[derive(Debug)]
pub struct Here<F, G>(PhantomData<(F, G)>);

impl<F, G> Clone for Here<F, G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, G> Copy for Here<F, G> {}

impl<F, G> Here<F, G> {
    pub(in crate::lang) fn new() -> Self {
        Here(PhantomData)
    }
}

/// A device variable of type `X`, declared in flow `F`: one IR variable (a *leaf*) for each IR value in an `X`.
#[derive(Debug)]
pub struct Var<X, F> {
    leaves: OnceCell<Vec<Variable>>,
    /// For a variable declared without a value: the number of varying conditions around the declaration.
    divergence: u32,
    types: PhantomData<(X, F)>,
}

/// Does nothing. For `let x: T;`, the macro emits a call `holds::<T, _>(&x)`, from which rustc infers that `X` is `T`.
pub fn holds<X, F>(_: &Var<X, F>) {}

impl<X: Flatten, F> Var<X, F> {
    pub(in crate::lang) fn of(leaves: Vec<Variable>) -> Self {
        Var { leaves: OnceCell::from(leaves), divergence: 0, types: PhantomData }
    }

    /// The leaves. A variable that was declared without a value has none until it is first assigned.
    pub(in crate::lang) fn leaves(&self) -> &[Variable] {
        self.leaves.get().map_or(&[], Vec::as_slice)
    }

    /// The expansion of `let x;`. The macro ensures that the variable is assigned before it is used.
    pub fn deferred(_flow: &F) -> Self {
        let divergence = with(|c| c.builder.divergence());
        Var { leaves: OnceCell::new(), divergence, types: PhantomData }
    }

    /// The expansion of the first assignment to a variable declared without a value; the variable takes the type of the
    /// value.
    #[track_caller]
    pub fn set_first<G: Flow, D: Declare<Value = X>>(&self, _flow: &G, init: D)
    where
        X: AssignIn<F, G>,
    {
        let mut values = Vec::new();
        init.declare().flatten(&mut values);
        let leaves = self.leaves.get_or_init(|| {
            let variable = |c: &mut Context, v: Value| {
                holding(c, v, |c| {
                    let ty = c.builder.kernel().ty(v);
                    c.builder.declare_deferred(ty, self.divergence)
                })
            };
            with(|c| values.iter().map(|v| variable(c, *v)).collect())
        });
        write_all(leaves, values, Location::caller());
    }

    /// The expansion of `let mut x = e`.
    #[track_caller]
    pub fn declare<D: Declare<Value = X>>(_flow: &F, init: D) -> Self {
        let mut values = Vec::new();
        init.declare().flatten(&mut values);
        Var::initialised(&values, Some(source(Location::caller())), |c, ty| c.builder.declare(ty))
    }

    /// Declares one variable for each value. If `to` is `Some`, the variables are pinned to these registers, one after
    /// the other.
    pub(in crate::lang) fn declare_in(values: &[Value], to: Option<Reg>, loc: SourceLoc) -> Self {
        let mut rest = to;
        Var::initialised(values, Some(loc), |c, ty| match &mut rest {
            Some(rest) => {
                let here = Reg { len: ty.registers().1, ..*rest };
                (rest.index, rest.len) = (here.end(), rest.len - here.len);
                c.builder.declare_in(ty, here, Some(loc))
            }
            None => c.builder.declare(ty),
        })
    }

    fn initialised(
        values: &[Value],
        loc: Option<SourceLoc>,
        mut declare: impl FnMut(&mut Context, Type) -> Variable,
    ) -> Self {
        let mut of_value = |c: &mut Context, v: &Value| {
            holding(c, *v, |c| {
                let ty = c.builder.kernel().ty(*v);
                let var = declare(c, ty);
                c.builder.write(var, *v, loc);
                var
            })
        };
        Var::of(with(|c| values.iter().map(|v| of_value(c, v)).collect()))
    }

    /// Records that the user calls the variable `name`, in the scope that ends at this line and column.
    #[must_use]
    #[track_caller]
    pub fn named(self, name: &'static str, line: u32, column: u32) -> Self {
        let leaves = || self.leaves().iter().map(|var| Leaf::Variable(*var)).collect();
        debug_name::tell((name, (line, column)), X::shape, leaves, Location::caller());
        self
    }

    /// The expansion of a use of the variable: reads it.
    #[track_caller]
    pub fn get(&self) -> X {
        X::unflatten(&mut read_all(self.leaves(), Location::caller()).into_iter())
    }

    /// Converts a value to be assigned to a variable of varying type that has no written type; rustc infers the
    /// variable's type from it.
    pub fn of_each_lane<Y: Vary<Varying = X>>(&self, value: Y) -> X {
        value.vary()
    }

    /// The expansion of an assignment to the variable.
    #[track_caller]
    pub fn set<G: Flow, E: IntoDevice<X>>(&self, _flow: &G, e: E)
    where
        X: AssignIn<F, G>,
    {
        let mut values = Vec::new();
        e.into_device().flatten(&mut values);
        write_all(self.leaves(), values, Location::caller());
    }

    /// The expansion of an assignment to a part of the variable, `x.field = e` or `x[i].field = e`. Only that part has
    /// to be assignable in this flow.
    #[track_caller]
    pub fn set_part<G: Flow, P, E: IntoDevice<P>>(&self, _flow: &G, part: impl FnOnce(&mut X) -> &mut P, e: E)
    where
        P: AssignIn<F, G>,
    {
        let new = e.into_device();
        let mut whole = self.get();
        *part(&mut whole) = new;
        self.set_leaves(&whole);
    }

    /// The expansion of an assignment to a part that a device index may select, as in `x[i] = e` or `x.field[i].y = e`.
    #[track_caller]
    pub fn change<G: Flow>(&self, _flow: &G, change: impl FnOnce(&mut X, Here<F, G>)) {
        let mut whole = self.get();
        change(&mut whole, Here::new());
        self.set_leaves(&whole);
    }

    /// Assigns the values of `whole` to the leaves, except to leaves that already have the value.
    #[track_caller]
    fn set_leaves(&self, whole: &X) {
        let mut values = Vec::new();
        whole.flatten(&mut values);
        write_all(self.leaves(), values, Location::caller());
    }
}
