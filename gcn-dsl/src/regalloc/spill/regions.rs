//! The parts of a function that a value can have a register for of its own: its loops, and the code between them.
//!
//! Every part is a range of blocks that is entered at its first block only, so that one move before it serves all of it.

use super::super::input;
use super::exec::writes_exec;
use crate::mir::Function;

/// The number of a region.
pub(super) type RegionId = u32;

/// The whole function.
pub(super) const ROOT: RegionId = 0;

/// A range of blocks.
#[derive(Debug)]
pub(super) struct Region {
    pub first: usize,
    pub last: usize,
    /// A loop with all its blocks; else code of which each block runs at most once.
    pub is_loop: bool,
    /// The blocks before a loop from which it is entered.
    pub entries: Vec<usize>,
    /// Blocks behind a region to which it is left.
    pub exits: Vec<usize>,
    /// The exits are reached from the region only.
    pub own_exits: bool,
    /// No instruction in it changes EXEC.
    pub same_exec: bool,
    /// The regions that it consists of; none for code without loops.
    pub parts: Vec<RegionId>,
}

/// All regions of a function.
pub(super) struct Regions(Vec<Region>);

impl Regions {
    pub fn of(f: &Function) -> Regions {
        let blocks = f.blocks.len();
        let succs = input::successors(f);
        let mut preds = vec![Vec::new(); blocks];
        for (b, list) in succs.iter().enumerate() {
            list.iter().for_each(|&s| preds[s].push(b));
        }
        let mut finder = Finder { f, succs, preds, regions: Vec::new() };
        let loops = finder.loops();
        finder.add(0, blocks.saturating_sub(1), false);
        finder.divide(ROOT, &loops);
        Regions(finder.regions)
    }

    pub fn get(&self, id: RegionId) -> &Region {
        &self.0[id as usize]
    }
}

struct Finder<'f> {
    f: &'f Function,
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    regions: Vec<Region>,
}

impl Finder<'_> {
    /// Ranges of blocks that end in a branch back and are entered at their first block, outer ones first. Of two that
    /// overlap without one being in the other, the later is left out.
    fn loops(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for head in 0..self.f.blocks.len() {
            let back = self.preds[head].iter().copied().filter(|&p| p >= head);
            let Some(end) = back.max() else { continue };
            let inside = |b: usize| self.preds[b].iter().all(|p| (head..=end).contains(p));
            if (head + 1..=end).all(inside) {
                found.push((head, end));
            }
        }
        let mut open: Vec<usize> = Vec::new();
        found.retain(|&(head, end)| {
            open.retain(|&outer| outer >= head);
            let nested = open.last().is_none_or(|&outer| end <= outer);
            if nested {
                open.push(end);
            }
            nested
        });
        found
    }

    fn add(&mut self, first: usize, last: usize, is_loop: bool) -> RegionId {
        let inside = |b: &usize| (first..=last).contains(b);
        let blocks = || self.f.blocks.iter().take(last + 1).skip(first);
        // The code of a loop's body is left for its beginning, where it is entered again.
        let outside = |b: &usize| !inside(b) || (*b == first && !is_loop);
        let mut exits: Vec<usize> =
            (first..=last).filter_map(|b| self.succs.get(b)).flatten().copied().filter(outside).collect();
        exits.sort_unstable();
        exits.dedup();
        let entries = self.preds.get(first).into_iter().flatten().copied().filter(|b| !inside(b));
        self.regions.push(Region {
            first,
            last,
            is_loop,
            entries: entries.collect(),
            own_exits: exits.iter().all(|&e| self.preds[e].iter().all(inside)),
            exits,
            same_exec: !blocks().flat_map(|b| &b.insts).any(writes_exec),
            parts: Vec::new(),
        });
        self.regions.len() as RegionId - 1
    }

    /// Finds the parts of a region; `loops` are those in it.
    fn divide(&mut self, of: RegionId, loops: &[(usize, usize)]) {
        let Region { first, last, .. } = self.regions[of as usize];
        let mut parts = Vec::new();
        // A function may be a loop as a whole.
        let whole = loops.first() == Some(&(first, last));
        let (mut at, mut rest) = (first, &loops[usize::from(whole)..]);
        while at <= last {
            match rest.first() {
                Some(&(head, end)) if head == at => {
                    let inner = rest[1..].partition_point(|l| l.0 <= end);
                    let part = self.add(head, end, true);
                    self.divide(part, &rest[1..][..inner]);
                    parts.push(part);
                    (at, rest) = (end + 1, &rest[1 + inner..]);
                }
                _ => {
                    let before = rest.first().map_or(last + 1, |l| l.0);
                    let entered = |b: usize| self.preds[b].iter().any(|p| !(at..b).contains(p));
                    let end = (at + 1..before).find(|&b| entered(b)).unwrap_or(before) - 1;
                    parts.push(self.add(at, end, false));
                    at = end + 1;
                }
            }
        }
        self.regions[of as usize].parts = parts;
    }
}
