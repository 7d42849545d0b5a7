//! Detects lanes of one store that write different values to the same bytes.

use std::ops::Range;

use smallvec::SmallVec;

use super::Group;
use super::bounds::access_of;
use super::shadow::Order;
use crate::core::finding::{Finding, FindingKind, Party};
use crate::core::machine::{Cx, Step};
use crate::core::place::site;
use crate::core::trace::{Kind, Path, Touch};
use crate::core::value::LANES;

/// The content that a write has replaced, and the content after the whole instruction.
#[derive(Clone, Copy)]
pub(super) struct Write {
    old: [u8; 16],
    new: [u8; 16],
    bytes: usize,
}

impl Write {
    pub(super) fn before(&self) -> &[u8] {
        &self.old[..self.bytes]
    }

    pub(super) fn after(&self) -> &[u8] {
        &self.new[..self.bytes]
    }
}

/// For each access of an instruction, the replaced and the final content if the access writes LDS or global memory; otherwise `None`.
pub(super) fn writes(cx: &Cx<'_>, touches: &[Touch]) -> Vec<Option<Write>> {
    let mut replaced = cx.trace.as_deref().map_or(&[][..], |trace| &trace.replaced);
    let mut write = |touch: &Touch| {
        if touch.kind != Kind::Write || touch.space == Path::Scratch {
            return None;
        }
        let bytes = usize::from(touch.bytes);
        let (old, rest) = replaced.split_at_checked(bytes)?;
        replaced = rest;
        let mut write = Write { old: [0; 16], new: [0; 16], bytes };
        write.old[..bytes].copy_from_slice(old);
        let now = &mut write.new[..bytes];
        let is_there = match touch.space {
            Path::Lds => {
                let from = cx.lds.get(touch.address as usize..).and_then(|lds| lds.get(..bytes));
                from.map(|from| now.copy_from_slice(from)).is_some()
            }
            _ => cx.memory.peek(touch.address, now),
        };
        is_there.then_some(write)
    };
    touches.iter().map(&mut write).collect()
}

/// The runs of accesses of which each follows the one before: in the same memory, of the same kind and size, at the next address.
pub(super) fn runs(touches: &[Touch]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = touches.get(start)?;
        let mut next = first.address + u64::from(first.bytes);
        let mut end = start + 1;
        while let Some(touch) = touches.get(end)
            && touch.address == next
            && touch.is_like(first)
        {
            next += u64::from(touch.bytes);
            end += 1;
        }
        let run = start..end;
        start = end;
        Some(run)
    })
}

/// True if no two stores of an instruction write the same byte that others see. `runs` are those that follow each other.
pub(super) fn are_apart(touches: &[Touch], runs: &[Range<usize>]) -> bool {
    let is_seen = |touch: &Touch| touch.kind == Kind::Write && touch.space != Path::Scratch;
    let stores = runs.iter().filter(|run| is_seen(&touches[run.start]));
    let mut ranges: SmallVec<[(u64, u64); LANES]> = stores
        .map(|run| {
            let first = &touches[run.start];
            (first.address, first.address + run.len() as u64 * u64::from(first.bytes))
        })
        .collect();
    let are_apart = |ranges: &[(u64, u64)]| ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    are_apart(&ranges) || {
        ranges.sort_unstable();
        are_apart(&ranges)
    }
}

/// Two accesses of different lanes that write different values to the same byte, if there are any. Atomic stores may do that; one of their
/// values remains.
///
/// The simulator writes lane by lane. If a lane replaces a value that an earlier lane of the same store has written, and the final value
/// differs from it, the two lanes have written different values to one address.
pub(super) fn conflict<'t>(
    touches: &'t [Touch],
    orders: &[Order],
    writes: &[Option<Write>],
) -> Option<(&'t Touch, &'t Touch)> {
    let plain = |n: &usize| orders[*n] != Order::Atomic;
    let mut by_address: Vec<(usize, Write)> =
        (0..touches.len()).filter(plain).filter_map(|n| Some((n, writes[n]?))).collect();
    by_address.sort_unstable_by_key(|(n, _)| (touches[*n].address, *n));
    // All accesses of an instruction have the same size, so accesses to the same byte are adjacent in this order.
    by_address.windows(2).find_map(|pair| {
        let [low, high] = [&pair[0], &pair[1]];
        let distance = (touches[high.0].address - touches[low.0].address) as usize;
        let common = low.1.bytes.checked_sub(distance).filter(|common| *common > 0)?;
        let common = common.min(high.1.bytes);
        let ((first, _), (last, write)) = if low.0 < high.0 { (low, high) } else { (high, low) };
        let start = if last == &low.0 { distance } else { 0 };
        let range = start..start + common;
        let differs = write.old.get(range.clone())? != write.new.get(range)?;
        let [earlier, later] = [&touches[*first], &touches[*last]];
        (differs && earlier.lane != later.lane).then_some((earlier, later))
    })
}

impl Group {
    /// The finding for two lanes of one store.
    pub(super) fn lane_race(&self, cx: &Cx<'_>, step: &Step, earlier: &Touch, later: &Touch) -> Finding {
        let access = Some(access_of(later));
        let mut finding = self.finding(FindingKind::LaneRace, cx, step, later.lane, access);
        finding.other = Some(Party {
            site: site(cx, self.id, step),
            lane: earlier.lane,
            access: Some(access_of(earlier)),
        });
        finding.remedy =
            "which value remains is not defined: let one lane store, or use an atomic".to_owned();
        finding
    }
}
