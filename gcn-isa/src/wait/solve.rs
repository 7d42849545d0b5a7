//! The solver of both passes: a forward dataflow analysis over basic blocks that may assign a wait to each instruction.
//!
//! A wait changes the state after it, and the state determines the wait. Therefore a pass is solved in three steps.
//!
//! 1. *Greedy*: blocks are visited in reverse post-order, each time from a fresh join of the latest states of its predecessors. Each
//!    instruction gets exactly the wait that its state requires. This is repeated until nothing changes. A stronger wait can only weaken
//!    later ones, so the iteration converges after about as many rounds as loops are nested. A block that has not converged after
//!    [`GREEDY_VISITS`] visits switches to *growing*: its state is joined with the previous one, and its waits take the stronger of the old
//!    and the new value. This terminates because states and waits are bounded. All blocks grow once [`GREEDY_BUDGET`] is used up.
//! 2. *Fixed*: the waits of step 1 are kept as they are. The transfer functions then distribute over the join, so the least solution is
//!    exact: each of its facts holds on some path. It shows that no wait is too weak.
//! 3. *Polish*: step 1 may leave a wait that is stronger than the exact solution requires, if states of an earlier round have kept each
//!    other alive around a loop. Such a wait is lowered if every other wait is still sufficient. Programs without such waits skip this step
//!    at no cost.
//!
//! The result is sufficient on all paths, and no single wait can be lowered (in very long programs, as far as the
//! budget of [`polish`](super::polish) allows). The passes differ only in their [`Pass`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::Program;
use crate::cfg::{Cfg, Flow};
use crate::program::EntryKind;

use super::loops::{Edge, Shape};

/// The maximum number of visits of one block in greedy mode. After that, the block's state and waits may only grow. Loop nests deeper than
/// those of real kernels converge within this number.
const GREEDY_VISITS: u32 = 40;

/// The budget of greedy mode, in visited lines and joined entries of states: the first number for each line of the program, but at least
/// the second number. Programs that converge take far less.
const GREEDY_BUDGET: (usize, usize) = (64, 2_000_000);

/// The maximum number of rounds that move waits out of loops. A wait leaves a whole loop nest in one round, so further rounds are necessary
/// only for waits that the earlier rounds exposed.
const HOIST_ROUNDS: usize = 4;

/// One kind of wait: its states, its needs, and the effects of waits and instructions on states.
pub(super) trait Pass {
    /// The facts before an instruction. Only sealed states can be compared for equality. [`Pass::seal`] seals the state at the end of a
    /// block.
    type State: Clone + PartialEq;
    /// The amount for which an instruction waits.
    type Need: Copy + PartialEq + std::fmt::Debug;
    /// The reason that allows a wait to move from a loop to the edges that enter the loop.
    type Cause;
    /// The value for no wait.
    const NONE: Self::Need;

    /// The stronger of two waits, separately for each of their parts.
    fn stronger(a: Self::Need, b: Self::Need) -> Self::Need;
    /// The state where control enters from outside.
    fn entry(&self, kind: EntryKind) -> Self::State;
    /// True if a state is so large that [`Pass::gather`] should reduce it where paths join.
    fn is_crowded(&self, _: &Self::State) -> bool {
        false
    }
    /// Reduces a state to which many paths have contributed, if possible without changing its requirements. Producers of different groups
    /// remain separate.
    fn gather(&self, _: &mut Self::State, _group: &dyn Fn(usize) -> usize) {}
    /// The size of a state, which is the cost of joining it.
    fn size(&self, state: &Self::State) -> usize;
    /// The effect of a return from code outside the program.
    fn come_back(&self, state: &mut Self::State);
    /// The effect of entering a function by a known call, or by an unknown jump. The state must be sealed, and remains so.
    fn enter(&self, _: &mut Self::State, _by_call: bool) {}
    /// The effect of a return from a function. `call` is the state at the end of the calling block, if it is known. The state must be
    /// sealed, and remains so.
    fn leave(&self, _: &mut Self::State, _call: Option<&Self::State>) {}
    /// Joins the state of another path. Both states must be sealed, and the result is sealed.
    fn join(&self, into: &mut Self::State, from: &Self::State);
    /// The wait that line `line` needs because of the producers for which `counts` returns true.
    fn need(&self, state: &Self::State, line: usize, counts: &dyn Fn(usize) -> bool) -> Self::Need;
    /// The wait that is needed on an edge, as recorded by [`Pass::hoist`].
    fn edge_need(&self, state: &Self::State, edge: Edge) -> Self::Need;
    /// Applies a wait to the state.
    fn wait(&self, state: &mut Self::State, need: Self::Need);
    /// Applies line `line` to the state.
    fn step(&self, state: &mut Self::State, line: usize);
    /// Seals the state at the end of a block, so that it can be compared with other states.
    fn seal(&self, state: &mut Self::State);
    /// The cause for which `line` waits, if `line` waits for more than the producers for which `inside` returns true require.
    fn outer_cause(&self, state: &Self::State, line: usize, inside: &dyn Fn(usize) -> bool) -> Self::Cause;
    /// Records that each of these edges must wait for `cause`. Each edge is given with the state at the end of its source block.
    fn hoist(&mut self, cause: &Self::Cause, edges: &[(Edge, &Self::State)]);
    /// Called at the end of each round of [`Pass::hoist`] calls.
    fn hoisted(&mut self) {}
    /// Weaker waits to try on an edge, the weakest first. After a wait has left a loop, another wait that remains in the loop may turn out
    /// to cover it.
    fn weaker(&self, wait: Self::Need) -> Vec<Self::Need>;
    /// The cost of a wait, for comparing waits at different positions; 0 for no wait.
    fn strength(&self, wait: Self::Need) -> u64;
    /// True if a strong wait does not cost more than a weak wait. Then the number of waits is compared first, and their strength second.
    const NUMBER_FIRST: bool;
}

/// The waits of a solved pass.
#[derive(Debug, Clone)]
pub(super) struct Waits<N> {
    /// For each block, the lines that have a wait, in order.
    pub lines: Vec<Vec<(usize, N)>>,
    /// The edges that have a wait.
    pub edges: BTreeMap<Edge, N>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Grow,
    Fixed,
}

/// A pass, the structure of the program, and the solution so far.
pub(super) struct Solver<'a, P: Pass> {
    pub pass: P,
    pub program: &'a Program,
    pub flow: &'a Flow,
    pub cfg: &'a Cfg,
    pub shape: &'a Shape,
    pub waits: Waits<P::Need>,
    pub(super) ins: Vec<Option<P::State>>,
    pub(super) outs: Vec<Option<P::State>>,
    /// For each block, the kinds of entries by which control enters it from outside.
    root: Vec<Vec<EntryKind>>,
    /// For each block, whether control can reach it. Unreachable blocks are also solved, because callers may ask for their states, but
    /// their states do not flow into reachable blocks.
    alive: Vec<bool>,
    /// During a trial: the facts before the trial. Otherwise `None`.
    pub(super) before: Option<Before<P>>,
    /// The blocks whose states were once too large. Their states are always reduced from then on, so that they converge.
    crowded: Vec<bool>,
    /// The work done so far, in visited lines and joined entries of states.
    pub(super) work: usize,
}

/// The facts about the blocks and edges that a trial affects, as they were before the trial.
pub(super) struct Before<P: Pass> {
    pub blocks: BTreeMap<usize, Known<P>>,
    /// The waits of edges; `None` for an edge that had no wait.
    pub edges: BTreeMap<Edge, Option<P::Need>>,
}

/// The facts about a block.
pub(super) struct Known<P: Pass> {
    pub into: Option<P::State>,
    pub out: Option<P::State>,
    pub waits: Vec<(usize, P::Need)>,
}

/// The number of enclosing loops whose producers remain separate when the states of a block are reduced.
const LOOPS_APART: usize = 2;

impl<'a, P: Pass> Solver<'a, P> {
    /// Solves `pass` for `program`. If `leave_loops` is true, waits are moved out of loops where possible.
    pub fn solve(
        pass: P,
        program: &'a Program,
        flow: &'a Flow,
        shape: &'a Shape,
        leave_loops: bool,
    ) -> Solver<'a, P> {
        let cfg = &flow.cfg;
        let n = cfg.blocks.len();
        let mut root = vec![Vec::new(); n];
        for at in &flow.roots {
            root[at.block].push(at.kind);
        }
        // Unreachable code is solved as if the dispatcher entered it.
        for &block in shape.roots.iter().filter(|b| root[**b].is_empty()).collect::<Vec<_>>() {
            root[block].push(EntryKind::Kernel);
        }
        let waits = Waits { lines: vec![Vec::new(); n], edges: BTreeMap::new() };
        let mut solver = Solver {
            pass,
            program,
            flow,
            cfg,
            shape,
            waits,
            ins: vec![None; n],
            outs: vec![None; n],
            root,
            alive: flow.reachable(),
            before: None,
            crowded: vec![false; n],
            work: 0,
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

    /// Calls `visit` for each line that has a wait, with the state before the line (without the effect of the wait) and the wait.
    pub fn each_wait(&self, mut visit: impl FnMut(&P, &P::State, usize, P::Need)) {
        for (block, waits) in self.waits.lines.iter().enumerate() {
            // Waits in unreachable code are omitted.
            if waits.is_empty() || !self.alive[block] {
                continue;
            }
            self.walk(block, |pass, state, line, wait| {
                if wait != P::NONE {
                    visit(pass, state, line, wait);
                }
            });
        }
    }

    /// Calls `visit` for each edge that has a wait, with the state at the end of the edge's source block and the wait.
    pub fn each_edge_wait(&self, mut visit: impl FnMut(&P, &P::State, Edge, P::Need)) {
        for (&edge, &wait) in &self.waits.edges {
            if let (Some(state), true) = (&self.outs[edge.from], wait != P::NONE && self.alive[edge.from]) {
                visit(&self.pass, state, edge, wait);
            }
        }
    }

    /// Goes through the lines of `block` with the current waits.
    pub(super) fn walk(&self, block: usize, mut visit: impl FnMut(&P, &P::State, usize, P::Need)) {
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

    pub(super) fn clear(&mut self) {
        self.ins.fill(None);
        self.outs.fill(None);
    }

    pub(super) fn run(&mut self, mode: Mode) {
        self.run_from(mode, 0..self.cfg.blocks.len(), |_| true);
    }

    /// Visits these blocks, and then the blocks whose inputs change, as long as `within` returns true for them.
    pub(super) fn run_from(
        &mut self,
        mode: Mode,
        blocks: impl IntoIterator<Item = usize>,
        within: impl Fn(usize) -> bool,
    ) {
        let (per_line, least) = GREEDY_BUDGET;
        let patience = self.work + self.program.lines.len().saturating_mul(per_line).max(least);
        // The queue works in sweeps in reverse post-order: a change along a back edge is processed in the next sweep. Otherwise each of
        // many edges into a loop would cause a separate round through the loop. Hubs are processed last, when all their predecessors have
        // converged.
        let place = |s: &Self, sweep: usize, block: usize| {
            Reverse((s.flow.is_hub(block), sweep, s.shape.rank[block], block))
        };
        // For each block, the number of its visits, and whether it is in the queue.
        let mut seen: HashMap<usize, (u32, bool)> = blocks.into_iter().map(|b| (b, (0, true))).collect();
        let mut queue: BinaryHeap<_> = seen.keys().map(|&b| place(self, 0, b)).collect();
        while let Some(Reverse((_, sweep, rank, block))) = queue.pop() {
            let (visits, waits) = seen.entry(block).or_default();
            *waits = false;
            *visits += 1;
            let impatient = *visits > GREEDY_VISITS || self.work > patience;
            let mode = if mode == Mode::Greedy && impatient { Mode::Grow } else { mode };
            if self.visit(block, mode) {
                // The state before a call is also an input of the block after it.
                let next = self.cfg.blocks[block].succs.iter().copied().chain(self.flow.after_call(block));
                for succ in next.filter(|s| within(*s)) {
                    if !std::mem::replace(&mut seen.entry(succ).or_default().1, true) {
                        let sweep = sweep + usize::from(self.shape.rank[succ] <= rank);
                        queue.push(place(self, sweep, succ));
                    }
                }
            }
        }
    }

    /// Recomputes `block`; returns true if the state at its end changed.
    fn visit(&mut self, block: usize, mode: Mode) -> bool {
        self.note(block);
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

    /// The joined state at the start of `block`; `None` if the states of all predecessors are still unknown.
    fn incoming(&mut self, block: usize, mode: Mode) -> Option<P::State> {
        let mut joined = Joined::default();
        for &kind in &self.root[block] {
            joined.add(&self.pass, self.pass.entry(kind));
        }
        for &from in &self.cfg.blocks[block].preds {
            let Some(out) = self.outs[from].as_ref().filter(|_| self.alive[from] || !self.alive[block])
            else {
                continue;
            };
            let mut state = out.clone();
            if self.flow.comes_back(from, block) {
                self.pass.come_back(&mut state);
            }
            let by_call = self.flow.enters(from, block);
            if by_call || self.flow.is_guess(block) {
                self.pass.enter(&mut state, by_call);
            }
            if let Some(call) = self.flow.ends_call(from, block) {
                self.pass.leave(&mut state, self.outs[call].as_ref());
            }
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
                self.note_edge(edge);
                self.waits.edges.insert(edge, wait);
            }
            joined.add(&self.pass, state);
        }
        self.work += joined.work;
        let mut joined = joined.whole(&self.pass)?;
        if self.flow.is_hub(block) {
            self.pass.gather(&mut joined, &|_| 0);
        } else if self.crowded[block] || self.pass.is_crowded(&joined) {
            self.crowded[block] = true;
            // A wait can leave a loop only if its producers are outside the loop, so producers of the nearest loops remain separate.
            let nest: Vec<usize> = self.shape.nest(block).take(LOOPS_APART).collect();
            self.pass.gather(&mut joined, &|producer| {
                let from = if nest.is_empty() { 0 } else { self.cfg.block_of(producer) };
                nest.iter().position(|l| self.shape.contains(*l, from)).unwrap_or(nest.len())
            });
        }
        Some(joined)
    }

    fn transfer(&mut self, block: usize, state: &mut P::State, mode: Mode) {
        let old = std::mem::take(&mut self.waits.lines[block]);
        let mut planned = old.iter().peekable();
        let mut new = Vec::new();
        self.work += self.cfg.blocks[block].end - self.cfg.blocks[block].start;
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

    /// Saves a block's facts before the block is visited or one of its waits changes.
    pub(super) fn note(&mut self, block: usize) {
        let Some(before) = &mut self.before else { return };
        let (ins, outs, waits) = (&self.ins, &self.outs, &self.waits);
        before.blocks.entry(block).or_insert_with(|| Known {
            into: ins[block].clone(),
            out: outs[block].clone(),
            waits: waits.lines[block].clone(),
        });
    }

    /// Saves an edge's wait before it changes.
    pub(super) fn note_edge(&mut self, edge: Edge) {
        if let Some(before) = &mut self.before {
            before.edges.entry(edge).or_insert_with(|| self.waits.edges.get(&edge).copied());
        }
    }

    /// Computes the exact solution for the current waits.
    pub(super) fn exact(&mut self) {
        self.clear();
        self.run(Mode::Fixed);
    }

    /// Moves waits whose cause is before a loop to the edges that enter the loop. Returns true if a wait was moved.
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

    /// True if `line` is in loop `l`.
    fn inside(&self, l: usize, line: usize) -> bool {
        self.shape.contains(l, self.cfg.block_of(line))
    }

    /// The outermost loop for which `line` needs a smaller wait if part of the wait moves to the edges that enter the loop; `None` if there
    /// is none.
    fn colder_than(&self, pass: &P, state: &P::State, block: usize, line: usize) -> Option<usize> {
        let whole = pass.need(state, line, &|_| true);
        let mut nest: Vec<usize> = self.shape.nest(block).collect();
        nest.reverse();
        // A smaller loop contains fewer producers, so `partition_point` can be used.
        let less = |&l: &usize| pass.need(state, line, &|producer| self.inside(l, producer)) != whole;
        let places = |l: usize| {
            self.shape.entries(self.cfg, l).iter().all(|e| e.place(self.program, self.cfg).is_some())
        };
        let first = nest.partition_point(|l| !less(l));
        nest[first..].iter().copied().find(|&l| places(l))
    }
}

/// Joins many states pairwise, like a binary counter: two states, then two such pairs, and so on. Each state takes part
/// in a logarithmic number of joins instead of being joined with every later state.
struct Joined<S> {
    /// The entry with index `i`, if there is one, is the join of 2^i states.
    parts: Vec<Option<S>>,
    work: usize,
}

impl<S> Default for Joined<S> {
    fn default() -> Joined<S> {
        Joined { parts: Vec::new(), work: 0 }
    }
}

impl<S> Joined<S> {
    fn add<P: Pass<State = S>>(&mut self, pass: &P, mut state: S) {
        self.work += 1 + pass.size(&state);
        for part in &mut self.parts {
            match part.take() {
                Some(mut earlier) => {
                    pass.join(&mut earlier, &state);
                    state = earlier;
                }
                None => {
                    *part = Some(state);
                    return;
                }
            }
        }
        self.parts.push(Some(state));
    }

    /// The join of all states; `None` if there are none.
    fn whole<P: Pass<State = S>>(self, pass: &P) -> Option<S> {
        self.parts.into_iter().flatten().reduce(|later, mut earlier| {
            pass.join(&mut earlier, &later);
            earlier
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hazards::Config;
    use crate::program::{Entry, EntryKind};
    use crate::table::Class;
    use crate::wait::distance::DistancePass;
    use crate::wait::waitcnt::WaitcntPass;
    use crate::wait::{WaitOptions, shape_of};
    use crate::{Inst, Operand, Reg, Target, table};

    /// A program with `blocks` repetitions of a load, a use of it, and a conditional branch to the block that `to` returns; `last` follows.
    fn program(blocks: usize, to: impl Fn(usize) -> usize, last: &str) -> Program {
        let target = Target::GFX942;
        let find = |name, form| table::find_form(target, name, form).expect("an instruction of gfx942");
        let mut program = Program::new(target, "shape");
        let labels: Vec<_> = (0..blocks).map(|b| program.new_label(format!("L{b}"))).collect();
        for block in 0..blocks {
            program.place(labels[block]);
            let vector = |i: usize| Reg::v((2 * (i % 30)) as u16, 1);
            let address = Reg::v(100, 2);
            program.push(Inst::new(
                find("global_load_dword", "vaddr"),
                [vector(block).into(), address.into(), Operand::Off],
            ));
            program.push(Inst::new(
                find("v_mov_b32_e32", ""),
                [vector(7 * block + 1).into(), vector(11 * block + 3).into()],
            ));
            program.push(Inst::new(find("s_cbranch_scc1", ""), [Operand::Label(labels[to(block)])]));
            if last != "s_endpgm" {
                program.push(Inst::new(find(last, ""), [Operand::Label(labels[0])]));
            }
        }
        program.push(Inst::new(find("s_endpgm", ""), []));
        program
    }

    /// The amount of work that both passes do for a program.
    fn work(program: &Program) -> usize {
        let options = WaitOptions::default();
        let flow = Config::default().flow(program);
        let shape = shape_of(&flow);
        let counters = WaitcntPass::new(program, &flow, &options);
        let states = DistancePass::new(program, &flow, options.rules);
        Solver::solve(counters, program, &flow, &shape, true).work
            + Solver::solve(states, program, &flow, &shape, true).work
    }

    /// Checks that a program with four times as many blocks takes at most about four times the work.
    fn is_linear(shape: impl Fn(usize) -> Program) {
        let (few, many) = (work(&shape(500)), work(&shape(2000)));
        assert!(many < 6 * few, "{few} for 500 blocks, {many} for 2000");
    }

    #[test]
    fn a_switch_in_a_loop_takes_work_linear_in_its_cases() {
        is_linear(|n| program(n, |b| (b + 1).min(n - 1), "s_branch"));
    }

    #[test]
    fn jumps_back_take_work_linear_in_their_number() {
        is_linear(|n| program(n, |b| b.saturating_sub(b * 13 % 40), "s_cbranch_vccz"));
    }

    #[test]
    fn jumps_anywhere_take_work_linear_in_their_number() {
        is_linear(|n| program(n, |b| b.wrapping_mul(2_654_435_761) % n, "s_endpgm"));
    }

    /// Tests a program in which each block is a function that ends with a jump to an address in a register. The jump may lead to any of the
    /// functions.
    #[test]
    fn unknown_jumps_take_work_linear_in_their_number() {
        is_linear(|n| {
            let mut program = program(n, |b| b, "s_endpgm");
            let jump = table::find_form(program.target, "s_setpc_b64", "").expect("an instruction of gfx942");
            let functions: Vec<usize> = program.labels.iter().filter_map(|label| label.at).collect();
            program.entries =
                functions.into_iter().map(|at| Entry { at, kind: EntryKind::Function }).collect();
            for line in program.lines.iter_mut().filter(|line| line.inst.desc.class == Class::Branch) {
                line.inst = Inst::new(jump, [Reg::s(34, 2).into()]).into();
            }
            program
        });
    }
}
