//! Vector accesses whose lanes lie one after another in an allocation, as those of most kernels do: coalesced, as a GPU calls
//! it. Their bytes are moved at once instead of lane by lane. The result is the same. Accesses with inactive
//! lanes, with a trace, or outside one allocation take the path by lanes.

use super::address::Addresses;
use super::datum::{Datum, extend};
use crate::core::machine::Cx;
use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// Bytes of the largest access: four dwords of every lane.
const MOST: usize = 16 * LANES;

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
    for (piece, register) in registers.iter_mut().enumerate() {
        match datum.bytes {
            1 => deal(bytes.as_chunks().0.iter(), register, |[byte]| extend(datum, u32::from(byte))),
            2 => deal(bytes.as_chunks().0.iter(), register, |half| {
                extend(datum, u32::from(u16::from_le_bytes(half)))
            }),
            _ => deal(bytes[4 * piece..].as_chunks().0.iter().step_by(pieces), register, u32::from_le_bytes),
        }
    }
    true
}

/// Gives each lane its datum.
#[inline]
fn deal<'a, const N: usize>(
    data: impl Iterator<Item = &'a [u8; N]>,
    to: &mut Lanes,
    value: impl Fn([u8; N]) -> u32,
) {
    for (to, datum) in to.iter_mut().zip(data) {
        *to = value(*datum);
    }
}

/// Does a store; false if it has to go by lanes.
#[inline]
pub(super) fn store(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, from: u16) -> bool {
    let Some(range) = range(cx, addresses, datum) else { return false };
    let pieces = datum.pieces as usize;
    let Some(registers) = cx.w.v.get(from as usize..from as usize + pieces) else { return false };
    let mut bytes = [0; MOST];
    let bytes = &mut bytes[..datum.size() as usize * LANES];
    for (piece, register) in registers.iter().enumerate() {
        match datum.bytes {
            1 => collect(register, bytes.as_chunks_mut().0.iter_mut(), |value| [value as u8]),
            2 => collect(register, bytes.as_chunks_mut().0.iter_mut(), |value| (value as u16).to_le_bytes()),
            _ => collect(
                register,
                bytes[4 * piece..].as_chunks_mut().0.iter_mut().step_by(pieces),
                u32::to_le_bytes,
            ),
        }
    }
    cx.memory.allocation(range.allocation).write(range.offset, bytes);
    true
}

/// Takes each lane's datum.
#[inline]
fn collect<'a, const N: usize>(
    from: &Lanes,
    to: impl Iterator<Item = &'a mut [u8; N]>,
    datum: impl Fn(u32) -> [u8; N],
) {
    for (to, value) in to.zip(from) {
        *to = datum(*value);
    }
}
