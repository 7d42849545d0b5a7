//! Literals where rustc cannot see the type that they take: at the end of branches, as bounds of a `for`, at the start of a
//! variable, to the left of an operator. Their type is inferred from where the value goes, as Rust does it on the host.

use half::{bf16, f16};

use super::data::Declare;
use super::operand::Operand;
use crate::ir::Bin;
use crate::lang::control::Uniform;
use crate::lang::numbers::arithmetic::{Arithmetic, BesideLiteral, Float};
use crate::lang::{IntoDevice, IntoField, S, V};
use crate::scalar::Scalar;

/// A literal; its type `T` is found by inference.
#[derive(Debug, Clone, Copy)]
pub struct Literal<T>(pub T);

/// The expansion of a literal.
pub fn literal<T>(x: T) -> Literal<T> {
    Literal(x)
}

/// Element types for which a literal of type `U` may stand: `U` itself, and `f64` for the 16-bit floats.
#[diagnostic::on_unimplemented(
    message = "a literal of type `{U}` stands where a `{Self}` is needed",
    label = "expected a `{Self}`, found a `{U}`",
    note = "a literal for a float has a point: `2.0`; a literal for an integer has none"
)]
pub trait TakesLiteral<U>: Sized {
    /// The literal as this type.
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

/// A number with a point, beside values whose element type is a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Real(pub(in crate::lang) f64);
/// A number without one.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub(in crate::lang) i128);

/// The expansion of a literal with a point in a function that is generic over element types.
pub fn real(x: f64) -> Literal<Real> {
    Literal(Real(x))
}
/// The expansion of another literal there.
pub fn whole(x: i128) -> Literal<Whole> {
    Literal(Whole(x))
}

macro_rules! beside_hosts {
    ($($literal:ident: $types:tt $operators:tt;)*) => {$( beside_hosts!(@types $literal $types $operators); )*};
    (@types $literal:ident [$($t:ident)*] $operators:tt) => {$(
        impl BesideLiteral<$literal> for $t {
            type Output = $t;
            fn after(self, op: Bin, left: $literal) -> $t {
                (left.0 as $t).apply(op, self)
            }
        }
        beside_hosts!(@operators $literal $t $operators);
    )*};
    (@operators $literal:ident $t:ident [$($tr:ident $method:ident)*]) => {$(
        impl std::ops::$tr<Literal<$literal>> for $t {
            type Output = $t;
            fn $method(self, rhs: Literal<$literal>) -> $t {
                std::ops::$tr::$method(self, rhs.0.0 as $t)
            }
        }
        impl std::ops::$tr<Literal<$literal>> for &$t {
            type Output = $t;
            fn $method(self, rhs: Literal<$literal>) -> $t {
                std::ops::$tr::$method(*self, rhs.0.0 as $t)
            }
        }
    )*};
}
beside_hosts! {
    Real: [f32 f64] [Add add Sub sub Mul mul Div div Rem rem];
    Whole: [i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize]
        [Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor];
}

impl HostNumber for Real {
    fn apply(self, op: Bin, right: Real) -> Real {
        Real(self.0.apply(op, right.0))
    }
}
impl HostNumber for Whole {
    fn apply(self, op: Bin, right: Whole) -> Whole {
        Whole(self.0.apply(op, right.0))
    }
}

impl HostInteger for Whole {
    fn shift(self, op: Bin, n: u32) -> Whole {
        Whole(self.0.shift(op, n))
    }
    fn count(self) -> u32 {
        self.0 as u32
    }
}

impl<T: Float> TakesLiteral<Real> for T {
    fn of(literal: Real) -> T {
        T::nearest(literal.0)
    }
}
impl<T: Arithmetic> TakesLiteral<Whole> for T {
    fn of(literal: Whole) -> T {
        T::whole(literal.0)
    }
}

impl<T: Scalar + TakesLiteral<U>, U: Copy> Operand<T> for Literal<U> {
    type Place = Uniform;
    fn varying(self) -> V<T> {
        T::of(self.0).into_device()
    }
    fn uniform(self) -> Option<S<T>> {
        Some(T::of(self.0).into_device())
    }
}

macro_rules! becomes {
    ($($handle:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> IntoDevice<$handle<T>> for Literal<U> {
            fn into_device(self) -> $handle<T> {
                T::of(self.0).into_device()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Scalar + TakesLiteral<U>, U> IntoField<$handle<T>> for Literal<U> {
            fn into_field(self) -> $handle<T> {
                T::of(self.0).into_device()
            }
        }
    )*};
}
becomes!(S V);

/// Numbers of the host: what is computed of them and literals stays there.
pub trait HostNumber: Copy {
    /// `self op right`; of floats, the arithmetic.
    fn apply(self, op: Bin, right: Self) -> Self;
}

/// Integers of the host.
pub trait HostInteger: HostNumber {
    /// `self << n` or `self >> n`.
    fn shift(self, op: Bin, n: u32) -> Self;
    /// The number as a shift count.
    fn count(self) -> u32;
}

macro_rules! host_numbers {
    (@bits $a:ident $op:ident $b:ident integer) => {
        match $op {
            Bin::And => $a & $b,
            Bin::Or => $a | $b,
            _ => $a ^ $b,
        }
    };
    (@bits $a:ident $op:ident $b:ident float) => { unreachable!("{:?} is an operator of integers", $op) };
    ($kind:tt $($t:ident)*) => {$(
        impl HostNumber for $t {
            fn apply(self, op: Bin, right: $t) -> $t {
                match op {
                    Bin::Add => self + right,
                    Bin::Sub => self - right,
                    Bin::Mul => self * right,
                    Bin::Div => self / right,
                    Bin::Rem => self % right,
                    op => host_numbers!(@bits self op right $kind),
                }
            }
        }
    )*};
}
host_numbers!(integer i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize);
host_numbers!(float f32 f64);

macro_rules! host_integers {
    ($($t:ident)*) => {$(
        impl HostInteger for $t {
            fn shift(self, op: Bin, n: u32) -> $t {
                if op == Bin::Shl { self << n } else { self >> n }
            }
            fn count(self) -> u32 {
                self as u32
            }
        }
    )*};
}
host_integers!(i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize);

/// What a variable starts with that lanes change on their own: one value for all lanes becomes one for each.
pub trait Vary {
    /// The varying value.
    type Varying;
    /// The conversion.
    fn vary(self) -> Self::Varying;
}

/// The expansion of the first value of a variable to which the kernel assigns what varies.
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
macro_rules! hosts {
    ($($t:ty),*) => {$(
        impl Vary for $t {
            type Varying = V<$t>;
            fn vary(self) -> V<$t> {
                self.into_device()
            }
        }
    )*};
}
hosts!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64);

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
