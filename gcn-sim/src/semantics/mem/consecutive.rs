//! Vector accesses whose lanes lie one after another in an allocation, as those of most kernels do: coalesced, as a GPU calls
//! it. Their bytes are moved at once instead of lane by lane. The result is the same. Accesses with inactive
//! lanes, with a trace, or outside one allocation take the path by lanes.

use super::address::Addresses;
use super::datum::{Datum, collect, deal};
use crate::core::machine::Cx;
use crate::core::memory::Allocation;
use crate::core::value::{LANES, LOWER};
use crate::core::wave::Lanes;

/// Where the bytes are.
struct Range {
    allocation: usize,
    offset: u64,
    lanes: usize,
}

impl Addresses {
    /// Address of the first lane, if each of the others follows the one before at a distance of `stride` bytes. Lanes on both sides of a
    /// multiple of 4 GiB are taken for ones that do not.
    #[inline(always)]
    fn consecutive<const LANES: usize>(&self, v: &[Lanes], stride: u32) -> Option<u64> {
        match *self {
            Addresses::Wide { slot, offset, .. } => {
                let (low, high) = (v.get(slot as usize)?, v.get(slot as usize + 1)?);
                let first = follow::<LANES>(low, stride).filter(|_| follow::<LANES>(high, 0).is_some())?;
                let first = u64::from(first) | u64::from(high[0]) << 32;
                Some(first.wrapping_add_signed(offset))
            }
            Addresses::Based { base, slot } => {
                let index = follow::<LANES>(v.get(slot? as usize)?, stride)?;
                Some(base.wrapping_add(u64::from(index)))
            }
            Addresses::Scratch { .. } | Addresses::Buffer(_) => None,
        }
    }
}

/// The first of the words, if each of the other lanes has `stride` more than the one before.
#[inline(always)]
fn follow<const LANES: usize>(words: &Lanes, stride: u32) -> Option<u32> {
    let words: &[u32; LANES] = words.first_chunk()?;
    let first = words[0];
    // A cheap test that detects most failing accesses.
    if words[1] != first.wrapping_add(stride) {
        return None;
    }
    first.checked_add((LANES as u32 - 1) * stride)?;
    // Without an early end the comparisons are vector instructions.
    let mut differ = 0;
    for lane in 0..LANES {
        differ |= words[lane] ^ first.wrapping_add(lane as u32 * stride);
    }
    (differ == 0).then_some(first)
}

/// The bytes of an access that needs no look at its single lanes.
#[inline]
fn range(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum) -> Option<Range> {
    if cx.trace.is_some() || cx.w.exec() != cx.w.lanes || datum.half.is_some() {
        return None;
    }
    let stride = datum.size();
    // Two loops of a length that the compiler knows.
    let (address, lanes) = match cx.w.size() {
        LANES => (addresses.consecutive::<LANES>(&cx.w.v, stride)?, LANES),
        _ => (addresses.consecutive::<LOWER>(&cx.w.v, stride)?, LOWER),
    };
    // The apertures of flat addresses hold no allocation.
    let allocation = cx.memory.find(address, u64::from(stride) * lanes as u64, cx.w.memory_hint)?;
    cx.w.memory_hint = allocation;
    Some(Range { allocation, lanes, offset: cx.memory.allocation(allocation).offset(address) })
}

/// Does a load; false if it has to go by lanes.
#[inline]
pub(super) fn load(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, to: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let to = to as usize..to as usize + datum.pieces as usize;
    let Some(registers) = cx.w.v.get_mut(to) else { return false };
    let allocation = cx.memory.allocation(range.allocation);
    if let ([register], 4) = (&mut *registers, datum.bytes)
        && allocation.load_pairs(range.offset, &mut register.as_chunks_mut().0[..range.lanes / 2])
    {
        return true;
    }
    // Room of the right size: to clear that of the largest access takes longer than to load a dword of every lane.
    match datum.size() {
        0..=4 => load_bytes::<4>(allocation, &range, datum, registers),
        5..=8 => load_bytes::<8>(allocation, &range, datum, registers),
        _ => load_bytes::<16>(allocation, &range, datum, registers),
    }
    true
}

/// For data of at most `N` bytes.
#[inline(always)]
fn load_bytes<const N: usize>(
    allocation: &Allocation,
    range: &Range,
    datum: &Datum,
    registers: &mut [Lanes],
) {
    let mut bytes = [[0; N]; LANES];
    let bytes = &mut bytes.as_flattened_mut()[..datum.size() as usize * range.lanes];
    allocation.read(range.offset, bytes);
    deal(datum, bytes, registers);
}

/// Does a store; false if it has to go by lanes.
#[inline]
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, from: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let from = from as usize..from as usize + datum.pieces as usize;
    let Some(registers) = cx.w.v.get(from) else { return false };
    let allocation = cx.memory.allocation(range.allocation);
    if let ([register], 4) = (registers, datum.bytes)
        && allocation.store_pairs(range.offset, &register.as_chunks().0[..range.lanes / 2])
    {
        return true;
    }
    match datum.size() {
        0..=4 => store_bytes::<4>(allocation, &range, datum, registers),
        5..=8 => store_bytes::<8>(allocation, &range, datum, registers),
        _ => store_bytes::<16>(allocation, &range, datum, registers),
    }
    true
}

/// For data of at most `N` bytes.
#[inline(always)]
fn store_bytes<const N: usize>(allocation: &Allocation, range: &Range, datum: &Datum, registers: &[Lanes]) {
    let mut bytes = [[0; N]; LANES];
    let bytes = &mut bytes.as_flattened_mut()[..datum.size() as usize * range.lanes];
    collect(datum, registers, bytes);
    allocation.write(range.offset, bytes);
}
