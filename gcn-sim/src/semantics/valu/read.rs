//! Fetching vector operands: registers, broadcasts of scalars and constants, and the source modifiers in the order the
//! hardware applies them: DPP, SDWA selection, `op_sel`, abs, neg, denormal flush.

use gcn_isa::SrcSpecial;

use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, LOWER, Raw, Ty};
use crate::core::wave::{Lanes, Wave};
use crate::fp::{flush16, flush32, flush64};

/// A word type that vector operands come in.
pub(crate) trait Fetch: Raw {
    /// Source `i` of `s` as an operand of type `ty`, with its modifiers applied. The result is in the register file
    /// itself where nothing has to be done to it, otherwise in `buffer`.
    fn fetch<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [Self; LANES],
    ) -> Result<&'a [Self; LANES], Fault>;

    /// The same of the lower half of the lanes, of an operand without modifiers ([`is_short`]).
    fn fetch_lower<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [Self; LOWER],
    ) -> Result<&'a [Self; LOWER], Fault>;
}

/// True if the wave has 32 lanes and the instruction takes and gives words as they are, so that half the work will do. `result` is the
/// type of what it gives.
#[inline(always)]
pub(crate) fn is_short(cx: &Cx<'_>, s: &Step, result: Ty) -> bool {
    let mode = &cx.w.mode;
    cx.w.lanes != u64::MAX
        && s.plain_src
        && s.plain_dst
        && !(result.is_16() && s.half.is_some())
        && !(mode.flush_in32 || mode.flush_in16_64 || mode.flush_out32 || mode.flush_out16_64)
}

/// The lower half of the lanes of a register.
#[inline(always)]
fn lower(register: &Lanes) -> &[u32; LOWER] {
    register.first_chunk().unwrap_or(&[0; LOWER])
}

impl Fetch for u32 {
    #[inline]
    fn fetch<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut Lanes,
    ) -> Result<&'a Lanes, Fault> {
        if !s.plain_src {
            modified32(cx, s, i, ty, buffer)?;
            return Ok(buffer);
        }
        let flush = flushes_input(cx.w, ty);
        match s.src[i] {
            Src::Vector(slot) if !flush => return Ok(&cx.w.v[slot as usize]),
            Src::Vector(slot) => *buffer = cx.w.v[slot as usize],
            Src::Special(SrcSpecial::LdsDirect) => *buffer = [cx.lds_direct()?; LANES],
            ref other => *buffer = [cx.scalar(other, ty)?; LANES],
        }
        if flush {
            flush_all(ty, buffer);
        }
        Ok(buffer)
    }

    #[inline]
    fn fetch_lower<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [u32; LOWER],
    ) -> Result<&'a [u32; LOWER], Fault> {
        match s.src[i] {
            Src::Vector(slot) => return Ok(lower(&cx.w.v[slot as usize])),
            Src::Special(SrcSpecial::LdsDirect) => *buffer = [cx.lds_direct()?; LOWER],
            ref other => *buffer = [cx.scalar(other, ty)?; LOWER],
        }
        Ok(buffer)
    }
}

impl Fetch for u64 {
    #[inline]
    fn fetch<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [u64; LANES],
    ) -> Result<&'a [u64; LANES], Fault> {
        match s.src[i] {
            Src::Vector(slot) => {
                let (low, high) = (&cx.w.v[slot as usize], &cx.w.v[slot as usize + 1]);
                for lane in 0..LANES {
                    buffer[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                }
            }
            ref other => *buffer = [cx.scalar_wide(other, ty)?; LANES],
        }
        if !s.plain_src || flushes_input(cx.w, ty) {
            modify64(cx, s, i, ty, buffer);
        }
        Ok(buffer)
    }

    #[inline]
    fn fetch_lower<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [u64; LOWER],
    ) -> Result<&'a [u64; LOWER], Fault> {
        match s.src[i] {
            Src::Vector(slot) => {
                let (low, high) = (lower(&cx.w.v[slot as usize]), lower(&cx.w.v[slot as usize + 1]));
                for lane in 0..LOWER {
                    buffer[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                }
            }
            ref other => *buffer = [cx.scalar_wide(other, ty)?; LOWER],
        }
        Ok(buffer)
    }
}

fn flushes_input(w: &Wave, ty: Ty) -> bool {
    match ty {
        Ty::F32 => w.mode.flush_in32,
        Ty::F16 | Ty::F64 => w.mode.flush_in16_64,
        _ => false,
    }
}

/// Register or broadcast value, before modifiers.
pub(crate) fn raw32(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<Lanes, Fault> {
    Ok(match src {
        Src::Vector(slot) => cx.w.v[*slot as usize],
        Src::Special(SrcSpecial::LdsDirect) => [cx.lds_direct()?; LANES],
        other => [cx.scalar(other, ty)?; LANES],
    })
}

#[inline(never)]
fn modified32(cx: &Cx<'_>, s: &Step, i: usize, ty: Ty, out: &mut Lanes) -> Result<(), Fault> {
    let mods = &s.inst.mods;
    *out = raw32(cx, &s.src[i], ty)?;
    let tied = i == 2;
    if let (0, Some(dpp)) = (i, s.dpp) {
        *out = dpp.of_words(cx.w.exec(), out);
    }
    // A destination that is read, too, has one half for both.
    let upper = if tied && s.tied { s.half == Some(1) } else { mods.op_sel >> i & 1 == 1 };
    if let (Some(sdwa), false) = (mods.sdwa, tied) {
        let select = if i == 0 { sdwa.src0_sel } else { sdwa.src1_sel };
        let extend = mods.sext >> i & 1 == 1;
        out.iter_mut().for_each(|x| *x = select_part(*x, select, extend));
    } else if ty.is_16() && upper && matches!(s.src[i], Src::Vector(_) | Src::Scalar(_)) {
        out.iter_mut().for_each(|x| *x >>= 16);
    }
    let sign = if ty.is_16() { 0x8000 } else { 0x8000_0000 };
    if mods.abs >> i & 1 == 1 {
        out.iter_mut().for_each(|x| *x &= !sign);
    }
    if mods.neg >> i & 1 == 1 {
        out.iter_mut().for_each(|x| *x ^= sign);
    }
    if flushes_input(cx.w, ty) {
        flush_all(ty, out);
    }
    Ok(())
}

/// Flushes f16 or f32 denormals.
fn flush_all(ty: Ty, lanes: &mut Lanes) {
    if ty == Ty::F16 {
        lanes.iter_mut().for_each(|x| *x = flush16(*x & 0xffff));
    } else {
        lanes.iter_mut().for_each(|x| *x = flush32(*x));
    }
}

#[inline(never)]
fn modify64(cx: &Cx<'_>, s: &Step, i: usize, ty: Ty, out: &mut [u64; LANES]) {
    const SIGN: u64 = 1 << 63;
    let mods = &s.inst.mods;
    if let (0, Some(dpp)) = (i, s.dpp) {
        *out = dpp.of_pairs(cx.w.exec(), out);
    }
    if mods.abs >> i & 1 == 1 {
        out.iter_mut().for_each(|x| *x &= !SIGN);
    }
    if mods.neg >> i & 1 == 1 {
        out.iter_mut().for_each(|x| *x ^= SIGN);
    }
    if flushes_input(cx.w, ty) {
        out.iter_mut().for_each(|x| *x = flush64(*x));
    }
}

/// A byte, word or the whole of a dword (SDWA selectors 0 to 6), extended.
fn select_part(x: u32, select: u8, sign_extend: bool) -> u32 {
    let (shift, bits) = match select {
        0..=3 => (u32::from(select) * 8, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return x,
    };
    let low = x >> shift & ((1 << bits) - 1);
    if sign_extend { ((low << (32 - bits)) as i32 >> (32 - bits)) as u32 } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_selected_and_extended() {
        assert_eq!(select_part(0x8182_8384, 0, false), 0x84);
        assert_eq!(select_part(0x8182_8384, 3, true), 0xffff_ff81);
        assert_eq!(select_part(0x8182_8384, 5, true), 0xffff_8182);
        assert_eq!(select_part(0x8182_8384, 6, true), 0x8182_8384);
    }
}
