//! A fast path for vector accesses whose lanes access arbitrary places in one allocation: the allocation is looked up once, and all
//! addresses are computed and checked together. The result is the same as that of accesses lane by lane. The fast path does not handle
//! accesses to scratch, to buffers with indices, or not within one allocation.

use super::address::Addresses;
use super::buffer::Linear;
use super::datum::{Datum, extend, merge};
use crate::core::late::When;
use crate::core::machine::{Cx, Step};
use crate::core::memory::Combined;
use crate::core::trace::Kind;
use crate::core::value::{LANES, lanes};
use crate::core::wave::Lanes;
use crate::fp::host::{self, Work};
use crate::semantics::valu::write::write32;

/// Up to this number of active lanes, only these are loaded. With more it takes less time to load all lanes and to select afterwards.
const FEW: u32 = 24;

/// The places of the lanes' data.
struct Inside {
    allocation: usize,
    /// The active lanes whose data are in range; the data of other active lanes, which are out of the range of a buffer, are zero.
    there: u64,
}

impl Inside {
    /// Records the accesses, if there is a trace.
    #[inline]
    fn note(&self, cx: &mut Cx<'_>, datum: &Datum, offsets: &[u64; LANES], kind: Kind) -> Option<()> {
        let pieces = (datum.pieces, datum.bytes);
        if self.there == 0 {
            return Some(());
        }
        let first = cx.memory.allocation(self.allocation).first();
        cx.note_global((self.allocation, self.there), pieces, kind, |lane| first + offsets[lane])
    }
}

impl Linear {
    /// A mask of the lanes whose data of `bytes` bytes are in range, given that pieces of `piece` bytes are checked separately; `None` if
    /// only a part of the datum of a lane is in range. The bits of inactive lanes are undefined.
    fn in_range(&self, v: &[Lanes], active: u64, piece: u64, bytes: u64) -> Option<u64> {
        let index = self.slot.map_or(Some(&[0; LANES]), |slot| v.get(slot as usize))?;
        let offset = |lane: usize| u64::from(index[lane].wrapping_add(self.add));
        let mut beyond = false;
        for lane in 0..LANES {
            beyond |= offset(lane) + bytes > self.end;
        }
        if !beyond {
            return Some(u64::MAX);
        }
        let mut there = 0;
        for lane in lanes(active) {
            if offset(lane) + bytes <= self.end {
                there |= 1 << lane;
            } else if offset(lane) + piece <= self.end {
                return None;
            }
        }
        Some(there)
    }
}

impl Addresses {
    /// The address of a lane.
    #[inline]
    fn of_lane(&self, v: &[Lanes], lane: usize) -> Option<u64> {
        let word = |slot: u16| Some(u64::from(v.get(slot as usize)?[lane]));
        match *self {
            Addresses::Wide { slot, offset, .. } => {
                Some((word(slot)? | word(slot + 1)? << 32).wrapping_add_signed(offset))
            }
            Addresses::Based { base, slot } => Some(base.wrapping_add(slot.map_or(Some(0), word)?)),
            Addresses::Buffer(ref buffer) => {
                let Linear { base, slot, add, .. } = buffer.linear()?;
                let offset = (slot.map_or(Some(0), word)? as u32).wrapping_add(add);
                Some(base.wrapping_add(u64::from(offset)))
            }
            Addresses::Signed { .. } | Addresses::Scratch { .. } => None,
        }
    }

    /// Writes the address of each lane, including inactive ones, to `at`. (Returned by value, the addresses would be copied.)
    #[inline(always)]
    fn of_lanes(&self, v: &[Lanes], at: &mut [u64; LANES]) -> Option<()> {
        match *self {
            Addresses::Wide { slot, offset, .. } => {
                let (low, high) = (v.get(slot as usize)?, v.get(slot as usize + 1)?);
                for lane in 0..LANES {
                    let pair = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                    at[lane] = pair.wrapping_add_signed(offset);
                }
            }
            Addresses::Based { base, slot } => {
                let index = slot.map_or(Some(&[0; LANES]), |slot| v.get(slot as usize))?;
                for lane in 0..LANES {
                    at[lane] = base.wrapping_add(u64::from(index[lane]));
                }
            }
            Addresses::Buffer(ref buffer) => {
                let Linear { base, slot, add, .. } = buffer.linear()?;
                let index = slot.map_or(Some(&[0; LANES]), |slot| v.get(slot as usize))?;
                for lane in 0..LANES {
                    at[lane] = base.wrapping_add(u64::from(index[lane].wrapping_add(add)));
                }
            }
            Addresses::Signed { .. } | Addresses::Scratch { .. } => return None,
        }
        Some(())
    }
}

/// Computes the offsets of the lanes' data; fails if not all data are in the allocation.
struct Offsets<'a> {
    addresses: &'a Addresses,
    v: &'a [Lanes],
    active: u64,
    /// The address of an arbitrary active lane.
    some: u64,
    /// The first address of the allocation, and the largest offset at which a datum still fits into the allocation.
    base: u64,
    furthest: u64,
    /// The offset of the first address in the allocation.
    first: u64,
    offsets: &'a mut [u64; LANES],
}

impl Work for Offsets<'_> {
    type Out = Option<()>;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Option<()> {
        let offsets = self.offsets;
        self.addresses.of_lanes(self.v, offsets)?;
        let mut beyond = 0;
        for lane in 0..LANES {
            // Without branches, so that the compiler vectorises it.
            let inactive = (self.active >> lane & 1).wrapping_sub(1);
            let at = offsets[lane] & !inactive | self.some & inactive;
            let distance = at.wrapping_sub(self.base);
            beyond |= u64::from(distance > self.furthest);
            offsets[lane] = distance.wrapping_add(self.first);
        }
        (beyond == 0).then_some(())
    }
}

/// Finds the places of the lanes' data, and writes the offsets to `offsets`.
#[inline]
fn inside(
    cx: &mut Cx<'_>,
    addresses: &Addresses,
    datum: &Datum,
    offsets: &mut [u64; LANES],
) -> Option<Inside> {
    let exec = cx.w.exec();
    if !cx.may_be_together() || exec == 0 {
        return None;
    }
    let v = &cx.w.v[..];
    let active = match addresses {
        Addresses::Buffer(buffer) => {
            exec & buffer.linear()?.in_range(v, exec, datum.bytes.into(), datum.size().into())?
        }
        _ => exec,
    };
    if active == 0 {
        return Some(Inside { allocation: 0, there: 0 });
    }
    let some = addresses.of_lane(v, active.trailing_zeros() as usize)?;
    let bytes = u64::from(datum.size());
    // There is no allocation for flat addresses in the apertures.
    let allocation = cx.memory.find(some, bytes, cx.w.memory_hint())?;
    let (base, size) = cx.memory.allocation(allocation).extent();
    let (furthest, first) = (size - bytes, cx.memory.allocation(allocation).offset(base));
    host::lanes(Offsets { addresses, v, active, some, base, furthest, first, offsets })?;
    cx.w.set_memory_hint(allocation);
    Some(Inside { allocation, there: active })
}

/// Performs a load; `None` if it must be performed lane by lane.
pub(super) fn load(cx: &mut Cx<'_>, s: &Step, addresses: &Addresses, datum: &Datum) -> Option<()> {
    // For each lane, the offset of its datum in the allocation. For a lane without a datum, the offset of some other lane.
    let mut offsets = [0; LANES];
    let inside = inside(cx, addresses, datum, &mut offsets)?;
    inside.note(cx, datum, &offsets, Kind::Read)?;
    match datum.pieces {
        1 => load_sized::<1>(cx, s, (&inside, &offsets), datum),
        2 => load_sized::<2>(cx, s, (&inside, &offsets), datum),
        3 => load_sized::<3>(cx, s, (&inside, &offsets), datum),
        _ => load_sized::<4>(cx, s, (&inside, &offsets), datum),
    }
    Some(())
}

#[inline]
fn load_sized<const WORDS: usize>(
    cx: &mut Cx<'_>,
    s: &Step,
    (inside, offsets): (&Inside, &[u64; LANES]),
    datum: &Datum,
) {
    let exec = cx.w.exec();
    let zero = exec & !inside.there;
    for (lane, piece) in lanes(zero).flat_map(|lane| (0..WORDS).map(move |piece| (lane, piece))) {
        let (ecc, register) = (cx.machine.has_sram_ecc(), &mut cx.w.v[s.vdst as usize + piece][lane]);
        *register = merge(datum, ecc, *register, 0);
    }
    if inside.there == 0 {
        return;
    }
    let (exec, memory) = (inside.there, cx.memory);
    let loads = memory.allocation(inside.allocation).loads();
    if exec.count_ones() <= FEW && datum.bytes == 4 {
        for lane in lanes(exec) {
            let of_lane: [u32; WORDS] = loads.load_words(offsets[lane]);
            for (slot, word) in (s.vdst as usize..).zip(of_lane) {
                cx.w.v[slot][lane] = word;
            }
        }
        return;
    }
    let mut words = [[0; LANES]; WORDS];
    let offsets = &offsets[..cx.w.size()];
    let aligned = offsets.iter().fold(0, |bits, at| bits | at).is_multiple_of(4);
    if let ([register], 4, true) = (&mut words[..], datum.bytes, aligned) {
        for (word, at) in register.iter_mut().zip(offsets) {
            *word = loads.load_dword(*at);
        }
    } else if datum.bytes == 4 {
        for (lane, at) in offsets.iter().enumerate() {
            let of_lane: [u32; WORDS] = loads.load_words(*at);
            words.iter_mut().zip(of_lane).for_each(|(words, word)| words[lane] = word);
        }
    } else {
        let (ecc, old) = (cx.machine.has_sram_ecc(), &cx.w.v[s.vdst as usize]);
        for ((word, old), at) in words[0].iter_mut().zip(old).zip(offsets) {
            *word = merge(datum, ecc, *old, extend(datum, loads.load(*at, datum.bytes)));
        }
    }
    for (slot, words) in (s.vdst..).zip(&words) {
        write32(cx, slot, exec, words);
    }
}

/// Performs a load to LDS, where the data of the lanes follow each other from `start` on; `None` if it must be performed lane by lane.
pub(super) fn load_to_lds(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, start: u32) -> Option<()> {
    if cx.w.late.when != When::Issued || datum.bytes != 4 {
        return None;
    }
    let mut offsets = [0; LANES];
    let inside = inside(cx, addresses, datum, &mut offsets)?;
    let (start, size) = (start as usize, datum.size() as usize);
    let last = (u64::BITS - cx.w.exec().leading_zeros()) as usize;
    cx.lds.get(start..start + last * size)?;
    if inside.there != cx.w.exec() {
        return None;
    }
    let first = cx.memory.allocation(inside.allocation).first();
    cx.note_copies(inside.there, datum.pieces.into(), start as u32, |lane| first + offsets[lane]);
    let to = cx.lds.get_mut(start..start + last * size)?;
    let loads = cx.memory.allocation(inside.allocation).loads();
    for lane in lanes(inside.there) {
        let words = to[lane * size..][..size].as_chunks_mut().0.iter_mut();
        for (word, at) in words.zip((offsets[lane]..).step_by(4)) {
            *word = loads.load(at, 4).to_le_bytes();
        }
    }
    Some(())
}

/// The allocation that contains the aligned data of `bytes` bytes of all active lanes, whose offsets are written to `offsets`.
pub(super) fn aligned(
    cx: &mut Cx<'_>,
    addresses: &Addresses,
    bytes: u32,
    offsets: &mut [u64; LANES],
) -> Option<usize> {
    let datum = Datum { suffix: "", bytes: 4, pieces: (bytes / 4) as u16, signed: false, half: None };
    if !cx.is_at_once() {
        return None;
    }
    let Inside { allocation, there } = inside(cx, addresses, &datum, offsets)?;
    let mut aligned = there == cx.w.exec() && there != 0;
    for lane in lanes(there) {
        aligned &= offsets[lane].is_multiple_of(bytes.into());
    }
    aligned.then_some(allocation)
}

/// Performs a store of the registers from `data` on; `None` if it must be performed lane by lane.
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, data: u16) -> Option<()> {
    let mut offsets = [0; LANES];
    let inside = inside(cx, addresses, datum, &mut offsets)?;
    let from = data as usize..(data + datum.pieces) as usize;
    cx.w.v.get(from.clone())?;
    inside.note(cx, datum, &offsets, Kind::Write)?;
    let registers = cx.w.v.get(from)?;
    let shift = if datum.half == Some(true) { 16 } else { 0 };
    let mut combined = Combined::default();
    for lane in lanes(inside.there) {
        let mut rest = registers;
        let mut at = offsets[lane];
        while let [first, others @ ..] = rest {
            let value = first[lane] >> shift;
            if let ([second, others @ ..], true) = (others, at.is_multiple_of(8)) {
                combined.store_pair(cx.memory, inside.allocation, at, [value, second[lane]]);
                (rest, at) = (others, at + 8);
            } else {
                combined.store(cx.memory, inside.allocation, at, datum.bytes, value);
                (rest, at) = (others, at + 4);
            }
        }
    }
    combined.flush(cx.memory);
    Some(())
}
