//! Literals in positions where rustc cannot infer their type from the Rust code around them: as the value of a branch,
//! as a bound of a `for`, as a variable's first value, or on the left of an operator. Their type is inferred from the
//! use of the value, as on the host.

use half::{bf16, f16};

use super::data::Declare;
use super::operand::Operand;
use crate::lang::values::kind::Uniform;
use crate::lang::{IntoDevice, S, V};
use crate::scalar::{LaneMask, Scalar};

/// A literal; inference determines its type `T`.
#[derive(Debug, Clone, Copy)]
pub struct Literal<T>(pub T);

/// The expansion of a literal.
pub fn literal<T>(x: T) -> Literal<T> {
    Literal(x)
}

/// Element types that accept a literal of type `U`: `U` itself; 16-bit floats also accept an `f64`.
#[diagnostic::on_unimplemented(
    message = "a literal of type `{U}` stands where a `{Self}` is needed",
    label = "expected a `{Self}`, found a `{U}`",
    note = "a literal for a float has a point: `2.0`; a literal for an integer has none"
)]
pub trait TakesLiteral<U>: Sized {
    /// Converts the literal to this type.
    fn of(literal: U) -> Self;
}

impl<T: Scalar> TakesLiteral<T> for T {
    fn of(literal: T) -> T {
        literal
    }
}
impl TakesLiteral<f64> for f16 {
    fn of(literal: f64) -> f16 {
        f16::from_f64(literal)
    }
}
impl TakesLiteral<f64> for bf16 {
    fn of(literal: f64) -> bf16 {
        bf16::from_f64(literal)
    }
}

/// A literal with a decimal point, in an expression whose element type is a type parameter.
#[derive(Debug, Clone, Copy)]
pub struct Real(pub(in crate::lang) f64);
/// A literal without a decimal point, in an expression whose element type is a type parameter.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub(in crate::lang) i128);

/// The expansion of a literal with a decimal point, in a function that is generic over the element type.
pub fn real(x: f64) -> Literal<Real> {
    Literal(Real(x))
}
/// The expansion of any other number literal in such a function.
pub fn whole(x: i128) -> Literal<Whole> {
    Literal(Whole(x))
}

/// The receiver of a method to which numbers are given in a function that is generic over the element type.
#[derive(Debug)]
pub struct Receiver<'a, X: ?Sized>(pub &'a X);

/// Receivers that are device values: their methods take literals of their element type. Method lookup finds this before
/// [`LiteralsOfOthers`].
pub trait LiteralsOfNumbers {
    /// The argument: the literal.
    fn argument<L, N>(&self, literal: L, _number: N) -> L {
        literal
    }
    /// The number as a value of the device, to which a method with such an argument belongs.
    fn beside<N: IntoDevice<S<N>>>(&self, number: N) -> S<N> {
        number.into_device()
    }
}
impl<T> LiteralsOfNumbers for Receiver<'_, S<T>> {}
impl<T> LiteralsOfNumbers for Receiver<'_, V<T>> {}

/// All other receivers: rustc infers the types of numbers.
pub trait LiteralsOfOthers {
    /// The argument: the number.
    fn argument<L, N>(&self, _literal: L, number: N) -> N {
        number
    }
    /// The number, unchanged.
    fn beside<N>(&self, number: N) -> N {
        number
    }
}
impl<X: ?Sized> LiteralsOfOthers for &Receiver<'_, X> {}

impl<T: Scalar + TakesLiteral<U>, U: Copy> Operand<T> for Literal<U> {
    type Place = Uniform;
    fn varying(self) -> V<T> {
        T::of(self.0).into_device()
    }
    fn uniform(self) -> Option<S<T>> {
        Some(T::of(self.0).into_device())
    }
}

for_each_type!(H<T> in [S, V] {
    #[diagnostic::do_not_recommend]
    impl<T: Scalar + TakesLiteral<U>, U> IntoDevice<H<T>> for Literal<U> {
        fn into_device(self) -> H<T> {
            T::of(self.0).into_device()
        }
    }
});

/// Types of the first value of a variable that is later assigned varying values: a uniform value becomes a varying one.
pub trait Vary {
    /// The type of the varying value.
    type Varying;
    /// Converts the value to a varying one.
    fn vary(self) -> Self::Varying;
}

/// The expansion of the first value of a variable to which the kernel assigns varying values.
#[track_caller]
pub fn vary<X: Vary>(x: X) -> X::Varying {
    x.vary()
}

impl<T: Scalar> Vary for Literal<T> {
    type Varying = V<T>;
    fn vary(self) -> V<T> {
        self.0.into_device()
    }
}
impl<T: Scalar> Vary for S<T> {
    type Varying = V<T>;
    #[track_caller]
    fn vary(self) -> V<T> {
        self.into_device()
    }
}
impl<T> Vary for V<T> {
    type Varying = V<T>;
    fn vary(self) -> V<T> {
        self
    }
}
for_each_type!(N in [bool, LaneMask, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64] {
    impl Vary for N {
        type Varying = V<N>;
        fn vary(self) -> V<N> {
            self.into_device()
        }
    }
});

impl<X: Vary, const N: usize> Vary for [X; N] {
    type Varying = [X::Varying; N];
    fn vary(self) -> [X::Varying; N] {
        self.map(X::vary)
    }
}

macro_rules! tuples {
    ($(($($a:ident $i:tt),+))*) => {$(
        impl<$($a: Vary),+> Vary for ($($a,)+) {
            type Varying = ($($a::Varying,)+);
            #[track_caller]
            fn vary(self) -> Self::Varying {
                ($(self.$i.vary(),)+)
            }
        }
    )*};
}
tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl<T: Scalar> Declare for Literal<T> {
    type Value = S<T>;
    fn declare(self) -> S<T> {
        self.0.into_device()
    }
}
