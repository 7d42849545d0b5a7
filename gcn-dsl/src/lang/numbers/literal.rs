//! Operators between a literal and a host number or a value whose type is a type parameter.

use super::arithmetic::{Arithmetic, BesideLiteral, Float};
use super::host_number::{HostInteger, HostNumber};
use crate::ir::Bin;
use crate::lang::values::literal::{Literal, Real, TakesLiteral, Whole};

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
