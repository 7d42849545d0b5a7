//! The three instructions that support IEEE division: `v_div_scale`, `v_div_fmas`, `v_div_fixup`.
//!
//! A compiler divides as follows: it scales the operands into a safe range, refines a reciprocal with fused multiply-adds, undoes the
//! scaling in the last multiply-add, and corrects special values. With the semantics here, that sequence rounds correctly for all operands,
//! including denormal results. The published pseudo-code differs in two places that cannot be right: it scales a huge denominator up (to
//! infinity) where it must scale down, and it undoes a scaling by 2^64 with 2^32.

use super::read::Fetch;
use super::write::{Finish, write_mask};
use super::{Lane, op3};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::value::{HalfBits, LANES, Raw, Ty};
use crate::fp::{self, NAN32, NAN64, Round, f16_to_f32, soft};
use crate::semantics::op::{Op, Ops};
use crate::semantics::valu::float32::ldexp32;
use crate::semantics::valu::float64::ldexp64;

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_div_scale_f32", div_scale::<f32>());
    ops.add("v_div_scale_f64", div_scale::<f64>());
    ops.add("v_div_fmas_f32", div_fmas::<f32>());
    ops.add("v_div_fmas_f64", div_fmas::<f64>());
    ops.add("v_div_fixup_f32", op3(|q: f32, d: f32, n: f32| div_fixup(q, d, n)));
    ops.add("v_div_fixup_f64", op3(|q: f64, d: f64, n: f64| div_fixup(q, d, n)));
    for name in ["v_div_fixup_f16", "v_div_fixup_legacy_f16"] {
        ops.add(name, op3(div_fixup_f16));
    }
}

/// The properties of a float format that the division instructions need.
trait Divided: Lane + Copy + PartialEq {
    const FORMAT: soft::Format;
    /// The largest exponent field.
    const MAX_EXPONENT: i32;
    /// The exponent difference from which on a quotient is near the upper end of the range.
    const FAR: i32;
    /// The largest exponent field of a numerator that is so small that its residual would be denormal.
    const TINY: i32;
    /// The log2 of the factor by which operands are scaled.
    const SCALE: i32;
    /// The exponent difference below which a quotient rounds to zero.
    const UNDERFLOW: i32;

    /// a * b + c, rounded once to nearest even.
    fn fused(a: Self, b: Self, c: Self) -> Self;
    fn exponent(self) -> i32;
    fn number(self) -> f64;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
    fn ldexp(self, e: i32) -> Self;
    fn quiet(self) -> Self;
    fn is_denormal(self) -> bool;
    /// True if the exact quotient is denormal, or so small that it rounds to 0. For such quotients, the division sequence rounds correctly
    /// only if the operands are scaled.
    fn quotient_is_denormal(n: Self, d: Self) -> bool;
    /// The NaN that `v_div_fixup` returns for 0/0 and inf/inf; its sign bit is set.
    fn invalid() -> Self;
    fn not_scalable() -> Self;
}

impl Divided for f32 {
    const FORMAT: soft::Format = soft::Format::F32;
    const MAX_EXPONENT: i32 = 255;
    const FAR: i32 = 96;
    const TINY: i32 = 23;
    const SCALE: i32 = 64;
    const UNDERFLOW: i32 = -150;

    fn fused(a: f32, b: f32, c: f32) -> f32 {
        fp::fma32(a, b, c)
    }
    fn exponent(self) -> i32 {
        (self.to_bits() >> 23 & 0xff) as i32
    }
    fn number(self) -> f64 {
        f64::from(self)
    }
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn from_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn ldexp(self, e: i32) -> f32 {
        ldexp32(self, e)
    }
    fn quiet(self) -> f32 {
        f32::from_bits(self.to_bits() | 0x0040_0000)
    }
    fn is_denormal(self) -> bool {
        self.is_subnormal()
    }
    fn quotient_is_denormal(n: f32, d: f32) -> bool {
        let quotient = n / d;
        quotient.is_subnormal() || quotient == 0.0 && n != 0.0 && d.is_finite()
    }
    fn invalid() -> f32 {
        f32::from_bits(NAN32 | 1 << 31)
    }
    fn not_scalable() -> f32 {
        f32::from_bits(NAN32)
    }
}

impl Divided for f64 {
    const FORMAT: soft::Format = soft::Format::F64;
    const MAX_EXPONENT: i32 = 2047;
    const FAR: i32 = 768;
    const TINY: i32 = 53;
    const SCALE: i32 = 128;
    const UNDERFLOW: i32 = -1075;

    fn fused(a: f64, b: f64, c: f64) -> f64 {
        fp::fma64(a, b, c)
    }
    fn exponent(self) -> i32 {
        (self.to_bits() >> 52 & 0x7ff) as i32
    }
    fn number(self) -> f64 {
        self
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn ldexp(self, e: i32) -> f64 {
        ldexp64(self, e)
    }
    fn quiet(self) -> f64 {
        f64::from_bits(self.to_bits() | 1 << 51)
    }
    fn is_denormal(self) -> bool {
        self.is_subnormal()
    }
    fn quotient_is_denormal(n: f64, d: f64) -> bool {
        let quotient = n / d;
        quotient.is_subnormal() || quotient == 0.0 && n != 0.0 && d.is_finite()
    }
    fn invalid() -> f64 {
        f64::from_bits(NAN64 | 1 << 63)
    }
    fn not_scalable() -> f64 {
        f64::from_bits(NAN64)
    }
}

/// The scaled operand `x`, which is the denominator `d` or the numerator `n`; and whether the quotient must be scaled back.
fn scaled<F: Divided>(x: F, d: F, n: F) -> (F, bool) {
    let one = F::from_bits(((F::MAX_EXPONENT / 2) as u64) << mantissa_bits::<F>());
    let reciprocal_denormal = F::quotient_is_denormal(one, d);
    let quotient_denormal = F::quotient_is_denormal(n, d);
    let only = |which: F, by: i32| if x == which { x.ldexp(by) } else { x };
    if n.number() == 0.0 || d.number() == 0.0 {
        (F::not_scalable(), false)
    } else if n.exponent() - d.exponent() >= F::FAR {
        (only(d, F::SCALE), true)
    } else if d.is_denormal() {
        (x.ldexp(F::SCALE), false)
    } else if reciprocal_denormal && quotient_denormal {
        (only(d, -F::SCALE), true)
    } else if reciprocal_denormal {
        (x.ldexp(-F::SCALE), false)
    } else if quotient_denormal {
        (only(n, F::SCALE), true)
    } else if n.exponent() <= F::TINY {
        (x.ldexp(F::SCALE), false)
    } else {
        (x, false)
    }
}

fn mantissa_bits<F: Divided>() -> u32 {
    if F::TY == Ty::F64 { 52 } else { 23 }
}

/// a * b + c, scaled back if `scale` is set: up if the quotient estimate `c` is large, down if it is small.
fn fmas<F: Divided>(a: F, b: F, c: F, scale: bool, round: Round) -> F {
    if !scale && round == Round::NearestEven {
        return F::fused(a, b, c);
    }
    let up = c.exponent() > F::MAX_EXPONENT / 2;
    let by = match (scale, up) {
        (false, _) => 0,
        (true, true) => F::SCALE,
        (true, false) => -F::SCALE,
    };
    F::from_bits(soft::fma_scaled(F::FORMAT, round, [a, b, c].map(F::bits), by))
}

/// The quotient `q` of `n` / `d`, corrected for special operands.
fn div_fixup<F: Divided>(q: F, d: F, n: F) -> F {
    let sign_bit = if F::TY == Ty::F64 { 1u64 << 63 } else { 1 << 31 };
    let sign = (d.bits() ^ n.bits()) & sign_bit;
    let (dv, nv) = (d.number(), n.number());
    let infinity = (F::MAX_EXPONENT as u64) << mantissa_bits::<F>();
    let magnitude = if nv.is_nan() {
        return n.quiet();
    } else if dv.is_nan() {
        return d.quiet();
    } else if (dv == 0.0 && nv == 0.0) || (dv.is_infinite() && nv.is_infinite()) {
        return F::invalid();
    } else if dv == 0.0 || nv.is_infinite() {
        infinity
    } else if dv.is_infinite() || nv == 0.0 || n.exponent() - d.exponent() < F::UNDERFLOW {
        0
    } else if q.number().is_nan() {
        // If the quotient exceeds the range, refining it has involved infinities.
        infinity
    } else {
        q.bits() & !sign_bit
    };
    F::from_bits(magnitude | sign)
}

fn div_fixup_f16(q: HalfBits, d: HalfBits, n: HalfBits) -> HalfBits {
    let (dv, nv) = (f16_to_f32(d.0), f16_to_f32(n.0));
    let sign = (d.0 ^ n.0) & 0x8000;
    HalfBits(if nv.is_nan() {
        n.0 | 0x0200
    } else if dv.is_nan() {
        d.0 | 0x0200
    } else if (dv == 0.0 && nv == 0.0) || (dv.is_infinite() && nv.is_infinite()) {
        0xfe00
    } else if dv == 0.0 || nv.is_infinite() {
        sign | 0x7c00
    } else if dv.is_infinite() || nv == 0.0 {
        sign
    } else {
        sign | q.0 & 0x7fff
    })
}

fn div_scale<F: Divided>() -> Op {
    Op::new(|cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_x, mut buffer_d, mut buffer_n) = (F::Raw::ZERO, F::Raw::ZERO, F::Raw::ZERO);
        let x = F::Raw::fetch(cx, s, 0, F::TY, &mut buffer_x)?;
        let d = F::Raw::fetch(cx, s, 1, F::TY, &mut buffer_d)?;
        let n = F::Raw::fetch(cx, s, 2, F::TY, &mut buffer_n)?;
        let (mut out, mut flags) = (F::Raw::ZERO, 0u64);
        for lane in 0..LANES {
            let (value, flag) = scaled(F::from_raw(x[lane]), F::from_raw(d[lane]), F::from_raw(n[lane]));
            out[lane] = value.into_raw();
            flags |= u64::from(flag) << lane;
        }
        let mask = write_mask(cx, s);
        F::Raw::finish(cx, s, F::TY, &mut out);
        cx.w.set_mask(s.sdst as usize, flags & mask);
        Ok(Next::Fall)
    })
}

fn div_fmas<F: Divided>() -> Op {
    let exec = |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (F::Raw::ZERO, F::Raw::ZERO, F::Raw::ZERO);
        let vcc = cx.w.vcc();
        let round = super::rounding::<F>(cx);
        let a = F::Raw::fetch(cx, s, 0, F::TY, &mut buffer_a)?;
        let b = F::Raw::fetch(cx, s, 1, F::TY, &mut buffer_b)?;
        let c = F::Raw::fetch(cx, s, 2, F::TY, &mut buffer_c)?;
        let mut out = F::Raw::ZERO;
        for lane in 0..LANES {
            let [a, b, c] = [a[lane], b[lane], c[lane]].map(F::from_raw);
            out[lane] = fmas(a, b, c, vcc >> lane & 1 == 1, round).into_raw();
        }
        F::Raw::finish(cx, s, F::TY, &mut out);
        Ok(Next::Fall)
    };
    Op::new(exec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{fma32, fma64};

    /// The sequence that LLVM emits for an IEEE f32 division, for one lane.
    fn divide32(n: f32, d: f32) -> f32 {
        let (ds, _) = scaled(d, d, n);
        let (ns, flag) = scaled(n, d, n);
        let r = (1.0 / f64::from(ds)) as f32;
        let r = fma32(fma32(-ds, r, 1.0), r, r);
        let q = ns * r;
        let q = fma32(fma32(-ds, q, ns), r, q);
        let residual = fma32(-ds, q, ns);
        div_fixup(fmas(residual, r, q, flag, Round::NearestEven), d, n)
    }

    fn divide64(n: f64, d: f64) -> f64 {
        let (ds, _) = scaled(d, d, n);
        let (ns, flag) = scaled(n, d, n);
        // Clears low bits of the reciprocal, because the hardware's is accurate only to about 2^-27.
        let r = f64::from_bits((1.0 / ds).to_bits() & !((1 << 25) - 1));
        let r = fma64(r, fma64(-ds, r, 1.0), r);
        let r = fma64(r, fma64(-ds, r, 1.0), r);
        let q = ns * r;
        let residual = fma64(-ds, q, ns);
        div_fixup(fmas(residual, r, q, flag, Round::NearestEven), d, n)
    }

    struct Bits(u64);

    impl Bits {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 ^ self.0 >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        }
    }

    const SPECIAL: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        3.0,
        7.0,
        1e-40,
        -1e-45,
        3e38,
        1.2e-38,
        2e-20,
    ];

    #[test]
    fn the_f32_division_sequence_rounds_correctly() {
        let mut bits = Bits(5);
        let check = |n: f32, d: f32| {
            let (ours, host) = (divide32(n, d), n / d);
            assert!(
                ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(),
                "{n:e} / {d:e}: {ours:e} {host:e}"
            );
        };
        for n in SPECIAL {
            for d in SPECIAL {
                check(n as f32, d as f32);
            }
        }
        for _ in 0..2_000_000 {
            check(f32::from_bits(bits.next() as u32), f32::from_bits((bits.next() >> 32) as u32));
        }
        // Quotients near half of the smallest denormal.
        for _ in 0..200_000 {
            let n = f32::from_bits(bits.next() as u32 & 0x80ff_ffff);
            let d = n.abs() * 2f32.powi(75) * 2f32.powi(75);
            let near = f32::from_bits(d.to_bits().wrapping_add((bits.next() % 5) as u32).wrapping_sub(2));
            check(n, near);
        }
    }

    #[test]
    fn the_f64_division_sequence_rounds_correctly() {
        let mut bits = Bits(11);
        let check = |n: f64, d: f64| {
            let (ours, host) = (divide64(n, d), n / d);
            assert!(
                ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(),
                "{n:e} / {d:e}: {ours:e} {host:e}"
            );
        };
        for n in SPECIAL.into_iter().chain([5e-324, 2e-308, 1.7e308, 1e-300]) {
            for d in SPECIAL.into_iter().chain([5e-324, 2e-308, 1.7e308, 1e-300]) {
                check(n, d);
            }
        }
        for _ in 0..500_000 {
            check(f64::from_bits(bits.next()), f64::from_bits(bits.next()));
        }
    }
}
