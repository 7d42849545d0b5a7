//! Comparisons and the logic of conditions: the expansions of operators such as `<`, `==` and `&&` in a kernel.

use std::ops::{BitAnd, BitOr};
use std::panic::Location;

use gcn_isa::Target;
use half::{bf16, f16};

use crate::ir::{Bin, Inst, Pred, Value};
use crate::lang::values::literal::{Literal, Real, TakesLiteral, Whole};
use crate::lang::{IntoDevice, S, V};
use crate::scalar::{LaneMask, Scalar};

/// Pairs of types that can be compared: both have the same element type, and each is uniform, varying or a host value.
#[diagnostic::on_unimplemented(
    message = "cannot compare `{Self}` with `{Rhs}`",
    label = "no comparison between `{Self}` and `{Rhs}`",
    note = "both sides need the same element type: convert with `as`; a literal for a float has a point, `0.0`"
)]
pub trait Compare<Rhs> {
    /// `S<bool>`, `V<bool>`, or `bool` for two host values.
    type Output;
    /// Compares the two.
    fn compare(self, pred: Pred, rhs: Rhs) -> Self::Output;
}

#[track_caller]
fn cmp_v<T: Scalar>(pred: Pred, a: impl IntoDevice<V<T>>, b: impl IntoDevice<V<T>>) -> V<bool> {
    let (a, b) = (a.into_device(), b.into_device());
    V::emit(Inst::Cmp(pred, a.value, b.value), Location::caller())
}

impl<T: Scalar> Compare<S<T>> for S<T> {
    type Output = S<bool>;
    #[track_caller]
    fn compare(self, pred: Pred, rhs: S<T>) -> S<bool> {
        S::emit(Inst::Cmp(pred, self.value, rhs.value), Location::caller())
    }
}

impl<T: Scalar> Compare<T> for S<T> {
    type Output = S<bool>;
    #[track_caller]
    fn compare(self, pred: Pred, rhs: T) -> S<bool> {
        let rhs: S<T> = rhs.into_device();
        self.compare(pred, rhs)
    }
}

macro_rules! compare_varying {
    ($($lhs:ty, $rhs:ty;)*) => {$(
        impl<T: Scalar> Compare<$rhs> for $lhs {
            type Output = V<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: $rhs) -> V<bool> {
                cmp_v(pred, self, rhs)
            }
        }
    )*};
}

compare_varying! {
    V<T>, V<T>;
    V<T>, S<T>;
    V<T>, T;
    S<T>, V<T>;
}

macro_rules! compare_host {
    ($($t:ty),*) => {$(
        impl Compare<S<$t>> for $t {
            type Output = S<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: S<$t>) -> S<bool> {
                let lhs: S<$t> = self.into_device();
                lhs.compare(pred, rhs)
            }
        }
        impl Compare<V<$t>> for $t {
            type Output = V<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: V<$t>) -> V<bool> {
                cmp_v(pred, self, rhs)
            }
        }
        compare_host!(@host $t);
    )*};
    (@host $($t:ty),*) => {$(
        impl Compare<$t> for $t {
            type Output = bool;
            fn compare(self, pred: Pred, rhs: $t) -> bool {
                compare_host!(@ordered self pred rhs)
            }
        }
    )*};
    (@ordered $lhs:ident $pred:ident $rhs:ident) => {
        match $pred {
            Pred::Lt => $lhs < $rhs,
            Pred::Le => $lhs <= $rhs,
            Pred::Gt => $lhs > $rhs,
            Pred::Ge => $lhs >= $rhs,
            Pred::Eq => $lhs == $rhs,
            Pred::Ne => $lhs != $rhs,
        }
    };
}

// `mask == 0`.
for_each_type!(H<T> in [S, V] {
    impl Compare<u64> for H<LaneMask> {
        type Output = H<bool>;
        #[track_caller]
        fn compare(self, pred: Pred, rhs: u64) -> H<bool> {
            self.compare(pred, LaneMask::from_bits(rhs))
        }
    }
});

/// Comparisons such as `target() == Target::GFX950` are evaluated on the host.
impl Compare<Target> for Target {
    type Output = bool;
    fn compare(self, pred: Pred, rhs: Target) -> bool {
        compare_host!(@ordered self pred rhs)
    }
}

/// Arrays are compared lexicographically, as in Rust.
impl<A: Compare<B> + Copy, B: Copy, const N: usize> Compare<[B; N]> for [A; N]
where
    A::Output: BitAnd<Output = A::Output> + BitOr<Output = A::Output>,
    bool: IntoDevice<A::Output>,
{
    type Output = A::Output;
    #[track_caller]
    fn compare(self, pred: Pred, rhs: [B; N]) -> A::Output {
        let mut all: A::Output = matches!(pred, Pred::Eq | Pred::Le | Pred::Ge).into_device();
        for (a, b) in self.into_iter().zip(rhs).rev() {
            all = match strictly(pred) {
                Some(first) => a.compare(first, b) | (a.compare(Pred::Eq, b) & all),
                None if pred == Pred::Eq => a.compare(pred, b) & all,
                None => a.compare(pred, b) | all,
            };
        }
        all
    }
}

/// For an ordering comparison, the strict one, which gives the result if two elements differ. `None` for `==` and `!=`.
fn strictly(pred: Pred) -> Option<Pred> {
    match pred {
        Pred::Lt | Pred::Le => Some(Pred::Lt),
        Pred::Gt | Pred::Ge => Some(Pred::Gt),
        Pred::Eq | Pred::Ne => None,
    }
}

/// Tuples are compared lexicographically, as in Rust.
impl<A: Compare<A2> + Copy, A2: Copy, B: Compare<B2>, B2, O> Compare<(A2, B2)> for (A, B)
where
    A::Output: Logic<B::Output, Output = O> + Logic<O, Output = O>,
{
    type Output = O;
    #[track_caller]
    fn compare(self, pred: Pred, rhs: (A2, B2)) -> O {
        let rest = self.1.compare(pred, rhs.1);
        match strictly(pred) {
            Some(first) => or(self.0.compare(first, rhs.0), and(self.0.compare(Pred::Eq, rhs.0), rest)),
            None if pred == Pred::Eq => and(self.0.compare(pred, rhs.0), rest),
            None => or(self.0.compare(pred, rhs.0), rest),
        }
    }
}

/// A longer tuple is compared as a pair of its first member and the rest.
macro_rules! compare_tuples {
    ($($a:ident $a2:ident, $($b:ident $b2:ident $i:tt),+;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$a, $a2, $($b, $b2),+> Compare<($a2, $($b2),+)> for ($a, $($b),+)
        where
            ($a, ($($b),+)): Compare<($a2, ($($b2),+))>,
        {
            type Output = <($a, ($($b),+)) as Compare<($a2, ($($b2),+))>>::Output;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: ($a2, $($b2),+)) -> Self::Output {
                (self.0, ($(self.$i),+)).compare(pred, (rhs.0, ($(rhs.$i),+)))
            }
        }
    )*};
}
compare_tuples! {
    A A2, B B2 1, C C2 2;
    A A2, B B2 1, C C2 2, D D2 3;
    A A2, B B2 1, C C2 2, D D2 3, E E2 4;
    A A2, B B2 1, C C2 2, D D2 3, E E2 4, F F2 5;
}

macro_rules! compare_literal {
    ($($handle:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> Compare<$handle<T>> for Literal<U> {
            type Output = $handle<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: $handle<T>) -> $handle<bool> {
                let lhs: $handle<T> = self.into_device();
                lhs.compare(pred, rhs)
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> Compare<Literal<U>> for $handle<T> {
            type Output = $handle<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: Literal<U>) -> $handle<bool> {
                let rhs: $handle<T> = rhs.into_device();
                self.compare(pred, rhs)
            }
        }
        compare_literal!(@half $handle f16);
        compare_literal!(@half $handle bf16);
    )*};
    (@half $handle:ident $t:ident) => {
        impl Compare<f64> for $handle<$t> {
            type Output = $handle<bool>;
            #[track_caller]
            fn compare(self, pred: Pred, rhs: f64) -> $handle<bool> {
                self.compare(pred, $t::from_f64(rhs))
            }
        }
    };
}
compare_literal!(S V);

for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, usize, isize, u128, i128] {
    #[diagnostic::do_not_recommend]
    impl Compare<N> for Literal<N> {
        type Output = bool;
        fn compare(self, pred: Pred, rhs: N) -> bool {
            self.0.compare(pred, rhs)
        }
    }
});

/// As above, for functions that are generic over the element type.
macro_rules! compare_number_to_host {
    ($literal:ident: $($t:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Compare<$t> for Literal<$literal> {
            type Output = bool;
            fn compare(self, pred: Pred, rhs: $t) -> bool {
                (self.0.0 as $t).compare(pred, rhs)
            }
        }
        #[diagnostic::do_not_recommend]
        impl Compare<Literal<$literal>> for $t {
            type Output = bool;
            fn compare(self, pred: Pred, rhs: Literal<$literal>) -> bool {
                self.compare(pred, rhs.0.0 as $t)
            }
        }
    )*};
}
compare_number_to_host!(Whole: i8, u8, i16, u16, i32, u32, i64, u64, usize, isize, u128, i128);
compare_number_to_host!(Real: f32, f64);

compare_host!(bool, LaneMask, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64);
compare_host!(@host usize, isize, u128, i128);

// The result type is a separate parameter because rustc would report a missing implementation twice if it were
// `A::Output`.
macro_rules! comparisons {
    ($($name:ident $pred:ident $text:literal)*) => {$(
        #[doc = concat!("The expansion of `a ", $text, " b`.")]
        #[track_caller]
        #[must_use = "the comparison has no effect"]
        pub fn $name<A: Compare<B, Output = O>, B, O>(a: A, b: B) -> O {
            a.compare(Pred::$pred, b)
        }
    )*};
}

comparisons! { lt Lt "<" le Le "<=" gt Gt ">" ge Ge ">=" eq Eq "==" ne Ne "!=" }

/// Pairs of conditions that `&&` and `||` combine.
#[diagnostic::on_unimplemented(
    message = "`&&` and `||` combine conditions, not `{Self}` and `{Rhs}`",
    label = "not both conditions",
    note = "a number is not a condition: compare it, `n != 0`; bits combine with `&` and `|`"
)]
pub trait Logic<Rhs> {
    /// `S<bool>`, `V<bool>`, or `bool` for two host values.
    type Output;
    /// Combines them with `op`, which is `Bin::And` or `Bin::Or`.
    fn combine(self, op: Bin, rhs: Rhs) -> Self::Output;
    /// The left side, converted to the result type.
    fn left(self) -> Self::Output;
    /// The right side, converted to the result type.
    fn right(rhs: Rhs) -> Self::Output;
    /// The result with this IR value.
    fn of(value: Value) -> Self::Output;
}

macro_rules! logic {
    ($($lhs:ty, $rhs:ty => $out:ident;)*) => {$(
        impl Logic<$rhs> for $lhs {
            type Output = $out<bool>;
            #[track_caller]
            fn combine(self, op: Bin, rhs: $rhs) -> $out<bool> {
                let (a, b): ($out<bool>, $out<bool>) = (self.into_device(), rhs.into_device());
                $out::emit(Inst::Bin(op, a.value, b.value), Location::caller())
            }
            #[track_caller]
            fn left(self) -> $out<bool> {
                self.into_device()
            }
            #[track_caller]
            fn right(rhs: $rhs) -> $out<bool> {
                rhs.into_device()
            }
            fn of(value: Value) -> $out<bool> {
                $out::from_value(value)
            }
        }
    )*};
}

logic! {
    S<bool>, S<bool> => S;
    S<bool>, bool => S;
    bool, S<bool> => S;
    S<bool>, V<bool> => V;
    V<bool>, S<bool> => V;
    V<bool>, V<bool> => V;
    V<bool>, bool => V;
    bool, V<bool> => V;
}

impl Logic<bool> for bool {
    type Output = bool;
    fn combine(self, op: Bin, rhs: bool) -> bool {
        if op == Bin::And { self && rhs } else { self || rhs }
    }
    fn left(self) -> bool {
        self
    }
    fn right(rhs: bool) -> bool {
        rhs
    }
    fn of(_: Value) -> bool {
        unreachable!("two values of the host are combined on the host")
    }
}

/// The expansion of `a && b` if all lanes may compute `b`.
#[track_caller]
pub fn and<A: Logic<B, Output = O>, B, O>(a: A, b: B) -> O {
    a.combine(Bin::And, b)
}

/// The expansion of `a || b` if all lanes may compute `b`.
#[track_caller]
pub fn or<A: Logic<B, Output = O>, B, O>(a: A, b: B) -> O {
    a.combine(Bin::Or, b)
}
