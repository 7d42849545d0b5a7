//! The operator `%` of floats, exact for every pair of operands.
//!
//! Everything is computed in f64, which represents all numbers of the other types exactly. Let `a` and `b` be the
//! fractions of the two numbers, in `[1/2, 1)`, and `n` the difference of their exponents: the result is the remainder
//! of `a * 2^n` by `b`. Each step applies up to 48 of those `n` doublings. `r * 2^48` is a multiple of the last place
//! of `b`, the nearest quotient has at most 49 bits, and the remainder that the fused multiply-add leaves is at most
//! `5/8 b` and again a multiple of that place, so nothing is ever rounded. For quotients below `2^48` one step, without
//! a loop, is enough; otherwise a loop follows, of at most 43 iterations for f64.

use std::panic::Location;

use crate::ir::Bin;
use crate::isa;
use crate::lang::control::while_any::WhileAny;
use crate::lang::{IntoDevice, S, V, gt, lt, ne, or, read_first_lane, select};
use crate::scalar::{Elem, Scalar};

type D = V<f64>;

/// The number of doublings in one step.
const STEP: i32 = 48;

/// `1 / b` for a fraction `b`, to about f64's precision; `v_rcp_f64` alone has 24 bits.
#[track_caller]
fn reciprocal(b: D) -> D {
    let mut inverse = isa::v_rcp_f64(b);
    for _ in 0..2 {
        inverse = (-b).mul_add(inverse, 1.0).mul_add(inverse, inverse);
    }
    inverse
}

/// Doubles `r` up to [`STEP`] times and reduces it modulo `b`, to between `-5/8 b` and `5/8 b`. Also returns the number
/// of doublings that remain.
#[track_caller]
fn step(r: D, b: D, inverse: D, n: V<i32>) -> (D, V<i32>) {
    let k = n.min(STEP);
    let doubled = isa::v_ldexp_f64(r, k.to_bits_as::<u32>());
    let quotient = (doubled * inverse).round_ties_even();
    ((-quotient).mul_add(b, doubled), n - k)
}

/// The remainder of `x` by `y`, which has the sign of `x`.
#[track_caller]
fn remainder(elem: Elem, x: D, y: D) -> D {
    let (large, small) = (x.abs(), y.abs());
    let exact = if elem == Elem::F16 {
        // The quotient has at most 41 bits, and the divisor has 11 bits. A quotient that is not a whole number is
        // therefore so far below the next whole number that f64 does not round up to it.
        let quotient = (large / small).trunc();
        (-quotient).mul_add(small, large)
    } else {
        let (a, b) = (isa::v_frexp_mant_f64(large), isa::v_frexp_mant_f64(small));
        let (ea, eb) = (isa::v_frexp_exp_i32_f64(large), isa::v_frexp_exp_i32_f64(small));
        let inverse = reciprocal(b);
        // Lanes whose result is determined below execute no iteration.
        let ordinary = crate::lang::and(
            crate::lang::and(crate::lang::ge(large, small), gt(small, 0.0)),
            lt(large, f64::INFINITY),
        );
        let none: V<i32> = 0.into_device();
        let n: V<i32> = select(ordinary, ea - eb, none);
        let (r, n) = step(a, b, inverse, n);
        let mut rest = WhileAny::begin((r, n));
        rest.test(gt(rest.values().1, 0).value);
        let (r, n) = rest.values();
        let (r, _) = rest.end(step(r, b, inverse, n));
        let positive: D = select(lt(r, 0.0), r + b, r);
        isa::v_ldexp_f64(positive, eb.to_bits_as::<u32>())
    };
    let smaller: D = select(lt(large, small), large, exact);
    // Infinity and NaN have no remainder, and no number has a remainder by 0 or NaN; the result is then a NaN.
    let nothing = or(or(!lt(large, f64::INFINITY), crate::lang::eq(small, 0.0)), ne(small, small));
    let number: D = select(nothing, f64::NAN, smaller);
    number.copysign(x)
}

/// The remainder of varying floats; `None` for any other operation.
#[track_caller]
pub(in crate::lang) fn v<T: Scalar>(op: Bin, x: V<T>, y: V<T>) -> Option<V<T>> {
    if op != Bin::Rem || !T::ELEM.is_float() {
        return None;
    }
    let loc = Location::caller();
    let wide = |x: V<T>| D::emit(crate::ir::Inst::Cast(x.value), loc);
    let exact = remainder(T::ELEM, wide(x), wide(y));
    // The result is always representable in the element type, so the conversions do not round.
    let narrow = |x: V<f32>| V::emit(crate::ir::Inst::Cast(x.value), loc);
    Some(if T::ELEM == Elem::F64 { V::from_value(exact.value) } else { narrow(isa::v_cvt_f32_f64(exact)) })
}

/// The remainder of uniform floats; `None` for any other operation.
#[track_caller]
pub(in crate::lang) fn s<T: Scalar>(op: Bin, x: S<T>, y: S<T>) -> Option<S<T>> {
    if op != Bin::Rem || !T::ELEM.is_float() {
        return None;
    }
    Some(read_first_lane(v(op, x.into_device(), y.into_device())?))
}
