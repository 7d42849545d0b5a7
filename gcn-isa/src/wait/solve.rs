//! The engine of both passes: forward dataflow over basic blocks in which each instruction may be given a wait.
//!
//! A wait changes the state after it, and the state determines the wait. Therefore a pass is solved in three steps.
//!
//! 1. *Greedy*: blocks are visited in reverse post-order, each time from a fresh join of the latest states of its
//!    predecessors. Each instruction gets exactly the wait that its state requires. This is repeated until nothing
//!    changes. As a stronger wait can only weaken later ones, it converges after about as many rounds as loops are
//!    nested. A block that has not converged after [`GREEDY_VISITS`] visits switches to *growing* (states are joined
//!    with their old value, and waits take the stronger of the old and new value), which terminates because both are
//!    bounded. All blocks do so once [`GREEDY_BUDGET`] is used up.
//! 2. *Fixed*: with these waits given, the transfer functions distribute over the join, so the least solution is exact:
//!    it describes what really happens on some path. It shows that no wait is too weak.
//! 3. *Polish*: step 1 may leave a wait that is stronger than the exact solution requires, if a fact kept itself alive
//!    around a loop. Such a wait is lowered if every other wait is still sufficient. Programs without such waits pay
//!    nothing.
//!
//! The result is sufficient on all paths, and no single wait can be lowered (in very long programs, as far as the
//! budget of [`polish`](super::polish) allows). The passes differ only in their [`Pass`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::Program;
use crate::cfg::{Cfg, Flow};
use crate::program::EntryKind;

use super::loops::{Edge, Shape};

/// The most visits of one block in greedy mode before its state and waits may only grow. Loop nests deeper than those
/// of real kernels converge within this number.
const GREEDY_VISITS: u32 = 40;

/// Budget of greedy mode, in visited lines and joined entries of states: a number per line of the program, and a
/// minimum. Programs that converge take far less.
const GREEDY_BUDGET: (usize, usize) = (64, 2_000_000);

/// The most rounds of moving waits out of loops. A wait leaves a whole nest in one round, so further rounds are only
/// for waits that the earlier ones exposed.
const HOIST_ROUNDS: usize = 4;

/// One kind of wait: its states, its needs, and the effects of waits and instructions on states.
pub(super) trait Pass {
    /// The facts before an instruction. Equality is meaningful for sealed states, which is what [`Pass::seal`] produces
    /// at the end of a block.
    type State: Clone + PartialEq;
    /// How much an instruction waits.
    type Need: Copy + PartialEq + std::fmt::Debug;
    /// Why a wait can move from a loop to the edges that enter it.
    type Cause;
    /// No wait.
    const NONE: Self::Need;

    /// The stronger of two waits, part by part.
    fn stronger(a: Self::Need, b: Self::Need) -> Self::Need;
    /// The state where control enters from outside.
    fn entry(&self, kind: EntryKind) -> Self::State;
    /// True if a state is so large that [`Pass::gather`] should reduce it where paths join.
    fn is_crowded(&self, _: &Self::State) -> bool {
        false
    }
    /// Reduces a state that many paths have contributed to, if possible without changing its requirements. Producers of
    /// different groups stay separate.
    fn gather(&self, _: &mut Self::State, _group: &dyn Fn(usize) -> usize) {}
    /// The size of a state, which is the cost of joining it.
    fn size(&self, state: &Self::State) -> usize;
    /// The effect of a return from code outside the program.
    fn come_back(&self, state: &mut Self::State);
    /// The effect of entering a function, by a known call or by an unknown jump. Input and result are sealed.
    fn enter(&self, _: &mut Self::State, _by_call: bool) {}
    /// The effect of a return from a function; `call` is the state at the end of the calling block, if known. Input and
    /// result are sealed.
    fn leave(&self, _: &mut Self::State, _call: Option<&Self::State>) {}
    /// Joins the state of another path. Inputs and result are sealed.
    fn join(&self, into: &mut Self::State, from: &Self::State);
    /// The wait that line `line` needs because of producers that `counts` accepts.
    fn need(&self, state: &Self::State, line: usize, counts: &dyn Fn(usize) -> bool) -> Self::Need;
    /// The wait that is needed on an edge, as recorded by [`Pass::hoist`].
    fn edge_need(&self, state: &Self::State, edge: Edge) -> Self::Need;
    /// Applies a wait to the state.
    fn wait(&self, state: &mut Self::State, need: Self::Need);
    /// Applies line `line` to the state.
    fn step(&self, state: &mut Self::State, line: usize);
    /// Makes the state at the end of a block comparable with others.
    fn seal(&self, state: &mut Self::State);
    /// The cause by which `line` waits for more than the producers that `inside` accepts require.
    fn outer_cause(&self, state: &Self::State, line: usize, inside: &dyn Fn(usize) -> bool) -> Self::Cause;
    /// Records that `cause` is to be waited for on each of these edges, which are given with the states at the ends of
    /// their source blocks.
    fn hoist(&mut self, cause: &Self::Cause, edges: &[(Edge, &Self::State)]);
    /// Called at the end of a round of [`Pass::hoist`].
    fn hoisted(&mut self) {}
    /// Weaker waits to try on an edge, the weakest first: after a wait has left a loop, one that remains in the loop
    /// may turn out to cover it.
    fn weaker(&self, wait: Self::Need) -> Vec<Self::Need>;
    /// The cost of a wait, for comparing waits at different places. 0 for none.
    fn strength(&self, wait: Self::Need) -> u64;
    /// True if a strong wait costs no more than a weak one, so that the number of waits is compared first, and their
    /// strength second.
    const NUMBER_FIRST: bool;
}

/// The waits of a solved pass.
#[derive(Debug, Clone)]
pub(super) struct Waits<N> {
    /// For each block, the lines that wait, in order.
    pub lines: Vec<Vec<(usize, N)>>,
    /// The edges that wait.
    pub edges: BTreeMap<Edge, N>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Grow,
    Fixed,
}

/// A pass, the program's shape, and the solution so far.
pub(super) struct Solver<'a, P: Pass> {
    pub pass: P,
    pub program: &'a Program,
    pub flow: &'a Flow,
    pub cfg: &'a Cfg,
    pub shape: &'a Shape,
    pub waits: Waits<P::Need>,
    pub(super) ins: Vec<Option<P::State>>,
    pub(super) outs: Vec<Option<P::State>>,
    /// For each block, how control enters it from outside, if it does.
    root: Vec<Vec<EntryKind>>,
    /// For each block, whether control can reach it. Unreachable blocks are solved, too, because callers may look at
    /// them, but their states do not flow into reachable blocks.
    alive: Vec<bool>,
    /// During a trial: the facts before it.
    pub(super) before: Option<Before<P>>,
    /// Blocks that were once crowded. Their states are reduced from then on, so that they converge.
    crowded: Vec<bool>,
    /// The work done so far, in visited lines and joined entries of states.
    pub(super) work: usize,
}

/// The facts, from before a trial, of the blocks and edges that it affects.
pub(super) struct Before<P: Pass> {
    pub blocks: BTreeMap<usize, Known<P>>,
    /// The waits of edges; `None` if there was none.
    pub edges: BTreeMap<Edge, Option<P::Need>>,
}

/// The facts of a block.
pub(super) struct Known<P: Pass> {
    pub into: Option<P::State>,
    pub out: Option<P::State>,
    pub waits: Vec<(usize, P::Need)>,
}

/// The number of enclosing loops whose producers stay separate when the states of a block are reduced.
const LOOPS_APART: usize = 2;

impl<'a, P: Pass> Solver<'a, P> {
    /// Solves `pass` for `program`; with `leave_loops`, moves waits out of loops where possible.
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

    /// Calls `visit` with the state before each line that waits (without the wait's effect), and the wait.
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

    /// Calls `visit` for each edge that waits, with the state at the end of its source block, and the wait.
    pub fn each_edge_wait(&self, mut visit: impl FnMut(&P, &P::State, Edge, P::Need)) {
        for (&edge, &wait) in &self.waits.edges {
            if let (Some(state), true) = (&self.outs[edge.from], wait != P::NONE && self.alive[edge.from]) {
                visit(&self.pass, state, edge, wait);
            }
        }
    }

    /// Walks through `block` with the current waits.
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

    /// Visits these blocks, and then the blocks whose inputs change, as far as `within` accepts them.
    pub(super) fn run_from(
        &mut self,
        mode: Mode,
        blocks: impl IntoIterator<Item = usize>,
        within: impl Fn(usize) -> bool,
    ) {
        let (per_line, least) = GREEDY_BUDGET;
        let patience = self.work + self.program.lines.len().saturating_mul(per_line).max(least);
        // The queue works in sweeps in reverse post-order: a change along a back edge is processed in the next sweep.
        // Otherwise each of many edges into a loop would cost a round through it. Hubs are processed last, when all
        // their predecessors have settled.
        let place = |s: &Self, sweep: usize, block: usize| {
            Reverse((s.flow.is_hub(block), sweep, s.shape.rank[block], block))
        };
        // For each block, how often it was visited, and whether it is in the queue.
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

    /// The joined state at the start of `block`.
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
            // Whether a wait can leave a loop depends on whether its producers are in the loop.
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

    /// Records a block's facts, before the block is visited or one of its waits changes.
    pub(super) fn note(&mut self, block: usize) {
        let Some(before) = &mut self.before else { return };
        let (ins, outs, waits) = (&self.ins, &self.outs, &self.waits);
        before.blocks.entry(block).or_insert_with(|| Known {
            into: ins[block].clone(),
            out: outs[block].clone(),
            waits: waits.lines[block].clone(),
        });
    }

    /// Records an edge's wait before it changes.
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

    /// Moves waits whose cause is before a loop to the edges that enter the loop. Returns true if there were any.
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

    /// The outermost loop such that `line` needs a smaller wait if part of it moves to the edges that enter the loop.
    fn colder_than(&self, pass: &P, state: &P::State, block: usize, line: usize) -> Option<usize> {
        let whole = pass.need(state, line, &|_| true);
        let mut nest: Vec<usize> = self.shape.nest(block).collect();
        nest.reverse();
        // The smaller the loop, the fewer producers are in it, so `partition_point` can be used.
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
    /// The entry with index `i`, if present, is the join of 2^i states.
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

    /// The join of all states.
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

    /// `blocks` times a load, a use, and a conditional branch to the block given by `to`; then `last`.
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

    /// The work that both passes do for a program.
    fn work(program: &Program) -> usize {
        let options = WaitOptions::default();
        let flow = Config::default().flow(program);
        let shape = shape_of(&flow);
        let counters = WaitcntPass::new(program, &flow, &options);
        let states = DistancePass::new(program, &flow, options.rules);
        Solver::solve(counters, program, &flow, &shape, true).work
            + Solver::solve(states, program, &flow, &shape, true).work
    }

    /// A program of four times as many blocks takes at most about four times the work.
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

    /// Each block is a function that ends with a jump to an address in a register, which may lead to any of them.
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
