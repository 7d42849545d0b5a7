//! Regions: the parts of a function for which a spilled value can have a register, namely its loops and the code
//! between them.
//!
//! A region is a range of blocks that is entered only at its first block (single entry), so that loads before that
//! block serve all of it. The regions form a tree: the function, its outermost loops and the code between them, and so
//! on.

use super::super::input;
use super::exec::writes_exec;
use crate::mir::Function;

/// The number of a region.
pub(super) type RegionId = u32;

/// The region of the whole function.
pub(super) const ROOT: RegionId = 0;

/// A range of blocks.
#[derive(Debug)]
pub(super) struct Region {
    pub first: usize,
    pub last: usize,
    /// True for a loop with all its blocks. False for code in which each block runs at most once for each entry into
    /// the region.
    pub is_loop: bool,
    /// The blocks outside the loop from which control enters it.
    pub entries: Vec<usize>,
    /// The blocks outside the region to which control leaves it.
    pub exits: Vec<usize>,
    /// True if the exits have no predecessors outside the region.
    pub own_exits: bool,
    /// True if no instruction in the region writes EXEC.
    pub same_exec: bool,
    /// The regions into which this region is divided; none for code without loops.
    pub parts: Vec<RegionId>,
}

/// All regions of a function, by number.
pub(super) struct Regions(Vec<Region>);

impl Regions {
    pub fn of(f: &Function) -> Regions {
        let blocks = f.blocks.len();
        let succs = input::successors(f);
        let mut preds = vec![Vec::new(); blocks];
        for (b, list) in succs.iter().enumerate() {
            list.iter().for_each(|&s| preds[s].push(b));
        }
        let span = |list: &Vec<usize>| Span {
            first: list.iter().copied().min().unwrap_or(usize::MAX),
            last: list.iter().copied().max().unwrap_or(0),
        };
        let from: Vec<Span> = preds.iter().map(span).collect();
        let mut finder = Finder { f, succs, preds, from, regions: Vec::new() };
        let loops = finder.loops();
        finder.add(0, blocks.saturating_sub(1), false);
        finder.divide(&loops);
        finder.look_inside();
        Regions(finder.regions)
    }

    pub fn get(&self, id: RegionId) -> &Region {
        &self.0[id as usize]
    }
}

/// The first and the last predecessor, in layout order, of a block or of all blocks in a range.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    last: usize,
}

impl Span {
    const NONE: Span = Span { first: usize::MAX, last: 0 };

    fn and(self, other: Span) -> Span {
        Span { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn is_within(self, first: usize, last: usize) -> bool {
        self.first >= first && self.last <= last
    }
}

/// A segment tree over the spans of blocks, whose leaves are in the upper half of the array; it gives the span of any
/// range of blocks in logarithmic time.
struct Spans(Vec<Span>);

impl Spans {
    fn of(blocks: &[Span]) -> Spans {
        let mut tree = vec![Span::NONE; blocks.len()];
        tree.extend(blocks);
        for i in (1..blocks.len()).rev() {
            tree[i] = tree[2 * i].and(tree[2 * i + 1]);
        }
        Spans(tree)
    }

    fn of_range(&self, range: std::ops::Range<usize>) -> Span {
        let half = self.0.len() / 2;
        let (mut a, mut b) = (range.start + half, range.end + half);
        let mut all = Span::NONE;
        while a < b {
            if a % 2 == 1 {
                all = all.and(self.0[a]);
                a += 1;
            }
            if b % 2 == 1 {
                b -= 1;
                all = all.and(self.0[b]);
            }
            (a, b) = (a / 2, b / 2);
        }
        all
    }
}

struct Finder<'f> {
    f: &'f Function,
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    /// For each block, the span of its predecessors.
    from: Vec<Span>,
    regions: Vec<Region>,
}

impl Finder<'_> {
    /// The natural loops whose blocks are a range in layout order, outer ones first: the last block of the range
    /// branches back to the first, and only the first has predecessors outside the range. If two ranges overlap without
    /// nesting, the later one is omitted.
    fn loops(&self) -> Vec<(usize, usize)> {
        let spans = Spans::of(&self.from);
        let mut found = Vec::new();
        for (head, from) in self.from.iter().enumerate() {
            let end = from.last;
            let is_loop = end >= head && self.preds[head].contains(&end);
            if is_loop && spans.of_range(head + 1..end + 1).is_within(head, end) {
                found.push((head, end));
            }
        }
        let mut open: Vec<usize> = Vec::new();
        found.retain(|&(head, end)| {
            while open.last().is_some_and(|&outer| outer < head) {
                open.pop();
            }
            let nested = open.last().is_none_or(|&outer| end <= outer);
            if nested {
                open.push(end);
            }
            nested
        });
        found
    }

    /// Adds a region with its blocks and entries; `look_inside` fills in the other fields.
    fn add(&mut self, first: usize, last: usize, is_loop: bool) -> RegionId {
        let inside = |b: &usize| (first..=last).contains(b);
        let entries = self.preds.get(first).into_iter().flatten().copied().filter(|b| !inside(b));
        self.regions.push(Region {
            first,
            last,
            is_loop,
            entries: entries.collect(),
            exits: Vec::new(),
            own_exits: true,
            same_exec: true,
            parts: Vec::new(),
        });
        self.regions.len() as RegionId - 1
    }

    /// Divides the function, and each loop, into regions.
    fn divide(&mut self, loops: &[(usize, usize)]) {
        let mut work = vec![(ROOT, loops)];
        while let Some((of, loops)) = work.pop() {
            let Region { first, last, .. } = self.regions[of as usize];
            let mut parts = Vec::new();
            // If the function as a whole is a loop, it must not become a part of itself.
            let whole = loops.first() == Some(&(first, last));
            let (mut at, mut rest) = (first, &loops[usize::from(whole)..]);
            while at <= last {
                match rest.first() {
                    Some(&(head, end)) if head == at => {
                        let inner = rest[1..].partition_point(|l| l.0 <= end);
                        let part = self.add(head, end, true);
                        work.push((part, &rest[1..][..inner]));
                        parts.push(part);
                        (at, rest) = (end + 1, &rest[1 + inner..]);
                    }
                    _ => {
                        let before = rest.first().map_or(last + 1, |l| l.0);
                        // A stretch of code between loops ends before a block that is entered from outside the stretch,
                        // or by a backward branch: such a block would be a second entry.
                        let entered = |b: usize| {
                            let Span { first, last } = self.from[b];
                            first != usize::MAX && (first < at || last >= b)
                        };
                        let end = (at + 1..before).find(|&b| entered(b)).unwrap_or(before) - 1;
                        parts.push(self.add(at, end, false));
                        at = end + 1;
                    }
                }
            }
            self.regions[of as usize].parts = parts;
        }
    }

    /// Finds the exits of each region and whether it writes EXEC: for code without loops from its blocks, for loops and
    /// the function from their parts. A part has a larger number than the region that contains it, so the reverse order
    /// visits parts first.
    fn look_inside(&mut self) {
        for id in (0..self.regions.len()).rev() {
            let region = &self.regions[id];
            let (first, last, is_loop) = (region.first, region.last, region.is_loop);
            let parts = || region.parts.iter().map(|&part| &self.regions[part as usize]);
            let (mut exits, same_exec): (Vec<usize>, bool) = if region.parts.is_empty() {
                let blocks = self.f.blocks.get(first..=last).unwrap_or_default();
                let succs = self.succs.get(first..=last).unwrap_or_default();
                let same_exec = !blocks.iter().flat_map(|b| &b.insts).any(writes_exec);
                (succs.iter().flatten().copied().collect(), same_exec)
            } else {
                (parts().flat_map(|p| &p.exits).copied().collect(), parts().all(|p| p.same_exec))
            };
            // If the code is the body of a loop, the branch back to its first block counts as an exit, because it
            // enters the region anew.
            exits.retain(|&b| !(first..=last).contains(&b) || (b == first && !is_loop));
            exits.sort_unstable();
            exits.dedup();
            let region = &mut self.regions[id];
            region.own_exits = exits.iter().all(|&e| self.from[e].is_within(first, last));
            (region.exits, region.same_exec) = (exits, same_exec);
        }
    }
}
