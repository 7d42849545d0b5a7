//! f64 arithmetic.

use super::float32::frexp;
use super::number::{self, number2};
use super::{Env, op1, op2, op2e, round2, round3};
use crate::fp::{self, NAN64, Round, rndne64, soft};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add(
        "v_add_f64",
        number2(|a: f64, b| (a + b, [a, b])).directed(round2(|r, a: f64, b: f64| {
            soft(|[a, b, _]| soft::add(soft::Format::F64, r, a, b), [a, b, 0.0])
        })),
    );
    ops.add(
        "v_mul_f64",
        number2(|a: f64, b| (a * b, [a, b])).directed(round2(|r, a: f64, b: f64| {
            soft(|[a, b, _]| soft::mul(soft::Format::F64, r, a, b), [a, b, 0.0])
        })),
    );
    for name in ["v_fma_f64", "v_fmac_f64", "v_fmaak_f64"] {
        ops.add(name, fused());
    }
    // In the encoding, the literal comes between the factors and the addend.
    ops.add(
        "v_fmamk_f64",
        number::fused::<f64>([0, 2, 1]).directed(round3(|r, a, b, k| soft_fma(r, a, k, b))),
    );
    ops.add("v_min_f64", op2e(min64));
    ops.add("v_max_f64", op2e(max64));
    ops.add("v_minimum_f64", op2(minimum64));
    ops.add("v_maximum_f64", op2(maximum64));
    ops.add("v_ldexp_f64", op2(|a: f64, b: i32| ldexp64(a, b)).rounds());
    let keep_nan = |a: f64, r: f64| fp::pick_nan64([a, 0.0, 0.0], r);
    ops.add("v_trunc_f64", op1(move |a: f64| keep_nan(a, a.trunc())));
    ops.add("v_ceil_f64", op1(move |a: f64| keep_nan(a, a.ceil())));
    ops.add("v_floor_f64", op1(move |a: f64| keep_nan(a, a.floor())));
    ops.add("v_rndne_f64", op1(move |a: f64| keep_nan(a, rndne64(a))));
    ops.add(
        "v_fract_f64",
        op1(move |a: f64| {
            let below_one = f64::from_bits(0x3fef_ffff_ffff_ffff);
            let fraction = a - a.floor();
            if a.is_infinite() {
                f64::from_bits(NAN64)
            } else {
                keep_nan(a, if fraction > below_one { below_one } else { fraction })
            }
        }),
    );
    ops.add("v_frexp_mant_f64", op1(move |a: f64| keep_nan(a, frexp(a).0)));
    ops.add("v_frexp_exp_i32_f64", op1(|a: f64| frexp(a).1));
}

fn soft(f: impl Fn([u64; 3]) -> u64, operands: [f64; 3]) -> f64 {
    f64::from_bits(f(operands.map(f64::to_bits)))
}

fn soft_fma(r: Round, a: f64, b: f64, c: f64) -> f64 {
    soft(|[a, b, c]| soft::fma(soft::Format::F64, r, a, b, c), [a, b, c])
}

fn fused() -> Op {
    number::fused::<f64>([0, 1, 2]).directed(round3(soft_fma))
}

fn is_signaling(x: f64) -> bool {
    x.is_nan() && x.to_bits() & 0x0008_0000_0000_0000 == 0
}

fn quiet(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | 0x0008_0000_0000_0000)
}

fn nan_or(env: Env, a: f64, b: f64, number: f64) -> f64 {
    if env.ieee && is_signaling(a) {
        quiet(a)
    } else if env.ieee && is_signaling(b) {
        quiet(b)
    } else if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        number
    }
}

/// IEEE 754-2008 maxNum, see [`super::float32::max32`].
pub(crate) fn max64(env: Env, a: f64, b: f64) -> f64 {
    nan_or(env, a, b, if a > b || (a == b && b.is_sign_negative()) { a } else { b })
}

/// IEEE 754-2008 minNum.
pub(crate) fn min64(env: Env, a: f64, b: f64) -> f64 {
    nan_or(env, a, b, if a < b || (a == b && a.is_sign_negative()) { a } else { b })
}

/// IEEE 754-2019 minimum: a NaN operand gives NaN, and -0 is less than +0.
fn minimum64(a: f64, b: f64) -> f64 {
    propagating(a, b, if a < b || (a == b && a.is_sign_negative()) { a } else { b })
}

/// IEEE 754-2019 maximum.
fn maximum64(a: f64, b: f64) -> f64 {
    propagating(a, b, if a > b || (a == b && b.is_sign_negative()) { a } else { b })
}

/// The first signaling NaN, quieted; if there is none, the first NaN; if there is none, `number`.
fn propagating(a: f64, b: f64, number: f64) -> f64 {
    let nans = [a, b].into_iter().filter(|x| x.is_nan());
    let chosen = nans.clone().find(|x| is_signaling(*x)).or_else(|| nans.clone().next());
    chosen.map_or(number, quiet)
}

/// a * 2^e, rounded once.
pub(crate) fn ldexp64(a: f64, e: i32) -> f64 {
    if a.is_nan() {
        return quiet(a);
    }
    if a == 0.0 || a.is_infinite() {
        return a;
    }
    let bits = a.to_bits();
    let exact = {
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        soft::Exact {
            negative: a.is_sign_negative(),
            significand: u128::from(significand),
            exponent: field.max(1) - 1075 + e.clamp(-5000, 5000),
        }
    };
    f64::from_bits(exact.round(soft::Format::F64, Round::NearestEven))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldexp_rounds_denormals_once() {
        assert_eq!(ldexp64(1.0, -1074), 5e-324);
        assert_eq!(ldexp64(3.0, -1075), 2.0 * 5e-324);
        assert_eq!(ldexp64(1.0, -1075), 0.0);
        assert_eq!(ldexp64(-1.5, 1023), -1.5 * 2f64.powi(1023));
        assert_eq!(ldexp64(1.0, i32::MAX), f64::INFINITY);
    }
}
