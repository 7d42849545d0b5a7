//! The third step of [`solve`](super::solve): lowers waits that are stronger than the exact solution requires, and finds the reasons for
//! the waits that cannot be lowered.

use std::collections::{BTreeMap, BTreeSet};

use super::LOOP_WEIGHT;
use super::loops::Edge;
use super::solve::{Before, Known, Mode, Pass, Solver};

/// The budget of this step, in visited lines and joined entries of states, including revisits: the first number for each line of the
/// program, but at least the second number. A trial visits the blocks that the wait affects, usually those of one or two loops, but
/// possibly the whole program.
const POLISH_BUDGET: (usize, usize) = (64, 20_000_000);

/// Loops that are nested more deeply than this have the same cost as loops at this depth.
pub(super) const DEEPEST: usize = 6;

/// The position of a wait.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Line { block: usize, line: usize },
    Edge(Edge),
}

impl<P: Pass> Solver<'_, P> {
    /// Lowers waits that are stronger than the exact solution requires, as long as every line still waits for enough. When a wait is
    /// lowered, or replaced by a wait at another position, a nearby wait may become too strong, so this is repeated until nothing changes.
    pub(super) fn polish(&mut self) {
        let (per_line, least) = POLISH_BUDGET;
        let budget = self.program.lines.len().saturating_mul(per_line).max(least);
        let budget = self.work + budget;
        let mut near: Option<BTreeSet<usize>> = None;
        let mut held = Vec::new();
        loop {
            let mut changed = self.polish_once(near.as_ref(), &mut held, budget);
            if changed.is_empty() {
                for at in std::mem::take(&mut held) {
                    changed.extend(self.weaken(at, budget).into_iter().flatten());
                }
            }
            if changed.is_empty() || self.work > budget {
                break;
            }
            near = Some(changed);
        }
    }

    /// Tries to lower the waits that are too strong, in the blocks `near` or, without `near`, in all blocks. Returns the blocks that the
    /// lowered waits affect, and adds to `held` the lines that must wait for more than they need themselves.
    fn polish_once(
        &mut self,
        near: Option<&BTreeSet<usize>>,
        held: &mut Vec<At>,
        budget: usize,
    ) -> BTreeSet<usize> {
        let mut changed = BTreeSet::new();
        for (at, lower) in self.too_strong(near) {
            if self.work > budget {
                return changed;
            }
            match self.try_lower(at, lower).or_else(|| self.try_instead(at, lower)) {
                Some(blocks) => changed.extend(blocks),
                None => held.push(at),
            }
        }
        let is_near = |e: &Edge| near.is_none_or(|near| near.contains(&e.from) || near.contains(&e.to));
        let edges: Vec<Edge> = self.waits.edges.keys().copied().filter(is_near).collect();
        for edge in edges {
            changed.extend(self.weaken(At::Edge(edge), budget).into_iter().flatten());
        }
        changed
    }

    /// Lowers one wait to a weaker one if the other waits are still sufficient then. The weakest is tried first. Returns the affected
    /// blocks, or `None` if the wait was not lowered.
    fn weaken(&mut self, at: At, budget: usize) -> Option<Vec<usize>> {
        let wait = self.wait_at(at);
        let weaker = self.pass.weaker(wait).into_iter().filter(|w| *w != wait);
        for lower in weaker {
            if self.work > budget {
                return None;
            }
            if let Some(blocks) = self.try_lower(at, lower) {
                return Some(blocks);
            }
        }
        None
    }

    /// Lowers one wait if the other waits are still sufficient then. Returns the affected blocks, or `None` if the wait cannot be lowered.
    fn try_lower(&mut self, at: At, lower: P::Need) -> Option<Vec<usize>> {
        self.begin();
        self.lower(at, lower);
        if self.suffices() {
            return Some(self.keep());
        }
        self.undo();
        None
    }

    /// Lowers the wait of a line if the solution that follows needs other waits but costs less. This is possible because a wait that is
    /// stronger than its own line needs may cover the needs of later lines. The attempt fails if the line would then need the old wait
    /// again, because an operation stays outstanding around a loop. Returns the affected blocks, or `None` if the attempt failed.
    fn try_instead(&mut self, at: At, lower: P::Need) -> Option<Vec<usize>> {
        let At::Line { block, line } = at else { return None };
        self.begin();
        self.lower(at, lower);
        self.again(Mode::Grow);
        let regrown = self.waits.lines[block].iter().any(|w| w.0 == line && w.1 != lower);
        if !regrown && self.is_cheaper() {
            self.again(Mode::Fixed);
            if self.suffices() {
                return Some(self.keep());
            }
        }
        self.undo();
        None
    }

    /// Begins a trial: from now on, changes are recorded so that they can be undone.
    fn begin(&mut self) {
        self.before = Some(Before { blocks: BTreeMap::new(), edges: BTreeMap::new() });
    }

    /// Ends the trial and keeps its changes. Returns the affected blocks.
    fn keep(&mut self) -> Vec<usize> {
        self.before.take().map_or(Vec::new(), |before| before.blocks.into_keys().collect())
    }

    /// Ends the trial and undoes its changes.
    fn undo(&mut self) {
        let Some(Before { blocks, edges }) = self.before.take() else { return };
        for (block, Known { into, out, waits }) in blocks {
            (self.ins[block], self.outs[block], self.waits.lines[block]) = (into, out, waits);
        }
        for (edge, wait) in edges {
            match wait {
                Some(wait) => _ = self.waits.edges.insert(edge, wait),
                None => _ = self.waits.edges.remove(&edge),
            }
        }
    }

    /// Lowers a wait and updates the exact solution. With less waiting, states can only grow, so the iteration starts from the previous
    /// solution.
    fn lower(&mut self, at: At, lower: P::Need) {
        let block = match at {
            At::Edge(edge) => edge.to,
            At::Line { block, .. } => block,
        };
        self.note(block);
        self.replace(at, lower);
        self.ins[block] = None;
        self.run_from(Mode::Fixed, [block], |_| true);
    }

    /// Solves the blocks that the trial affects again, starting from nothing, and then the blocks that follow them, because the new waits
    /// may leave fewer operations outstanding than before.
    fn again(&mut self, mode: Mode) {
        let Some(before) = &self.before else { return };
        let blocks: BTreeSet<usize> = before.blocks.keys().copied().collect();
        for &block in &blocks {
            (self.ins[block], self.outs[block]) = (None, None);
        }
        self.run_from(mode, blocks.iter().copied(), |b| blocks.contains(&b));
        let after: BTreeSet<usize> =
            blocks.iter().flat_map(|b| &self.cfg.blocks[*b].succs).copied().collect();
        self.run_from(mode, after, |_| true);
    }

    /// True if every line in the blocks that the trial affects waits for what the exact solution requires.
    fn suffices(&self) -> bool {
        let blocks = self.before.iter().flat_map(|b| b.blocks.keys());
        blocks.copied().all(|block| {
            let mut all = true;
            self.walk(block, |pass, state, line, wait| {
                all &= is_enough::<P>(wait, pass.need(state, line, &|_| true));
            });
            all
        })
    }

    /// True if the waits cost less than before, weighted by loop depth. The number of waits and their total strength are compared in the
    /// order of importance that the pass defines.
    fn is_cheaper(&self) -> bool {
        let Some(before) = &self.before else { return false };
        let (mut number, mut strength) = (0i128, 0i128);
        let mut add = |depth: usize, wait: P::Need, sign: i128| {
            let weight = sign * i128::from(LOOP_WEIGHT.pow(depth.min(DEEPEST) as u32));
            number += if wait == P::NONE { 0 } else { weight };
            strength += weight * i128::from(self.pass.strength(wait));
        };
        let depth = |block: usize| self.shape.nest(block).take(DEEPEST).count();
        for (&block, known) in &before.blocks {
            let depth = depth(block);
            self.waits.lines[block].iter().for_each(|w| add(depth, w.1, 1));
            known.waits.iter().for_each(|w| add(depth, w.1, -1));
        }
        for (edge, &old) in &before.edges {
            let depth = depth(edge.from).min(depth(edge.to));
            self.waits.edges.get(edge).into_iter().for_each(|&w| add(depth, w, 1));
            old.into_iter().for_each(|w| add(depth, w, -1));
        }
        let cost = if P::NUMBER_FIRST { (number, strength) } else { (strength, number) };
        cost < (0, 0)
    }

    /// The waits that are stronger than the exact solution requires at their own position, each with the value that is required there.
    /// `near` restricts the search to these blocks; `None` means all blocks.
    fn too_strong(&self, near: Option<&BTreeSet<usize>>) -> Vec<(At, P::Need)> {
        let mut found = Vec::new();
        let is_near = |block: &usize| near.is_none_or(|near| near.contains(block));
        let waits = |block: &usize| !self.waits.lines[*block].is_empty();
        for block in (0..self.cfg.blocks.len()).filter(waits).filter(is_near) {
            self.walk(block, |pass, state, line, wait| {
                if wait == P::NONE {
                    return;
                }
                let need = pass.need(state, line, &|_| true);
                if need != wait && is_enough::<P>(wait, need) {
                    found.push((At::Line { block, line }, need));
                }
            });
        }
        self.each_edge_wait(|pass, state, edge, wait| {
            let need = pass.edge_need(state, edge);
            let is_near = is_near(&edge.from) || is_near(&edge.to);
            if is_near && need != wait && is_enough::<P>(wait, need) {
                found.push((At::Edge(edge), need));
            }
        });
        found
    }

    /// For a wait that is stronger than its own line requires: the first line that would not wait for enough if this
    /// wait were only `lower`, with the state before that line; `None` if there is no such line.
    pub(super) fn served_elsewhere(&mut self, at: At, lower: P::Need) -> Option<(P::State, usize)> {
        self.begin();
        self.lower(at, lower);
        let mut found = None;
        for &block in self.before.iter().flat_map(|b| b.blocks.keys()) {
            self.walk(block, |pass, state, line, wait| {
                if found.is_none() && !is_enough::<P>(wait, pass.need(state, line, &|_| true)) {
                    found = Some((state.clone(), line));
                }
            });
        }
        self.undo();
        found
    }

    fn wait_at(&self, at: At) -> P::Need {
        let found = match at {
            At::Edge(edge) => self.waits.edges.get(&edge).copied(),
            At::Line { block, line } => self.waits.lines[block].iter().find(|w| w.0 == line).map(|w| w.1),
        };
        found.unwrap_or(P::NONE)
    }

    /// Changes one wait.
    fn replace(&mut self, at: At, wait: P::Need) {
        match at {
            At::Edge(edge) => {
                self.note_edge(edge);
                self.waits.edges.insert(edge, wait);
            }
            At::Line { block, line } => {
                let waits = &mut self.waits.lines[block];
                let i = waits.partition_point(|w| w.0 < line);
                match waits.get_mut(i) {
                    Some(w) if w.0 == line => w.1 = wait,
                    _ => waits.insert(i, (line, wait)),
                }
            }
        }
    }
}

fn is_enough<P: Pass>(wait: P::Need, need: P::Need) -> bool {
    P::stronger(wait, need) == wait
}
