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

/// The owner of what initial state takes.
const NOBODY: VReg = VReg(u32::MAX);

/// A segment that a register is taken for, and by which class.
#[derive(Clone, Copy)]
struct Taken {
    start: Slot,
    end: Slot,
    owner: VReg,
}

/// The segments one register is taken for.
#[derive(Default)]
struct Unit {
    taken: Vec<Taken>,
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

    /// The classes that stand in the way of `segs`.
    fn owners<'u>(&'u self, segs: &'u Segs) -> impl Iterator<Item = VReg> + 'u {
        segs.as_slice().iter().flat_map(|seg| {
            let from = self.cursor + self.taken[self.cursor..].partition_point(|s| s.end <= seg.start);
            self.taken[from..].iter().take_while(|s| s.start < seg.end).map(|s| s.owner)
        })
    }

    fn take(&mut self, owner: VReg, segs: &[Seg]) {
        for &Seg { start, end } in segs {
            let at = self.cursor + self.taken[self.cursor..].partition_point(|s| s.start < start);
            self.taken.insert(at, Taken { start, end, owner });
        }
    }

    fn release(&mut self, segs: &[Seg]) {
        for seg in segs {
            let at = self.taken.partition_point(|s| s.start < seg.start);
            self.taken.remove(at);
            self.cursor -= usize::from(at < self.cursor);
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

    /// The end of the registers of `file` that are taken.
    pub fn used(&self, classes: &Classes, file: RegFile) -> u16 {
        let roots = classes.roots().filter(|&r| classes.info(r).file == file);
        let end = |r| Some(self.get(r)? + classes.live_lanes(r).len() as u16);
        roots.filter_map(end).max().unwrap_or(0)
    }
}

/// What decides who gets a register where there are not enough.
pub(super) trait Price {
    /// What it costs not to have the class in registers, for each slot of its life; `None` if it must be in registers.
    fn of(&self, root: VReg) -> Option<f32>;
}

/// One file of registers being handed out.
pub(super) struct File<'a> {
    pub classes: &'a Classes,
    pub hints: &'a [(VReg, Hint)],
    pub file: RegFile,
    pub limit: u16,
    pub reserved: &'a [(Reg, Seg)],
    pub order: Order,
}

impl File<'_> {
    /// Assigns the classes of the file.
    pub fn assign(&self, places: &mut Places) -> Result<(), NoPlace> {
        let mut units = self.units();
        self.pinned(&mut units, places)?;
        for (root, start) in self.free_to_go(places) {
            self.advance(&mut units, start);
            let base = self
                .free(&units, root, places)
                .ok_or(NoPlace { len: self.classes.live_lanes(root).len() as u8, start })?;
            self.place(&mut units, root, base, places);
        }
        Ok(())
    }

    /// Assigns what fits, the dearer of two that do not fit both. Returns the classes that got no place.
    pub fn assign_dearest(&self, price: &dyn Price, places: &mut Places) -> Result<Vec<VReg>, NoPlace> {
        let mut units = self.units();
        self.pinned(&mut units, places)?;
        let mut left_over = Vec::new();
        for (root, start) in self.free_to_go(places) {
            self.advance(&mut units, start);
            if let Some(base) = self.free(&units, root, places) {
                self.place(&mut units, root, base, places);
                continue;
            }
            let mine = price.of(root);
            let Some((base, others)) = self.cheapest(&units, root, mine, price) else {
                if mine.is_none() {
                    return Err(NoPlace { len: self.classes.live_lanes(root).len() as u8, start });
                }
                left_over.push(root);
                continue;
            };
            for other in others {
                let at = places.0[other.0 as usize].take().map_or(0, usize::from);
                for (unit, lane) in units[at..].iter_mut().zip(self.classes.live_lanes(other)) {
                    unit.release(lane.as_slice());
                }
                left_over.push(other);
            }
            self.place(&mut units, root, base, places);
        }
        Ok(left_over)
    }

    /// Puts the classes that have their places there, before all others.
    fn pinned(&self, units: &mut [Unit], places: &mut Places) -> Result<(), NoPlace> {
        for (root, base) in self.classes.pinned().filter(|p| self.classes.info(p.0).file == self.file) {
            let lanes = self.classes.live_lanes(root);
            let Some(start) = lanes.iter().filter_map(Segs::start).min() else { continue };
            let there = units.get(usize::from(base)..usize::from(base) + lanes.len());
            if !there.is_some_and(|units| units.iter().zip(lanes).all(|(u, lane)| u.is_free(lane))) {
                return Err(NoPlace { len: lanes.len() as u8, start });
            }
            self.place(units, root, base, places);
        }
        Ok(())
    }

    /// The classes without a place, with their first slots.
    fn free_to_go(&self, places: &Places) -> Vec<(VReg, Slot)> {
        let mut list = ordered(self.classes, self.file, self.order);
        list.retain(|(root, _)| places.get(*root).is_none());
        list
    }

    fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = (0..self.limit).map(|_| Unit::default()).collect();
        for (reg, seg) in self.reserved.iter().filter(|r| r.0.file == self.file) {
            for index in reg.index..reg.end().min(self.limit) {
                units[usize::from(index)].take(NOBODY, &[*seg]);
            }
        }
        units
    }

    fn advance(&self, units: &mut [Unit], start: Slot) {
        if self.order == Order::Start {
            units.iter_mut().for_each(|u| u.advance(start));
        }
    }

    /// The first registers that a class may have, from the lowest.
    fn bases(&self, root: VReg) -> impl Iterator<Item = u16> + use<> {
        let (align, remainder) = self.classes.align(root);
        let len = self.classes.live_lanes(root).len() as u16;
        (u16::from(remainder)..(self.limit + 1).saturating_sub(len)).step_by(usize::from(align))
    }

    /// Where the class fits: where its hints say, else at the lowest place.
    fn free(&self, units: &[Unit], root: VReg, places: &Places) -> Option<u16> {
        let lanes = self.classes.live_lanes(root);
        let (align, remainder) = self.classes.align(root);
        let fits = |base: u16| {
            usize::from(base) + lanes.len() <= units.len()
                && base % u16::from(align) == u16::from(remainder)
                && units[usize::from(base)..].iter().zip(lanes).all(|(u, lane)| u.is_free(lane))
        };
        let mine = self.hints.partition_point(|h| h.0 < root);
        let hinted = self.hints[mine..].iter().take_while(|h| h.0 == root).take(8).find_map(|h| {
            match h.1 {
                Hint::At(base) => Some(base),
                Hint::Near(other, delta) => u16::try_from(i32::from(places.get(other)?) + delta).ok(),
            }
            .filter(|&base| fits(base))
        });
        hinted.or_else(|| self.bases(root).find(|&base| fits(base)))
    }

    /// The place whose owners are the cheapest to turn out, all of them cheaper than `mine`.
    fn cheapest(
        &self,
        units: &[Unit],
        root: VReg,
        mine: Option<f32>,
        price: &dyn Price,
    ) -> Option<(u16, Vec<VReg>)> {
        let lanes = self.classes.live_lanes(root);
        let mut best: Option<(f32, f32, u16, Vec<VReg>)> = None;
        'bases: for base in self.bases(root) {
            let mut others: Vec<VReg> = Vec::new();
            let (mut most, mut sum) = (0.0f32, 0.0f32);
            for (unit, lane) in units[usize::from(base)..].iter().zip(lanes) {
                for owner in unit.owners(lane) {
                    if others.contains(&owner) {
                        continue;
                    }
                    let Some(cost) = (owner != NOBODY).then(|| price.of(owner)).flatten() else {
                        continue 'bases;
                    };
                    (most, sum) = (most.max(cost), sum + cost);
                    let dear = mine.is_some_and(|mine| most >= mine);
                    if dear || best.as_ref().is_some_and(|b| (most, sum) >= (b.0, b.1)) {
                        continue 'bases;
                    }
                    others.push(owner);
                }
            }
            best = Some((most, sum, base, others));
        }
        best.map(|(_, _, base, others)| (base, others))
    }

    fn place(&self, units: &mut [Unit], root: VReg, base: u16, places: &mut Places) {
        for (unit, lane) in units[usize::from(base)..].iter_mut().zip(self.classes.live_lanes(root)) {
            unit.take(root, lane.as_slice());
        }
        places.0[root.0 as usize] = Some(base);
    }
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
