//! Euclidean division, means and signs: methods that both integers and floats have.

use std::panic::Location;

use super::arithmetic::{Arithmetic, Signed};
use crate::ir::{Bin, Inst};
use crate::lang::{S, V, cast, gt, le, lt, ne, with};
use crate::scalar::{Elem, Number, Scalar};

/// The value of `d` if it is known when the kernel is built and is a positive power of two; otherwise `None`.
fn known_power<T: Scalar>(d: crate::ir::Value) -> Option<u64> {
    let bits = with(|c| c.builder.as_const(d))?;
    let positive = !T::ELEM.is_signed() || bits < 1 << (8 * T::ELEM.bytes() - 1);
    (!T::ELEM.is_float() && positive && bits.is_power_of_two()).then_some(bits)
}

macro_rules! methods {
    ($handle:ident) => {
        impl<T: Number> $handle<T> {
            fn of_bits(bits: u64) -> Self {
                Self::from_value(with(|c| c.builder.constant(bits, Self::TYPE)))
            }

            /// A small integer as a constant of this type.
            pub(in crate::lang) fn whole(x: i32) -> Self {
                if T::ELEM.is_float() {
                    return Self::of_bits(super::float::bits_of(T::ELEM, f64::from(x)));
                }
                let wide = i64::from(x) as u64;
                Self::of_bits(if T::ELEM.dwords() == 2 { wide } else { wide & u64::from(u32::MAX) })
            }

            #[track_caller]
            fn op(self, op: Bin, other: Self) -> Self {
                Self::emit(Inst::Bin(op, self.value, other.value), Location::caller())
            }

            #[track_caller]
            fn either(condition: $handle<bool>, a: Self, b: Self) -> Self {
                Self::emit(Inst::Select(condition.value, a.value, b.value), Location::caller())
            }

            /// All bits set where a signed integer is negative, otherwise 0.
            #[track_caller]
            fn sign_bits(self) -> Self {
                let places = $handle::<u32>::of_bits(u64::from(8 * T::ELEM.bytes() - 1));
                Self::emit(Inst::Bin(Bin::Shr, self.value, places.value), Location::caller())
            }
        }

        impl<T: Arithmetic> $handle<T> {
            #[track_caller]
            pub(in crate::lang) fn rem_euclid_alike(self, other: $handle<T>) -> Self {
                if let Some(power) = known_power::<T>(other.value) {
                    return self.op(Bin::And, Self::of_bits(power - 1));
                }
                let rest = self % other;
                if T::ELEM.is_float() {
                    let size = Self::emit(Inst::Un(crate::ir::Un::Abs, other.value), Location::caller());
                    return Self::either(lt(rest, Self::whole(0)), rest + size, rest);
                }
                if !T::ELEM.is_signed() {
                    return rest;
                }
                rest + rest.sign_bits().op(Bin::And, other.max(-other))
            }

            #[track_caller]
            pub(in crate::lang) fn div_euclid_alike(self, other: $handle<T>) -> Self {
                if let Some(power) = known_power::<T>(other.value) {
                    let places = $handle::<u32>::of_bits(u64::from(power.trailing_zeros()));
                    return Self::emit(Inst::Bin(Bin::Shr, self.value, places.value), Location::caller());
                }
                let quotient = self / other;
                if T::ELEM.is_float() {
                    let (zero, one) = (Self::whole(0), Self::whole(1));
                    let whole =
                        Self::emit(Inst::Un(crate::ir::Un::Trunc, quotient.value), Location::caller());
                    let nearer = Self::either(gt(other, zero), whole - one, whole + one);
                    return Self::either(lt(self % other, zero), nearer, whole);
                }
                if !T::ELEM.is_signed() {
                    return quotient;
                }
                let rest = self - quotient * other;
                let towards = other.sign_bits().op(Bin::Or, Self::whole(1));
                quotient - rest.sign_bits().op(Bin::And, towards)
            }

            #[track_caller]
            pub(in crate::lang) fn midpoint_alike(self, other: $handle<T>) -> Self {
                if T::ELEM.is_float() {
                    return self.mean(other);
                }
                let apart = self.op(Bin::Xor, other);
                let half = Self::emit(
                    Inst::Bin(Bin::Shr, apart.value, $handle::<u32>::of_bits(1).value),
                    Location::caller(),
                );
                let below = half + self.op(Bin::And, other);
                if !T::ELEM.is_signed() {
                    return below;
                }
                // `below` is the mean rounded down. To round towards 0, add one if it is negative and the sum is odd.
                below + below.sign_bits().op(Bin::And, apart).op(Bin::And, Self::whole(1))
            }

            /// The mean of two floats without overflow.
            #[track_caller]
            fn mean(self, other: Self) -> Self {
                if T::ELEM != Elem::F64 {
                    // In f64 the sum of two narrower floats is precise enough that rounding half of it gives the
                    // correct result.
                    let sum = cast::<f64, _>(self) + cast::<f64, _>(other);
                    return cast::<T, _>(sum * 0.5);
                }
                let constant = |x: f64| Self::of_bits(x.to_bits());
                let abs = |x: Self| Self::emit(Inst::Un(crate::ir::Un::Abs, x.value), Location::caller());
                let half = constant(0.5);
                let (large, small) = (constant(f64::MAX / 2.0), constant(f64::MIN_POSITIVE * 2.0));
                let (a, b) = (abs(self), abs(other));
                let apart = Self::either(lt(b, small), self * half + other, self * half + other * half);
                let apart = Self::either(lt(a, small), self + other * half, apart);
                let safe = crate::lang::and(le(a, large), le(b, large));
                Self::either(safe, (self + other) * half, apart)
            }
        }

        impl<T: Signed> $handle<T> {
            /// -1, 0 or 1 for integers. For floats 1.0 with the sign of `self`; a NaN stays a NaN.
            #[track_caller]
            pub fn signum(self) -> Self {
                let one = Self::whole(1);
                if T::ELEM.is_float() {
                    return Self::either(ne(self, self), self, one.with_sign_of(self));
                }
                self.min(one).max(Self::whole(-1))
            }
        }
    };
}

methods!(V);
methods!(S);
