//! The engine that both passes run on: forward dataflow over basic blocks in which each instruction may be given a wait.
//!
//! A wait changes the state after it, and the state decides about the wait, so a pass is solved in three steps.
//!
//! 1. *Greedy*: blocks are visited in reverse post-order, each from a fresh join of what its predecessors last said; at
//!    each instruction the wait is exactly what its state asks for. Repeated until nothing changes. As a stronger wait
//!    can only weaken later ones, this settles after as many rounds as loops are nested; a block that has not settled
//!    after [`GREEDY_VISITS`] visits goes over to growing (states join with their old value, waits keep the stronger
//!    of old and new), which must end because both are bounded.
//! 2. *Fixed*: with these waits given, the transfer functions distribute over the join, so the least solution is exact:
//!    it says what some path really brings. It shows that no wait is too weak.
//! 3. *Polish*: a wait that is stronger than the exact state asks for (step 1 may leave one where a fact kept itself
//!    alive around a loop) is lowered if every other wait still suffices. Programs without such waits pay nothing.
//!
//! What comes out is sufficient on all paths, and no single wait can be lowered (in programs of very many lines as far as
//! [`POLISH_BUDGET`] goes). The passes differ only in [`Pass`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use gcn_isa::Program;
use gcn_isa::cfg::Cfg;

use super::loops::{Edge, Shape};

/// Visits of one block in greedy mode before its state and waits may only grow. Nests deeper than any real kernel's
/// settle within it.
const GREEDY_VISITS: u32 = 40;

/// How many lines polishing may go over, all its solutions of the program together.
const POLISH_BUDGET: usize = 20_000_000;

/// Solutions of the program that lowering one wait takes at most, counted double for growing.
const SOLUTIONS_PER_TRY: usize = 5;

/// How often waits are moved out of loops: a nest is left in one step, so further rounds only pick up what the first
/// uncovered.
const HOIST_ROUNDS: usize = 4;

/// One kind of wait: its state, its needs, and what waits and instructions do to the state.
pub(super) trait Pass {
    /// What is known before an instruction. Equality is meant for sealed states.
    type State: Clone + PartialEq;
    /// How much an instruction waits.
    type Need: Copy + PartialEq + std::fmt::Debug;
    /// What is to be waited for before a loop instead of in it.
    type Cause;
    /// No wait.
    const NONE: Self::Need;

    /// The stronger of two waits (of each of their parts).
    fn stronger(a: Self::Need, b: Self::Need) -> Self::Need;
    /// The state at a root of the program.
    fn entry(&self) -> Self::State;
    /// Adds what another path brings. Both are sealed, and so is the result.
    fn join(&self, into: &mut Self::State, from: &Self::State);
    /// What line `line` needs, as far as it needs it because of producers that `counts` accepts.
    fn need(&self, state: &Self::State, line: usize, counts: &dyn Fn(usize) -> bool) -> Self::Need;
    /// What must be waited for on an edge, by what [`Pass::hoist`] registered.
    fn edge_need(&self, state: &Self::State, edge: Edge) -> Self::Need;
    /// Waits.
    fn wait(&self, state: &mut Self::State, need: Self::Need);
    /// Executes line `line`.
    fn step(&self, state: &mut Self::State, line: usize);
    /// Makes the state comparable at the end of a block.
    fn seal(&self, state: &mut Self::State);
    /// Why `line` waits for more than the producers that `inside` accepts ask for.
    fn outer_cause(&self, state: &Self::State, line: usize, inside: &dyn Fn(usize) -> bool) -> Self::Cause;
    /// Registers that `cause` be waited for on each of these edges, given with the states that leave along them.
    fn hoist(&mut self, cause: &Self::Cause, edges: &[(Edge, &Self::State)]);
    /// Called when a round of [`Pass::hoist`] is over.
    fn hoisted(&mut self) {}
    /// Weaker waits to try on an edge, the weakest first: when a wait has left a loop, one that stays in it may turn
    /// out to cover it.
    fn weaker(wait: Self::Need) -> Vec<Self::Need>;
}

/// The waits of a solved pass.
#[derive(Debug, Clone)]
pub(super) struct Waits<N> {
    /// For each block the lines that wait, in order.
    pub lines: Vec<Vec<(usize, N)>>,
    /// The edges that wait.
    pub edges: BTreeMap<Edge, N>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Greedy,
    Grow,
    Fixed,
}

/// A pass, the program's shape, and the solution so far.
pub(super) struct Solver<'a, P: Pass> {
    pub pass: P,
    pub program: &'a Program,
    pub cfg: &'a Cfg,
    pub shape: &'a Shape,
    pub waits: Waits<P::Need>,
    ins: Vec<Option<P::State>>,
    outs: Vec<Option<P::State>>,
    /// For each block whether it is a root.
    root: Vec<bool>,
    /// For each block whether control may come there at all. Other blocks are solved too, for those who look at them,
    /// but their states stay among themselves.
    alive: Vec<bool>,
}

impl<'a, P: Pass> Solver<'a, P> {
    /// Solves `pass` on `program`; with `leave_loops` waits go before loops where they can.
    pub fn solve(
        pass: P,
        program: &'a Program,
        cfg: &'a Cfg,
        shape: &'a Shape,
        leave_loops: bool,
    ) -> Solver<'a, P> {
        let n = cfg.blocks.len();
        let mut root = vec![false; n];
        for &block in &shape.roots {
            root[block] = true;
        }
        let waits = Waits { lines: vec![Vec::new(); n], edges: BTreeMap::new() };
        let mut solver = Solver {
            pass,
            program,
            cfg,
            shape,
            waits,
            ins: vec![None; n],
            outs: vec![None; n],
            root,
            alive: alive(cfg),
        };
        solver.run(Mode::Greedy);
        for _ in 0..HOIST_ROUNDS {
            if !leave_loops || !solver.hoist() {
                break;
            }
            solver.clear();
            solver.run(Mode::Greedy);
        }
        if shape.has_back_edges(cfg) {
            solver.exact();
            solver.polish();
        }
        solver
    }

    /// Calls `visit` with the state before each line that waits (the wait not yet done) and the wait.
    pub fn each_wait(&self, mut visit: impl FnMut(&P, &P::State, usize, P::Need)) {
        for (block, waits) in self.waits.lines.iter().enumerate() {
            if waits.is_empty() {
                continue;
            }
            self.walk(block, |pass, state, line, wait| {
                if wait != P::NONE {
                    visit(pass, state, line, wait);
                }
            });
        }
    }

    /// Calls `visit` with the state that leaves along each edge that waits and the wait.
    pub fn each_edge_wait(&self, mut visit: impl FnMut(&P, &P::State, Edge, P::Need)) {
        for (&edge, &wait) in &self.waits.edges {
            if let (Some(state), true) = (&self.outs[edge.from], wait != P::NONE) {
                visit(&self.pass, state, edge, wait);
            }
        }
    }

    /// Walks `block` with the waits as they are.
    fn walk(&self, block: usize, mut visit: impl FnMut(&P, &P::State, usize, P::Need)) {
        let Some(mut state) = self.ins[block].clone() else { return };
        let mut waits = self.waits.lines[block].iter().peekable();
        for line in self.cfg.blocks[block].start..self.cfg.blocks[block].end {
            let wait = waits.next_if(|w| w.0 == line).map_or(P::NONE, |w| w.1);
            visit(&self.pass, &state, line, wait);
            if wait != P::NONE {
                self.pass.wait(&mut state, wait);
            }
            self.pass.step(&mut state, line);
        }
    }

    fn clear(&mut self) {
        self.ins.fill(None);
        self.outs.fill(None);
    }

    fn run(&mut self, mode: Mode) {
        let n = self.cfg.blocks.len();
        let mut queue: BinaryHeap<Reverse<usize>> = (0..n).map(Reverse).collect();
        let mut queued = vec![true; n];
        let mut visits = vec![0u32; n];
        while let Some(Reverse(place)) = queue.pop() {
            let block = self.shape.order[place];
            queued[block] = false;
            visits[block] += 1;
            let mode = if mode == Mode::Greedy && visits[block] > GREEDY_VISITS { Mode::Grow } else { mode };
            if self.visit(block, mode) {
                for &succ in &self.cfg.blocks[block].succs {
                    if !std::mem::replace(&mut queued[succ], true) {
                        queue.push(Reverse(self.shape.rank[succ]));
                    }
                }
            }
        }
    }

    /// Recomputes `block`; true if the state at its end changed.
    fn visit(&mut self, block: usize, mode: Mode) -> bool {
        let Some(mut state) = self.incoming(block, mode) else { return false };
        if mode == Mode::Grow
            && let Some(old) = &self.ins[block]
        {
            self.pass.join(&mut state, old);
        }
        if self.ins[block].as_ref() == Some(&state) {
            return false;
        }
        self.ins[block] = Some(state.clone());
        self.transfer(block, &mut state, mode);
        self.pass.seal(&mut state);
        if self.outs[block].as_ref() == Some(&state) {
            return false;
        }
        self.outs[block] = Some(state);
        true
    }

    fn incoming(&mut self, block: usize, mode: Mode) -> Option<P::State> {
        let mut joined = self.root[block].then(|| self.pass.entry());
        for &from in &self.cfg.blocks[block].preds {
            let Some(out) = self.outs[from].as_ref().filter(|_| self.alive[from] || !self.alive[block])
            else {
                continue;
            };
            let mut state = out.clone();
            let edge = Edge { from, to: block };
            let old = self.waits.edges.get(&edge).copied();
            let wait = match mode {
                Mode::Fixed => old.unwrap_or(P::NONE),
                Mode::Greedy => self.pass.edge_need(&state, edge),
                Mode::Grow => P::stronger(old.unwrap_or(P::NONE), self.pass.edge_need(&state, edge)),
            };
            if wait != P::NONE {
                self.pass.wait(&mut state, wait);
                self.pass.seal(&mut state);
            }
            if mode != Mode::Fixed && (wait != P::NONE || old.is_some()) {
                self.waits.edges.insert(edge, wait);
            }
            match &mut joined {
                Some(joined) => self.pass.join(joined, &state),
                None => joined = Some(state),
            }
        }
        joined
    }

    fn transfer(&mut self, block: usize, state: &mut P::State, mode: Mode) {
        let old = std::mem::take(&mut self.waits.lines[block]);
        let mut planned = old.iter().peekable();
        let mut new = Vec::new();
        for line in self.cfg.blocks[block].start..self.cfg.blocks[block].end {
            let plan = planned.next_if(|w| w.0 == line).map_or(P::NONE, |w| w.1);
            let wait = match mode {
                Mode::Fixed => plan,
                Mode::Greedy => self.pass.need(state, line, &|_| true),
                Mode::Grow => P::stronger(plan, self.pass.need(state, line, &|_| true)),
            };
            if wait != P::NONE {
                self.pass.wait(state, wait);
                new.push((line, wait));
            }
            self.pass.step(state, line);
        }
        self.waits.lines[block] = new;
    }

    /// Solves exactly for the waits as they are.
    fn exact(&mut self) {
        self.clear();
        self.run(Mode::Fixed);
    }

    /// True if every line and edge waits for what the exact state needs.
    fn suffices(&self) -> bool {
        let enough = |wait, need| P::stronger(wait, need) == wait;
        let mut all = true;
        for block in 0..self.cfg.blocks.len() {
            self.walk(block, |pass, state, line, wait| {
                all &= enough(wait, pass.need(state, line, &|_| true));
            });
        }
        all
    }

    /// Lowers waits that are stronger than the exact state asks for, where that leaves the rest enough.
    fn polish(&mut self) {
        let mut budget = POLISH_BUDGET / (SOLUTIONS_PER_TRY * self.program.lines.len().max(1));
        for (at, lower) in self.too_strong() {
            if budget == 0 {
                return;
            }
            budget -= 1;
            self.try_lower(at, lower);
        }
        let edges: Vec<Edge> = self.waits.edges.keys().copied().collect();
        for edge in edges {
            for weaker in P::weaker(self.waits.edges[&edge]) {
                if budget == 0 {
                    return;
                }
                budget -= 1;
                if self.try_lower(At::Edge(edge), weaker) {
                    break;
                }
            }
        }
    }

    /// Lowers one wait if the others then still suffice, or do so with others in its stead: a wait that its own place does
    /// not need may cover what a later place needs. One that would come back justifies itself, by what it keeps from
    /// coming round a loop, and stays.
    fn try_lower(&mut self, at: At, lower: P::Need) -> bool {
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
            if !regrown {
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
                if need != wait {
                    found.push((At::Line { block, line }, need));
                }
            });
        }
        self.each_edge_wait(|pass, state, edge, wait| {
            let need = pass.edge_need(state, edge);
            if need != wait {
                found.push((At::Edge(edge), need));
            }
        });
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

    /// Moves waits whose cause lies before a loop to the edges that enter it. True if there were any.
    fn hoist(&mut self) -> bool {
        let mut found = Vec::new();
        for block in 0..self.cfg.blocks.len() {
            if self.waits.lines[block].is_empty() || self.shape.innermost[block].is_none() {
                continue;
            }
            self.walk(block, |pass, state, line, wait| {
                if wait != P::NONE
                    && let Some(l) = self.colder_than(pass, state, block, line)
                {
                    found.push((l, pass.outer_cause(state, line, &|producer| self.inside(l, producer))));
                }
            });
        }
        for (l, cause) in &found {
            let edges = self.shape.entries(self.cfg, *l);
            let leaving: Vec<_> =
                edges.iter().filter_map(|&e| Some((e, self.outs[e.from].as_ref()?))).collect();
            self.pass.hoist(cause, &leaving);
        }
        self.pass.hoisted();
        !found.is_empty()
    }

    /// True if `line` stands in loop `l`.
    fn inside(&self, l: usize, line: usize) -> bool {
        self.shape.contains(l, self.cfg.block_of(line))
    }

    /// The outermost loop before which `line` can wait and then wait less where it stands.
    fn colder_than(&self, pass: &P, state: &P::State, block: usize, line: usize) -> Option<usize> {
        let whole = pass.need(state, line, &|_| true);
        let nest: Vec<usize> = self.shape.nest(block).collect();
        nest.into_iter().rev().find(|&l| {
            pass.need(state, line, &|producer| self.inside(l, producer)) != whole
                && self.shape.entries(self.cfg, l).iter().all(|e| e.place(self.program, self.cfg).is_some())
        })
    }
}

/// For each block whether control may come there: all blocks if control leaves for a place that the program does not
/// name, as that may be any of them.
fn alive(cfg: &Cfg) -> Vec<bool> {
    if cfg.blocks.iter().any(|b| b.unknown_exit) {
        return vec![true; cfg.blocks.len()];
    }
    let mut alive = vec![false; cfg.blocks.len()];
    let mut work = vec![0];
    while let Some(block) = work.pop() {
        if block < alive.len() && !std::mem::replace(&mut alive[block], true) {
            work.extend(&cfg.blocks[block].succs);
        }
    }
    alive
}

/// Where a wait stands.
#[derive(Debug, Clone, Copy)]
enum At {
    Line { block: usize, line: usize },
    Edge(Edge),
}
