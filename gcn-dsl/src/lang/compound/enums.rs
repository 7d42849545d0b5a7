//! Device enums with fields: a value has a discriminant and the fields of all variants.
//!
//! Fields of different types cannot share registers, so a device enum has registers for the fields of every variant;
//! the discriminant says which of them are valid. The others are undefined, which costs no instruction. rustc itself
//! checks the patterns of a `match`: the expansion passes it each variant in turn as a value of a plain Rust enum. On
//! the device, a pattern is a test of the discriminant. If the discriminant is known when the kernel is built, it is a
//! constant, and branches on it are folded.

use std::marker::PhantomData;
use std::panic::Location;

use half::{bf16, f16};

use crate::ir::{Inst, Place, Pred, Type, Value};
use crate::lang::control::Matched;
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::values::literal::Literal;
use crate::lang::values::merge::Merge;
use crate::lang::{AssignIn, Flatten, IntoDevice, LanePtr, Ptr, S, V, Vector, next_value, with};
use crate::scalar::{Elem, Number, Scalar, f8e4m3, f8e5m2};

/// Types whose values a pattern can destructure or compare.
#[diagnostic::on_unimplemented(
    message = "a pattern in a kernel is for values of the device, not for `{Self}`",
    label = "expected a value of the device, found `{Self}`",
    note = "match on a value that is known when the kernel is built in `comptime {{ match … }}`"
)]
pub trait Placed {
    /// [`Uniform`] if all parts of the value are uniform, so that the discriminant of an enum of this type is uniform;
    /// [`Varying`] otherwise.
    type Place: Kind;
    /// The type of a pattern for such values: host numbers, and tuples, arrays and enums of these.
    type Pattern;
}

macro_rules! placed {
    ($([$($generics:tt)*] $t:ty: $place:ty, $pattern:ty;)*) => {$(
        impl<$($generics)*> Placed for $t {
            type Place = $place;
            type Pattern = $pattern;
        }
    )*};
}
placed! {
    [T] S<T>: Uniform, T;
    [T] V<T>: Varying, T;
    [T] Literal<T>: Uniform, T;
    [T, A] Ptr<T, A>: Uniform, Self;
    [T, A] LanePtr<T, A>: Varying, Self;
    [T, const N: usize] Vector<T, N>: Varying, Self;
    [X: Placed, const N: usize] [X; N]: X::Place, [X::Pattern; N];
    [const N: usize] crate::lang::isa::Sgprs<N>: Uniform, Self;
    ['x, X: Placed] &'x X: X::Place, X::Pattern;
    // A value without parts has no varying part, so it is uniform.
    [] (): Varying, ();
}

macro_rules! hosts {
    ($($t:ty)*) => { placed! { $([] $t: Uniform, $t;)* } };
}
hosts!(bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2);

/// The place of a value with these members: uniform if all of them are.
macro_rules! place_of {
    ($a:ident) => { $a::Place };
    ($a:ident $($rest:ident)+) => { <$a::Place as Kind>::Or<place_of!($($rest)+)> };
}

macro_rules! tuples {
    ($(($($a:ident)+))*) => {$(
        impl<$($a: Placed),+> Placed for ($($a,)+) {
            type Place = place_of!($($a)+);
            type Pattern = ($($a::Pattern,)+);
        }
        impl<Any, $($a: Blank<Any>),+> Blank<Any> for ($($a,)+) {
            fn blank() -> Self {
                ($($a::blank(),)+)
            }
        }
    )*};
}
tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

/// Types whose values may be undefined, as the fields of a device enum's other variants are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in an `Option` or a device enum",
    label = "not a value that a variant holds",
    note = "variants hold `S<T>`, `V<T>`, vectors of numbers, and tuples, arrays, device structs and enums of them"
)]
pub trait Blank<Any = ()>: Flatten {
    /// A value of undefined bits.
    fn blank() -> Self;
}

fn undefined(ty: Type) -> Value {
    with(|c| c.builder.undefined(ty))
}

impl<Any, T: Scalar> Blank<Any> for S<T> {
    fn blank() -> Self {
        S::from_value(undefined(Self::type_in(with(|c| c.wave))))
    }
}
impl<Any, T: Scalar> Blank<Any> for V<T> {
    fn blank() -> Self {
        V::from_value(undefined(Self::type_in(with(|c| c.wave))))
    }
}
impl<Any, T: Number, const N: usize> Blank<Any> for Vector<T, N> {
    fn blank() -> Self {
        Self::of(undefined(Type { place: Place::Varying, elem: T::ELEM, count: N as u8 }))
    }
}
impl<Any, X: Blank<Any>, const N: usize> Blank<Any> for [X; N] {
    fn blank() -> Self {
        std::array::from_fn(|_| X::blank())
    }
}
impl<Any> Blank<Any> for () {
    fn blank() -> Self {}
}

/// The expansion of the fields of a device enum: makes rustc check that each implements `Blank`.
pub fn holds_blank<X: Blank>() {}

/// Enum types.
#[diagnostic::on_unimplemented(
    message = "expected an enum, found `{Self}`",
    label = "expected an `Option` or a device enum, found `{Self}`",
    note = "`#[device] enum` declares one; an `Option` of the host is matched on in `comptime {{ … }}`"
)]
pub trait Variants: Copy {
    /// The plain Rust enum that rustc sees in patterns. Its fields are device values.
    type Host;
    /// The type of the condition that a value is a given variant: `S<bool>` or `V<bool>`.
    type Condition;
    /// The value read as each of the variants, in order: element `k` is variant `k` with its fields, whatever the
    /// discriminant is.
    fn each(&self) -> Vec<Self::Host>;
    /// True if the value is one of the variants for which `chosen` is true.
    fn one_of(&self, chosen: &[bool]) -> Self::Condition;
}

impl<M: Variants> Variants for &M {
    type Host = M::Host;
    type Condition = M::Condition;
    fn each(&self) -> Vec<M::Host> {
        M::each(self)
    }
    #[track_caller]
    fn one_of(&self, chosen: &[bool]) -> M::Condition {
        M::one_of(self, chosen)
    }
}

/// Enums without fields that can be stored in memory (`#[device] #[repr(u32)] enum`). Such a value is a number of which
/// some values have names.
pub trait Listed: Scalar {
    /// The enum itself. This indirection keeps rustc from inferring a type where nothing determines one.
    type Itself: Scalar;
    /// All variants.
    fn all() -> Vec<Self::Itself>;
}

for_each_type!(H<T> in [S, V] {
    #[diagnostic::do_not_recommend]
    impl<T: Listed> Variants for H<T> {
        type Host = T::Itself;
        type Condition = H<bool>;
        fn each(&self) -> Vec<T::Itself> {
            T::all()
        }
        #[track_caller]
        fn one_of(&self, chosen: &[bool]) -> H<bool> {
            let loc = Location::caller();
            let mut any: Option<H<bool>> = None;
            for (variant, _) in T::all().into_iter().zip(chosen).filter(|(_, chosen)| **chosen) {
                let variant: H<T::Itself> = variant.into_device();
                let is = H::emit(Inst::Cmp(Pred::Eq, self.value, variant.value), loc);
                any = Some(any.map_or(is, |any| crate::lang::or(any, is)));
            }
            any.unwrap_or_else(|| false.into_device())
        }
    }
});

/// Enums that can be constructed from a variant.
pub trait OfVariant: Variants {
    /// The value that is `variant`.
    fn of(variant: Self::Host) -> Self;
}

// `Host` and `Condition` are type parameters, because rustc would report a missing implementation twice if this were
// `M::Host`.
/// Tests only the variant of a pattern, not the patterns of its fields.
#[track_caller]
pub fn is_variant<M: Variants<Host = H, Condition = C>, H, C>(matched: &M, pattern: impl Fn(H) -> bool) -> C {
    let chosen: Vec<bool> = matched.each().into_iter().map(pattern).collect();
    matched.one_of(&chosen)
}

/// The fields that a pattern binds. `fields` returns `None` for variants that the pattern does not match.
pub fn variant<M: Variants<Host = H>, H, R>(matched: &M, fields: impl Fn(H) -> Option<R>) -> R {
    let found = matched.each().into_iter().find_map(fields);
    found.unwrap_or_else(|| unreachable!("rustc has seen that the pattern is one of the variants"))
}

/// True if the discriminant is the number of a variant for which `chosen` is true.
#[track_caller]
fn tag_is<T: Matched<Host = u32>>(tag: T, chosen: &[bool]) -> T::Condition {
    if let Some(known) = with(|c| c.builder.as_const(tag.ir_value())) {
        return tag.constant(chosen.get(known as usize).copied().unwrap_or(false));
    }
    let mut runs: Vec<[u32; 2]> = Vec::new();
    for (i, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen) {
        match runs.last_mut() {
            Some([_, end]) if *end == i as u32 => *end += 1,
            _ => runs.push([i as u32, i as u32 + 1]),
        }
    }
    let run = |[start, end]: [u32; 2]| match (start, end as usize == chosen.len()) {
        (0, true) => tag.constant(true),
        (0, _) if end > 1 => tag.test(Pred::Lt, end),
        (_, true) if end > start + 1 => tag.test(Pred::Ge, start),
        _ if end == start + 1 => tag.test(Pred::Eq, start),
        _ => T::both(tag.test(Pred::Ge, start), tag.test(Pred::Lt, end)),
    };
    let mut conditions = runs.into_iter().map(run);
    let first = conditions.next().unwrap_or_else(|| tag.constant(false));
    conditions.fold(first, T::either)
}

/// A discriminant, uniform or varying according to `P`.
#[derive(Debug)]
pub struct Tag<P> {
    value: Value,
    place: PhantomData<P>,
}

impl<P> Clone for Tag<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Tag<P> {}

impl<P: Kind> Tag<P> {
    fn ty() -> Type {
        if P::VARYING { V::<u32>::TYPE } else { S::<u32>::TYPE }
    }

    fn new(value: Value) -> Self {
        Tag { value, place: PhantomData }
    }

    /// The discriminant of a known variant.
    pub fn of(variant: u32) -> Self {
        Tag::new(with(|c| c.builder.constant(variant.into(), Self::ty())))
    }

    /// The discriminant as a number.
    pub fn number(self) -> P::Pick<S<u32>, V<u32>> {
        P::picked(Some(S::from_value(self.value)), Some(V::from_value(self.value)))
    }

    /// True if the discriminant is that of a variant for which `chosen` is true.
    #[track_caller]
    pub fn is_one_of(self, chosen: &[bool]) -> P::Pick<S<bool>, V<bool>> {
        match P::VARYING {
            false => P::picked(Some(tag_is(S::<u32>::from_value(self.value), chosen)), None),
            true => P::picked(None, Some(tag_is(V::<u32>::from_value(self.value), chosen))),
        }
    }
}

impl<P: Kind> Flatten for Tag<P> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Tag::new(next_value(values))
    }
}

impl<Any, P: Kind> Blank<Any> for Tag<P> {
    fn blank() -> Self {
        Tag::new(undefined(Self::ty()))
    }
}

impl<F, G> AssignIn<F, G> for Tag<Varying> {}
impl<F, G> AssignIn<F, G> for Tag<Uniform> where S<u32>: AssignIn<F, G> {}

macro_rules! tags_join {
    ($([$($generics:tt)*] $how:ident $place:ty;)*) => {$(
        impl<$($generics)*> Merge<$how, Self> for Tag<$place> {
            type Output = Self;
            fn left(self) -> Self {
                self
            }
            fn right(b: Self) -> Self {
                b
            }
        }
    )*};
}
tags_join! { [P: Kind] Uniform P; [] Varying Varying; }

/// Wraps a condition of kind `P` in its handle type.
pub(in crate::lang) fn condition<P: Kind>(value: Value) -> P::Pick<S<bool>, V<bool>> {
    P::picked(Some(S::from_value(value)), Some(V::from_value(value)))
}

/// The IR type of a condition of kind `P`.
pub(in crate::lang) fn condition_type<P: Kind>() -> Type {
    if P::VARYING { Type::varying(Elem::Bool) } else { Type::uniform(Elem::Bool) }
}

/// An expression of the host type that the patterns match, so that rustc checks the patterns for exhaustiveness and
/// reachability. There is never a value of this type.
pub fn host_value<M: Placed>(_matched: &M) -> Option<M::Pattern> {
    None
}
