//! `let mut` in a kernel.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Reg;
use gcn_isa::program::SourceLoc;
use half::{bf16, f16};

use super::element_assign::Here;
use super::fields::{holding, read_all, write_all};
use super::literal::Literal;
use crate::ir::named::{Leaf, Shape};
use crate::ir::{Type, Value, Variable};
use crate::lang::context::{Context, source};
use crate::lang::control::{Flow, SameScope};
use crate::lang::{IntoDevice, S, V, values::debug_name, with};
use crate::scalar::Scalar;

/// A device variable of type `X`, declared in flow `F`. One IR variable for each value in `X`.
#[derive(Debug)]
pub struct Var<X, F> {
    leaves: OnceCell<Vec<Variable>>,
    /// Varying conditions around a declaration without a value.
    divergence: u32,
    types: PhantomData<(X, F)>,
}

/// Device data made of IR values: `S`, `V`, vectors, fragments, accumulators, and arrays and tuples of them.
pub trait Flatten: Copy {
    /// Appends the values, first to last.
    fn flatten(&self, out: &mut Vec<Value>);
    /// Takes the values back in the same order.
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self;
    /// How the values make up the data, for debuggers; None for what depends on a value.
    fn shape() -> Option<Shape> {
        Some(Shape::Value)
    }
}

pub(crate) fn next_value(values: &mut dyn Iterator<Item = Value>) -> Value {
    values.next().unwrap_or_else(|| unreachable!("as many values come back as went in"))
}

impl<T: Scalar> Flatten for S<T> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        S::from_value(next_value(values))
    }
}

impl<T: Scalar> Flatten for V<T> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        V::from_value(next_value(values))
    }
}

/// What `let mut x = …` can hold: device values, arrays of them, and host scalars, which become uniform variables.
#[diagnostic::on_unimplemented(
    message = "`let mut` in a kernel declares a device variable, and `{Self}` is not a device value",
    label = "not a device value",
    note = "LDS arrays and slices are declared without `mut`; host-time variables belong in `comptime {{ … }}`"
)]
pub trait Declare {
    /// The variable's type.
    type Value: Flatten;
    /// The initial value.
    fn declare(self) -> Self::Value;
}

macro_rules! declare_self {
    ($($handle:ident),*) => {$(
        impl<T: Scalar> Declare for $handle<T> {
            type Value = $handle<T>;
            fn declare(self) -> $handle<T> { self }
        }
    )*};
}
declare_self!(S, V);

macro_rules! declare_host {
    ($($t:ty),*) => {$(
        impl Declare for $t {
            type Value = S<$t>;
            fn declare(self) -> S<$t> { self.into_device() }
        }
    )*};
}
impl<T: Scalar> Declare for Literal<T> {
    type Value = S<T>;
    fn declare(self) -> S<T> {
        self.0.into_device()
    }
}
declare_host!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64);

/// Variables of type `Self` declared in flow `F` that may be assigned in flow `G`: varying ones anywhere, uniform ones
/// only where the same lanes are active as at their declaration, but for those that have returned.
pub trait AssignIn<F, G> {}

impl<T, F, G> AssignIn<F, G> for V<T> {}
impl<T, F: Flow, G: Flow> AssignIn<F, G> for S<T> where G::Scope: SameScope<F::Scope> {}

/// The expansion of the type in `let x: T;`.
pub fn holds<X, F>(_: &Var<X, F>) {}

impl<X: Flatten, F> Var<X, F> {
    pub(in crate::lang) fn of(leaves: Vec<Variable>) -> Self {
        Var { leaves: OnceCell::from(leaves), divergence: 0, types: PhantomData }
    }

    /// None before a variable without a first value is assigned.
    pub(in crate::lang) fn leaves(&self) -> &[Variable] {
        self.leaves.get().map_or(&[], Vec::as_slice)
    }

    /// The expansion of `let x;`. The macro sees to it that an assignment comes first.
    pub fn deferred(_flow: &F) -> Self {
        let divergence = with(|c| c.builder.divergence());
        Var { leaves: OnceCell::new(), divergence, types: PhantomData }
    }

    /// The expansion of an assignment to a variable without a first value, whose type is that of what it is given.
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

    /// A variable with these values in the registers `to`, one value after the other.
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

    /// The variable, which the user calls `name` up to this line and column.
    #[must_use]
    #[track_caller]
    pub fn named(self, name: &'static str, line: u32, column: u32) -> Self {
        let leaves = || self.leaves().iter().map(|var| Leaf::Variable(*var)).collect();
        debug_name::tell((name, (line, column)), X::shape, leaves, Location::caller());
        self
    }

    /// The expansion of a use of the variable.
    #[track_caller]
    pub fn get(&self) -> X {
        X::unflatten(&mut read_all(self.leaves(), Location::caller()).into_iter())
    }

    /// The expansion of an assignment.
    #[track_caller]
    pub fn set<G: Flow, E: IntoDevice<X>>(&self, _flow: &G, e: E)
    where
        X: AssignIn<F, G>,
    {
        let mut values = Vec::new();
        e.into_device().flatten(&mut values);
        write_all(self.leaves(), values, Location::caller());
    }

    /// The expansion of an assignment to a part of the variable, `x.field = e` or `x[i].field = e`: only the part needs to
    /// be assignable here.
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

    /// The expansion of an assignment to a part of the variable that an index chooses, `x[i] = e` or `x.field[i].y = e`.
    #[track_caller]
    pub fn change<G: Flow>(&self, _flow: &G, change: impl FnOnce(&mut X, Here<F, G>)) {
        let mut whole = self.get();
        change(&mut whole, Here::new());
        self.set_leaves(&whole);
    }

    /// A leaf that has the value already is not written.
    #[track_caller]
    fn set_leaves(&self, whole: &X) {
        let mut values = Vec::new();
        whole.flatten(&mut values);
        write_all(self.leaves(), values, Location::caller());
    }
}
