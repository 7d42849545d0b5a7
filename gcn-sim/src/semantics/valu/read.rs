//! Fetches vector operands: registers, broadcasts of scalars and constants, and the source modifiers in the order in which the hardware
//! applies them: DPP, SDWA selection, `op_sel`, abs, neg, denormal flush.

use std::marker::PhantomData;

use gcn_isa::SrcSpecial;

use super::groups::{Grouped, groups};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::plan::{From, Ready, Signed, input_flushes};
use crate::core::value::{GROUPS, Kind, LANES, Raw, Ty};
use crate::core::wave::{Lanes, Wave};
use crate::fp::host::{self, Work};
use crate::fp::{flush16, flush32, flush64};

/// Source `i` as an operand of the given type, without its value if that is only known when the instruction is executed; `None` if it has
/// modifiers other than neg and abs, or is a special register. A value that is the same in all lanes, and an operand whose signs are
/// changed, is written to `room` when the instruction is executed; the latter are added to `signed`.
pub(super) fn fixed(s: &Step, i: usize, kind: Kind, room: usize, signed: &mut Vec<Signed>) -> Option<Ready> {
    let change = Change::of(s, i, kind.ty, false);
    let ready = match s.src[i] {
        Src::Vector(slot) => Ready { slot: slot.into(), from: From::Lanes },
        Src::Scalar(n) => Ready { slot: room, from: From::Scalar(n) },
        Src::Const(c) => {
            let value = if kind.words == 1 { c.narrow(kind.ty).into() } else { c.wide(kind.ty) };
            return Some(Ready { slot: room, from: From::Same(change.apply(value)) });
        }
        Src::Special(_) | Src::None => return None,
    };
    let Change { keep, invert, .. } = change;
    if (keep, invert) == (u64::MAX, 0) {
        return Some(ready);
    }
    signed.push(Signed { words: kind.words, from: ready, to: room, keep, invert });
    Some(Ready { slot: room, from: From::Lanes })
}

/// Writes operands whose signs are changed to their slots.
#[inline(never)]
pub(super) fn change_signs(w: &mut Wave, signed: &[Signed]) {
    for &Signed { words, from, to, keep, invert } in signed {
        let change = Change { keep, invert, flush: None };
        if let From::Scalar(n) = from.from {
            let registers = groups(&mut w.v);
            match words {
                1 => u32::fill(&registers[to], change.apply(w.s[usize::from(n)].into())),
                _ => {
                    let pair = u64::from(w.s[usize::from(n)]) | u64::from(w.s[usize::from(n) + 1]) << 32;
                    u64::fill(u64::at(registers, to), change.apply(pair));
                }
            }
            continue;
        }
        let (v, from) = (&mut w.v[..], from.slot);
        match words {
            1 => host::lanes(Changed::<u32> { v, from, to, change, of: PhantomData }),
            _ => host::lanes(Changed::<u64> { v, from, to, change, of: PhantomData }),
        }
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
        return Ok(Ready { slot: room, from: From::Lanes });
    }
    let is_plain = s.plain_src && !flush;
    if let Src::Vector(slot) = s.src[i] {
        if is_plain {
            return Ok(Ready { slot: slot.into(), from: From::Lanes });
        }
        let (v, from) = (&mut cx.w.v[..], usize::from(slot));
        let change = Change::of(s, i, kind.ty, flush);
        match kind.words {
            1 => host::lanes(Changed::<u32> { v, from, to: room, change, of: PhantomData }),
            _ => host::lanes(Changed::<u64> { v, from, to: room, change, of: PhantomData }),
        }
        return Ok(Ready { slot: room, from: From::Lanes });
    }
    let value = match kind.words {
        1 => u64::from(scalar32(cx, &s.src[i], kind.ty)?),
        _ => cx.scalar_wide(&s.src[i], kind.ty)?,
    };
    let value = if is_plain { value } else { Change::of(s, i, kind.ty, flush).apply(value) };
    Ok(Ready { slot: room, from: From::Same(value) })
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

impl<R: Grouped> Work for Changed<'_, R> {
    type Out = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let registers = groups(self.v);
        let (from, to) = (R::at(registers, self.from), R::at(registers, self.to));
        for group in 0..GROUPS {
            let mut lanes = R::get(from, group);
            lanes.iter_mut().for_each(|lane| *lane = R::from_word(self.change.apply(lane.word())));
            R::put(to, group, u16::MAX, &lanes);
        }
    }
}

/// A type of register contents that vector operands may have.
pub(crate) trait Fetch: Grouped {
    /// Source `i` of `s` as an operand of type `ty`, with its modifiers applied. If nothing has to be applied, borrows from the register
    /// file; otherwise uses `buffer`.
    fn fetch<'a>(
        cx: &'a Cx<'_>,
        s: &Step,
        i: usize,
        ty: Ty,
        buffer: &'a mut [Self; LANES],
    ) -> Result<&'a [Self; LANES], Fault>;

    /// Writes the converted operand to slot `room` of the register file.
    fn put_into(cx: &mut Cx<'_>, s: &Step, i: usize, ty: Ty, room: usize) -> Result<(), Fault>;
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

    fn put_into(_: &mut Cx<'_>, _: &Step, _: usize, _: Ty, _: usize) -> Result<(), Fault> {
        Ok(())
    }
}

#[inline(always)]
fn flushes_input(w: &Wave, ty: Ty) -> bool {
    w.mode.flushes & input_flushes(ty) != 0
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
