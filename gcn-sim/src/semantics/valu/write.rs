//! Writes vector results: output modifiers, denormal flush, and the masked write.

use super::groups::{Grouped, groups};
use crate::core::machine::{Cx, Step};
use crate::core::plan::output_flushes;
use crate::core::value::{GROUP, Kind, LANES, Raw, Ty};
use crate::core::wave::{Lanes, Mode};
use crate::fp::host::{self, Work};
use crate::fp::{self, f16_to_f32, f32_to_f16, flush16, flush32, flush64};

/// A type of register contents that vector results may have.
pub(crate) trait Finish: Grouped {
    /// Applies the output modifiers of `s` to `out` and writes the active lanes of the destination.
    fn finish(cx: &mut Cx<'_>, s: &Step, ty: Ty, out: &mut [Self; LANES]);

    /// As [`Finish::finish`], for a result that starts at `slot` of the register file.
    fn finish_from(cx: &mut Cx<'_>, s: &Step, ty: Ty, slot: usize);
}

impl Finish for u32 {
    #[inline]
    fn finish(cx: &mut Cx<'_>, s: &Step, ty: Ty, out: &mut Lanes) {
        if !is_whole(s, ty) {
            return modified32(cx, s, ty, out);
        }
        match ty {
            Ty::F32 if cx.w.mode.flush_out32 => out.iter_mut().for_each(|x| *x = flush32(*x)),
            Ty::F16 if cx.w.mode.flush_out16_64 => out.iter_mut().for_each(|x| *x = flush16(*x)),
            _ => {}
        }
        write32(cx, s.vdst, cx.w.exec(), out);
    }

    #[inline(never)]
    fn finish_from(cx: &mut Cx<'_>, s: &Step, ty: Ty, slot: usize) {
        let mut out = cx.w.v[slot];
        Self::finish(cx, s, ty, &mut out);
    }
}

impl Finish for u64 {
    #[inline]
    fn finish(cx: &mut Cx<'_>, s: &Step, ty: Ty, out: &mut [u64; LANES]) {
        if ty == Ty::F64 {
            modify_f64(&cx.w.mode, s, out);
        }
        let mask = write_mask(cx, s);
        write64(cx, s.vdst, mask, out);
    }

    #[inline(never)]
    fn finish_from(cx: &mut Cx<'_>, s: &Step, ty: Ty, slot: usize) {
        let mut out = u64::ZERO;
        for lane in 0..LANES {
            out[lane] = u64::from(cx.w.v[slot][lane]) | u64::from(cx.w.v[slot + 1][lane]) << 32;
        }
        Self::finish(cx, s, ty, &mut out);
    }
}

/// The type of the result of an instruction that only computes flags.
impl Finish for () {
    fn finish(_: &mut Cx<'_>, _: &Step, _: Ty, _: &mut [(); LANES]) {}

    fn finish_from(_: &mut Cx<'_>, _: &Step, _: Ty, _: usize) {}
}

/// The settings of MODE, as in [`Mode::flushes`], with which a result needs output modifiers, so that it may not be written directly to the
/// destination. An instruction without a result needs none.
pub(super) fn finishes(s: &Step, result: Kind) -> u8 {
    match result.words {
        0 => 0,
        _ if is_whole(s, result.ty) => output_flushes(result.ty),
        _ => Mode::ALWAYS,
    }
}

/// True if a result of type `ty` replaces the whole register and no modifiers apply.
#[inline(always)]
fn is_whole(s: &Step, ty: Ty) -> bool {
    s.plain_dst && !(ty.is_16() && s.half.is_some())
}

#[inline(always)]
fn flushes_output(mode: &Mode, ty: Ty) -> bool {
    mode.flushes & output_flushes(ty) != 0
}

/// EXEC without the lanes that DPP does not write.
pub(crate) fn write_mask(cx: &Cx<'_>, s: &Step) -> u64 {
    let exec = cx.w.exec();
    s.dpp.map_or(exec, |dpp| exec & dpp.written(exec))
}

/// Writes the lanes of `mask` to a vector register.
#[inline]
pub(crate) fn write32(cx: &mut Cx<'_>, slot: u16, mask: u64, out: &Lanes) {
    if mask == u64::MAX {
        cx.w.v[slot as usize] = *out;
        return;
    }
    write_some(&mut cx.w.v, slot, mask, out);
}

/// Writes the lanes of `mask` to a vector register.
#[inline(never)]
fn write_some(v: &mut [Lanes], slot: u16, mask: u64, out: &Lanes) {
    host::lanes(Some32 { v, slot, mask, out });
}

struct Some32<'a> {
    v: &'a mut [Lanes],
    slot: u16,
    mask: u64,
    out: &'a Lanes,
}

impl Work for Some32<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let register = u32::at(groups(self.v), self.slot.into());
        for (group, out) in self.out.as_chunks::<GROUP>().0.iter().enumerate() {
            let active = (self.mask >> (GROUP * group)) as u16;
            if active != 0 {
                u32::put(register, group, active, out);
            }
        }
    }
}

/// Writes the lanes of `mask` to a pair of vector registers.
#[inline]
pub(crate) fn write64(cx: &mut Cx<'_>, slot: u16, mask: u64, out: &[u64; LANES]) {
    let mut half: Lanes = [0; LANES];
    for lane in 0..LANES {
        half[lane] = out[lane] as u32;
    }
    write32(cx, slot, mask, &half);
    for lane in 0..LANES {
        half[lane] = (out[lane] >> 32) as u32;
    }
    write32(cx, slot + 1, mask, &half);
}

#[inline(never)]
fn modified32(cx: &mut Cx<'_>, s: &Step, ty: Ty, out: &mut Lanes) {
    let mode = cx.w.mode;
    match ty {
        Ty::F32 => out.iter_mut().for_each(|x| *x = modify_f32(&mode, s, *x)),
        Ty::F16 => out.iter_mut().for_each(|x| *x = modify_f16(&mode, s, *x)),
        _ => {}
    }
    let mask = write_mask(cx, s);
    let old = &cx.w.v[s.vdst as usize];
    if let Some(sdwa) = s.inst.mods.sdwa {
        for (x, old) in out.iter_mut().zip(old) {
            *x = insert_part(*x, *old, sdwa.dst_sel, sdwa.dst_unused);
        }
    } else if let (true, Some(half)) = (ty.is_16(), s.half) {
        for (x, old) in out.iter_mut().zip(old) {
            *x = if half == 0 { *old & 0xffff_0000 | *x & 0xffff } else { *old & 0xffff | *x << 16 };
        }
    }
    write32(cx, s.vdst, mask, out);
}

/// Inserts a result into the part of the destination that SDWA selects. `unused` determines the rest: 0 clears it, 1 sign-extends above the
/// part and clears below it, 2 keeps it.
fn insert_part(x: u32, old: u32, select: u8, unused: u8) -> u32 {
    let (shift, bits) = match select {
        0..=3 => (u32::from(select) * 8, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return x,
    };
    let mask = ((1u32 << bits) - 1) << shift;
    let part = x << shift & mask;
    match unused {
        0 => part,
        1 => {
            ((part << (32 - bits - shift)) as i32 >> (32 - bits - shift)) as u32
                & !(mask.wrapping_sub(1) & !mask)
        }
        _ => old & !mask | part,
    }
}

/// The factor of `omod`; `None` if there is none. `omod` applies only if denormal results are flushed and IEEE mode is off (CDNA ISA
/// 6.2.2).
fn scale(mode: &Mode, s: &Step, ty: Ty) -> Option<f64> {
    let factor = [1.0, 2.0, 4.0, 0.5][(s.inst.mods.omod & 3) as usize];
    (s.inst.mods.omod != 0 && !mode.ieee && flushes_output(mode, ty)).then_some(factor)
}

fn clamp(mode: &Mode, x: f64) -> f64 {
    if x.is_nan() { if mode.dx10_clamp { 0.0 } else { x } } else { x.clamp(0.0, 1.0) + 0.0 }
}

/// Clamps an f32 to 0..=1.
pub(crate) fn clamp_single(mode: &Mode, x: f32) -> f32 {
    if x.is_nan() && !mode.dx10_clamp { x } else { clamp(mode, f64::from(x)) as f32 }
}

/// Writes f32 results to consecutive registers, with output modifiers.
pub(crate) fn finish_singles(cx: &mut Cx<'_>, s: &Step, out: &mut [Lanes]) {
    let mode = cx.w.mode;
    let mask = write_mask(cx, s);
    for (n, out) in out.iter_mut().enumerate() {
        out.iter_mut().for_each(|x| *x = modify_f32(&mode, s, *x));
        write32(cx, s.vdst + n as u16, mask, out);
    }
}

pub(crate) fn modify_f32(mode: &Mode, s: &Step, bits: u32) -> u32 {
    let mut bits = bits;
    if let Some(factor) = scale(mode, s, Ty::F32) {
        // A minus zero that is scaled becomes plus zero.
        bits = fp::mul32(f32::from_bits(bits), factor as f32).to_bits();
        bits = if bits == 0x8000_0000 { 0 } else { bits };
    }
    if s.inst.mods.clamp {
        bits = clamp_single(mode, f32::from_bits(bits)).to_bits();
    }
    if mode.flush_out32 { flush32(bits) } else { bits }
}

pub(crate) fn modify_f16(mode: &Mode, s: &Step, bits: u32) -> u32 {
    let mut bits = bits & 0xffff;
    if let Some(factor) = scale(mode, s, Ty::F16) {
        bits = u32::from(f32_to_f16(f16_to_f32(bits as u16) * factor as f32));
        bits = if bits == 0x8000 { 0 } else { bits };
    }
    if s.inst.mods.clamp {
        bits = clamp_half(mode, bits);
    }
    if mode.flush_out16_64 { flush16(bits) } else { bits }
}

/// Clamps an f16 to 0..=1.
pub(crate) fn clamp_half(mode: &Mode, bits: u32) -> u32 {
    let x = f16_to_f32(bits as u16);
    if x.is_nan() && !mode.dx10_clamp {
        bits
    } else {
        u32::from(f32_to_f16(clamp(mode, f64::from(x)) as f32))
    }
}

fn modify_f64(mode: &Mode, s: &Step, out: &mut [u64; LANES]) {
    let factor = scale(mode, s, Ty::F64);
    if factor.is_none() && !s.inst.mods.clamp && !mode.flush_out16_64 {
        return;
    }
    for bits in out {
        if let Some(factor) = factor {
            *bits = fp::mul64(f64::from_bits(*bits), factor).to_bits();
            *bits = if *bits == 1 << 63 { 0 } else { *bits };
        }
        if s.inst.mods.clamp {
            *bits = clamp(mode, f64::from_bits(*bits)).to_bits();
        }
        if mode.flush_out16_64 {
            *bits = flush64(*bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdwa_destinations() {
        assert_eq!(insert_part(0xab, 0x1122_3344, 2, 2), 0x11ab_3344);
        assert_eq!(insert_part(0xab, 0x1122_3344, 2, 0), 0x00ab_0000);
        assert_eq!(insert_part(0xab, 0x1122_3344, 1, 1), 0xffff_ab00);
        assert_eq!(insert_part(0x8001, 0, 5, 1), 0x8001_0000);
        assert_eq!(insert_part(0x8001, 0x1122_3344, 4, 1), 0xffff_8001);
    }
}
