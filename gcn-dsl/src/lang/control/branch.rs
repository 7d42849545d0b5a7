//! The `if` expression, and the values of its branches.

use std::marker::PhantomData;
use std::panic::Location;

use crate::ir::{Inst, Region, Type, Un, Value, Variable};
use crate::lang::context::Context;
use crate::lang::values::data::Flatten;
use crate::lang::values::flow::Leave;
use crate::lang::values::flow::{Flow, SomeLanesOf};
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::values::literal::{Literal, Real, TakesLiteral, Whole};
use crate::lang::values::merge::Merge;
use crate::lang::values::merge::Never;
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::Scalar;

/// Types of a condition of an `if` or `while` in a kernel.
#[diagnostic::on_unimplemented(
    message = "`if` and `while` in a kernel need a device condition, not `{Self}`",
    label = "expected `S<bool>` or `V<bool>`, found `{Self}`",
    note = "a number is not a condition: compare it, `x & 1 != 0`"
)]
pub trait Condition<F: Flow> {
    /// The flow inside the branches.
    type Inside: Flow;
    /// [`Uniform`] if all lanes take the same branch, otherwise [`Varying`]. This decides whether the value of the `if`
    /// may be uniform.
    type How: Kind;
    /// The condition as an IR value.
    fn value(&self) -> Value;
}

impl<F: Flow> Condition<F> for S<bool> {
    type Inside = F;
    type How = Uniform;
    fn value(&self) -> Value {
        self.value
    }
}

impl<F: Flow> Condition<F> for V<bool> {
    type Inside = SomeLanesOf<F>;
    type How = Varying;
    fn value(&self) -> Value {
        self.value
    }
}

/// A condition that is known when the kernel is built. Both branches are traced, but only one is emitted. (A `comptime
/// if` also traces only one.)
impl<F: Flow> Condition<F> for bool {
    type Inside = F;
    type How = Uniform;
    fn value(&self) -> Value {
        IntoDevice::<S<bool>>::into_device(*self).value
    }
}

/// The guard of an `if` whose `then` branch is being built. `Inside` is the flow in both branches; `How` determines how
/// their values merge.
#[derive(Debug)]
pub struct If<Inside, How> {
    cond: Value,
    varying: bool,
    types: PhantomData<(Inside, How)>,
}

/// The guard of an `if` whose `else` branch is being built.
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
    let cond = cond.value();
    let varying = with(|c| {
        let known = c.builder.as_const(cond);
        // If the condition is known, all lanes take the same branch, even if the condition's type is varying.
        let varying = C::How::VARYING && known.is_none();
        c.builder.open(varying);
        c.builder.holds(cond, true);
        if known == Some(0) {
            c.builder.never_runs();
        }
        varying
    });
    If { cond, varying, types: PhantomData }
}

impl<Inside: Flow, How: Kind> If<Inside, How> {
    /// The flow in the branch.
    pub fn flow(&self) -> Inside {
        Inside::token()
    }

    /// The [`Leave`] in which exits from the branch record their kind.
    pub fn kind(&self) -> Leave<How> {
        Leave::new()
    }

    /// Ends the `then` branch and begins the `else` branch.
    pub fn otherwise(self) -> Else<Inside, How> {
        let then = with(|c| {
            let then = c.builder.close(self.varying);
            c.builder.open(self.varying);
            c.builder.holds(self.cond, false);
            if c.builder.as_const(self.cond).is_some_and(|bits| bits != 0) {
                c.builder.never_runs();
            }
            then
        });
        Else { cond: self.cond, varying: self.varying, then, types: PhantomData }
    }

    /// Ends an `if` without `else`.
    pub fn end(self) {
        with(|c| {
            let then = c.builder.close(self.varying);
            c.builder.branch(self.cond, self.varying, then, Region::default());
        });
    }
}

impl<Inside: Flow, How: Kind> Else<Inside, How> {
    /// The flow in the branch.
    pub fn flow(&self) -> Inside {
        Inside::token()
    }

    /// The [`Leave`] in which exits from the branch record their kind.
    pub fn kind(&self) -> Leave<How> {
        Leave::new()
    }

    /// Ends the `else` branch. Returns the value of the `if` expression, merged from the values of both branches.
    #[track_caller]
    pub fn end<A, B>(self, then: A, els: B) -> A::Output
    where
        A: Merge<How, B>,
    {
        let (loc, varying) = (Location::caller(), self.varying);
        let (mut then_values, mut else_values) = (Vec::new(), Vec::new());
        // Instructions that convert a branch's value (a splat or a constant) must be in that branch.
        let els_region = {
            if !A::RIGHT_LEAVES {
                A::right(els).flatten(&mut else_values);
            }
            with(|c| c.builder.close(varying))
        };
        with(|c| c.builder.reopen(self.then, varying));
        if !A::LEFT_LEAVES {
            A::left(then).flatten(&mut then_values);
        }
        let then_region = with(|c| c.builder.close(varying));
        if let Some(bits) = with(|c| c.builder.as_const(self.cond))
            && !A::LEFT_LEAVES
            && !A::RIGHT_LEAVES
        {
            with(|c| c.builder.branch(self.cond, varying, then_region, els_region));
            let values = if bits != 0 { then_values } else { else_values };
            return A::Output::unflatten(&mut values.into_iter());
        }
        let both = !A::LEFT_LEAVES && !A::RIGHT_LEAVES;
        let typed = if A::LEFT_LEAVES { &else_values } else { &then_values };
        let joined = |c: &mut Context, i: usize| match both {
            true => Joined::of(c, self.cond, then_values[i], else_values[i]),
            false => Joined::variable(c, typed[i]),
        };
        let joined: Vec<Joined> = with(|c| (0..typed.len()).map(|i| joined(c, i)).collect());
        let branch = |c: &mut Context, region: Region, values: &[Value]| {
            c.builder.reopen(region, varying);
            for (joined, value) in joined.iter().zip(values) {
                joined.write(c, *value, varying, loc);
            }
            c.builder.close(varying)
        };
        with(|c| {
            let then_region = branch(c, then_region, &then_values);
            let els_region = branch(c, els_region, &else_values);
            c.builder.branch(self.cond, varying, then_region, els_region);
            let values: Vec<Value> = joined.iter().map(|joined| joined.read(c, self.cond, loc)).collect();
            A::Output::unflatten(&mut values.into_iter())
        })
    }
}

/// One IR value of an `if` expression, merged from a value of each branch.
enum Joined {
    /// Both branches write the value to a variable.
    Variable(Variable),
    /// The branches give `true` and `false`, so the value is the condition or, in the other order, its negation.
    Condition { opposite: bool, ty: Type },
    /// Both branches give undefined bits.
    Nothing(Type),
}

impl Joined {
    fn of(c: &mut Context, cond: Value, then: Value, els: Value) -> Joined {
        let ty = c.builder.kernel().ty(then);
        let condition = c.builder.kernel().ty(cond);
        let known = [then, els].map(|v| c.builder.as_const(v).filter(|_| !c.builder.is_undefined(v)));
        match known {
            _ if [then, els].iter().all(|v| c.builder.is_undefined(*v)) => Joined::Nothing(ty),
            [Some(then), Some(els)] if ty == condition && (then == 0) != (els == 0) => {
                Joined::Condition { opposite: then == 0, ty }
            }
            _ => Joined::variable(c, then),
        }
    }

    fn variable(c: &mut Context, like: Value) -> Joined {
        let ty = c.builder.kernel().ty(like);
        Joined::Variable(c.builder.declare_joined(ty))
    }

    /// Emits the write at the end of the branch whose value is `value`, if one is needed. Undefined bits need none.
    fn write(&self, c: &mut Context, value: Value, keep: bool, loc: &'static Location<'static>) {
        if let Joined::Variable(var) = self
            && !c.builder.is_undefined(value)
        {
            c.effect(Inst::Write { var: *var, value, keep }, loc);
        }
    }

    /// Returns the merged value, after both branches.
    fn read(&self, c: &mut Context, cond: Value, loc: &'static Location<'static>) -> Value {
        match self {
            Joined::Variable(var) => c.builder.read(*var, None),
            Joined::Condition { opposite: false, .. } => cond,
            Joined::Condition { ty, .. } => c.value(Inst::Un(Un::Not, cond), *ty, loc),
            Joined::Nothing(ty) => c.builder.undefined(*ty),
        }
    }
}

impl Flatten for () {
    fn flatten(&self, _: &mut Vec<Value>) {}
    fn unflatten(_: &mut dyn Iterator<Item = Value>) -> Self {}
}

impl Flatten for Never {
    fn flatten(&self, _: &mut Vec<Value>) {}
    fn unflatten(_: &mut dyn Iterator<Item = Value>) -> Self {
        Never
    }
}

impl<How> Merge<How, Never> for Never {
    type Output = Never;
    fn left(self) -> Never {
        self
    }
    fn right(b: Never) -> Never {
        b
    }
}

/// Merges the value of one branch with another branch that has no value because its lanes leave.
macro_rules! leaving {
    ($how:ident $([$($generics:tt)*])?: $a:ty => $out:ty) => {
        impl<$($($generics)*,)? > Merge<$how, Never> for $a {
            type Output = $out;
            const RIGHT_LEAVES: bool = true;
            #[track_caller]
            fn left(self) -> $out {
                Merge::<$how, $a>::left(self)
            }
            fn right(_: Never) -> $out {
                unreachable!("the branch has no value")
            }
        }
        impl<$($($generics)*,)? > Merge<$how, $a> for Never {
            type Output = $out;
            const LEFT_LEAVES: bool = true;
            fn left(self) -> $out {
                unreachable!("the branch has no value")
            }
            #[track_caller]
            fn right(b: $a) -> $out {
                <$a as Merge<$how, $a>>::right(b)
            }
        }
    };
}
leaving!(Uniform: () => ());
leaving!(Varying: () => ());
leaving!(Uniform [T: Scalar]: S<T> => S<T>);
leaving!(Uniform [T: Scalar]: V<T> => V<T>);
leaving!(Varying [T: Scalar]: S<T> => V<T>);
leaving!(Varying [T: Scalar]: V<T> => V<T>);

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
    Uniform {
        S<T>, S<T> => S<T>;
        S<T>, T => S<T>;
        S<T>, V<T> => V<T>;
        V<T>, S<T> => V<T>;
        V<T>, V<T> => V<T>;
        V<T>, T => V<T>;
    }
    Varying {
        S<T>, S<T> => V<T>;
        S<T>, T => V<T>;
        S<T>, V<T> => V<T>;
        V<T>, S<T> => V<T>;
        V<T>, V<T> => V<T>;
        V<T>, T => V<T>;
    }
}

/// A literal takes the type of the other branch's value. If both branches give literals, these take the type of the
/// merged value, which later code determines.
macro_rules! merge_literal {
    ($($how:ident $place:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Scalar> Merge<$how, Literal<T>> for Literal<T> {
            type Output = $place<T>;
            fn left(self) -> $place<T> { self.0.into_device() }
            fn right(b: Literal<T>) -> $place<T> { b.0.into_device() }
        }
        leaving!($how [T: Scalar]: Literal<T> => $place<T>);
        merge_literal!(@with $how S $place);
        merge_literal!(@with $how V V);
    )*};
    (@with $how:ident $handle:ident $place:ident) => {
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> Merge<$how, Literal<U>> for $handle<T> {
            type Output = $place<T>;
            #[track_caller]
            fn left(self) -> $place<T> { self.into_device() }
            fn right(b: Literal<U>) -> $place<T> { T::of(b.0).into_device() }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> Merge<$how, $handle<T>> for Literal<U> {
            type Output = $place<T>;
            fn left(self) -> $place<T> { T::of(self.0).into_device() }
            #[track_caller]
            fn right(b: $handle<T>) -> $place<T> { b.into_device() }
        }
    };
}
merge_literal! { Uniform S; Varying V; }

macro_rules! merge_host {
    ($($t:ty),*) => {$(
        merge_host!(@one $t, Uniform, Literal<$t>, S<$t>);
        merge_host!(@one $t, Varying, Literal<$t>, V<$t>);
        merge_host!(@two $t, Uniform, S<$t>);
        merge_host!(@two $t, Varying, V<$t>);
        merge_host!(@one $t, Uniform, S<$t>, S<$t>);
        merge_host!(@one $t, Uniform, V<$t>, V<$t>);
        merge_host!(@one $t, Uniform, $t, S<$t>);
        merge_host!(@one $t, Varying, S<$t>, V<$t>);
        merge_host!(@one $t, Varying, V<$t>, V<$t>);
        merge_host!(@one $t, Varying, $t, V<$t>);
        leaving!(Uniform: $t => S<$t>);
        leaving!(Varying: $t => V<$t>);
    )*};
    (@two $t:ty, $how:ty, $out:ty) => {
        #[diagnostic::do_not_recommend]
        impl Merge<$how, $t> for Literal<$t> {
            type Output = $out;
            fn left(self) -> $out { self.0.into_device() }
            fn right(b: $t) -> $out { b.into_device() }
        }
    };
    (@one $t:ty, $how:ty, $b:ty, $out:ty) => {
        impl Merge<$how, $b> for $t {
            type Output = $out;
            fn left(self) -> $out { self.into_device() }
            fn right(b: $b) -> $out { b.into_device() }
        }
    };
}
merge_host!(
    bool,
    crate::scalar::LaneMask,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    half::f16,
    half::bf16,
    f32,
    f64
);

/// Merges a host value with a literal, in functions that are generic over the element type.
macro_rules! merge_number {
    ($literal:ident: $($t:ty),*) => {$(
        merge_number!(@one $t, $literal, Uniform, S<$t>);
        merge_number!(@one $t, $literal, Varying, V<$t>);
    )*};
    (@one $t:ty, $literal:ident, $how:ty, $out:ty) => {
        #[diagnostic::do_not_recommend]
        impl Merge<$how, Literal<$literal>> for $t {
            type Output = $out;
            fn left(self) -> $out { self.into_device() }
            fn right(b: Literal<$literal>) -> $out { b.into_device() }
        }
        #[diagnostic::do_not_recommend]
        impl Merge<$how, $t> for Literal<$literal> {
            type Output = $out;
            fn left(self) -> $out { self.into_device() }
            fn right(b: $t) -> $out { b.into_device() }
        }
    };
}
merge_number!(Whole: i8, u8, i16, u16, i32, u32, i64, u64);
merge_number!(Real: half::f16, half::bf16, f32, f64);
