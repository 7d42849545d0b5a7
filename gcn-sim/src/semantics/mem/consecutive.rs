//! A fast path for coalesced vector accesses, whose lanes access consecutive data in one allocation: all bytes are moved at once instead of
//! lane by lane, with the same result. It does not handle accesses with inactive lanes, or not within one allocation; these
//! are performed lane by lane.

use super::address::Addresses;
use super::datum::{Datum, collect, deal};
use crate::core::machine::Cx;
use crate::core::memory::Allocation;
use crate::core::trace::Kind;
use crate::core::value::{LANES, LOWER};
use crate::core::wave::Lanes;

/// The bytes of a coalesced access.
struct Range {
    address: u64,
    allocation: usize,
    offset: u64,
    lanes: usize,
}

impl Range {
    /// Records the access, if there is a trace.
    #[inline]
    fn note(&self, cx: &mut Cx<'_>, datum: &Datum, kind: Kind) -> Option<()> {
        let (pieces, active) = ((datum.pieces, datum.bytes), cx.w.exec());
        let address = |lane: usize| self.address + lane as u64 * u64::from(datum.size());
        cx.note_global((self.allocation, active), pieces, kind, address)
    }
}

impl Addresses {
    /// The address of the first lane, if the address of each other lane is that of the lane before plus `stride`; otherwise `None`. Also
    /// `None` if a multiple of 4 GiB lies between the addresses.
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
            Addresses::Buffer(ref buffer) => {
                let linear = buffer.linear()?;
                let first = follow::<LANES>(v.get(linear.slot? as usize)?, stride)?.wrapping_add(linear.add);
                let after = first.checked_add(LANES as u32 * stride)?;
                (u64::from(after) <= linear.end).then(|| linear.base.wrapping_add(u64::from(first)))
            }
            Addresses::Signed { .. } | Addresses::Scratch { .. } => None,
        }
    }
}

/// The value of the first lane, if the value of each other lane is that of the lane before plus `stride`; otherwise `None`.
#[inline(always)]
fn follow<const LANES: usize>(words: &Lanes, stride: u32) -> Option<u32> {
    let words: &[u32; LANES] = words.first_chunk()?;
    let first = words[0];
    // A cheap test that rejects most accesses that are not consecutive.
    if words[1] != first.wrapping_add(stride) {
        return None;
    }
    first.checked_add((LANES as u32 - 1) * stride)?;
    // Without an early exit, the compiler vectorises the comparisons.
    let mut differ = 0;
    for lane in 0..LANES {
        differ |= words[lane] ^ first.wrapping_add(lane as u32 * stride);
    }
    (differ == 0).then_some(first)
}

/// The range of a coalesced access; `None` if the access must be performed lane by lane.
#[inline]
fn range(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum) -> Option<Range> {
    if !cx.may_be_together() || cx.w.exec() != cx.w.lanes || datum.half.is_some() {
        return None;
    }
    let stride = datum.size();
    // Separate loops, whose lengths are known at compile time.
    let (address, lanes) = match cx.w.size() {
        LANES => (addresses.consecutive::<LANES>(&cx.w.v, stride)?, LANES),
        _ => (addresses.consecutive::<LOWER>(&cx.w.v, stride)?, LOWER),
    };
    // There is no allocation for flat addresses in the apertures.
    let allocation = cx.memory.find(address, u64::from(stride) * lanes as u64, cx.w.memory_hint())?;
    cx.w.set_memory_hint(allocation);
    Some(Range { address, allocation, lanes, offset: cx.memory.allocation(allocation).offset(address) })
}

/// Performs a load. Returns false if it must be performed lane by lane.
#[inline]
pub(super) fn load(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, to: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let to = to as usize..to as usize + datum.pieces as usize;
    if cx.w.v.len() < to.end || range.note(cx, datum, Kind::Read).is_none() {
        return false;
    }
    let Some(registers) = cx.w.v.get_mut(to) else { return false };
    let allocation = cx.memory.allocation(range.allocation);
    if let ([register], 4) = (&mut *registers, datum.bytes)
        && allocation.load_pairs(range.offset, &mut register.as_chunks_mut().0[..range.lanes / 2])
    {
        return true;
    }
    // Chooses a buffer of the right size: clearing one for the largest access takes longer than loading a dword for every lane.
    match datum.size() {
        0..=4 => load_bytes::<4>(allocation, &range, datum, registers),
        5..=8 => load_bytes::<8>(allocation, &range, datum, registers),
        _ => load_bytes::<16>(allocation, &range, datum, registers),
    }
    true
}

/// As [`load`], for data of at most `N` bytes in each lane.
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

/// Performs a store. Returns false if it must be performed lane by lane.
#[inline]
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, from: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let from = from as usize..from as usize + datum.pieces as usize;
    if cx.w.v.len() < from.end || range.note(cx, datum, Kind::Write).is_none() {
        return false;
    }
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

/// As [`store`], for data of at most `N` bytes in each lane.
#[inline(always)]
fn store_bytes<const N: usize>(allocation: &Allocation, range: &Range, datum: &Datum, registers: &[Lanes]) {
    let mut bytes = [[0; N]; LANES];
    let bytes = &mut bytes.as_flattened_mut()[..datum.size() as usize * range.lanes];
    collect(datum, registers, bytes);
    allocation.write(range.offset, bytes);
}
