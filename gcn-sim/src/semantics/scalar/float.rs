//! Floating-point instructions of the scalar ALU (RDNA 3.5 and later). Rounding and denormals follow MODE, as in the vector ALU. A 16-bit
//! result clears the upper half of its register.

use std::cmp::Ordering;

use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::scalar::ScalarValue;
use crate::core::value::Ty;
use crate::core::wave::Mode;
use crate::fp::soft::{self, Format};
use crate::fp::{Round, f16_to_f32, f32_to_f16, flush16, flush32};
use crate::semantics::op::{Op, Ops};
use crate::semantics::scalar::{s1, s2};
use crate::semantics::valu::Env;
use crate::semantics::valu::float32::{max32, maximum32, min32, minimum32};

pub(crate) fn add(ops: &mut Ops) {
    for (width, suffix) in [(Width::Single, "f32"), (Width::Half, "f16")] {
        arithmetic(ops, width, suffix);
        rounding(ops, width, suffix);
        compares(ops, width, suffix);
    }
    // In the encoding, the literal comes between the factors and the addend.
    ops.add("s_fmamk_f32", computed(Width::Single, [0, 2, 1], fused));
    ops.add("s_fmaak_f32", computed(Width::Single, [0, 1, 2], fused));
    conversions(ops);
}

/// The two operand types, for which the same instructions exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Half,
    Single,
}

impl Width {
    fn ty(self) -> Ty {
        if self == Width::Half { Ty::F16 } else { Ty::F32 }
    }

    fn format(self) -> Format {
        if self == Width::Half { Format::F16 } else { Format::F32 }
    }

    fn round(self, mode: &Mode) -> Round {
        if self == Width::Half { mode.round16_64 } else { mode.round32 }
    }

    /// An operand, with denormals flushed according to MODE.
    fn input(self, mode: &Mode, bits: u32) -> u32 {
        match self {
            Width::Half if mode.flush_in16_64 => flush16(bits & 0xffff),
            Width::Half => bits & 0xffff,
            Width::Single if mode.flush_in32 => flush32(bits),
            Width::Single => bits,
        }
    }

    fn output(self, mode: &Mode, bits: u32) -> u32 {
        match self {
            Width::Half if mode.flush_out16_64 => flush16(bits & 0xffff),
            Width::Half => bits & 0xffff,
            Width::Single if mode.flush_out32 => flush32(bits),
            Width::Single => bits,
        }
    }

    /// The value as an f32, which represents every f16 exactly.
    fn wide(self, bits: u32) -> f32 {
        if self == Width::Half { f16_to_f32(bits as u16) } else { f32::from_bits(bits) }
    }

    /// The bits of a value of this type, given as an f32.
    fn narrow(self, x: f32) -> u32 {
        if self == Width::Half { u32::from(f32_to_f16(x)) } else { x.to_bits() }
    }
}

/// Computes the bits of the result from those of the operands.
type Compute<const N: usize> = fn(width: Width, round: Round, operands: [u32; N]) -> u32;

/// The operands, in the order that `places` gives.
fn operands<const N: usize>(
    cx: &Cx<'_>,
    s: &Step,
    width: Width,
    places: [usize; N],
) -> Result<[u32; N], crate::core::fault::Fault> {
    let mut operands = [0; N];
    for (operand, place) in operands.iter_mut().zip(places) {
        *operand = width.input(&cx.w.mode, cx.scalar(&s.src[place], width.ty())?);
    }
    Ok(operands)
}

fn computed<const N: usize>(width: Width, places: [usize; N], f: Compute<N>) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let operands = operands(cx, s, width, places)?;
        let result = f(width, width.round(&cx.w.mode), operands);
        cx.w.s[s.sdst as usize] = width.output(&cx.w.mode, result);
        Ok(Next::Fall)
    })
}

fn fused(width: Width, round: Round, [a, b, c]: [u32; 3]) -> u32 {
    soft::fma(width.format(), round, a.into(), b.into(), c.into()) as u32
}

fn sum(width: Width, round: Round, [a, b]: [u32; 2]) -> u32 {
    soft::add(width.format(), round, a.into(), b.into()) as u32
}

fn arithmetic(ops: &mut Ops, width: Width, suffix: &str) {
    let mut binary = |name: &str, f: Compute<2>| ops.add(named(name, suffix), computed(width, [0, 1], f));
    binary("s_add", sum);
    binary("s_sub", |width, round, [a, b]| {
        let sign = if width == Width::Half { 0x8000 } else { 0x8000_0000 };
        sum(width, round, [a, b ^ sign])
    });
    binary("s_mul", |width, round, [a, b]| soft::mul(width.format(), round, a.into(), b.into()) as u32);
    binary("s_minimum", |width, _, ab| by_f32(width, ab, minimum32));
    binary("s_maximum", |width, _, ab| by_f32(width, ab, maximum32));
    ops.add(named("s_fmac", suffix), computed(width, [0, 1, 2], fused));
    for (name, f) in [("s_min", min32 as fn(Env, f32, f32) -> f32), ("s_max", max32)] {
        ops.add(
            named(name, suffix),
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let env = Env { ieee: cx.w.mode.ieee };
                let ab = operands(cx, s, width, [0, 1])?;
                let result = by_f32(width, ab, |a, b| f(env, a, b));
                cx.w.s[s.sdst as usize] = width.output(&cx.w.mode, result);
                Ok(Next::Fall)
            }),
        );
    }
}

fn by_f32(width: Width, operands: [u32; 2], f: impl Fn(f32, f32) -> f32) -> u32 {
    let [a, b] = operands.map(|bits| width.wide(bits));
    width.narrow(f(a, b))
}

fn rounding(ops: &mut Ops, width: Width, suffix: &str) {
    let list: [(&str, Compute<1>); 4] = [
        ("s_ceil", |width, _, [a]| width.narrow(quieted(width.wide(a).ceil()))),
        ("s_floor", |width, _, [a]| width.narrow(quieted(width.wide(a).floor()))),
        ("s_trunc", |width, _, [a]| width.narrow(quieted(width.wide(a).trunc()))),
        ("s_rndne", |width, _, [a]| width.narrow(quieted(width.wide(a).round_ties_even()))),
    ];
    for (name, f) in list {
        ops.add(named(name, suffix), computed(width, [0], f));
    }
}

fn quieted(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(x.to_bits() | 0x0040_0000) } else { x }
}

#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN makes the negated conditions true")]
fn compares(ops: &mut Ops, width: Width, suffix: &str) {
    let list: [(&str, fn(f32, f32) -> bool); 14] = [
        ("s_cmp_lt", |a, b| a < b),
        ("s_cmp_eq", |a, b| a == b),
        ("s_cmp_le", |a, b| a <= b),
        ("s_cmp_gt", |a, b| a > b),
        ("s_cmp_lg", |a, b| a.partial_cmp(&b).is_some_and(Ordering::is_ne)),
        ("s_cmp_ge", |a, b| a >= b),
        ("s_cmp_o", |a, b| !a.is_nan() && !b.is_nan()),
        ("s_cmp_u", |a, b| a.is_nan() || b.is_nan()),
        ("s_cmp_nge", |a, b| !(a >= b)),
        ("s_cmp_nlg", |a, b| !a.partial_cmp(&b).is_some_and(Ordering::is_ne)),
        ("s_cmp_ngt", |a, b| !(a > b)),
        ("s_cmp_nle", |a, b| !(a <= b)),
        ("s_cmp_neq", |a, b| a != b),
        ("s_cmp_nlt", |a, b| !(a < b)),
    ];
    for (name, f) in list {
        ops.add(
            named(name, suffix),
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let [a, b] = operands(cx, s, width, [0, 1])?.map(|bits| width.wide(bits));
                cx.w.scc = f(a, b);
                Ok(Next::Fall)
            }),
        );
    }
}

fn conversions(ops: &mut Ops) {
    let to_single = |from: Width, shift: u32| {
        Op::new(move |cx: &mut Cx<'_>, s: &Step| {
            let bits = cx.scalar(&s.src[0], if shift == 0 { from.ty() } else { Ty::B32 })? >> shift;
            let bits = from.input(&cx.w.mode, bits);
            let wide = soft::convert(Format::F16, Format::F32, Round::NearestEven, bits.into()) as u32;
            cx.w.s[s.sdst as usize] = Width::Single.output(&cx.w.mode, wide);
            Ok(Next::Fall)
        })
    };
    ops.add("s_cvt_f32_f16", to_single(Width::Half, 0));
    ops.add("s_cvt_hi_f32_f16", to_single(Width::Half, 16));
    ops.add(
        "s_cvt_f16_f32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let [a] = operands(cx, s, Width::Single, [0])?;
            let half = soft::convert(Format::F32, Format::F16, cx.w.mode.round16_64, a.into()) as u32;
            cx.w.s[s.sdst as usize] = Width::Half.output(&cx.w.mode, half);
            Ok(Next::Fall)
        }),
    );
    ops.add(
        "s_cvt_f32_i32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let a = i32::read(cx, &s.src[0])?;
            let round = cx.w.mode.round32;
            let bits = soft::from_int(Format::F32, round, a < 0, a.unsigned_abs().into());
            cx.w.s[s.sdst as usize] = bits as u32;
            Ok(Next::Fall)
        }),
    );
    ops.add(
        "s_cvt_f32_u32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let a = u32::read(cx, &s.src[0])?;
            cx.w.s[s.sdst as usize] = soft::from_int(Format::F32, cx.w.mode.round32, false, a.into()) as u32;
            Ok(Next::Fall)
        }),
    );
    ops.add("s_cvt_i32_f32", s1(|a: f32| a as i32));
    ops.add("s_cvt_u32_f32", s1(|a: f32| a as u32));
    let towards_zero =
        |a: f32| soft::convert(Format::F32, Format::F16, Round::Zero, a.to_bits().into()) as u32;
    ops.add("s_cvt_pk_rtz_f16_f32", s2(move |a: f32, b: f32| towards_zero(a) | towards_zero(b) << 16));
}

/// A mnemonic of two parts. It is leaked, because the table of functions lives as long as the process.
fn named(operation: &str, suffix: &str) -> &'static str {
    Box::leak(format!("{operation}_{suffix}").into_boxed_str())
}
