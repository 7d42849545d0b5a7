//! Tuples and arrays of device values.
//!
//! Aggregates of device values are host tuples and arrays whose members are handles. The aggregate itself has no
//! registers; each member has its own. Everything that a device value can do applies member by member: conversions,
//! variables, assignments, merging of branches. `#[device] struct` generates the same impls for a struct.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::ir::Value;
use crate::ir::named::Shape;
use crate::lang::numbers::into::Converted;
use crate::lang::values::data::{AssignIn, Declare, Flatten};
use crate::lang::values::kind::Uniform;
use crate::lang::values::literal::{Literal, TakesLiteral};
use crate::lang::values::merge::{Merge, Never};
use crate::lang::values::operand::OfType;
use crate::lang::{IntoDevice, S, Slice, V};
use crate::scalar::Scalar;

/// Types that can be given for a struct's field of type `X`: `X` itself; for `S` and `V`, also a host value; for
/// `V<T>`, also `S<T>`.
#[diagnostic::on_unimplemented(
    message = "this field is `{X}`, which `{Self}` does not become by itself",
    label = "expected `{X}`, found `{Self}`",
    note = "a varying `V<T>` never narrows to a uniform `S<T>` by itself; between element types convert with `as`"
)]
pub trait IntoField<X> {
    /// Converts the value.
    fn into_field(self) -> X;
}

impl<X> IntoField<X> for X {
    fn into_field(self) -> X {
        self
    }
}

impl<T: crate::scalar::Scalar> IntoField<S<T>> for T {
    #[track_caller]
    fn into_field(self) -> S<T> {
        self.into_device()
    }
}

impl<T: crate::scalar::Scalar> IntoField<V<T>> for T {
    #[track_caller]
    fn into_field(self) -> V<T> {
        self.into_device()
    }
}

impl<T: crate::scalar::Scalar> IntoField<V<T>> for S<T> {
    #[track_caller]
    fn into_field(self) -> V<T> {
        self.into_device()
    }
}

for_each_type!(H<T> in [S, V] {
    #[diagnostic::do_not_recommend]
    impl<T: Scalar + TakesLiteral<U>, U> IntoField<H<T>> for Literal<U> {
        fn into_field(self) -> H<T> {
            T::of(self.0).into_device()
        }
    }
});

/// `x.into()` as a field.
#[diagnostic::do_not_recommend]
impl<X, H> IntoField<X> for Converted<H>
where
    Converted<H>: IntoDevice<X>,
{
    #[track_caller]
    fn into_field(self) -> X {
        self.into_device()
    }
}

/// A field for a read-only slice also accepts a writable one.
#[diagnostic::do_not_recommend]
impl<T> IntoField<Slice<T, crate::lang::ReadOnly>> for Slice<T, crate::lang::Writable> {
    #[track_caller]
    fn into_field(self) -> Slice<T, crate::lang::ReadOnly> {
        self.into_device()
    }
}

/// The target type of an impl that is never used; see that impl below.
#[derive(Debug)]
pub enum NoField {}

#[diagnostic::do_not_recommend]
// This second impl is never used. With a single impl, rustc would infer it as the intended type and not show the
// message above.
impl<T> IntoField<NoField> for V<T> {
    fn into_field(self) -> NoField {
        unreachable!("no field is of this type")
    }
}

/// The expansion of `field: e` in a struct expression.
#[track_caller]
pub fn field<X, E: IntoField<X>>(e: E) -> X {
    e.into_field()
}

/// The common type of the elements of an array.
#[derive(Debug)]
pub struct Like<X>(PhantomData<X>);

impl<X> Like<X> {
    /// Pairs the common type so far with the type of another element.
    pub fn beside<B>(self, _: &B) -> Beside<X, B> {
        Beside(PhantomData)
    }
}

/// Starts with the type of the first element as the common type.
pub fn like<X>(_: &X) -> Like<X> {
    Like(PhantomData)
}

/// The types of two elements of an array. Method lookup finds their common type: it tries [`BesideSame`], then
/// [`BesideOther`], then [`BesideAny`].
#[derive(Debug)]
pub struct Beside<A, B>(PhantomData<(A, B)>);

/// The two types are equal.
pub trait BesideSame<X> {
    /// The common type.
    fn both(&self) -> Like<X>;
}
impl<X> BesideSame<X> for &Beside<X, X> {
    fn both(&self) -> Like<X> {
        Like(PhantomData)
    }
}

/// The two types merge, as a uniform and a varying one do.
pub trait BesideOther<X> {
    /// The common type.
    fn both(&self) -> Like<X>;
}
impl<A: Merge<Uniform, B>, B> BesideOther<A::Output> for &&Beside<A, B> {
    fn both(&self) -> Like<A::Output> {
        Like(PhantomData)
    }
}

/// The two types have no common type; the first is used, and rustc reports that the second does not convert to it.
pub trait BesideAny<X> {
    /// The first type.
    fn both(&self) -> Like<X>;
}
impl<A, B> BesideAny<A> for Beside<A, B> {
    fn both(&self) -> Like<A> {
        Like(PhantomData)
    }
}

/// An element of type `E` of an array whose elements have the common type `X`.
#[derive(Debug)]
pub struct Element<E, X>(RefCell<Option<E>>, PhantomData<X>);

impl<E, X> Element<E, X> {
    /// Wraps an element, given the common type.
    pub fn of(element: E, _: &Like<X>) -> Element<E, X> {
        Element(RefCell::new(Some(element)), PhantomData)
    }
    fn taken(&self) -> E {
        self.0.take().unwrap_or_else(|| unreachable!("an element is taken once"))
    }
}

/// The element already has the common type. Method lookup finds this before [`ElementBecomes`].
pub trait ElementIs<X> {
    /// The element, unchanged.
    fn element(&self) -> X;
}
impl<X> ElementIs<X> for Element<X, X> {
    fn element(&self) -> X {
        self.taken()
    }
}

/// The element converts to the common type.
pub trait ElementBecomes<E, X> {
    /// The element, converted.
    #[track_caller]
    fn element(&self) -> X
    where
        E: IntoDevice<X>;
}
impl<E, X> ElementBecomes<E, X> for &Element<E, X> {
    #[track_caller]
    fn element(&self) -> X
    where
        E: IntoDevice<X>,
    {
        self.taken().into_device()
    }
}

/// The expansion of a literal among the elements of an array: it takes the common type of the others.
#[track_caller]
pub fn alike<X, E: IntoDevice<X>>(_: &Like<X>, e: E) -> X {
    e.into_device()
}

/// Types of the index `i` in an assignment to `a[i]`, where `a` is an array of device values: host numbers, since the
/// elements are in registers.
#[diagnostic::on_unimplemented(
    message = "an array of device values is in registers, whose elements are chosen by a host `usize`, not by `{Self}`",
    label = "not a number of the host",
    note = "for indices that the device computes there is memory of a lane's own, `Private::<T, N>::new()`, and the workgroup's, `Lds::<T, N>::new()`"
)]
pub trait ElementIndex {
    /// The index as a number.
    fn number(self) -> usize;
}
impl ElementIndex for usize {
    fn number(self) -> usize {
        self
    }
}

/// The expansion of `i` in an assignment to `a[i]` of an array of device values.
pub fn element<I: ElementIndex>(i: I) -> usize {
    i.number()
}

/// Result types that are allowed for a call at the end of a device function without a result.
#[diagnostic::on_unimplemented(
    message = "the function returns nothing, and this is a `{Self}`",
    label = "a `{Self}` that nobody gets",
    note = "write what the function returns, for example `-> V<f32>`, or a `;` after this"
)]
pub trait Nothing {}
impl Nothing for () {}
impl Nothing for Never {}

/// The expansion of a call at the end of a device function without a result.
pub fn nothing<N: Nothing>(_: N) {}

#[diagnostic::do_not_recommend]
impl<E: OfType<W>, W, const N: usize> OfType<[W; N]> for [E; N] {
    type Value = [E::Value; N];
    #[track_caller]
    fn of_type(self) -> [E::Value; N] {
        let mut out = Vec::with_capacity(N);
        for e in self {
            out.push(e.of_type());
        }
        out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}

#[diagnostic::do_not_recommend]
impl<E: IntoDevice<X>, X, const N: usize> IntoDevice<[X; N]> for [E; N] {
    #[track_caller]
    fn into_device(self) -> [X; N] {
        // `map` with a closure would lose the caller's source location (`#[track_caller]`), so convert in a loop.
        let mut out = Vec::with_capacity(N);
        for e in self {
            out.push(e.into_device());
        }
        out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there were"))
    }
}

impl<X: Flatten, const N: usize> Flatten for [X; N] {
    fn flatten(&self, out: &mut Vec<Value>) {
        self.iter().for_each(|x| x.flatten(out));
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        std::array::from_fn(|_| X::unflatten(values))
    }
    fn shape() -> Option<Shape> {
        Some(Shape::Array(Box::new(X::shape()?), N))
    }
}

impl<D: Declare, const N: usize> Declare for [D; N] {
    type Value = [D::Value; N];
    fn declare(self) -> [D::Value; N] {
        self.map(D::declare)
    }
}

impl<X: AssignIn<F, G>, F, G, const N: usize> AssignIn<F, G> for [X; N] {}

impl<How, A: Merge<How, B>, B: Copy, const N: usize> Merge<How, [B; N]> for [A; N] {
    type Output = [A::Output; N];
    fn left(self) -> Self::Output {
        self.map(A::left)
    }
    fn right(b: [B; N]) -> Self::Output {
        b.map(A::right)
    }
}

impl<How, A: Merge<How, A> + Copy, const N: usize> Merge<How, Never> for [A; N] {
    type Output = [A::Output; N];
    const RIGHT_LEAVES: bool = true;
    fn left(self) -> Self::Output {
        Merge::<How, [A; N]>::left(self)
    }
    fn right(_: Never) -> Self::Output {
        unreachable!("the branch has no value")
    }
}

impl<How, A: Merge<How, A> + Copy, const N: usize> Merge<How, [A; N]> for Never {
    type Output = [A::Output; N];
    const LEFT_LEAVES: bool = true;
    fn left(self) -> Self::Output {
        unreachable!("the branch has no value")
    }
    fn right(b: [A; N]) -> Self::Output {
        <[A; N] as Merge<How, [A; N]>>::right(b)
    }
}

/// Structs of device values, defined by `#[device] struct`.
pub trait Aggregate {}

impl<How, X: Aggregate + Merge<How, X>> Merge<How, X> for Never {
    type Output = X::Output;
    const LEFT_LEAVES: bool = true;
    fn left(self) -> Self::Output {
        unreachable!("the branch has no value")
    }
    #[track_caller]
    fn right(b: X) -> Self::Output {
        <X as Merge<How, X>>::right(b)
    }
}

macro_rules! tuples {
    ($(($($a:ident $b:ident $i:tt),+))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($a: IntoDevice<$b>, $b),+> IntoDevice<($($b,)+)> for ($($a,)+) {
            #[track_caller]
            fn into_device(self) -> ($($b,)+) {
                ($(self.$i.into_device(),)+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($a: OfType<$b>, $b),+> OfType<($($b,)+)> for ($($a,)+) {
            type Value = ($($a::Value,)+);
            #[track_caller]
            fn of_type(self) -> Self::Value {
                ($(self.$i.of_type(),)+)
            }
        }

        impl<$($a: Flatten),+> Flatten for ($($a,)+) {
            fn flatten(&self, out: &mut Vec<Value>) {
                $(self.$i.flatten(out);)+
            }
            fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
                ($($a::unflatten(values),)+)
            }
            fn shape() -> Option<Shape> {
                Some(Shape::Struct("tuple", vec![$((concat!("__", $i), $a::shape()?)),+]))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($a: Declare),+> Declare for ($($a,)+) {
            type Value = ($($a::Value,)+);
            fn declare(self) -> Self::Value {
                ($(self.$i.declare(),)+)
            }
        }

        impl<Declared, Here, $($a: AssignIn<Declared, Here>),+> AssignIn<Declared, Here> for ($($a,)+) {}

        #[diagnostic::do_not_recommend]
        impl<How, $($a: Merge<How, $b>, $b),+> Merge<How, ($($b,)+)> for ($($a,)+) {
            type Output = ($($a::Output,)+);
            #[track_caller]
            fn left(self) -> Self::Output {
                ($(self.$i.left(),)+)
            }
            #[track_caller]
            fn right(other: ($($b,)+)) -> Self::Output {
                ($($a::right(other.$i),)+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<How, $($a: Merge<How, $a>),+> Merge<How, Never> for ($($a,)+) {
            type Output = ($($a::Output,)+);
            const RIGHT_LEAVES: bool = true;
            #[track_caller]
            fn left(self) -> Self::Output {
                ($(self.$i.left(),)+)
            }
            fn right(_: Never) -> Self::Output {
                unreachable!("the branch has no value")
            }
        }

        #[diagnostic::do_not_recommend]
        impl<How, $($a: Merge<How, $a>),+> Merge<How, ($($a,)+)> for Never {
            type Output = ($($a::Output,)+);
            const LEFT_LEAVES: bool = true;
            fn left(self) -> Self::Output {
                unreachable!("the branch has no value")
            }
            #[track_caller]
            fn right(other: ($($a,)+)) -> Self::Output {
                ($($a::right(other.$i),)+)
            }
        }
    )*};
}

tuples! {
    (A A2 0)
    (A A2 0, B B2 1)
    (A A2 0, B B2 1, C C2 2)
    (A A2 0, B B2 1, C C2 2, D D2 3)
    (A A2 0, B B2 1, C C2 2, D D2 3, E E2 4)
    (A A2 0, B B2 1, C C2 2, D D2 3, E E2 4, F F2 5)
    (A A2 0, B B2 1, C C2 2, D D2 3, E E2 4, F F2 5, G G2 6)
    (A A2 0, B B2 1, C C2 2, D D2 3, E E2 4, F F2 5, G G2 6, H H2 7)
}
