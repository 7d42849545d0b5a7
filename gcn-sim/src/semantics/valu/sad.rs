//! Integer instructions on packed bytes and bits: sums of absolute differences at four offsets, shifts that saturate to bytes, byte
//! insertion, and the bitwise instruction with a truth table.

use super::read::raw32;
use super::write::{write_mask, write32, write64};
use super::{Fetch, Finish, op3};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, Raw, Ty};
use crate::core::wave::Lanes;
use crate::fp::Round;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_qsad_pk_u16_u8", four_halves(|_| true));
    ops.add("v_mqsad_pk_u16_u8", four_halves(|reference| reference != 0));
    ops.add("v_mqsad_u32_u8", Op::new(four_words).saturating(Op::new(four_words)));
    ops.add("v_ashr_pk_i8_i32", op3(|a: i32, b: i32, c: u32| pack_bytes(a, b, c, -128, 127)));
    ops.add("v_ashr_pk_u8_i32", op3(|a: i32, b: i32, c: u32| pack_bytes(a, b, c, 0, 255)));
    ops.add("v_bitop3_b32", truth_table(Ty::B32));
    ops.add("v_bitop3_b16", truth_table(Ty::B16));
    for name in ["v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"] {
        ops.add(name, Op::new(insert_byte));
    }
}

/// `start` plus the sum of absolute differences between four bytes of `a`, from byte `i` on, and those bytes of `b` that `counts` accepts.
fn differences(a: u64, i: u32, b: u32, counts: fn(u32) -> bool, start: u32) -> u64 {
    let byte = |x: u64, n: u32| (x >> (8 * n)) as u32 & 0xff;
    let sum: u32 = (0..4)
        .filter(|&n| counts(byte(u64::from(b), n)))
        .map(|n| byte(a, i + n).abs_diff(byte(u64::from(b), n)))
        .sum();
    u64::from(start) + u64::from(sum)
}

fn four_halves(counts: fn(u32) -> bool) -> Op {
    let run = move |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (u64::ZERO, u32::ZERO, u64::ZERO);
        let a = u64::fetch(cx, s, 0, Ty::B64, &mut buffer_a)?;
        let b = u32::fetch(cx, s, 1, Ty::B32, &mut buffer_b)?;
        let c = u64::fetch(cx, s, 2, Ty::B64, &mut buffer_c)?;
        let clamp = s.inst.mods.clamp;
        let mut out = u64::ZERO;
        for lane in 0..LANES {
            for i in 0..4 {
                let start = (c[lane] >> (16 * i)) as u32 & 0xffff;
                let sum = differences(a[lane], i, b[lane], counts, start);
                let sum = if clamp { sum.min(0xffff) } else { sum & 0xffff };
                out[lane] |= sum << (16 * i);
            }
        }
        let mask = write_mask(cx, s);
        write64(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    };
    Op::new(run).saturating(Op::new(run))
}

fn four_words(cx: &mut Cx<'_>, s: &Step) -> crate::core::fault::Outcome {
    let (mut buffer_a, mut buffer_b) = (u64::ZERO, u32::ZERO);
    let a = *u64::fetch(cx, s, 0, Ty::B64, &mut buffer_a)?;
    let b = *u32::fetch(cx, s, 1, Ty::B32, &mut buffer_b)?;
    let Src::Vector(slot) = s.src[2] else {
        return Err(Fault::Unsupported("an accumulator outside the vector registers"));
    };
    let clamp = s.inst.mods.clamp;
    let mut out = [[0; LANES]; 4];
    for (i, out) in (0u16..).zip(&mut out) {
        let start: Lanes = cx.w.v[(slot + i) as usize];
        for lane in 0..LANES {
            let sum = differences(a[lane], u32::from(i), b[lane], |reference| reference != 0, start[lane]);
            out[lane] = if clamp { sum.min(u64::from(u32::MAX)) } else { sum } as u32;
        }
    }
    let mask = write_mask(cx, s);
    for (i, out) in (0u16..).zip(&out) {
        write32(cx, s.vdst + i, mask, out);
    }
    Ok(Next::Fall)
}

/// Packs two values into bytes, each shifted right and saturated.
fn pack_bytes(a: i32, b: i32, shift: u32, low: i32, high: i32) -> u16 {
    let byte = |x: i32| (x >> (shift & 31)).clamp(low, high) as u16 & 0xff;
    byte(a) | byte(b) << 8
}

/// Bit i of the result is the bit of the truth table with the number {S0\[i], S1\[i], S2\[i]}.
fn truth_table(ty: Ty) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (u32::ZERO, u32::ZERO, u32::ZERO);
        let a = u32::fetch(cx, s, 0, ty, &mut buffer_a)?;
        let b = u32::fetch(cx, s, 1, ty, &mut buffer_b)?;
        let c = u32::fetch(cx, s, 2, ty, &mut buffer_c)?;
        let table = s.inst.mods.bitop3;
        let mut out = u32::ZERO;
        for row in (0..8).filter(|row| table >> row & 1 == 1) {
            // XORed with an operand: all ones if the table row requires the operand's bit to be 0, zeros if it requires 1.
            let [x, y, z] = [2, 1, 0].map(|bit| if row >> bit & 1 == 1 { 0 } else { u32::MAX });
            for lane in 0..LANES {
                out[lane] |= (a[lane] ^ x) & (b[lane] ^ y) & (c[lane] ^ z);
            }
        }
        if ty == Ty::B16 {
            out.iter_mut().for_each(|x| *x &= 0xffff);
        }
        u32::finish(cx, s, ty, &mut out);
        Ok(Next::Fall)
    })
    .result(ty)
}

/// S2 (or the destination, if that is the third operand) with byte number S1\[1:0] replaced by S0, converted to an integer.
///
/// No manual specifies the conversion of S0. Here it is rounded according to MODE and saturated, and NaN becomes 0, as in AMD's model of
/// RDNA4, which was measured on that GPU.
fn insert_byte(cx: &mut Cx<'_>, s: &Step) -> crate::core::fault::Outcome {
    let mut buffer = u32::ZERO;
    let value = *u32::fetch(cx, s, 0, Ty::F32, &mut buffer)?;
    let which = raw32(cx, &s.src[1], Ty::B32)?;
    let mut out = raw32(cx, &s.src[2], Ty::B32)?;
    let round = match cx.w.mode.round32 {
        Round::NearestEven => f32::round_ties_even,
        Round::Up => f32::ceil,
        Round::Down => f32::floor,
        Round::Zero => f32::trunc,
    };
    for lane in 0..LANES {
        let shift = 8 * (which[lane] & 3);
        let byte = round(f32::from_bits(value[lane])) as u8;
        out[lane] = out[lane] & !(0xff << shift) | u32::from(byte) << shift;
    }
    let mask = write_mask(cx, s);
    write32(cx, s.vdst, mask, &out);
    Ok(Next::Fall)
}
