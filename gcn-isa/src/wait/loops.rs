//! Orders and loops of a control-flow graph: the reverse post-order, the dominators, the nest of natural loops, and the edges that enter a
//! loop, on which waits can be inserted that the loop's body need not repeat.
//!
//! Dominators are computed by iteration over the reverse post-order (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm").
//! Loops are found by a backward search from each back edge, inner headers first. A block is not visited again for each enclosing loop,
//! because the search skips from an inner loop to the loop's header.

use crate::cfg::Cfg;
use crate::program::Jump;
use crate::table::Behaviours;
use crate::{Label, Operand, Program};

/// A natural loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loop {
    /// The block through which every path enters the loop.
    pub header: usize,
    /// The loop that encloses this loop; `None` for an outermost loop.
    pub parent: Option<usize>,
}

/// The visiting order and loop nest of a graph.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// The blocks, each once: first the blocks that are reachable from the entries in reverse post-order, then the others from further
    /// roots.
    pub order: Vec<usize>,
    /// The index of each block in `order`.
    pub rank: Vec<usize>,
    /// The blocks that control may enter other than by the program's own edges.
    pub roots: Vec<usize>,
    /// The loops, inner ones before the loops that enclose them.
    pub loops: Vec<Loop>,
    /// The innermost loop of each block; `None` for a block outside all loops.
    pub innermost: Vec<Option<usize>>,
    /// For each loop, its position in a pre-order of the loop tree, and the number of loops in its subtree, including the loop itself.
    within: Vec<(usize, usize)>,
}

impl Shape {
    /// Analyses `cfg`, which control enters at `entries`.
    pub fn of(cfg: &Cfg, entries: impl Iterator<Item = usize>) -> Shape {
        let n = cfg.blocks.len();
        let (order, roots) = reverse_post_order(cfg, entries);
        let mut rank = vec![0; n];
        for (place, &block) in order.iter().enumerate() {
            rank[block] = place;
        }
        let innermost = vec![None; n];
        let mut shape = Shape { order, rank, roots, loops: Vec::new(), innermost, within: Vec::new() };
        let dominators = shape.immediate_dominators(cfg);
        shape.find_loops(cfg, &Tree::of(&dominators));
        // Outermost loops come last, so in reverse order every parent precedes its children.
        let parents = shape.loops.iter().rev().map(|l| l.parent.map_or(0, |p| shape.loops.len() - p));
        let parents: Vec<usize> = std::iter::once(0).chain(parents).collect();
        shape.within = Tree::of(&parents).0;
        shape
    }

    /// True if `block` belongs to loop `l`.
    pub fn contains(&self, l: usize, block: usize) -> bool {
        let place = |l: usize| self.within[self.loops.len() - l];
        self.innermost[block].is_some_and(|inner| {
            let (first, count) = place(l);
            (first..first + count).contains(&place(inner).0)
        })
    }

    /// True if an edge leads backwards in the visiting order (a loop, natural or not).
    pub fn has_back_edges(&self, cfg: &Cfg) -> bool {
        cfg.blocks
            .iter()
            .enumerate()
            .any(|(b, block)| block.succs.iter().any(|&s| self.rank[s] <= self.rank[b]))
    }

    /// The loops around `block`, innermost first.
    pub fn nest(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.innermost[block], |&l| self.loops[l].parent)
    }

    /// The immediate dominator of each block. A node is a position in `order` plus one; node 0 is a virtual root above all roots.
    fn immediate_dominators(&self, cfg: &Cfg) -> Vec<usize> {
        let mut idom = vec![UNKNOWN; self.order.len() + 1];
        idom[0] = 0;
        for &root in &self.roots {
            idom[self.node(root)] = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order {
                let node = self.node(block);
                if idom[node] == 0 {
                    continue;
                }
                let known =
                    cfg.blocks[block].preds.iter().map(|&p| self.node(p)).filter(|&p| idom[p] != UNKNOWN);
                let new = known.reduce(|a, b| common_dominator(&idom, a, b)).unwrap_or(0);
                changed |= std::mem::replace(&mut idom[node], new) != new;
            }
        }
        idom
    }

    fn node(&self, block: usize) -> usize {
        self.rank[block] + 1
    }

    fn find_loops(&mut self, cfg: &Cfg, dominators: &Tree) {
        let mut outermost = Vec::new();
        for place in (0..self.order.len()).rev() {
            let header = self.order[place];
            let latches: Vec<usize> = cfg.blocks[header]
                .preds
                .iter()
                .copied()
                .filter(|&p| dominators.is_below(place + 1, self.node(p)))
                .collect();
            if !latches.is_empty() {
                self.loops.push(Loop { header, parent: None });
                outermost.push(outermost.len());
                self.flood(cfg, &mut outermost, latches);
            }
        }
    }

    /// Assigns to the last loop every block from which a latch can be reached without executing the header. `outermost` is a union-find
    /// forest that leads from each loop to its outermost enclosing loop so far.
    fn flood(&mut self, cfg: &Cfg, outermost: &mut [usize], mut work: Vec<usize>) {
        let l = self.loops.len() - 1;
        let header = self.loops[l].header;
        self.innermost[header].get_or_insert(l);
        while let Some(block) = work.pop() {
            match self.innermost[block].map(|inner| last_around(outermost, inner)) {
                Some(outermost) if outermost == l => {}
                Some(inner) => {
                    self.loops[inner].parent = Some(l);
                    outermost[inner] = l;
                    work.extend(&cfg.blocks[self.loops[inner].header].preds);
                }
                None => {
                    self.innermost[block] = Some(l);
                    work.extend(&cfg.blocks[block].preds);
                }
            }
        }
    }

    /// The edges that enter loop `l` from outside.
    pub fn entries(&self, cfg: &Cfg, l: usize) -> Vec<Edge> {
        let to = self.loops[l].header;
        let outside = |&from: &usize| !self.contains(l, from);
        cfg.blocks[to].preds.iter().copied().filter(outside).map(|from| Edge { from, to }).collect()
    }
}

/// A control-flow edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge {
    /// The block from which the edge comes.
    pub from: usize,
    /// The block to which the edge leads.
    pub to: usize,
}

/// A position at which an inserted instruction is executed exactly when control takes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Before line `.0` and after its labels: every path to the line executes the instruction.
    Before(usize),
    /// Before the labels of line `.0`: only control that falls through from the line above executes the instruction, and jumps skip it.
    FallingInto(usize),
}

impl Edge {
    /// The position on this edge; `None` if a new block would be necessary.
    pub fn place(self, program: &Program, cfg: &Cfg) -> Option<Place> {
        let from = &cfg.blocks[self.from];
        let start = cfg.blocks[self.to].start;
        let has_lines = |b: usize| cfg.blocks[b].start < cfg.blocks[b].end;
        if !has_lines(self.from) || !has_lines(self.to) {
            return None;
        }
        let line = &program.lines[from.end - 1];
        let last = &line.inst;
        let named = last.operands.iter().filter_map(|o| match *o {
            Operand::Label(label) => Some(label),
            _ => None,
        });
        let jump = line.jump.and_then(|jump| match jump {
            Jump::To(label) => Some(label),
            _ => None,
        });
        let jumps_there = named
            .chain(jump)
            .any(|Label(l)| program.labels.get(l as usize).is_some_and(|l| l.at == Some(start)));
        if !jumps_there && last.falls_through() && self.to == self.from + 1 {
            return Some(Place::FallingInto(start));
        }
        (jumps_there && last.desc.does(Behaviours::LEAVES) && !last.desc.does(Behaviours::TO_REGISTER))
            .then_some(Place::Before(from.end - 1))
    }
}

/// The blocks in reverse post-order, and the roots: the entries, then the first block that has not been reached yet, and so on.
fn reverse_post_order(cfg: &Cfg, entries: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<usize>) {
    let mut seen = vec![false; cfg.blocks.len()];
    let (mut order, mut roots) = (Vec::new(), Vec::new());
    for root in entries.chain(0..cfg.blocks.len()) {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        roots.push(root);
        let mut post = Vec::new();
        let mut stack = vec![(root, 0)];
        while let Some((block, next)) = stack.pop() {
            match cfg.blocks[block].succs.get(next) {
                Some(&succ) => {
                    stack.push((block, next + 1));
                    if !std::mem::replace(&mut seen[succ], true) {
                        stack.push((succ, 0));
                    }
                }
                None => post.push(block),
            }
        }
        order.extend(post.into_iter().rev());
    }
    (order, roots)
}

/// The value for a node whose dominator is not known yet.
const UNKNOWN: usize = usize::MAX;

/// The nearest common dominator of two nodes.
fn common_dominator(idom: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = idom[*later];
    }
    a
}

/// The outermost loop around `l` so far, found with path compression.
fn last_around(outermost: &mut [usize], mut l: usize) -> usize {
    while outermost[l] != l {
        outermost[l] = outermost[outermost[l]];
        l = outermost[l];
    }
    l
}

/// A tree whose nodes have larger numbers than their parents: for each node, its position in a pre-order, and the size
/// of its subtree.
struct Tree(Vec<(usize, usize)>);

impl Tree {
    /// The tree in which each node has the given parent. Node 0 is the root.
    fn of(parents: &[usize]) -> Tree {
        let mut tree = vec![(0, 1); parents.len()];
        for node in (1..parents.len()).rev() {
            tree[parents[node]].1 += tree[node].1;
        }
        // For each node, the pre-order position of its next child.
        let mut next = vec![1; parents.len()];
        for node in 1..parents.len() {
            let place = next[parents[node]];
            tree[node].0 = place;
            next[parents[node]] += tree[node].1;
            next[node] = place + 1;
        }
        Tree(tree)
    }

    /// True if `below` is a descendant of `above`, or the same node.
    fn is_below(&self, above: usize, below: usize) -> bool {
        let (first, count) = self.0[above];
        (first..first + count).contains(&self.0[below].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::Block;

    fn graph(edges: &[(usize, usize)]) -> Cfg {
        let n = edges.iter().map(|e| e.0.max(e.1)).max().unwrap_or(0) + 1;
        let neighbours =
            |of: &dyn Fn(&(usize, usize)) -> Option<usize>| edges.iter().filter_map(of).collect();
        let block = |b| Block {
            start: b,
            end: b + 1,
            succs: neighbours(&|e| (e.0 == b).then_some(e.1)),
            preds: neighbours(&|e| (e.1 == b).then_some(e.0)),
            unknown_exit: false,
        };
        Cfg { blocks: (0..n).map(block).collect() }
    }

    #[test]
    fn nested_loops() {
        // The edges are 0 -> 1 -> 2 -> 2, 2 -> 3 -> 1, 3 -> 4.
        let cfg = graph(&[(0, 1), (1, 2), (2, 3), (2, 2), (3, 4), (3, 1)]);
        let shape = Shape::of(&cfg, std::iter::once(0));
        assert_eq!(shape.order, [0, 1, 2, 3, 4]);
        assert_eq!(shape.loops, [Loop { header: 2, parent: Some(1) }, Loop { header: 1, parent: None }]);
        assert_eq!(shape.nest(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(shape.nest(3).collect::<Vec<_>>(), [1]);
        assert_eq!(shape.entries(&cfg, 1), [Edge { from: 0, to: 1 }]);
        assert_eq!(shape.innermost[4], None);
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_loop() {
        let cfg = graph(&[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
        let shape = Shape::of(&cfg, std::iter::once(0));
        assert!(shape.loops.is_empty());
        assert_eq!(shape.order.len(), 4);
    }

    #[test]
    fn unreached_blocks_are_roots() {
        let cfg = graph(&[(0, 1), (2, 3), (3, 2)]);
        let shape = Shape::of(&cfg, std::iter::once(0));
        assert_eq!(shape.roots, [0, 2]);
        assert_eq!(shape.loops.len(), 1);
    }
}
