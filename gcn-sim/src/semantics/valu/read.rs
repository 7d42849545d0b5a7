//! Fetching vector operands: registers, broadcasts of scalars and constants, and the source modifiers in the order the
//! hardware applies them: DPP, SDWA selection, `op_sel`, abs, neg, denormal flush.

use gcn_isa::{Dpp, SrcSpecial};

use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, Raw, Ty};
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
            ref other => *buffer = [cx.scalar(other, ty)?; LANES],
        }
        if flush {
            flush_all(ty, buffer);
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
        Src::Special(SrcSpecial::LdsDirect) => return Err(Fault::Unsupported("reading LDS as an operand")),
        other => [cx.scalar(other, ty)?; LANES],
    })
}

#[inline(never)]
fn modified32(cx: &Cx<'_>, s: &Step, i: usize, ty: Ty, out: &mut Lanes) -> Result<(), Fault> {
    let mods = &s.inst.mods;
    *out = raw32(cx, &s.src[i], ty)?;
    let tied = i == 2;
    if let (0, Some(dpp)) = (i, mods.dpp) {
        *out = permuted(&dpp, cx.w.exec(), out);
    }
    if let (Some(sdwa), false) = (mods.sdwa, tied) {
        let select = if i == 0 { sdwa.src0_sel } else { sdwa.src1_sel };
        let extend = mods.sext >> i & 1 == 1;
        out.iter_mut().for_each(|x| *x = select_part(*x, select, extend));
    } else if ty.is_16() && mods.op_sel >> i & 1 == 1 && matches!(s.src[i], Src::Vector(_) | Src::Scalar(_)) {
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
    if let (0, Some(dpp)) = (i, mods.dpp) {
        let lanes = *out;
        permute(&dpp, cx.w.exec(), |lane, from| out[lane] = from.map_or(0, |from| lanes[from]));
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

/// Calls `f` for each lane with the lane it reads from; `None` where the source is out of range or disabled by EXEC.
fn permute(dpp: &Dpp, exec: u64, mut f: impl FnMut(usize, Option<usize>)) {
    for lane in 0..LANES {
        let from = dpp_source(dpp.ctrl, lane).filter(|from| exec >> from & 1 == 1);
        f(lane, from);
    }
}

/// The lanes of a DPP source; 0 where there is no source lane.
pub(crate) fn permuted(dpp: &Dpp, exec: u64, lanes: &Lanes) -> Lanes {
    let mut out = [0; LANES];
    permute(dpp, exec, |lane, from| out[lane] = from.map_or(0, |from| lanes[from]));
    out
}

/// Lanes that a DPP instruction writes: enabled by the row and bank masks and, without `bound_ctrl`, reading from a lane
/// that exists and is active.
pub(crate) fn dpp_write_mask(dpp: &Dpp, exec: u64) -> u64 {
    let mut mask = 0u64;
    permute(dpp, exec, |lane, from| {
        let enabled = dpp.row_mask >> (lane / 16) & 1 == 1 && dpp.bank_mask >> (lane / 4 % 4) & 1 == 1;
        mask |= u64::from(enabled && (from.is_some() || dpp.bound_ctrl)) << lane;
    });
    mask
}

/// The lane that `lane` reads under a DPP control, if there is one.
fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, place) = (lane / 16 * 16, lane % 16);
    let n = (ctrl & 0xf) as usize;
    match ctrl {
        // quad_perm
        0x000..=0x0ff => Some(lane / 4 * 4 + (ctrl as usize >> (lane % 4 * 2) & 3)),
        // row_shl, row_shr, row_ror
        0x101..=0x10f => (place + n < 16).then_some(lane + n),
        0x111..=0x11f => place.checked_sub(n).map(|p| row + p),
        0x121..=0x12f => Some(row + (place + 16 - n) % 16),
        // wave_shl, wave_rol, wave_shr, wave_ror, all by one
        0x130 => (lane + 1 < LANES).then_some(lane + 1),
        0x134 => Some((lane + 1) % LANES),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + LANES - 1) % LANES),
        // row_mirror, row_half_mirror
        0x140 => Some(row + 15 - place),
        0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
        // row_bcast:15 gives each row the last lane of the row before, row_bcast:31 the last lane of the first half.
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        // row_newbcast
        0x150..=0x15f => Some(row + n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpp_controls_name_their_source_lanes() {
        assert_eq!(dpp_source(0xe4, 37), Some(37));
        assert_eq!(dpp_source(0x1b, 4), Some(7));
        assert_eq!((dpp_source(0x101, 14), dpp_source(0x101, 15)), (Some(15), None));
        assert_eq!((dpp_source(0x111, 17), dpp_source(0x111, 16)), (Some(16), None));
        assert_eq!((dpp_source(0x121, 16), dpp_source(0x12f, 16)), (Some(31), Some(17)));
        assert_eq!((dpp_source(0x130, 15), dpp_source(0x130, 63)), (Some(16), None));
        assert_eq!((dpp_source(0x134, 63), dpp_source(0x13c, 0)), (Some(0), Some(63)));
        assert_eq!((dpp_source(0x138, 0), dpp_source(0x138, 32)), (None, Some(31)));
        assert_eq!((dpp_source(0x140, 16), dpp_source(0x141, 9)), (Some(31), Some(14)));
        assert_eq!((dpp_source(0x142, 0), dpp_source(0x142, 40)), (None, Some(31)));
        assert_eq!((dpp_source(0x143, 31), dpp_source(0x143, 63)), (None, Some(31)));
        assert_eq!(dpp_source(0x153, 50), Some(51));
    }

    #[test]
    fn parts_are_selected_and_extended() {
        assert_eq!(select_part(0x8182_8384, 0, false), 0x84);
        assert_eq!(select_part(0x8182_8384, 3, true), 0xffff_ff81);
        assert_eq!(select_part(0x8182_8384, 5, true), 0xffff_8182);
        assert_eq!(select_part(0x8182_8384, 6, true), 0x8182_8384);
    }
}
