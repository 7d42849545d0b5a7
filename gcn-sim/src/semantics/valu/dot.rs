//! Dot products within a lane.
//!
//! The order in which the hardware adds the products of the floating-point forms is not documented. Here each exact product is added to the
//! accumulator in ascending order, and each addition is rounded to nearest even. MODE's denormal fields are ignored: the target alone
//! determines whether denormals are flushed (measured on gfx90a and gfx950: LLVM pull request 205101).

use gcn_isa::Target;

use super::packed::pick;
use super::read::{Fetch, raw32};
use super::write::{Finish, clamp_single, write_mask, write32};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, Ty};
use crate::fp::small::{Small, Widening};
use crate::fp::{bf16_to_f32, f16_to_f32, f32_to_bf16, flush32, fma16, fma32};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    for name in ["v_dot2_f32_f16", "v_dot2c_f32_f16"] {
        ops.add(name, float(f16_to_f32));
    }
    for name in ["v_dot2_f32_bf16", "v_dot2c_f32_bf16"] {
        ops.add(name, float(bf16_to_f32));
    }
    ops.add("v_dot2_f16_f16", halves(false));
    ops.add("v_dot2_bf16_bf16", halves(true));
    for (name, formats) in [
        ("v_dot4_f32_fp8_fp8", [Small::fp8 as fn(Target) -> Small, Small::fp8]),
        ("v_dot4_f32_fp8_bf8", [Small::fp8, Small::bf8]),
        ("v_dot4_f32_bf8_fp8", [Small::bf8, Small::fp8]),
        ("v_dot4_f32_bf8_bf8", [Small::bf8, Small::bf8]),
    ] {
        ops.add(name, bytes(formats));
    }
    for name in ["v_dot2_i32_i16", "v_dot2c_i32_i16"] {
        ops.add(name, integer(16, true));
    }
    ops.add("v_dot2_u32_u16", integer(16, false));
    for name in ["v_dot4_i32_i8", "v_dot4c_i32_i8"] {
        ops.add(name, integer(8, true));
    }
    ops.add("v_dot4_u32_u8", integer(8, false));
    for name in ["v_dot8_i32_i4", "v_dot8c_i32_i4"] {
        ops.add(name, integer(4, true));
    }
    ops.add("v_dot8_u32_u4", integer(4, false));
}

/// Four products of 8-bit floats, added to an f32.
fn bytes(formats: [fn(Target) -> Small; 2]) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let [a, b, c] = operands(cx, s)?;
        let [of_a, of_b] = formats.map(|format| Widening::of(format(s.arch)));
        let mode = cx.w.mode;
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let mut start = f32::from_bits(c[lane]);
            start = if s.inst.mods.neg_hi >> 2 & 1 == 1 { start.abs() } else { start };
            start = if s.inst.mods.neg_lo >> 2 & 1 == 1 { -start } else { start };
            let byte = |x: u32, i: u32| x >> (8 * i) & 0xff;
            let sum = (0..4)
                .fold(start, |sum, i| fma32(of_a.value(byte(a[lane], i)), of_b.value(byte(b[lane], i)), sum));
            out[lane] = if s.inst.mods.clamp { clamp_single(&mode, sum) } else { sum }.to_bits();
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
    .rounds()
}

/// Two products of halves, added to a half. The halves of the packed operands have no modifiers here; the addend and the result are each in
/// one half of a register. With f16, each sum is rounded to f16. With bf16, sums are f32 until the last one, whose excess bits gfx12
/// truncates (2^20 values on gfx1200: Triton issue 11217).
fn halves(bf16: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let [mut a, mut b, _] = operands(cx, s)?;
        for (i, lanes) in [&mut a, &mut b].into_iter().enumerate() {
            let [abs, neg] =
                [s.inst.mods.abs, s.inst.mods.neg].map(|bits| 0x8000_8000 * u32::from(bits >> i & 1));
            lanes.iter_mut().for_each(|x| *x = *x & !abs ^ neg);
        }
        let mut buffer = [0; LANES];
        let c = u32::fetch(cx, s, 2, if bf16 { Ty::B16 } else { Ty::F16 }, &mut buffer)?;
        let cuts = s.arch.cuts_bf16_dots();
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let pairs = [0, 16].map(|shift| ((a[lane] >> shift) as u16, (b[lane] >> shift) as u16));
            let sum = if bf16 {
                let start = bf16_to_f32(c[lane] as u16);
                let sum =
                    pairs.iter().fold(start, |sum, (a, b)| fma32(bf16_to_f32(*a), bf16_to_f32(*b), sum));
                if cuts && !sum.is_nan() { (sum.to_bits() >> 16) as u16 } else { f32_to_bf16(sum) }
            } else {
                let sum =
                    |sum: u16, (a, b): &(u16, u16)| fma16(f16_to_f32(*a), f16_to_f32(*b), f16_to_f32(sum));
                pairs.iter().fold(c[lane] as u16, sum)
            };
            out[lane] = u32::from(sum);
        }
        u32::finish(cx, s, Ty::B16, &mut out);
        Ok(Next::Fall)
    })
    .rounds()
}

fn float(widen: fn(u16) -> f32) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let [a, b, c] = operands(cx, s)?;
        let (mode, flushes) = (cx.w.mode, s.arch.flushes_half_products());
        let flush = |x: f32| if flushes { f32::from_bits(flush32(x.to_bits())) } else { x };
        // On targets that flush denormals, f16 is the only format of these instructions. The sign of a denormal is lost as well: gfx90a
        // gives +0 for -2^-24.
        let widen = |h: u16| if flushes && h & 0x7c00 == 0 { 0.0 } else { widen(h) };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let (x, y) = (pick(s, 0, a[lane]), pick(s, 1, b[lane]));
            let negate = s.inst.mods.neg_lo >> 2 & 1;
            let start = flush(f32::from_bits(c[lane] ^ u32::from(negate) << 31));
            let sum = (0..2).fold(start, |sum, i| fma32(widen(x[i]), widen(y[i]), sum));
            let sum = if s.inst.mods.clamp { clamp_single(&mode, sum) } else { sum };
            out[lane] = flush(sum).to_bits();
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
    .rounds()
}

fn operands(cx: &Cx<'_>, s: &Step) -> Result<[[u32; LANES]; 3], Fault> {
    let mut lanes = [[0; LANES]; 3];
    for (lanes, src) in lanes.iter_mut().zip(&s.src) {
        *lanes = raw32(cx, src, Ty::B32)?;
    }
    if let Some(dpp) = s.dpp {
        lanes[0] = dpp.of_words(cx.w.exec(), &lanes[0]);
    }
    Ok(lanes)
}

/// The sum of the products of integer elements of `bits` bits. It saturates if `clamp` is set.
fn integer(bits: u32, signed: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        // On targets where neg_lo selects signed factors, the unsigned forms do not have this choice.
        let chosen = signed && bits < 16 && s.arch.signs_by_neg_lo();
        let signs = if chosen { [0, 1].map(|i| s.inst.mods.neg_lo >> i & 1 == 1) } else { [signed; 2] };
        if !chosen && s.inst.mods.neg_lo | s.inst.mods.neg_hi != 0 {
            return Err(Fault::Unsupported("negation of an integer dot product"));
        }
        let [a, b, c] = operands(cx, s)?;
        let element = |x: u32, i: u32, signed: bool| {
            let field = x >> (i * bits) << (32 - bits);
            if signed { i64::from(field as i32 >> (32 - bits)) } else { i64::from(field >> (32 - bits)) }
        };
        let (low, high) =
            if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let (x, y) = if bits == 16 {
                // Only the 16-bit forms have op_sel.
                let join = |h: [u16; 2]| u32::from(h[0]) | u32::from(h[1]) << 16;
                (join(pick(s, 0, a[lane])), join(pick(s, 1, b[lane])))
            } else {
                (a[lane], b[lane])
            };
            let start = if signed { i64::from(c[lane] as i32) } else { i64::from(c[lane]) };
            let sum =
                (0..32 / bits).fold(start, |sum, i| sum + element(x, i, signs[0]) * element(y, i, signs[1]));
            out[lane] = if s.inst.mods.clamp { sum.clamp(low, high) } else { sum } as u32;
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
}
