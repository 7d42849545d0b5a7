//! Enumerates every control-flow graph of a few blocks, up to renaming of the blocks, and lays the graphs out as programs.

use std::collections::BTreeSet;

/// A control-flow graph. Block 0 is the entry. Each block has at most two successors, because a branch has at most two.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Graph {
    pub next: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn renamed(&self, names: &[usize]) -> Graph {
        let mut next = vec![BTreeSet::new(); self.next.len()];
        for (block, to) in self.next.iter().enumerate() {
            next[names[block]] = to.iter().map(|t| names[*t]).collect();
        }
        Graph { next }
    }
}

/// All orders of the blocks in which the entry is first.
fn orders(blocks: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![0]];
    for _ in 1..blocks {
        let longer = |order: Vec<usize>| {
            let rest = (1..blocks).filter(|b| !order.contains(b)).collect::<Vec<_>>();
            rest.into_iter().map(move |b| [order.clone(), vec![b]].concat())
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}

/// Every graph of `blocks` blocks. Of the graphs that differ only in the names of the blocks other than the entry, only one is included.
pub fn graphs(blocks: usize) -> Vec<Graph> {
    let pairs = (0..blocks).flat_map(|a| (a..blocks).map(move |b| BTreeSet::from([a, b])));
    let choices: Vec<BTreeSet<usize>> = std::iter::once(BTreeSet::new()).chain(pairs).collect();
    let mut all = vec![Vec::new()];
    for _ in 0..blocks {
        all = all
            .iter()
            .flat_map(|g| choices.iter().map(|c| [&g[..], std::slice::from_ref(c)].concat()))
            .collect();
    }
    let orders = orders(blocks);
    let is_least = |g: &Graph| orders.iter().all(|o| *g <= g.renamed(o));
    all.into_iter().map(|next| Graph { next }).filter(is_least).collect()
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// Control continues in the next block.
    RunsOn,
    Stop,
    Jump(usize),
    /// Control goes to the given block, or continues in the next block.
    Branch(usize),
    /// Control goes to one of the two blocks.
    BranchOrJump(usize, usize),
}

/// The blocks of a graph in the order in which a program has them. Blocks are identified by their position in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Layout {
    pub ends: Vec<End>,
}

impl Layout {
    fn of(graph: &Graph, runs_on: bool) -> Layout {
        let end = |(block, to): (usize, &BTreeSet<usize>)| {
            let is_next = |b: usize| runs_on && b == block + 1;
            match to.iter().copied().collect::<Vec<_>>()[..] {
                [] => End::Stop,
                [a] if is_next(a) => End::RunsOn,
                [a] => End::Jump(a),
                [a, b] if is_next(b) => End::Branch(a),
                [a, b, ..] if is_next(a) => End::Branch(b),
                [a, b, ..] => End::BranchOrJump(a, b),
            }
        };
        Layout { ends: graph.next.iter().enumerate().map(end).collect() }
    }

    /// The number of branches.
    fn branches(&self) -> usize {
        let branches = |end: &End| match end {
            End::RunsOn => 0,
            End::Stop | End::Jump(_) | End::Branch(_) => 1,
            End::BranchOrJump(..) => 2,
        };
        self.ends.iter().map(branches).sum()
    }
}

/// The layout of the graph that has the fewest branches. If `jumps` is true, the layout in which control never continues in the next block.
pub fn layout(graph: &Graph, jumps: bool) -> Layout {
    let orders = orders(graph.next.len());
    let all = orders.iter().map(|o| Layout::of(&graph.renamed(o), !jumps));
    all.min_by_key(|l| (l.branches(), l.clone())).expect("a graph has blocks")
}

#[test]
fn graphs_are_counted() {
    // By Burnside's lemma: (343 + 21) / 2 for three blocks, (14641 + 3 * 275 + 2 * 22) / 6 for four.
    let counts: Vec<usize> = (1..=4).map(|n| graphs(n).len()).collect();
    assert_eq!(counts, [2, 16, 182, 2585]);
}
