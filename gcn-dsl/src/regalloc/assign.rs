//! Assignment of machine registers: finds for every class (of coalesced virtual registers) its first machine register.
//!
//! Each register of the file has a list of the segments of time during which it is taken. A class is assigned registers
//! that are free during the segments of its dwords: the hinted ones if possible, otherwise the lowest aligned ones.
//! With [`Order::Start`] the classes are processed in the order of their first slot (point in time), wider ones first
//! among equals. That is linear scan with lifetime holes; segments that ended before the current class starts are
//! removed as the scan proceeds. With [`Order::Size`] the widest and longest classes come first, which leaves fewer
//! unusable aligned gaps.

use std::cell::Cell;
use std::cmp::Reverse;

use gcn_isa::{Reg, RegFile};

use super::classes::{Classes, Hint};
use super::segs::{Seg, Segs, Slot};
use crate::mir::{Function, VReg};
use crate::sched::dual;

/// The order in which classes are assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// By their first slot.
    Start,
    /// By size, largest first.
    Size,
}

/// The error that no free registers exist for a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoPlace {
    pub len: u8,
    pub start: Slot,
}

/// The owner of segments that contain initial state; it cannot be evicted.
const NO_OWNER: VReg = VReg(u32::MAX);

/// A segment during which a register is taken, and the class that occupies the register.
#[derive(Clone, Copy)]
struct Taken {
    start: Slot,
    end: Slot,
    owner: VReg,
}

/// The taken segments of one register, in descending order. With [`Order::Start`] a short class is therefore inserted
/// near the end, even if classes with segments throughout the function were assigned before, and entries that end
/// before the current class starts are removed from the end whenever the register is considered.
#[derive(Default)]
struct Unit(Vec<Taken>);

impl Unit {
    /// True if the register is free during `segs`. Removes segments that ended before `start`, since no later query is
    /// about an earlier slot.
    fn is_free(&mut self, start: Slot, segs: &Segs) -> bool {
        while self.0.last().is_some_and(|s| s.end <= start) {
            self.0.pop();
        }
        let mut rest = &self.0[..];
        for seg in segs.as_slice() {
            // Usually the last entry ends after the segment starts; search only if it does not.
            if rest.last().is_some_and(|s| s.end <= seg.start) {
                rest = &rest[..rest.partition_point(|s| s.end > seg.start)];
            }
            if rest.last().is_some_and(|s| s.start < seg.end) {
                return false;
            }
        }
        true
    }

    /// The classes that occupy this register during `segs`.
    fn owners<'u>(&'u self, segs: &'u Segs) -> impl Iterator<Item = VReg> + 'u {
        segs.as_slice().iter().flat_map(|seg| {
            let end = self.0.partition_point(|s| s.end > seg.start);
            self.0[..end].iter().rev().take_while(|s| s.start < seg.end).map(|s| s.owner)
        })
    }

    /// Removes and returns the entries that start before slot `end`; the others stay.
    fn split(&mut self, end: Slot) -> Vec<Taken> {
        let at = self.0.partition_point(|s| s.start >= end);
        self.0.split_off(at)
    }

    fn take(&mut self, owner: VReg, segs: &[Seg]) {
        let taken = |&Seg { start, end }: &Seg| Taken { start, end, owner };
        if let [seg] = segs {
            let at = self.0.partition_point(|s| s.start > seg.start);
            return self.0.insert(at, taken(seg));
        }
        // Merge the two lists in one pass: separate insertions would each move all earlier entries.
        let Some(last) = segs.last() else { return };
        let mut before = self.split(last.end).into_iter().peekable();
        for seg in segs.iter().rev() {
            while let Some(later) = before.next_if(|s| s.start > seg.start) {
                self.0.push(later);
            }
            self.0.push(taken(seg));
        }
        self.0.extend(before);
    }

    /// Removes the entries of a class whose last segment is `last`.
    fn release(&mut self, owner: VReg, last: Seg) {
        let before = self.split(last.end);
        self.0.extend(before.into_iter().filter(|s| s.owner != owner));
    }
}

/// For each class, by root number: its first machine register.
pub(super) struct Places(Vec<Option<u16>>);

impl Places {
    pub fn new(vregs: usize) -> Places {
        Places(vec![None; vregs])
    }

    /// The first register of a class. `None` if the class's file has not been assigned yet, or if the class is never
    /// live.
    pub fn get(&self, root: VReg) -> Option<u16> {
        self.0[root.0 as usize]
    }

    /// One past the highest register of `file` in use.
    pub fn used(&self, classes: &Classes, file: RegFile) -> u16 {
        let roots = classes.roots().filter(|&r| classes.info(r).file == file);
        let end = |r| Some(self.get(r)? + classes.live_lanes(r).len() as u16);
        roots.filter_map(end).max().unwrap_or(0)
    }
}

/// The cost of spilling a class. If registers run out, classes with a lower cost are evicted for classes with a higher
/// one.
pub(super) trait SpillCosts {
    /// The cost of the class's spill code divided by the number of slots in its life; `None` if the class must be in
    /// registers.
    fn of(&self, root: VReg) -> Option<f32>;
}

/// A set of the classes that occupy the candidate registers at hand. A class may be met many times, because it may have
/// many segments.
struct Seen {
    /// For each class, the round in which it was last seen.
    round: Vec<u32>,
    now: u32,
}

impl Seen {
    fn is_new(&mut self, owner: VReg) -> bool {
        std::mem::replace(&mut self.round[owner.0 as usize], self.now) != self.now
    }
}

/// The assignment of one register file.
pub(super) struct File<'a> {
    pub classes: &'a Classes,
    pub hints: &'a [(VReg, Hint)],
    pub file: RegFile,
    pub limit: u16,
    pub reserved: &'a [(Reg, Seg)],
    pub order: Order,
    /// For VGPRs of targets with dual instructions, whose two results must be in an even and an odd register; `None`
    /// otherwise.
    pub pairs: Option<Pairs>,
}

/// The first register of the class that was assigned last among the classes of one register, and the end of the
/// registers in use.
#[derive(Default)]
pub(super) struct Pairs {
    last: Cell<u16>,
    end: Cell<u16>,
}

impl Pairs {
    /// `Some` if results in `file` may be those of dual instructions.
    pub fn of(f: &Function, file: RegFile) -> Option<Pairs> {
        (file == RegFile::Vgpr && dual::joins(f.on())).then(Pairs::default)
    }

    /// True if `base` and the register that was assigned last are not both even or both odd, and `base` is below the
    /// end of the registers in use.
    fn takes(&self, base: u16) -> bool {
        base < self.end.get() && base % 2 != self.last.get() % 2
    }
}

impl File<'_> {
    /// Assigns registers to the file's classes.
    pub fn assign(&self, places: &mut Places) -> Result<(), NoPlace> {
        let mut units = self.units();
        self.pinned(&mut units, places)?;
        for (root, start) in self.unplaced(places) {
            let base = self
                .free(&mut units, (root, start), places)
                .ok_or(NoPlace { len: self.classes.live_lanes(root).len() as u8, start })?;
            self.place(&mut units, root, base, places);
        }
        Ok(())
    }

    /// Assigns registers to the classes that fit. If two classes do not fit together, the one with the higher spill
    /// cost stays. Returns the classes without registers.
    pub fn assign_or_evict(&self, costs: &dyn SpillCosts, places: &mut Places) -> Result<Vec<VReg>, NoPlace> {
        let mut units = self.units();
        self.pinned(&mut units, places)?;
        let mut evicted = Vec::new();
        let mut seen = Seen { round: vec![0; places.0.len()], now: 0 };
        for (root, start) in self.unplaced(places) {
            if let Some(base) = self.free(&mut units, (root, start), places) {
                self.place(&mut units, root, base, places);
                continue;
            }
            let mine = costs.of(root);
            // The result is `None` also if every possible eviction costs at least as much as spilling this class
            // itself.
            let Some((base, others)) = self.cheapest_eviction(&units, root, mine, costs, &mut seen) else {
                if mine.is_none() {
                    return Err(NoPlace { len: self.classes.live_lanes(root).len() as u8, start });
                }
                evicted.push(root);
                continue;
            };
            // Evicted classes get no registers in this round, even if some become free later: their pieces get
            // registers in the next round.
            for other in others {
                let at = places.0[other.0 as usize].take().map_or(0, usize::from);
                for (unit, lane) in units[at..].iter_mut().zip(self.classes.live_lanes(other)) {
                    lane.as_slice().last().into_iter().for_each(|last| unit.release(other, *last));
                }
                evicted.push(other);
            }
            self.place(&mut units, root, base, places);
        }
        Ok(evicted)
    }

    /// Assigns the pinned classes. This comes before all other classes.
    fn pinned(&self, units: &mut [Unit], places: &mut Places) -> Result<(), NoPlace> {
        for (root, base) in self.classes.pinned().filter(|p| self.classes.info(p.0).file == self.file) {
            let lanes = self.classes.live_lanes(root);
            let Some(start) = lanes.iter().filter_map(Segs::start).min() else { continue };
            let there = units.get_mut(usize::from(base)..usize::from(base) + lanes.len());
            let free = |units: &mut [Unit]| units.iter_mut().zip(lanes).all(|(u, lane)| u.is_free(0, lane));
            if !there.is_some_and(free) {
                return Err(NoPlace { len: lanes.len() as u8, start });
            }
            self.place(units, root, base, places);
        }
        Ok(())
    }

    /// The classes without registers, each with its first slot.
    fn unplaced(&self, places: &Places) -> Vec<(VReg, Slot)> {
        let mut list = ordered(self.classes, self.file, self.order);
        list.retain(|(root, _)| places.get(*root).is_none());
        list
    }

    fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = (0..self.limit).map(|_| Unit::default()).collect();
        for (reg, seg) in self.reserved.iter().filter(|r| r.0.file == self.file) {
            for index in reg.index..reg.end().min(self.limit) {
                units[usize::from(index)].take(NO_OWNER, &[*seg]);
            }
        }
        units
    }

    /// The machine registers at which a class can start, in ascending order: those with the class's alignment from which all its dwords fit
    /// below the limit. Some of them may be taken.
    fn bases(&self, root: VReg) -> impl Iterator<Item = u16> + use<> {
        let (align, remainder) = self.classes.align(root);
        let len = self.classes.live_lanes(root).len() as u16;
        (u16::from(remainder)..(self.limit + 1).saturating_sub(len)).step_by(usize::from(align))
    }

    /// Free registers for the class `root`, whose first slot is `start`: hinted ones if possible, otherwise the lowest.
    /// `None` if there are none.
    fn free(&self, units: &mut [Unit], (root, start): (VReg, Slot), places: &Places) -> Option<u16> {
        let lanes = self.classes.live_lanes(root);
        let (align, remainder) = self.classes.align(root);
        // With [`Order::Size`], a later class may start earlier, so no segment may be dropped.
        let start = if self.order == Order::Start { start } else { 0 };
        let mut fits = |base: u16| {
            let base = usize::from(base);
            let there = units.get_mut(base..base + lanes.len());
            there.is_some_and(|there| there.iter_mut().zip(lanes).all(|(u, lane)| u.is_free(start, lane)))
        };
        let aligned = |base: &u16| base % u16::from(align) == u16::from(remainder);
        let mine = self.hints.partition_point(|h| h.0 < root);
        // A class may have many copies, and each hint costs a test of all its dwords; the limit of eight hints bounds
        // the time.
        let hinted = self.hints[mine..].iter().take_while(|h| h.0 == root).take(8).find_map(|h| {
            match h.1 {
                Hint::At(base) => Some(base),
                Hint::Near(other, delta) => u16::try_from(i32::from(places.get(other)?) + delta).ok(),
            }
            .filter(|base| aligned(base) && fits(*base))
        });
        let pairs = self.pairs.as_ref().filter(|_| lanes.len() == 1);
        hinted
            .or_else(|| {
                pairs.and_then(|pairs| self.bases(root).find(|&base| pairs.takes(base) && fits(base)))
            })
            .or_else(|| self.bases(root).find(|&base| fits(base)))
    }

    /// The registers whose owners are the cheapest to evict. `None` if no candidate has only owners that are cheaper
    /// than the class itself (its cost is `mine`, or `None` if the class must have a register). Candidates are compared
    /// by the cost of their most expensive owner, then by the sum of the costs.
    fn cheapest_eviction(
        &self,
        units: &[Unit],
        root: VReg,
        mine: Option<f32>,
        costs: &dyn SpillCosts,
        seen: &mut Seen,
    ) -> Option<(u16, Vec<VReg>)> {
        let lanes = self.classes.live_lanes(root);
        let mut best: Option<(f32, f32, u16, Vec<VReg>)> = None;
        'bases: for base in self.bases(root) {
            let mut others: Vec<VReg> = Vec::new();
            let (mut most, mut sum) = (0.0f32, 0.0f32);
            seen.now += 1;
            for (unit, lane) in units[usize::from(base)..].iter().zip(lanes) {
                for owner in unit.owners(lane) {
                    let Some(cost) = (owner != NO_OWNER).then(|| costs.of(owner)).flatten() else {
                        continue 'bases;
                    };
                    if !seen.is_new(owner) {
                        continue;
                    }
                    (most, sum) = (most.max(cost), sum + cost);
                    // Never evict a class for one that costs the same or less, which would only make the spill code
                    // more expensive.
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
        if let Some(pairs) = &self.pairs {
            let len = self.classes.live_lanes(root).len() as u16;
            pairs.end.set(pairs.end.get().max(base + len));
            if len == 1 {
                pairs.last.set(base);
            }
        }
    }
}

/// The classes of `file` that are ever live, with their first slots, in the order of assignment.
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
