//! Vector accesses whose lanes lie one after another in an allocation, as those of most kernels do: coalesced, as a GPU calls
//! it. Their bytes are moved at once instead of lane by lane. The result is the same. Accesses with inactive
//! lanes, with a trace, or outside one allocation take the path by lanes.

use super::address::Addresses;
use super::datum::{Datum, MOST, collect, deal};
use crate::core::machine::Cx;
use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// Where the bytes are.
struct Range {
    allocation: usize,
    offset: u64,
}

impl Addresses {
    /// Address of the first lane, if each of the others follows the one before at a distance of `stride` bytes.
    fn consecutive(&self, v: &[Lanes], stride: u64) -> Option<u64> {
        let follow = |address: &dyn Fn(usize) -> u64| {
            // Without an early end the comparisons are vector instructions.
            let first = address(0);
            let differ = (0..LANES)
                .fold(0, |differ, lane| differ | (address(lane) ^ first.wrapping_add(lane as u64 * stride)));
            (differ == 0).then_some(first)
        };
        match *self {
            Addresses::Wide { slot, offset, .. } => {
                let (low, high) = (v.get(slot as usize)?, v.get(slot as usize + 1)?);
                let first = follow(&|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)?;
                Some(first.wrapping_add_signed(offset))
            }
            Addresses::Based { base, slot } => {
                let index = v.get(slot? as usize)?;
                Some(base.wrapping_add(follow(&|lane| u64::from(index[lane]))?))
            }
            Addresses::Scratch { .. } | Addresses::Buffer(_) => None,
        }
    }
}

/// The bytes of an access that needs no look at its single lanes.
#[inline]
fn range(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum) -> Option<Range> {
    if cx.trace.is_some() || cx.w.exec() != u64::MAX || datum.half.is_some() {
        return None;
    }
    let stride = u64::from(datum.size());
    let address = addresses.consecutive(&cx.w.v, stride)?;
    // The apertures of flat addresses hold no allocation.
    let allocation = cx.memory.find(address, stride * LANES as u64, cx.w.memory_hint)?;
    cx.w.memory_hint = allocation;
    Some(Range { allocation, offset: cx.memory.allocation(allocation).offset(address) })
}

/// Does a load; false if it has to go by lanes.
#[inline]
pub(super) fn load(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, to: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let pieces = datum.pieces as usize;
    let Some(registers) = cx.w.v.get_mut(to as usize..to as usize + pieces) else { return false };
    let mut bytes = [0; MOST];
    let bytes = &mut bytes[..datum.size() as usize * LANES];
    cx.memory.allocation(range.allocation).read(range.offset, bytes);
    deal(datum, bytes, registers);
    true
}

/// Does a store; false if it has to go by lanes.
#[inline]
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, from: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let pieces = datum.pieces as usize;
    let Some(registers) = cx.w.v.get(from as usize..from as usize + pieces) else { return false };
    let mut bytes = [0; MOST];
    let bytes = &mut bytes[..datum.size() as usize * LANES];
    collect(datum, registers, bytes);
    cx.memory.allocation(range.allocation).write(range.offset, bytes);
    true
}
