//! Exponentials and logarithms of f32 and narrower floats, through the hardware's exponential and logarithm.
//!
//! `v_exp_f32` and `v_log_f32` are within one unit of the last place and flush denormals. What is added to them in f32 keeps the
//! sum below two units: arguments are scaled so that no denormal reaches an instruction that flushes it, and the argument of
//! an exponential is reduced in two parts. `tests/types/short.rs` bounds the error over all arguments, with results of the
//! hardware off by up to a unit in either direction. For narrower types the error is far below the rounding to the type.

use super::ops::Float;
use super::{V, cast, gt, lt, select};
use crate::isa;
use crate::scalar::Elem;

type F = V<f32>;

/// `log2(e)` in two parts, the first the nearest f32.
const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, f32::from_bits(0x32a5_7060)];

/// `x` as f32 if its type has at most 32 bits.
#[track_caller]
fn narrow<T: Float>(x: V<T>) -> Option<F> {
    if T::ELEM == Elem::F64 { None } else { Some(cast::<f32, _>(x)) }
}

/// Neither arguments nor results of f16 are denormal as f32, and 10 bits more than it has are enough.
fn is_f16<T: Float>() -> bool {
    T::ELEM == Elem::F16
}

/// 2 to the power of `x`. Where the result is denormal, the exponential of `x + 64` is scaled down.
#[track_caller]
pub(super) fn exp2<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    if is_f16::<T>() {
        return Some(cast(x.approx_exp2()));
    }
    let low = lt(x, -126.0);
    let up: F = select(low, 64.0, 0.0);
    let down: V<u32> = select(low, -64i32 as u32, 0u32);
    Some(cast(isa::v_ldexp_f32((x + up).approx_exp2(), down)))
}

/// `e^x = 2^k 2^r` with `k + r = x log2(e)`, whose low part is not lost.
#[track_caller]
pub(super) fn exp<T: Float>(x: V<T>) -> Option<V<T>> {
    let x = narrow(x)?;
    let high = x * LOG2_E[0];
    if is_f16::<T>() {
        return Some(cast(high.approx_exp2()));
    }
    let low = x.mul_add(LOG2_E[1], x.mul_add(LOG2_E[0], -high));
    let k = high.round_ties_even();
    // Of large and infinite arguments the sign is enough; they have no rest.
    let far = gt(x.abs(), 1000.0);
    let r: F = select(far, x, (high - k) + low);
    Some(cast(isa::v_ldexp_f32(r.approx_exp2(), isa::v_cvt_i32_f32(k).to_bits_as::<u32>())))
}

/// The logarithm to base 2 of f32. Denormals are scaled up.
#[track_caller]
fn logarithm<T: Float>(x: V<T>) -> Option<F> {
    let x = narrow(x)?;
    if is_f16::<T>() {
        return Some(x.approx_log2());
    }
    let small = lt(x, f32::MIN_POSITIVE);
    let up: V<u32> = select(small, 32u32, 0u32);
    let down: F = select(small, 32.0, 0.0);
    Some(isa::v_ldexp_f32(x, up).approx_log2() - down)
}

#[track_caller]
pub(super) fn log2<T: Float>(x: V<T>) -> Option<V<T>> {
    let log = logarithm(x)?;
    Some(cast(log))
}

/// A logarithm to another base. Not of f32: with a unit's error of the hardware the product is 2.22 units off where it crosses a
/// power of two.
#[track_caller]
fn scaled<T: Float>(x: V<T>, factor: f32) -> Option<V<T>> {
    if T::ELEM == Elem::F32 {
        return None;
    }
    let log = logarithm(x)?;
    Some(cast(log * factor))
}

#[track_caller]
pub(super) fn ln<T: Float>(x: V<T>) -> Option<V<T>> {
    scaled(x, std::f32::consts::LN_2)
}

#[track_caller]
pub(super) fn log10<T: Float>(x: V<T>) -> Option<V<T>> {
    scaled(x, std::f32::consts::LOG10_2)
}
