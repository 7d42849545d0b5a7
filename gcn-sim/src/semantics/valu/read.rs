//! Fetches vector operands: registers, broadcasts of scalars and constants, and the source modifiers in the order in which the hardware
//! applies them: DPP, SDWA selection, `op_sel`, abs, neg, denormal flush.

use std::marker::PhantomData;

use gcn_isa::SrcSpecial;

use super::write::Finish;
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{GROUP, Kind, LANES, Raw, Ty};
use crate::core::wave::{Lanes, Wave};
use crate::fp::host::{self, Work};
use crate::fp::{flush16, flush32, flush64};

/// An operand in a form in which groups of lanes can be read.
#[derive(Clone, Copy, Default)]
pub(super) struct Ready {
    /// The first slot of the register file that contains the operand.
    pub slot: usize,
    /// The value, if it is the same in all lanes. Then it must be written to the first group of `slot`, which all groups read. The vector
    /// code does that, because it writes a group in few instructions.
    same: Option<u64>,
}

impl Ready {
    /// Writes the value to the register file, if it is the same in all lanes. Returns a mask to apply to the numbers of groups.
    #[inline(always)]
    pub(super) fn put<R: Fetch>(self, v: &mut [Lanes]) -> usize {
        let Some(value) = self.same.filter(|_| R::WORDS > 0) else { return usize::MAX };
        R::put_same(value, v, self.slot);
        0
    }
}

/// Source `i` as an operand of the given type, in a form in which groups of lanes can be read. An operand that must be converted first is
/// written to `room`.
#[inline]
pub(super) fn ready(cx: &mut Cx<'_>, s: &Step, i: usize, kind: Kind, room: usize) -> Result<Ready, Fault> {
    let flush = flushes_input(cx.w, kind.ty);
    if !s.plain_lanes {
        match kind.words {
            1 => u32::put_into(cx, s, i, kind.ty, room)?,
            _ => u64::put_into(cx, s, i, kind.ty, room)?,
        }
        return Ok(Ready { slot: room, same: None });
    }
    let is_plain = s.plain_src && !flush;
    if let Src::Vector(slot) = s.src[i] {
        if is_plain {
            return Ok(Ready { slot: slot.into(), same: None });
        }
        let (v, from) = (&mut cx.w.v[..], usize::from(slot));
        let change = Change::of(s, i, kind.ty, flush);
        match kind.words {
            1 => host::lanes(Changed::<u32> { v, from, to: room, change, of: PhantomData }),
            _ => host::lanes(Changed::<u64> { v, from, to: room, change, of: PhantomData }),
        }
        return Ok(Ready { slot: room, same: None });
    }
    let value = match kind.words {
        1 => u64::from(scalar32(cx, &s.src[i], kind.ty)?),
        _ => cx.scalar_wide(&s.src[i], kind.ty)?,
    };
    let value = if is_plain { value } else { Change::of(s, i, kind.ty, flush).apply(value) };
    Ok(Ready { slot: room, same: Some(value) })
}

/// What is done with the value of each lane, unless lanes or parts of registers are exchanged: abs, neg and flushing.
#[derive(Clone, Copy)]
struct Change {
    /// The bits that stay, and then those that are inverted.
    keep: u64,
    invert: u64,
    /// The type, if denormals are flushed.
    flush: Option<Ty>,
}

impl Change {
    fn of(s: &Step, i: usize, ty: Ty, flush: bool) -> Change {
        let sign = match ty {
            Ty::B16 | Ty::F16 => 1 << 15,
            Ty::B32 | Ty::F32 => 1 << 31,
            Ty::B64 | Ty::I64 | Ty::F64 => 1 << 63,
        };
        let mods = &s.inst.mods;
        Change {
            keep: if mods.abs >> i & 1 == 1 { !sign } else { u64::MAX },
            invert: if mods.neg >> i & 1 == 1 { sign } else { 0 },
            flush: flush.then_some(ty),
        }
    }

    /// Applies the change to a value of one dword or two.
    #[inline(always)]
    fn apply(self, value: u64) -> u64 {
        let value = value & self.keep ^ self.invert;
        match self.flush {
            Some(Ty::F16) => u64::from(flush16(value as u32 & 0xffff)),
            Some(Ty::F64) => flush64(value),
            Some(_) => u64::from(flush32(value as u32)),
            None => value,
        }
    }
}

/// Writes the changed operand in slot `from` to slot `to`.
struct Changed<'v, R> {
    v: &'v mut [Lanes],
    from: usize,
    to: usize,
    change: Change,
    of: PhantomData<R>,
}

impl<R: Fetch + Finish> Work for Changed<'_, R> {
    type Out = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        for group in 0..LANES / GROUP {
            let mut lanes = R::group_of(self.v, self.from, group);
            lanes.iter_mut().for_each(|lane| *lane = R::from_word(self.change.apply(lane.word())));
            R::put_group(self.v, self.to, group, u16::MAX, &lanes);
        }
    }
}

/// A type of register contents that vector operands may have.
pub(crate) trait Fetch: Raw {
    /// Source `i` of `s` as an operand of type `ty`, with its modifiers applied. If nothing has to be applied, borrows from the register
    /// file; otherwise uses `buffer`.
    fn fetch<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [Self; LANES],
    ) -> Result<&'a [Self; LANES], Fault>;

    /// Writes a value to the first group of lanes of `slot`.
    fn put_same(value: u64, v: &mut [Lanes], slot: usize);

    /// The content as a number.
    fn word(self) -> u64;

    /// The content that is the low bits of a number.
    fn from_word(word: u64) -> Self;

    /// Writes the converted operand to slot `room` of the register file.
    fn put_into(cx: &mut Cx<'_>, s: &Step, i: usize, ty: Ty, room: usize) -> Result<(), Fault>;

    /// A group of lanes of the operand that starts at `slot`.
    fn group_of(v: &[Lanes], slot: usize, group: usize) -> [Self; GROUP];
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
            ref other => *buffer = [scalar32(cx, other, ty)?; LANES],
        }
        if flush {
            flush_all(ty, buffer);
        }
        Ok(buffer)
    }

    #[inline(never)]
    fn put_into(cx: &mut Cx<'_>, s: &Step, i: usize, ty: Ty, room: usize) -> Result<(), Fault> {
        let mut buffer = u32::ZERO;
        let changed = *u32::fetch(cx, s, i, ty, &mut buffer)?;
        cx.w.v[room] = changed;
        Ok(())
    }

    #[inline(always)]
    fn put_same(value: u64, v: &mut [Lanes], slot: usize) {
        v[slot].as_chunks_mut::<GROUP>().0[0] = [value as u32; GROUP];
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn from_word(word: u64) -> u32 {
        word as u32
    }

    #[inline(always)]
    fn group_of(v: &[Lanes], slot: usize, group: usize) -> [u32; GROUP] {
        v[slot].as_chunks::<GROUP>().0[group]
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

    #[inline(never)]
    fn put_into(cx: &mut Cx<'_>, s: &Step, i: usize, ty: Ty, room: usize) -> Result<(), Fault> {
        let mut buffer = u64::ZERO;
        let changed = *u64::fetch(cx, s, i, ty, &mut buffer)?;
        for lane in 0..LANES {
            (cx.w.v[room][lane], cx.w.v[room + 1][lane]) =
                (changed[lane] as u32, (changed[lane] >> 32) as u32);
        }
        Ok(())
    }

    #[inline(always)]
    fn put_same(value: u64, v: &mut [Lanes], slot: usize) {
        u32::put_same(value, v, slot);
        u32::put_same(value >> 32, v, slot + 1);
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_word(word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn group_of(v: &[Lanes], slot: usize, group: usize) -> [u64; GROUP] {
        let (low, high) = (u32::group_of(v, slot, group), u32::group_of(v, slot + 1, group));
        let mut pairs = [0; GROUP];
        for i in 0..GROUP {
            pairs[i] = u64::from(low[i]) | u64::from(high[i]) << 32;
        }
        pairs
    }
}

/// The type of an operand that an instruction does not have.
impl Fetch for () {
    fn fetch<'a>(
        _: &'a Cx<'_>,
        _: &Step,
        _: usize,
        _: Ty,
        buffer: &'a mut [(); LANES],
    ) -> Result<&'a [(); LANES], Fault> {
        Ok(buffer)
    }

    #[inline(always)]
    fn put_same(_: u64, _: &mut [Lanes], _: usize) {}

    fn word(self) -> u64 {
        0
    }

    fn from_word(_: u64) {}

    fn put_into(_: &mut Cx<'_>, _: &Step, _: usize, _: Ty, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    #[inline(always)]
    fn group_of(_: &[Lanes], _: usize, _: usize) -> [(); GROUP] {
        [(); GROUP]
    }
}

#[inline(always)]
fn flushes_input(w: &Wave, ty: Ty) -> bool {
    match ty {
        Ty::F32 => w.mode.flush_in32,
        Ty::F16 | Ty::F64 => w.mode.flush_in16_64,
        _ => false,
    }
}

/// A register or a broadcast value, before modifiers.
pub(crate) fn raw32(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<Lanes, Fault> {
    Ok(match src {
        Src::Vector(slot) => cx.w.v[*slot as usize],
        other => [scalar32(cx, other, ty)?; LANES],
    })
}

/// The value, in every lane, of an operand other than a vector register.
#[inline]
pub(super) fn scalar32(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<u32, Fault> {
    match src {
        Src::Special(SrcSpecial::LdsDirect) => cx.lds_direct(),
        other => cx.scalar(other, ty),
    }
}

#[inline(never)]
fn modified32(cx: &Cx<'_>, s: &Step, i: usize, ty: Ty, out: &mut Lanes) -> Result<(), Fault> {
    let mods = &s.inst.mods;
    *out = raw32(cx, &s.src[i], ty)?;
    let tied = i == 2;
    if let (0, Some(dpp)) = (i, s.dpp) {
        *out = dpp.of_words(cx.w.exec(), out);
    }
    // A destination that is also a source uses the same half for reading and for writing.
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

/// The part of a dword that an SDWA selector (0 to 6) selects: a byte, a word or the whole dword, extended to 32 bits.
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
