//! Assignment: a place in its register file for every class.
//!
//! Each register of the file has the list of segments it is taken for. A class goes where none of its dwords meets a
//! taken segment: first where its hints say, else at the lowest aligned place. With [`Order::Start`] classes come in
//! order of their first slot (linear scan), wider ones first where equal; a cursor per register skips what ended
//! before. With [`Order::Size`] the widest and longest come first, which wastes fewer aligned gaps.

use std::cmp::Reverse;

use gcn_isa::{Reg, RegFile};

use super::classes::{Classes, Hint};
use super::segs::{Seg, Segs, Slot};
use crate::mir::VReg;

/// In which order classes choose their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// By first slot.
    Start,
    /// By size.
    Size,
}

/// A class for which there is no place.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoPlace {
    pub len: u8,
    pub start: Slot,
}

/// The segments one register is taken for.
#[derive(Default)]
struct Unit {
    taken: Vec<Seg>,
    /// With ascending starts: what is before ended before the current class starts.
    cursor: usize,
}

impl Unit {
    fn advance(&mut self, start: Slot) {
        while self.taken.get(self.cursor).is_some_and(|s| s.end <= start) {
            self.cursor += 1;
        }
    }

    fn is_free(&self, segs: &Segs) -> bool {
        let mut at = self.cursor;
        for seg in segs.as_slice() {
            // The common case first: free or taken right here.
            if self.taken.get(at).is_some_and(|s| s.end <= seg.start) {
                at += self.taken[at..].partition_point(|s| s.end <= seg.start);
            }
            if self.taken.get(at).is_some_and(|s| s.start < seg.end) {
                return false;
            }
        }
        true
    }

    fn take(&mut self, segs: &[Seg]) {
        for &seg in segs {
            let at = self.cursor + self.taken[self.cursor..].partition_point(|s| s.start < seg.start);
            self.taken.insert(at, seg);
        }
    }
}

/// The places: first register of each class by root number.
pub(super) struct Places(Vec<Option<u16>>);

impl Places {
    pub fn new(vregs: usize) -> Places {
        Places(vec![None; vregs])
    }

    /// The place of a class, if its file was assigned and it is ever live.
    pub fn get(&self, root: VReg) -> Option<u16> {
        self.0[root.0 as usize]
    }
}

/// Assigns the classes of one file.
pub(super) fn assign(
    classes: &Classes,
    hints: &[(VReg, Hint)],
    file: RegFile,
    limit: u16,
    reserved: &[(Reg, Seg)],
    order: Order,
    places: &mut Places,
) -> Result<(), NoPlace> {
    let mut units: Vec<Unit> = (0..limit).map(|_| Unit::default()).collect();
    for (reg, seg) in reserved.iter().filter(|r| r.0.file == file) {
        for index in reg.index..reg.end().min(limit) {
            units[usize::from(index)].take(&[*seg]);
        }
    }
    for (root, start) in ordered(classes, file, order) {
        if order == Order::Start {
            units.iter_mut().for_each(|u| u.advance(start));
        }
        let lanes = classes.live_lanes(root);
        let (align, remainder) = classes.align(root);
        let fits = |base: u16| {
            usize::from(base) + lanes.len() <= units.len()
                && base % u16::from(align) == u16::from(remainder)
                && units[usize::from(base)..].iter().zip(lanes).all(|(u, lane)| u.is_free(lane))
        };
        let mine = hints.partition_point(|h| h.0 < root);
        let hinted = hints[mine..].iter().take_while(|h| h.0 == root).take(8).find_map(|h| {
            match h.1 {
                Hint::At(base) => Some(base),
                Hint::Near(other, delta) => u16::try_from(i32::from(places.get(other)?) + delta).ok(),
            }
            .filter(|&base| fits(base))
        });
        let lowest = || (u16::from(remainder)..limit).step_by(usize::from(align)).find(|&base| fits(base));
        let Some(base) = hinted.or_else(lowest) else {
            return Err(NoPlace { len: lanes.len() as u8, start });
        };
        for (unit, lane) in units[usize::from(base)..].iter_mut().zip(lanes) {
            unit.take(lane.as_slice());
        }
        places.0[root.0 as usize] = Some(base);
    }
    Ok(())
}

/// The classes of `file` that are ever live, with their first slots.
fn ordered(classes: &Classes, file: RegFile, order: Order) -> Vec<(VReg, Slot)> {
    let live = |&root: &VReg| classes.info(root).file == file;
    let first = |root| classes.lanes(root).iter().filter_map(Segs::start).min().map(|start| (root, start));
    let mut list: Vec<(VReg, Slot)> = classes.roots().filter(live).filter_map(first).collect();
    match order {
        Order::Start => list.sort_by_key(|&(root, start)| (start, Reverse(classes.info(root).len), root)),
        Order::Size => {
            let length = |root| -> u64 {
                let segs = classes.lanes(root).iter().flat_map(Segs::as_slice);
                segs.map(|s| u64::from(s.end - s.start)).sum()
            };
            list.sort_by_cached_key(|&(root, start)| {
                (Reverse(classes.info(root).len), Reverse(length(root)), start, root)
            });
        }
    }
    list
}
