//! The third step of [`solve`](super::solve): lowering waits that are stronger than the exact state asks for, and saying
//! what those are for that cannot be lowered.

use super::LOOP_WEIGHT;
use super::loops::Edge;
use super::solve::{Mode, Pass, Solver};

/// How many lines polishing may go over, all its solutions of the program together.
const POLISH_BUDGET: usize = 20_000_000;

/// Solutions of the program that lowering one wait takes at most, counted double for growing.
const SOLUTIONS_PER_TRY: usize = 5;

/// What an edge to or from an unknown place costs, in lines of code.
const LINES_PER_JUMP: usize = 64;

/// Loops deeper than this count no more.
const DEEPEST: usize = 6;

/// Where a wait stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Line { block: usize, line: usize },
    Edge(Edge),
}

impl<P: Pass> Solver<'_, P> {
    /// Lowers waits that are stronger than the exact state asks for, where that leaves the rest enough. A wait that was
    /// lowered, or regrown elsewhere, can make another one too strong, so that this is repeated while it finds something.
    pub(super) fn polish(&mut self) {
        // States at jumps to unknown places are large, and every unknown entry takes them over.
        let hubs = self.cfg.blocks.iter().enumerate().filter(|b| self.flow.is_hub(b.0));
        let jumps: usize = hubs.map(|(_, hub)| hub.preds.len() + hub.succs.len()).sum();
        let solution = self.program.lines.len() + jumps.saturating_mul(LINES_PER_JUMP);
        let mut budget = POLISH_BUDGET / SOLUTIONS_PER_TRY.saturating_mul(solution.max(1));
        while self.polish_once(&mut budget) {}
    }

    /// True if a wait was lowered and there is budget left.
    fn polish_once(&mut self, budget: &mut usize) -> bool {
        let mut lowered = false;
        for (at, lower) in self.too_strong() {
            let Some(left) = budget.checked_sub(1) else { return false };
            *budget = left;
            lowered |= self.try_lower(at, lower);
        }
        let edges: Vec<Edge> = self.waits.edges.keys().copied().collect();
        for edge in edges {
            let wait = self.waits.edges[&edge];
            for weaker in P::weaker(wait).into_iter().filter(|w| *w != wait) {
                let Some(left) = budget.checked_sub(1) else { return false };
                *budget = left;
                if self.try_lower(At::Edge(edge), weaker) {
                    lowered = true;
                    break;
                }
            }
        }
        lowered
    }

    /// Lowers one wait if the others then still suffice, or if others in its stead do so at less cost: a wait that its own
    /// place does not need may cover what a later place needs. One that would come back justifies itself, by what it keeps
    /// from coming round a loop, and stays.
    fn try_lower(&mut self, at: At, lower: P::Need) -> bool {
        let cost = self.cost();
        let old = self.replace(at, lower);
        self.exact();
        if self.suffices() {
            return true;
        }
        let before = self.waits.clone();
        if let At::Line { block, line } = at {
            self.clear();
            self.run(Mode::Grow);
            let regrown = self.waits.lines[block].iter().any(|w| w.0 == line && w.1 != lower);
            if !regrown && self.cost() < cost {
                self.exact();
                if self.suffices() {
                    return true;
                }
            }
        }
        self.waits = before;
        self.replace(at, old);
        self.exact();
        false
    }

    /// True if every line waits for what the exact state needs.
    fn suffices(&self) -> bool {
        let mut all = true;
        for block in 0..self.cfg.blocks.len() {
            self.walk(block, |pass, state, line, wait| {
                all &= is_enough::<P>(wait, pass.need(state, line, &|_| true));
            });
        }
        all
    }

    /// What all waits cost, those in loops more: their number and their strength, in the pass's order of importance.
    fn cost(&self) -> (u64, u64) {
        let (mut number, mut strength) = (0, 0);
        let mut add = |depth: usize, wait: P::Need| {
            let weight = LOOP_WEIGHT.pow(depth.min(DEEPEST) as u32);
            number += if wait == P::NONE { 0 } else { weight };
            strength += weight * P::strength(wait);
        };
        let depth = |block: usize| self.shape.nest(block).count();
        for (block, waits) in self.waits.lines.iter().enumerate().filter(|(_, waits)| !waits.is_empty()) {
            let depth = depth(block);
            waits.iter().for_each(|w| add(depth, w.1));
        }
        self.waits.edges.iter().for_each(|(edge, &wait)| add(depth(edge.from).min(depth(edge.to)), wait));
        if P::NUMBER_FIRST { (number, strength) } else { (strength, number) }
    }

    /// Waits with the lower value that their own place needs in the exact solution.
    fn too_strong(&self) -> Vec<(At, P::Need)> {
        let mut found = Vec::new();
        for block in 0..self.cfg.blocks.len() {
            if self.waits.lines[block].is_empty() {
                continue;
            }
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
            if need != wait && is_enough::<P>(wait, need) {
                found.push((At::Edge(edge), need));
            }
        });
        found
    }

    /// For a wait that its own place does not need in full: the first line that would have to wait for more if this wait
    /// were only `lower`, with the state before that line. `None` if there is none.
    pub(super) fn served_elsewhere(&mut self, at: At, lower: P::Need) -> Option<(P::State, usize)> {
        let solution = (self.ins.clone(), self.outs.clone());
        let old = self.replace(at, lower);
        self.exact();
        let mut found = None;
        for block in 0..self.cfg.blocks.len() {
            self.walk(block, |pass, state, line, wait| {
                if found.is_none() && !is_enough::<P>(wait, pass.need(state, line, &|_| true)) {
                    found = Some((state.clone(), line));
                }
            });
        }
        self.replace(at, old);
        (self.ins, self.outs) = solution;
        found
    }

    /// Changes one wait and returns what it was.
    fn replace(&mut self, at: At, wait: P::Need) -> P::Need {
        match at {
            At::Edge(edge) => self.waits.edges.insert(edge, wait).unwrap_or(P::NONE),
            At::Line { block, line } => {
                let waits = &mut self.waits.lines[block];
                let i = waits.partition_point(|w| w.0 < line);
                match waits.get_mut(i) {
                    Some(w) if w.0 == line => std::mem::replace(&mut w.1, wait),
                    _ => {
                        waits.insert(i, (line, wait));
                        P::NONE
                    }
                }
            }
        }
    }
}

fn is_enough<P: Pass>(wait: P::Need, need: P::Need) -> bool {
    P::stronger(wait, need) == wait
}
