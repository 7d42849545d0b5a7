//! A fast path for vector accesses whose lanes access arbitrary places in one allocation: the allocation is looked up once, and all
//! addresses are computed and checked together. The result is the same as that of accesses lane by lane. The fast path does not handle
//! accesses with a trace, to buffers, to scratch, or not within one allocation.

use super::address::Addresses;
use super::datum::{Datum, extend, merge};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Combined;
use crate::core::value::{LANES, lanes};
use crate::core::wave::Lanes;
use crate::fp::host::{self, Work};
use crate::semantics::valu::write::write32;

/// The places of the lanes' data.
struct Inside {
    allocation: usize,
    /// For each lane, the offset of its datum in the allocation. For an inactive lane, the offset of some active lane.
    offsets: [u64; LANES],
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
            Addresses::Signed { .. } | Addresses::Scratch { .. } | Addresses::Buffer(_) => None,
        }
    }

    /// The address of each lane, including inactive ones.
    #[inline(always)]
    fn of_lanes(&self, v: &[Lanes]) -> Option<[u64; LANES]> {
        let mut at = [0; LANES];
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
            Addresses::Signed { .. } | Addresses::Scratch { .. } | Addresses::Buffer(_) => return None,
        }
        Some(at)
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
}

impl Work for Offsets<'_> {
    type Out = Option<[u64; LANES]>;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Option<[u64; LANES]> {
        let mut offsets = self.addresses.of_lanes(self.v)?;
        let mut beyond = false;
        for lane in 0..LANES {
            let at = if self.active >> lane & 1 == 1 { offsets[lane] } else { self.some };
            let distance = at.wrapping_sub(self.base);
            beyond |= distance > self.furthest;
            offsets[lane] = distance.wrapping_add(self.first);
        }
        (!beyond).then_some(offsets)
    }
}

#[inline]
fn inside(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum) -> Option<Inside> {
    let active = cx.w.exec();
    if cx.trace.is_some() || active == 0 {
        return None;
    }
    let v = &cx.w.v[..];
    let some = addresses.of_lane(v, active.trailing_zeros() as usize)?;
    let bytes = u64::from(datum.size());
    // There is no allocation for flat addresses in the apertures.
    let allocation = cx.memory.find(some, bytes, cx.w.memory_hint)?;
    cx.w.memory_hint = allocation;
    let (base, size) = cx.memory.allocation(allocation).extent();
    let (furthest, first) = (size - bytes, cx.memory.allocation(allocation).offset(base));
    let offsets = host::lanes(Offsets { addresses, v, active, some, base, furthest, first })?;
    Some(Inside { allocation, offsets })
}

/// Performs a load; `None` if it must be performed lane by lane.
pub(super) fn load(cx: &mut Cx<'_>, s: &Step, addresses: &Addresses, datum: &Datum) -> Option<()> {
    let inside = inside(cx, addresses, datum)?;
    match datum.pieces {
        1 => load_sized::<1>(cx, s, &inside, datum),
        2 => load_sized::<2>(cx, s, &inside, datum),
        3 => load_sized::<3>(cx, s, &inside, datum),
        _ => load_sized::<4>(cx, s, &inside, datum),
    }
    Some(())
}

#[inline]
fn load_sized<const WORDS: usize>(cx: &mut Cx<'_>, s: &Step, inside: &Inside, datum: &Datum) {
    let mut words = [[0; LANES]; WORDS];
    let loads = cx.memory.allocation(inside.allocation).loads();
    if datum.bytes == 4 {
        for (lane, at) in inside.offsets.iter().enumerate() {
            let of_lane: [u32; WORDS] = loads.load_words(*at);
            words.iter_mut().zip(of_lane).for_each(|(words, word)| words[lane] = word);
        }
    } else {
        let (ecc, old) = (cx.machine.has_sram_ecc(), &cx.w.v[s.vdst as usize]);
        for ((word, old), at) in words[0].iter_mut().zip(old).zip(&inside.offsets) {
            *word = merge(datum, ecc, *old, extend(datum, loads.load(*at, datum.bytes)));
        }
    }
    let exec = cx.w.exec();
    for (slot, words) in (s.vdst..).zip(&words) {
        write32(cx, slot, exec, words);
    }
}

/// Performs a store of the registers from `data` on; `None` if it must be performed lane by lane.
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, data: u16) -> Option<()> {
    let inside = inside(cx, addresses, datum)?;
    let registers = cx.w.v.get(data as usize..(data + datum.pieces) as usize)?;
    let shift = if datum.half == Some(true) { 16 } else { 0 };
    let mut combined = Combined::default();
    for lane in lanes(cx.w.exec()) {
        let mut rest = registers;
        let mut at = inside.offsets[lane];
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
