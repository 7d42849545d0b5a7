//! Merging of branches that give a `Result`, `Ok(…)`, `Err(…)` or no value.

use super::{Bad, Good, Of, Outcome};
use crate::lang::values::kind::Kind;
use crate::lang::values::merge::{Merge, Never};
use crate::lang::{Blank, Placed};

/// Types that merge with a `B`.
pub trait Joins<How, B>: Merge<How, B, Output: Blank + Placed> + Placed {}
impl<How, B, X: Merge<How, B, Output: Blank + Placed> + Placed> Joins<How, B> for X {}

/// Types that merge with themselves.
pub trait Alone<How>: Joins<How, Self> + Merge<How, Self, Output: Blank + Placed> {}
impl<How, X: Joins<How, X>> Alone<How> for X {}

/// The type of the merged value if both branches give an `X`.
type In<How, X> = <X as Merge<How, X>>::Output;

fn whole<How, X: Alone<How>, E: Alone<How>>(of: Outcome<X, E>) -> Outcome<In<How, X>, In<How, E>> {
    Outcome::of(of.ok, Of::<X, E>::VARYING, left::<How, X>(of.value), left::<How, E>(of.error))
}

#[diagnostic::do_not_recommend]
impl<How, A, B, E, F> Merge<How, Outcome<B, F>> for Outcome<A, E>
where
    A: Merge<How, B, Output: Placed> + Placed,
    E: Merge<How, F, Output: Placed> + Placed,
    B: Placed,
    F: Placed,
{
    type Output = Outcome<A::Output, E::Output>;
    #[track_caller]
    fn left(self) -> Self::Output {
        Outcome::of(self.ok, Of::<A, E>::VARYING, self.value.left(), self.error.left())
    }
    #[track_caller]
    fn right(b: Outcome<B, F>) -> Self::Output {
        Outcome::of(b.ok, Of::<B, F>::VARYING, A::right(b.value), E::right(b.error))
    }
}

/// Implements merging for pairs of branch types: `A, B => ` the resulting type. `leaves` marks a branch that has no
/// value because its lanes leave.
macro_rules! joins {
    ($([$($bounds:tt)*] $a:ty, $b:ty => $out:ty: $left:expr, $right:expr $(, $leaves:ident)?;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<How, $($bounds)*> Merge<How, $b> for $a {
            type Output = $out;
            $(const $leaves: bool = true;)?
            #[track_caller]
            fn left(self) -> $out {
                let left: fn($a) -> $out = $left;
                left(self)
            }
            #[track_caller]
            fn right(b: $b) -> $out {
                let right: fn($b) -> $out = $right;
                right(b)
            }
        }
    )*};
}

fn none<A, O>(_: A) -> O {
    unreachable!("the branch has no value")
}

fn value<X: Placed, E: Blank + Placed>(value: X) -> Outcome<X, E> {
    Outcome { ok: Outcome::<X, E>::known(true), value, error: E::blank() }
}

fn error<X: Blank + Placed, E: Placed>(error: E) -> Outcome<X, E> {
    Outcome { ok: Outcome::<X, E>::known(false), value: X::blank(), error }
}

fn left<How, X: Merge<How, X>>(x: X) -> X::Output {
    Merge::<How, X>::left(x)
}

fn right<How, X: Merge<How, X>>(x: X) -> X::Output {
    <X as Merge<How, X>>::right(x)
}

joins! {
    [A: Joins<How, B>, B: Placed, E: Alone<How>] Outcome<A, E>, Good<B> => Outcome<A::Output, In<How, E>>:
        |a| Outcome::of(a.ok, Of::<A, E>::VARYING, a.value.left(), left::<How, E>(a.error)), |b| value(A::right(b.0));
    [A: Joins<How, B>, B: Placed, E: Alone<How>] Good<A>, Outcome<B, E> => Outcome<A::Output, In<How, E>>:
        |a| value(a.0.left()), |b| Outcome::of(b.ok, Of::<B, E>::VARYING, A::right(b.value), right::<How, E>(b.error));
    [E: Joins<How, F>, F: Placed, X: Alone<How>] Outcome<X, E>, Bad<F> => Outcome<In<How, X>, E::Output>:
        |a| Outcome::of(a.ok, Of::<X, E>::VARYING, left::<How, X>(a.value), a.error.left()), |b| error(E::right(b.0));
    [E: Joins<How, F>, F: Placed, X: Alone<How>] Bad<E>, Outcome<X, F> => Outcome<In<How, X>, E::Output>:
        |a| error(a.0.left()), |b| Outcome::of(b.ok, Of::<X, F>::VARYING, right::<How, X>(b.value), E::right(b.error));
    [X: Alone<How>, E: Alone<How>] Good<X>, Bad<E> => Outcome<In<How, X>, In<How, E>>:
        |a| value(left::<How, X>(a.0)), |b| error(right::<How, E>(b.0));
    [X: Alone<How>, E: Alone<How>] Bad<E>, Good<X> => Outcome<In<How, X>, In<How, E>>:
        |a| error(left::<How, E>(a.0)), |b| value(right::<How, X>(b.0));
    [A: Joins<How, B>, B] Good<A>, Good<B> => Good<A::Output>: |a| Good(a.0.left()), |b| Good(A::right(b.0));
    [A: Joins<How, B>, B] Bad<A>, Bad<B> => Bad<A::Output>: |a| Bad(a.0.left()), |b| Bad(A::right(b.0));
    [X: Alone<How>, E: Alone<How>] Outcome<X, E>, Never => Outcome<In<How, X>, In<How, E>>: whole::<How, X, E>, none, RIGHT_LEAVES;
    [X: Alone<How>, E: Alone<How>] Never, Outcome<X, E> => Outcome<In<How, X>, In<How, E>>: none, whole::<How, X, E>, LEFT_LEAVES;
    [X: Alone<How>] Good<X>, Never => Good<In<How, X>>: |a| Good(left::<How, X>(a.0)), none, RIGHT_LEAVES;
    [X: Alone<How>] Never, Good<X> => Good<In<How, X>>: none, |b| Good(right::<How, X>(b.0)), LEFT_LEAVES;
    [X: Alone<How>] Bad<X>, Never => Bad<In<How, X>>: |a| Bad(left::<How, X>(a.0)), none, RIGHT_LEAVES;
    [X: Alone<How>] Never, Bad<X> => Bad<In<How, X>>: none, |b| Bad(right::<How, X>(b.0)), LEFT_LEAVES;
}
