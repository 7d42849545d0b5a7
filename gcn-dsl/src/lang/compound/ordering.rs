//! `a.cmp(&b)` gives an `Ordering` for each lane, or one for the wave, which `match` accepts like any enum that can be
//! stored in memory.

use std::cmp::Ordering;

use super::option::where_holds;
use crate::lang::device::Maybe;
use crate::lang::numbers::arithmetic::{Float, Integer};
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::Operand;
use crate::lang::{IntoDevice, S, V, cast, eq, ge, gt, lt, or};
use crate::scalar::Number;

gcn_dsl_macros::numbered!(::std::cmp::Ordering: i8 { Less, Equal, Greater });

for_each_type!(H<T> in [S, V] {
    impl<T: Number> H<T> {
        /// How the values compare, of which neither is a NaN.
        #[track_caller]
        fn ordered(self, other: Self) -> H<Ordering> {
            let (above, below) = (cast::<i8, _>(gt(self, other)), cast::<i8, _>(lt(self, other)));
            H::from_value((above - below).value)
        }

        #[track_caller]
        fn perhaps_ordered(self, other: Self) -> Maybe<H<Ordering>> {
            let holds = or(gt(self, other), or(lt(self, other), eq(self, other)));
            where_holds(holds, self.ordered(other))
        }
    }

    impl<T: Float> H<T> {
        /// The bits in an order that is the total one of the floats.
        #[track_caller]
        fn place_in_order(self) -> H<T::Bits> {
            let (bits, sign) = (self.to_bits(), H::<T::Bits>::constant(1 << (8 * T::ELEM.bytes() - 1)));
            H::<T::Bits>::choose(ge(bits, sign), !bits, bits | sign)
        }
    }
});

/// Defines each method: its meaning for two values that are both uniform or both varying, and its result.
macro_rules! methods {
    ($([$bound:ident] $(#[$doc:meta])* $name:ident = |$a:ident, $b:ident| $with:expr => $result:tt;)*) => {$(
        #[allow(clippy::should_implement_trait, reason = "the trait's result is an `Ordering` of the host")]
        impl<T: $bound> V<T> {
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self, other: &impl Operand<T>) -> methods!(@of V $result) {
                let ($a, $b) = (self, other.varying());
                $with
            }
        }

        #[allow(clippy::should_implement_trait, reason = "the trait's result is an `Ordering` of the host")]
        impl<T: $bound> S<T> {
            $(#[$doc])*
            #[track_caller]
            pub fn $name<A: Operand<T>>(
                self,
                other: &A,
            ) -> <A::Place as Kind>::Pick<methods!(@of S $result), methods!(@of V $result)> {
                if let Some($b) = other.uniform() {
                    let $a = self;
                    return A::Place::picked(Some($with), None);
                }
                let $a: V<T> = self.into_device();
                let $b = other.varying();
                A::Place::picked(None, Some($with))
            }
        }
    )*};
    (@of $handle:ident [Option]) => { Maybe<$handle<Ordering>> };
    (@of $handle:ident []) => { $handle<Ordering> };
}
methods! {
    [Integer]
    /// `Less`, `Equal` or `Greater`.
    cmp = |a, b| a.ordered(b) => [];
    [Number]
    /// `Less`, `Equal` or `Greater`; no value if `a` or `b` is a NaN.
    partial_cmp = |a, b| a.perhaps_ordered(b) => [Option];
    [Float]
    /// The total order of floats, in which -NaN comes first, -0.0 before 0.0, and NaN last.
    total_cmp = |a, b| a.place_in_order().ordered(b.place_in_order()) => [];
}
