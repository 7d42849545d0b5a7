//! A fast path for the LDS accesses of a wave: all addresses are computed together, and the data are moved at once if they are contiguous.
//! The result is the same as that of accesses lane by lane. The fast path does not handle accesses with a trace, or with a lane outside of
//! LDS.

use std::ops::Range;

use gcn_isa::target::WaveSize;

use super::datum::{Datum, collect, deal, extend, merge, put_four, words};
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, LOWER, lanes};
use crate::core::wave::Lanes;
use crate::semantics::valu::write::write32;

/// The byte addresses of the lanes. Inactive lanes have address 0, which is valid in any LDS that is large enough for the access.
#[inline]
fn addresses(base: &Lanes, exec: u64, offset: u32) -> Lanes {
    let mut at = [0; LANES];
    for (at, base) in at.iter_mut().zip(base) {
        *at = base.wrapping_add(offset);
    }
    if exec == WaveSize::W32.mask() {
        at[LOWER..].fill(0);
    } else if exec != u64::MAX {
        lanes(!exec).for_each(|lane| at[lane] = 0);
    }
    at
}

/// The byte range of all lanes' data of `N` bytes; `None` unless all lanes are active and their data are contiguous.
#[inline]
fn consecutive<const N: usize>(at: &Lanes, exec: u64) -> Option<Range<usize>> {
    // Without an early exit, the compiler vectorises the comparisons.
    let follow = |lanes: &[u32]| {
        let place = |lane: usize| at[0].wrapping_add((lane * N) as u32);
        lanes.iter().enumerate().fold(0, |differ, (lane, at)| differ | (at ^ place(lane))) == 0
    };
    let lanes = match exec {
        u64::MAX => follow(at).then_some(LANES)?,
        _ if exec == WaveSize::W32.mask() => follow(&at[..LOWER]).then_some(LOWER)?,
        _ => return None,
    };
    let start = at[0] as usize;
    Some(start..start + N * lanes)
}

/// Reads the dwords at each lane's address.
#[inline]
fn gather<const N: usize, const WORDS: usize>(lds: &[u8], at: &Lanes) -> Option<[Lanes; WORDS]> {
    let mut to = [[0; LANES]; WORDS];
    let mut registers = to.each_mut();
    for (four, at) in at.as_chunks::<4>().0.iter().enumerate() {
        let mut data = [[0; WORDS]; 4];
        for (data, at) in data.iter_mut().zip(at) {
            let start = *at as usize;
            *data = words::<N, WORDS>(lds.get(start..start + N)?.first_chunk()?);
        }
        put_four(&mut registers, four, data);
    }
    Some(to)
}

/// Writes the dwords of a lane.
#[inline]
fn put<const N: usize, const WORDS: usize>(lds: &mut [u8], at: u32, words: [u32; WORDS]) -> Option<()> {
    let start = at as usize;
    let bytes: &mut [u8; N] = lds.get_mut(start..start + N)?.first_chunk_mut()?;
    for (i, word) in words.into_iter().enumerate() {
        let count = N.min(4);
        bytes[4 * i..4 * i + count].copy_from_slice(&word.to_le_bytes()[..count]);
    }
    Some(())
}

/// Calls `f` for each active lane in ascending order until it returns `None`.
#[inline]
fn each(exec: u64, mut f: impl FnMut(usize) -> Option<()>) -> Option<()> {
    if exec == u64::MAX { (0..LANES).try_for_each(f) } else { lanes(exec).try_for_each(&mut f) }
}

/// Performs a read at the addresses in register `base`; `None` if it must be performed lane by lane.
#[inline]
pub(super) fn read(cx: &mut Cx<'_>, s: &Step, datum: &Datum, base: u16) -> Option<()> {
    match datum.size() {
        1 => read_sized::<1, 1>(cx, s, datum, base),
        2 => read_sized::<2, 1>(cx, s, datum, base),
        4 => read_sized::<4, 1>(cx, s, datum, base),
        8 => read_sized::<8, 2>(cx, s, datum, base),
        12 => read_sized::<12, 3>(cx, s, datum, base),
        16 => read_sized::<16, 4>(cx, s, datum, base),
        _ => None,
    }
}

fn read_sized<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    datum: &Datum,
    base: u16,
) -> Option<()> {
    if cx.trace.is_some() {
        return None;
    }
    let exec = cx.w.exec();
    let at = addresses(cx.w.v.get(base as usize)?, exec, s.inst.mods.offset as u32);
    if datum.half.is_none()
        && let Some(range) = consecutive::<N>(&at, exec)
    {
        let to = s.vdst as usize;
        let (bytes, registers) = (cx.lds.get(range)?, cx.w.v.get_mut(to..to + WORDS)?);
        deal(datum, bytes, registers);
        return Some(());
    }
    let mut words = gather::<N, WORDS>(cx.lds, &at)?;
    if N < 4 {
        let (ecc, old) = (cx.machine.has_sram_ecc(), &cx.w.v[s.vdst as usize]);
        for (word, old) in words[0].iter_mut().zip(old) {
            *word = merge(datum, ecc, *old, extend(datum, *word));
        }
    }
    for (slot, words) in (s.vdst..).zip(&words) {
        write32(cx, slot, exec, words);
    }
    Some(())
}

/// Performs a write of the registers from `data` on; `None` if it must be performed lane by lane, which may repeat some of the writes.
#[inline]
pub(super) fn write(cx: &mut Cx<'_>, s: &Step, datum: &Datum, base: u16, data: u16) -> Option<()> {
    match datum.size() {
        1 => write_sized::<1, 1>(cx, s, datum, base, data),
        2 => write_sized::<2, 1>(cx, s, datum, base, data),
        4 => write_sized::<4, 1>(cx, s, datum, base, data),
        8 => write_sized::<8, 2>(cx, s, datum, base, data),
        12 => write_sized::<12, 3>(cx, s, datum, base, data),
        16 => write_sized::<16, 4>(cx, s, datum, base, data),
        _ => None,
    }
}

fn write_sized<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    datum: &Datum,
    base: u16,
    data: u16,
) -> Option<()> {
    if cx.trace.is_some() {
        return None;
    }
    let exec = cx.w.exec();
    let at = addresses(cx.w.v.get(base as usize)?, exec, s.inst.mods.offset as u32);
    let registers: &[Lanes; WORDS] = cx.w.v.get(data as usize..)?.first_chunk()?;
    if datum.half.is_none()
        && let Some(range) = consecutive::<N>(&at, exec)
    {
        collect(datum, registers, cx.lds.get_mut(range)?);
        return Some(());
    }
    let shift = if datum.half == Some(true) { 16 } else { 0 };
    each(exec, |lane| {
        let mut words = [0; WORDS];
        words.iter_mut().zip(registers).for_each(|(word, register)| *word = register[lane] >> shift);
        put::<N, WORDS>(cx.lds, at[lane], words)
    })
}

/// Performs a read of two data, each of `WORDS` dwords and `N` bytes, at two offsets from the addresses in register `base`; `None` if it
/// must be performed lane by lane.
pub(super) fn read_two<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    base: u16,
    offsets: [u32; 2],
) -> Option<()> {
    if cx.trace.is_some() {
        return None;
    }
    let exec = cx.w.exec();
    // Both data are read before either is written, because the address register may be the destination.
    let base = cx.w.v.get(base as usize)?;
    let [first, second] = offsets.map(|offset| addresses(base, exec, offset));
    let (first, second) = (gather::<N, WORDS>(cx.lds, &first)?, gather::<N, WORDS>(cx.lds, &second)?);
    for (slot, words) in (s.vdst..).zip(first.iter().chain(&second)) {
        write32(cx, slot, exec, words);
    }
    Some(())
}

/// As [`read_two`], for a write of the registers from each of `data` on. If it returns `None`, the write must be performed lane by lane,
/// which may repeat some of the writes.
pub(super) fn write_two<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    base: u16,
    offsets: [u32; 2],
    data: [u16; 2],
) -> Option<()> {
    if cx.trace.is_some() {
        return None;
    }
    let exec = cx.w.exec();
    let base = cx.w.v.get(base as usize)?;
    let [first, second] = offsets.map(|offset| addresses(base, exec, offset));
    let registers = |slot: u16| cx.w.v.get(slot as usize..)?.first_chunk::<WORDS>();
    let (a, b) = (registers(data[0])?, registers(data[1])?);
    // Lane by lane, because the second datum of one lane may overlap the first datum of the next.
    each(exec, |lane| {
        for (at, registers) in [(&first, a), (&second, b)] {
            let mut words = [0; WORDS];
            words.iter_mut().zip(registers).for_each(|(word, register)| *word = register[lane]);
            put::<N, WORDS>(cx.lds, at[lane], words)?;
        }
        Some(())
    })
}
