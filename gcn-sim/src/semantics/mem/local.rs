//! A fast path for the accesses of a wave to LDS and scratch: all addresses are computed together, and the data are moved at once if they
//! are contiguous. The result is the same as that of accesses lane by lane. The fast path does not handle accesses that must be recorded
//! before they happen, or with a lane outside of the memory.

use std::ops::Range;

use gcn_isa::target::WaveSize;

use super::datum::{Datum, collect, deal, extend, merge, put_four, words};
use crate::core::machine::{Cx, Step};
use crate::core::trace::Kind;
use crate::core::value::{LANES, LOWER, lanes};
use crate::core::wave::Lanes;
use crate::semantics::valu::write::write32;

/// Up to this number of active lanes, only these are read. With more it takes less time to read all lanes and to select afterwards.
const FEW: u32 = 24;

/// The byte addresses of the lanes. Inactive lanes have address 0, which is valid in any LDS that is large enough for the access.
#[inline]
fn addresses(base: &Lanes, exec: u64, offset: u32) -> Lanes {
    let mut at = base.map(|base| base.wrapping_add(offset));
    if exec != u64::MAX {
        for (half, at) in at.as_chunks_mut::<LOWER>().0.iter_mut().enumerate() {
            let active = (exec >> (half * LOWER)) as u32;
            for lane in 0..LOWER {
                // Without shifts by the lane, the compiler uses vectors of the baseline instruction set.
                at[lane] = if active & 1 << lane != 0 { at[lane] } else { 0 };
            }
        }
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

/// Reads the dwords at each lane's address into `to`. (Returned by value, they would be copied.)
#[inline]
fn gather<const N: usize, const WORDS: usize>(lds: &[u8], at: &[u32], to: &mut [Lanes; WORDS]) -> Option<()> {
    let mut registers = to.each_mut();
    for (four, at) in at.as_chunks::<4>().0.iter().enumerate() {
        let mut data = [[0; WORDS]; 4];
        for (data, at) in data.iter_mut().zip(at) {
            let start = *at as usize;
            *data = words::<N, WORDS>(lds.get(start..start + N)?.first_chunk()?);
        }
        put_four(&mut registers, four, data);
    }
    Some(())
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

/// The memory that an access reads or writes.
#[derive(Clone, Copy)]
pub(super) enum Local {
    /// LDS, at the addresses in a register plus an offset.
    Lds { slot: u16, offset: u32 },
    /// The scratch of each lane, at an address that may be relative to a register, which counts units of `unit` bytes.
    Scratch { slot: Option<u16>, base: u32, unit: u32 },
}

impl Local {
    /// The byte addresses of the lanes in the memory, as [`addresses`] has them; `None` if the datum of `bytes` bytes of an active lane is
    /// outside of its scratch. Scratch has the bytes of all lanes, one lane after the other.
    #[inline]
    fn addresses(self, cx: &Cx<'_>, exec: u64, bytes: usize) -> Option<Lanes> {
        match self {
            Local::Lds { slot, offset } => Some(addresses(cx.w.v.get(slot as usize)?, exec, offset)),
            Local::Scratch { slot, base, unit } => {
                let size = cx.w.scratch.len() / LANES;
                let last = u32::try_from(size.checked_sub(bytes)?).ok()?;
                let index = slot.map_or(Some(&[0; LANES]), |slot| cx.w.v.get(slot as usize))?;
                let scaled = (unit != 1).then(|| index.map(|index| index.wrapping_mul(unit)));
                let mut at = addresses(scaled.as_ref().unwrap_or(index), exec, base);
                let mut outside = false;
                for (lane, at) in at.iter_mut().enumerate() {
                    outside |= *at > last;
                    *at = at.wrapping_add((lane * size) as u32);
                }
                (!outside).then_some(at)
            }
        }
    }
}

/// Performs a read; `None` if it must be performed lane by lane.
#[inline]
pub(super) fn read(cx: &mut Cx<'_>, s: &Step, datum: &Datum, local: Local) -> Option<()> {
    match datum.size() {
        1 => read_sized::<1, 1>(cx, s, datum, local),
        2 => read_sized::<2, 1>(cx, s, datum, local),
        4 => read_sized::<4, 1>(cx, s, datum, local),
        8 => read_sized::<8, 2>(cx, s, datum, local),
        12 => read_sized::<12, 3>(cx, s, datum, local),
        16 => read_sized::<16, 4>(cx, s, datum, local),
        _ => None,
    }
}

fn read_sized<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    datum: &Datum,
    local: Local,
) -> Option<()> {
    if !cx.may_be_together() {
        return None;
    }
    let at = local.addresses(cx, cx.w.exec(), N)?;
    read_at::<N, WORDS>(cx, s, datum, (local, &at))?;
    match local {
        Local::Lds { .. } => cx.note_lds(&at, cx.w.exec(), N, Kind::Read),
        Local::Scratch { .. } => cx.note_scratch(&at, cx.w.exec(), N, Kind::Read),
    }
    Some(())
}

/// As [`read`], for data of `N` bytes at the given addresses.
#[inline(always)]
fn read_at<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    datum: &Datum,
    (local, at): (Local, &Lanes),
) -> Option<()> {
    let exec = cx.w.exec();
    let memory: &[u8] = match local {
        Local::Lds { .. } => cx.lds,
        Local::Scratch { .. } => &cx.w.scratch,
    };
    if datum.half.is_none()
        && let Local::Lds { .. } = local
        && let Some(range) = consecutive::<N>(at, exec)
    {
        let to = s.vdst as usize;
        let (bytes, registers) = (memory.get(range)?, cx.w.v.get_mut(to..to + WORDS)?);
        deal(datum, bytes, registers);
        return Some(());
    }
    if N >= 4 && exec.count_ones() <= FEW {
        // All lanes are checked before the first register is written, which may contain the addresses of an access that is then repeated.
        let last = memory.len().checked_sub(N)?;
        if lanes(exec).any(|lane| at[lane] as usize > last) {
            return None;
        }
        for lane in lanes(exec) {
            let start = at[lane] as usize;
            let words = words::<N, WORDS>(memory.get(start..start + N)?.first_chunk()?);
            for (slot, word) in (s.vdst as usize..).zip(words) {
                cx.w.v[slot][lane] = word;
            }
        }
        return Some(());
    }
    let mut words = [[0; LANES]; WORDS];
    gather::<N, WORDS>(memory, &at[..cx.w.size()], &mut words)?;
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
pub(super) fn write(cx: &mut Cx<'_>, datum: &Datum, local: Local, data: u16) -> Option<()> {
    match datum.size() {
        1 => write_sized::<1, 1>(cx, datum, local, data),
        2 => write_sized::<2, 1>(cx, datum, local, data),
        4 => write_sized::<4, 1>(cx, datum, local, data),
        8 => write_sized::<8, 2>(cx, datum, local, data),
        12 => write_sized::<12, 3>(cx, datum, local, data),
        16 => write_sized::<16, 4>(cx, datum, local, data),
        _ => None,
    }
}

fn write_sized<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    datum: &Datum,
    local: Local,
    data: u16,
) -> Option<()> {
    if !cx.may_be_together() {
        return None;
    }
    let (exec, registers) = (cx.w.exec(), data as usize..data as usize + WORDS);
    let at = local.addresses(cx, exec, N)?;
    cx.w.v.get(registers)?;
    match local {
        // What the stores replace is recorded, too, so nothing may have been stored before.
        Local::Lds { .. } if !cx.is_at_once() => {
            cx.note_stores(&[&at], exec, N)?;
            write_at::<N, WORDS>(cx, datum, (local, &at), data)?;
        }
        Local::Lds { .. } => {
            write_at::<N, WORDS>(cx, datum, (local, &at), data)?;
            cx.note_lds(&at, exec, N, Kind::Write);
        }
        Local::Scratch { .. } => {
            write_at::<N, WORDS>(cx, datum, (local, &at), data)?;
            cx.note_scratch(&at, exec, N, Kind::Write);
        }
    }
    Some(())
}

/// As [`write`], for data of `N` bytes at the given addresses.
#[inline(always)]
fn write_at<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    datum: &Datum,
    (local, at): (Local, &Lanes),
    data: u16,
) -> Option<()> {
    let exec = cx.w.exec();
    let registers: &[Lanes; WORDS] = cx.w.v.get(data as usize..)?.first_chunk()?;
    let memory: &mut [u8] = match local {
        Local::Lds { .. } => cx.lds,
        Local::Scratch { .. } => &mut cx.w.scratch,
    };
    if datum.half.is_none()
        && let Local::Lds { .. } = local
        && let Some(range) = consecutive::<N>(at, exec)
    {
        collect(datum, registers, memory.get_mut(range)?);
        return Some(());
    }
    let shift = if datum.half == Some(true) { 16 } else { 0 };
    each(exec, |lane| {
        let mut words = [0; WORDS];
        words.iter_mut().zip(registers).for_each(|(word, register)| *word = register[lane] >> shift);
        put::<N, WORDS>(memory, at[lane], words)
    })
}

/// The LDS addresses of the active lanes' data of `bytes` bytes, if all are aligned and in LDS.
pub(super) fn aligned(cx: &Cx<'_>, base: u16, offset: u32, bytes: u32) -> Option<Lanes> {
    if !cx.is_at_once() {
        return None;
    }
    let exec = cx.w.exec();
    let last = u32::try_from(cx.lds.len().checked_sub(bytes as usize)?).ok()?;
    let at = addresses(cx.w.v.get(base as usize)?, exec, offset);
    let mut bad = false;
    for at in at {
        bad |= at > last || at & (bytes - 1) != 0;
    }
    (!bad).then_some(at)
}

/// Performs a read of two data, each of `WORDS` dwords and `N` bytes, at two offsets from the addresses in register `base`; `None` if it
/// must be performed lane by lane.
pub(super) fn read_two<const N: usize, const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    base: u16,
    offsets: [u32; 2],
) -> Option<()> {
    if !cx.may_be_together() {
        return None;
    }
    let exec = cx.w.exec();
    // Both data are read before either is written, because the address register may be the destination.
    let base = cx.w.v.get(base as usize)?;
    let [first, second] = offsets.map(|offset| addresses(base, exec, offset));
    let mut words = [[[0; LANES]; WORDS]; 2];
    let lanes = cx.w.size();
    gather::<N, WORDS>(cx.lds, &first[..lanes], &mut words[0])?;
    gather::<N, WORDS>(cx.lds, &second[..lanes], &mut words[1])?;
    for (slot, words) in (s.vdst..).zip(words.as_flattened()) {
        write32(cx, slot, exec, words);
    }
    cx.note_two(&[first, second], exec, N, Kind::Read);
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
    if !cx.may_be_together() {
        return None;
    }
    let exec = cx.w.exec();
    let base = cx.w.v.get(base as usize)?;
    let [first, second] = offsets.map(|offset| addresses(base, exec, offset));
    if data.iter().any(|data| *data as usize + WORDS > cx.w.v.len()) {
        return None;
    }
    let noted_before = !cx.is_at_once();
    if noted_before {
        cx.note_stores(&[&first, &second], exec, N)?;
    }
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
    })?;
    if !noted_before {
        cx.note_two(&[first, second], exec, N, Kind::Write);
    }
    Some(())
}
