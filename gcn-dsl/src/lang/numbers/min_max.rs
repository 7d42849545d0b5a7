//! `N.min(x)` and `N.max(x)` for a host constant `N`, where `x` may be a host or a device value.

use half::{bf16, f16};

use crate::lang::{S, V};

/// Pairs of types, of a constant and the argument of its `min` or `max`.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` of a `{Self}` take another one, not a `{B}`",
    label = "expected `{Self}`, `S<{Self}>` or `V<{Self}>`, found `{B}`",
    note = "convert one side with `as`"
)]
pub trait Extreme<B> {
    /// A host value if both are host values, otherwise a device value.
    type Output;
    /// The smaller of the two.
    fn least(self, b: B) -> Self::Output;
    /// The larger of the two.
    fn greatest(self, b: B) -> Self::Output;
}

macro_rules! extremes {
    ($($t:ident)*) => {$(
        impl Extreme<$t> for $t {
            type Output = $t;
            fn least(self, b: $t) -> $t {
                self.min(b)
            }
            fn greatest(self, b: $t) -> $t {
                self.max(b)
            }
        }
        extremes!(@device $t S);
        extremes!(@device $t V);
    )*};
    (@device $t:ident $handle:ident) => {
        impl Extreme<$handle<$t>> for $t {
            type Output = $handle<$t>;
            #[track_caller]
            fn least(self, b: $handle<$t>) -> $handle<$t> {
                b.min(self)
            }
            #[track_caller]
            fn greatest(self, b: $handle<$t>) -> $handle<$t> {
                b.max(self)
            }
        }
    };
}
extremes!(i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);

impl Extreme<usize> for usize {
    type Output = usize;
    fn least(self, b: usize) -> usize {
        self.min(b)
    }
    fn greatest(self, b: usize) -> usize {
        self.max(b)
    }
}

/// The expansion of `N.min(x)`.
#[track_caller]
pub fn least<A: Extreme<B, Output = O>, B, O>(a: A, b: B) -> O {
    a.least(b)
}

/// The expansion of `N.max(x)`.
#[track_caller]
pub fn greatest<A: Extreme<B, Output = O>, B, O>(a: A, b: B) -> O {
    a.greatest(b)
}
