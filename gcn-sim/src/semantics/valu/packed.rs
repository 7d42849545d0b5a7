//! Packed instructions (VOP3P): two 16-bit or two 32-bit operations at once.
//!
//! `op_sel` selects the half of each source for the low result, `op_sel_hi` that for the high one; `neg_lo` and `neg_hi` negate these
//! halves.

use gcn_isa::target::Family;

use super::Env;
use super::float32::{max32, maximum32, min32, minimum32};
use super::read::raw32;
use super::write::{clamp_half, clamp_single, write_mask, write32};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::{Const, Src};
use crate::core::value::{LANES, Ty};
use crate::core::wave::Lanes;
use crate::fp::{
    add32, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, flush16, flush32, fma16, fma32, mul32,
};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    halves(ops);
    bf16s(ops);
    integers(ops);
    singles(ops);
}

type Half3 = fn(Env, [f32; 3]) -> u16;

fn halves(ops: &mut Ops) {
    let list: [(&'static str, Half3); 12] = [
        ("v_pk_add_f16", |_, [a, b, _]| f32_to_f16(add32(a, b))),
        ("v_pk_mul_f16", |_, [a, b, _]| f32_to_f16(mul32(a, b))),
        ("v_pk_fma_f16", |_, [a, b, c]| fma16(a, b, c)),
        ("v_pk_fmac_f16", |_, [a, b, c]| fma16(a, b, c)),
        ("v_pk_min_f16", |e, [a, b, _]| f32_to_f16(min32(e, a, b))),
        ("v_pk_max_f16", |e, [a, b, _]| f32_to_f16(max32(e, a, b))),
        ("v_pk_minimum_f16", |_, [a, b, _]| f32_to_f16(minimum32(a, b))),
        ("v_pk_maximum_f16", |_, [a, b, _]| f32_to_f16(maximum32(a, b))),
        ("v_pk_minimum3_f16", |_, [a, b, c]| f32_to_f16(minimum32(minimum32(a, b), c))),
        ("v_pk_maximum3_f16", |_, [a, b, c]| f32_to_f16(maximum32(maximum32(a, b), c))),
        ("v_pk_min3_num_f16", |e, [a, b, c]| f32_to_f16(min32(e, min32(e, a, b), c))),
        ("v_pk_max3_num_f16", |e, [a, b, c]| f32_to_f16(max32(e, max32(e, a, b), c))),
    ];
    for (name, f) in list {
        let op = packed_half(f);
        let exact = name.contains("_min") || name.contains("_max");
        ops.add(name, if exact { op } else { op.rounds() });
    }
}

/// bf16: computed in f32, whose result is rounded once more.
fn bf16s(ops: &mut Ops) {
    let list: [(&'static str, fn(Env, [f32; 3]) -> f32); 5] = [
        ("v_pk_add_bf16", |_, [a, b, _]| add32(a, b)),
        ("v_pk_mul_bf16", |_, [a, b, _]| mul32(a, b)),
        ("v_pk_fma_bf16", |_, [a, b, c]| fma32(a, b, c)),
        ("v_pk_min_num_bf16", |e, [a, b, _]| min32(e, a, b)),
        ("v_pk_max_num_bf16", |e, [a, b, _]| max32(e, a, b)),
    ];
    for (name, f) in list {
        let op = Op::new(move |cx: &mut Cx<'_>, s: &Step| {
            let lanes = sources_with(cx, s, |c| Some(c.packed_bf16()))?;
            let mode = cx.w.mode;
            let result =
                |x: f32| u32::from(f32_to_bf16(if s.inst.mods.clamp { clamp_single(&mode, x) } else { x }));
            let mut out = [0; LANES];
            for lane in 0..LANES {
                let [a, b, c] = [0, 1, 2].map(|i| pick(s, i, lanes[i][lane]).map(bf16_to_f32));
                let half = |i: usize| result(f(Env { ieee: mode.ieee }, [a[i], b[i], c[i]]));
                out[lane] = half(0) | half(1) << 16;
            }
            let mask = write_mask(cx, s);
            write32(cx, s.vdst, mask, &out);
            Ok(Next::Fall)
        });
        ops.add(name, op.packed());
    }
}

/// The sources of a packed 16-bit instruction. A constant has its value for float operands if `float`, otherwise for integer operands.
pub(super) fn sources(cx: &Cx<'_>, s: &Step, float: bool) -> Result<[Lanes; 3], Fault> {
    sources_with(cx, s, |c| float.then(|| c.packed_f16()))
}

/// The sources of a packed 16-bit instruction. `value` gives the halves of a constant, or `None` for those of integer operands.
fn sources_with(cx: &Cx<'_>, s: &Step, value: impl Fn(&Const) -> Option<u32>) -> Result<[Lanes; 3], Fault> {
    let mut lanes = [[0; LANES]; 3];
    for (src, lanes) in s.src.iter().zip(&mut lanes) {
        let constant = if let Src::Const(c) = src { value(c) } else { None };
        *lanes = match (src, constant) {
            (Src::None, _) => continue,
            (_, Some(halves)) => [halves; LANES],
            (other, None) => raw32(cx, other, Ty::B32)?,
        };
    }
    Ok(lanes)
}

/// The selections for source `i`: half for the low result, half for the high result, negate low, negate high.
fn selection(s: &Step, i: usize) -> (bool, bool, bool, bool) {
    let mods = &s.inst.mods;
    let bit = |field: u8| field >> i & 1 == 1;
    // Instructions without these modifiers (VOP2 encodings, gfx942 dot products) use both halves in order.
    let selectable = s.inst.desc.modifiers.contains(gcn_isa::table::Modifiers::OP_SEL_HI);
    (bit(mods.op_sel), !selectable || bit(mods.op_sel_hi), bit(mods.neg_lo), bit(mods.neg_hi))
}

/// The halves of a source for the low and the high operation, each with the sign bit inverted if it must be negated.
pub(crate) fn pick(s: &Step, i: usize, x: u32) -> [u16; 2] {
    let (low, high, negate_low, negate_high) = selection(s, i);
    let half = |upper: bool, negate: bool| {
        let h = if upper { x >> 16 } else { x } as u16;
        if negate { h ^ 0x8000 } else { h }
    };
    [half(low, negate_low), half(high, negate_high)]
}

fn packed_half(f: Half3) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let lanes = sources(cx, s, true)?;
        let mode = cx.w.mode;
        let env = Env { ieee: mode.ieee };
        let flush = |h: u16| if mode.flush_in16_64 { flush16(u32::from(h)) as u16 } else { h };
        let result = |x: u16| {
            let x = if s.inst.mods.clamp { clamp_half(&mode, u32::from(x)) } else { u32::from(x) };
            if mode.flush_out16_64 { flush16(x) } else { x }
        };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|i| pick(s, i, lanes[i][lane]).map(|h| f16_to_f32(flush(h))));
            out[lane] = result(f(env, [a[0], b[0], c[0]])) | result(f(env, [a[1], b[1], c[1]])) << 16;
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
    .packed()
}

/// The lane function of a packed integer instruction, which returns the exact result; `clamp` limits the result to a range.
type Int3 = fn([u16; 3]) -> i64;

#[derive(Clone, Copy)]
enum Range {
    Signed,
    Unsigned,
}

fn integers(ops: &mut Ops) {
    use Range::{Signed, Unsigned};
    let list: [(&'static str, Range, Int3); 18] = [
        ("v_pk_add_i16", Signed, |[a, b, _]| sx(a) + sx(b)),
        ("v_pk_sub_i16", Signed, |[a, b, _]| sx(a) - sx(b)),
        ("v_pk_mad_i16", Signed, |[a, b, c]| sx(a) * sx(b) + sx(c)),
        ("v_pk_min_i16", Signed, |[a, b, _]| sx(a).min(sx(b))),
        ("v_pk_max_i16", Signed, |[a, b, _]| sx(a).max(sx(b))),
        ("v_pk_min3_i16", Signed, |[a, b, c]| sx(a).min(sx(b)).min(sx(c))),
        ("v_pk_max3_i16", Signed, |[a, b, c]| sx(a).max(sx(b)).max(sx(c))),
        ("v_pk_ashrrev_i16", Signed, |[a, b, _]| sx(b) >> (a & 15)),
        ("v_pk_add_u16", Unsigned, |[a, b, _]| i64::from(a) + i64::from(b)),
        ("v_pk_sub_u16", Unsigned, |[a, b, _]| i64::from(a) - i64::from(b)),
        ("v_pk_mad_u16", Unsigned, |[a, b, c]| i64::from(a) * i64::from(b) + i64::from(c)),
        ("v_pk_min_u16", Unsigned, |[a, b, _]| i64::from(a.min(b))),
        ("v_pk_max_u16", Unsigned, |[a, b, _]| i64::from(a.max(b))),
        ("v_pk_min3_u16", Unsigned, |[a, b, c]| i64::from(a.min(b).min(c))),
        ("v_pk_max3_u16", Unsigned, |[a, b, c]| i64::from(a.max(b).max(c))),
        ("v_pk_mul_lo_u16", Unsigned, |[a, b, _]| i64::from(a) * i64::from(b)),
        ("v_pk_lshlrev_b16", Unsigned, |[a, b, _]| i64::from(b << (a & 15))),
        ("v_pk_lshrrev_b16", Unsigned, |[a, b, _]| i64::from(b >> (a & 15))),
    ];
    for (name, range, f) in list {
        ops.add(name, packed_int(range, f));
    }
    // LLVM 22 selects these for saturating additions; AMD's emulator saturates, too.
    let sums: [(&'static str, Range, Int3); 4] = [
        ("v_pk_add_max_i16", Signed, |[a, b, c]| (sx(a) + sx(b)).clamp(-0x8000, 0x7fff).max(sx(c))),
        ("v_pk_add_min_i16", Signed, |[a, b, c]| (sx(a) + sx(b)).clamp(-0x8000, 0x7fff).min(sx(c))),
        ("v_pk_add_max_u16", Unsigned, |[a, b, c]| (i64::from(a) + i64::from(b)).min(0xffff).max(c.into())),
        ("v_pk_add_min_u16", Unsigned, |[a, b, c]| (i64::from(a) + i64::from(b)).min(c.into())),
    ];
    for (name, range, f) in sums {
        let plain = packed_int(range, f).exec;
        let op = Op::new(move |cx: &mut Cx<'_>, s: &Step| match s.inst.mods.clamp {
            true => Err(Fault::Unsupported("clamp, whose meaning here is not modelled")),
            false => Ok(plain.run(cx, s)?),
        });
        ops.add(name, op);
    }
}

fn sx(x: u16) -> i64 {
    i64::from(x as i16)
}

fn packed_int(range: Range, f: Int3) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if s.inst.mods.neg_lo | s.inst.mods.neg_hi != 0 {
            return Err(Fault::Unsupported("negation of a packed integer"));
        }
        let lanes = sources(cx, s, false)?;
        let clamp = |x: i64| match range {
            Range::Signed => x.clamp(-0x8000, 0x7fff),
            Range::Unsigned => x.clamp(0, 0xffff),
        };
        let result = |x: i64| u32::from(if s.inst.mods.clamp { clamp(x) } else { x } as u16);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|i| pick(s, i, lanes[i][lane]));
            out[lane] = result(f([a[0], b[0], c[0]])) | result(f([a[1], b[1], c[1]])) << 16;
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
}

fn singles(ops: &mut Ops) {
    ops.add("v_pk_add_f32", packed_single(|[a, b, _]| add32(a, b)).rounds());
    ops.add("v_pk_mul_f32", packed_single(|[a, b, _]| mul32(a, b)).rounds());
    ops.add("v_pk_fma_f32", packed_single(|[a, b, c]| fma32(a, b, c)).rounds());
    ops.add("v_pk_mov_b32", Op::new(packed_move));
}

/// The lower or upper dword of a 64-bit source.
fn word(cx: &Cx<'_>, s: &Step, src: &Src, upper: bool) -> Result<Lanes, Fault> {
    Ok(match src {
        // gfx12.5, the only RDNA target with such arithmetic, reads the first SGPR for both halves (LLVM:
        // `hasPKF32InstsReplicatingLower32BitsOfScalarInput`).
        Src::Scalar(n) if s.arch.family() == Family::RDNA => [cx.w.s[*n as usize]; LANES],
        Src::Vector(slot) => cx.w.v[*slot as usize + usize::from(upper)],
        Src::Scalar(n) => [cx.w.s[*n as usize + usize::from(upper)]; LANES],
        // The constant 0 gives 0 for either dword. For other constants the manuals do not define the upper dword, and LLVM always selects
        // the lower one (`op_sel_hi` 0).
        Src::Const(c) if upper && c.wide(Ty::B64) != 0 => {
            return Err(Fault::Unsupported("the upper word of a packed f32 constant other than 0"));
        }
        other => raw32(cx, other, Ty::B32)?,
    })
}

fn packed_single(f: impl Fn([f32; 3]) -> f32 + Copy + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let mode = cx.w.mode;
        let mask = write_mask(cx, s);
        let mut results = [[0; LANES]; 2];
        for (upper, out) in results.iter_mut().enumerate() {
            let mut operands = [[0; LANES]; 3];
            for (i, lanes) in operands.iter_mut().enumerate() {
                if s.src[i] == Src::None {
                    continue;
                }
                let (low, high, negate_low, negate_high) = selection(s, i);
                let (select, negate) = if upper == 0 { (low, negate_low) } else { (high, negate_high) };
                *lanes = word(cx, s, &s.src[i], select)?;
                let sign = u32::from(negate) << 31;
                lanes.iter_mut().for_each(|x| *x ^= sign);
                if mode.flush_in32 {
                    lanes.iter_mut().for_each(|x| *x = flush32(*x));
                }
            }
            for lane in 0..LANES {
                let x = f([0, 1, 2].map(|i| f32::from_bits(operands[i][lane])));
                let x = if s.inst.mods.clamp { clamp_single(&mode, x) } else { x };
                out[lane] = if mode.flush_out32 { flush32(x.to_bits()) } else { x.to_bits() };
            }
        }
        write32(cx, s.vdst, mask, &results[0]);
        write32(cx, s.vdst + 1, mask, &results[1]);
        Ok(Next::Fall)
    })
}

/// The low dword of the result comes from src0 and the high dword from src1, each selected by its `op_sel` bit.
fn packed_move(cx: &mut Cx<'_>, s: &Step) -> crate::core::fault::Outcome {
    let op_sel = s.inst.mods.op_sel;
    let low = word(cx, s, &s.src[0], op_sel & 1 == 1)?;
    let high = word(cx, s, &s.src[1], op_sel >> 1 & 1 == 1)?;
    let mask = write_mask(cx, s);
    write32(cx, s.vdst, mask, &low);
    write32(cx, s.vdst + 1, mask, &high);
    Ok(Next::Fall)
}
