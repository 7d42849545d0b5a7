//! Division of 64-bit integers, for which there is no instruction.
//!
//! `2^64 / d` is estimated by a 32-bit float reciprocal, refined to 64 bits by two Newton steps in wrapping arithmetic,
//! and multiplied by the dividend. The estimated quotient is never larger than the true one and smaller by at most two,
//! so two conditional subtractions correct it. This takes about 70 instructions. A division by a constant becomes a
//! multiplication ([`ir::division`](crate::ir::division)).

use std::panic::Location;

use crate::ir::{Bin, Inst, Type, Value, division};
use crate::isa;
use crate::lang::context::source;
use crate::lang::{IntoDevice, S, V, ge, read_first_lane, select, with};
use crate::scalar::{Elem, Scalar};

/// Dword `i` of a 64-bit value.
#[track_caller]
pub(in crate::lang) fn dword<T: Scalar>(x: V<T>, i: u8) -> V<u32> {
    let inst = Inst::Extract { from: x.value, dword: i };
    V::from_value(with(|c| c.value(inst, Type::varying(Elem::U32), Location::caller())))
}

/// Combines two dwords into a 64-bit value.
#[track_caller]
pub(in crate::lang) fn join<T: Scalar>(low: V<u32>, high: V<u32>) -> V<T> {
    V::emit(Inst::Concat([low.value, high.value].into_iter().collect()), Location::caller())
}

/// The upper 64 bits of a 128-bit product.
#[track_caller]
pub(in crate::lang) fn mul_hi(a: V<u64>, b: V<u64>) -> V<u64> {
    V::emit(Inst::Bin(Bin::MulHi, a.value, b.value), Location::caller())
}

/// An estimate of 2^64 / d that is never too large.
#[track_caller]
fn reciprocal(d: V<u64>) -> V<u64> {
    let (low, high): (V<f32>, V<f32>) = (isa::v_cvt_f32_u32(dword(d, 0)), isa::v_cvt_f32_u32(dword(d, 1)));
    let rounded = high.mul_add(4294967296.0f32, low);
    // Scale by slightly less than 2^64, so that rounding cannot make the estimate too large.
    let scaled = isa::v_rcp_f32(rounded) * f32::from_bits(0x5f7f_fffc);
    let upper = (scaled * (1.0 / 4294967296.0)).trunc();
    let lower = upper.mul_add(-4294967296.0f32, scaled);
    let mut estimate = join::<u64>(isa::v_cvt_u32_f32(lower), isa::v_cvt_u32_f32(upper));
    let minus = 0u64 - d;
    for _ in 0..2 {
        estimate = estimate + mul_hi(estimate, minus * estimate);
    }
    estimate
}

/// Quotient and remainder.
#[track_caller]
fn unsigned(n: V<u64>, d: V<u64>) -> (V<u64>, V<u64>) {
    let mut quotient = mul_hi(n, reciprocal(d));
    let mut rest = n - d * quotient;
    for _ in 0..2 {
        let over = ge(rest, d);
        (quotient, rest) = (select(over, quotient + 1, quotient), select(over, rest - d, rest));
    }
    (quotient, rest)
}

/// All bits set if `x` is negative, otherwise 0.
#[track_caller]
fn sign(x: V<u64>) -> V<u64> {
    let high: V<u32> = isa::v_ashrrev_i32(31u32, dword(x, 1)).to_bits_as();
    join(high, high)
}

#[track_caller]
fn signed(op: Bin, n: V<u64>, d: V<u64>) -> V<u64> {
    let (sn, sd) = (sign(n), sign(d));
    let (quotient, rest) = unsigned((n ^ sn) - sn, (d ^ sd) - sd);
    // The remainder has the dividend's sign, as in Rust.
    let (result, sign) = if op == Bin::Div { (quotient, sn ^ sd) } else { (rest, sn) };
    (result ^ sign) - sign
}

#[track_caller]
fn varying<T: Scalar>(op: Bin, n: V<T>, d: V<T>) -> V<T> {
    let loc = Location::caller();
    let bits = |x: V<T>| V::<u64>::emit(Inst::Bitcast(x.value), loc);
    let result = if T::ELEM == Elem::I64 {
        signed(op, bits(n), bits(d))
    } else {
        let (quotient, rest) = unsigned(bits(n), bits(d));
        if op == Bin::Div { quotient } else { rest }
    };
    V::emit(Inst::Bitcast(result.value), loc)
}

/// `n op d` of 64-bit integers, if `d` is a constant other than 0; otherwise `None`.
#[track_caller]
fn by_constant<T: Scalar>(op: Bin, n: Value, d: Value, ty: Type) -> Option<Value> {
    let loc = Location::caller();
    with(|c| {
        let divisor = c.builder.as_const(d).filter(|d| *d != 0)?;
        if (op, T::ELEM) == (Bin::Rem, Elem::U64) && divisor.is_power_of_two() {
            let mask = c.builder.constant(divisor - 1, ty);
            return Some(c.value(Inst::Bin(Bin::And, n, mask), ty, loc));
        }
        Some(division::by_constant_64(&mut c.builder, op, n, divisor, ty, Some(source(loc))))
    })
}

/// The division or remainder of varying 64-bit integers; `None` for any other operation.
#[track_caller]
pub(in crate::lang) fn v<T: Scalar>(op: Bin, n: V<T>, d: V<T>) -> Option<V<T>> {
    if !matches!((op, T::ELEM), (Bin::Div | Bin::Rem, Elem::I64 | Elem::U64)) {
        return None;
    }
    if let Some(result) = by_constant::<T>(op, n.value, d.value, Type::varying(T::ELEM)) {
        return Some(V::from_value(result));
    }
    Some(varying(op, n, d))
}

/// The division or remainder of uniform 64-bit integers; `None` for any other operation.
#[track_caller]
pub(in crate::lang) fn s<T: Scalar>(op: Bin, n: S<T>, d: S<T>) -> Option<S<T>> {
    if !matches!((op, T::ELEM), (Bin::Div | Bin::Rem, Elem::I64 | Elem::U64)) {
        return None;
    }
    // Divisors that are powers of two need only shifts and masks, which the scalar unit has. All others need the upper
    // half of a 128-bit product, so they are computed with vector instructions.
    let divisor = with(|c| c.builder.as_const(d.value));
    if T::ELEM == Elem::U64
        && divisor.is_some_and(u64::is_power_of_two)
        && let Some(result) = by_constant::<T>(op, n.value, d.value, Type::uniform(T::ELEM))
    {
        return Some(S::from_value(result));
    }
    v(op, n.into_device(), d.into_device()).map(read_first_lane)
}
