//! Which instruction must stand how far behind which: the wait-state pass.
//!
//! State before an instruction: for each earlier instruction that some rule may still bind, the fewest wait states that
//! have passed since on any path. The join is the minimum; an instruction drops out once the longest wait that any rule
//! asks behind it has passed, so states stay as small as the longest rule is long, and loops converge.

use std::collections::BTreeMap;

use crate::Program;
use crate::hazards::{self, Config, Need, View};

use super::loops::Edge;
use super::solve::Pass;
use crate::program::EntryKind;

/// An earlier instruction within reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Recent {
    line: u32,
    /// Clock when it was issued; at block ends minus the wait states since.
    at: i32,
    /// Of the registers that it has written as a matrix instruction, those that no later one has overwritten.
    live: u32,
}

/// The instructions within reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Window {
    /// Sorted by line when sealed.
    recent: Vec<Recent>,
    /// Wait states since the block's start.
    clock: i32,
    /// With XNACK: the first line of the memory clause that goes on here.
    clause: Option<u32>,
}

/// An unmet distance.
#[derive(Debug, Clone)]
pub(super) struct Shortfall {
    pub producer: usize,
    pub consumer: usize,
    pub required: Need,
    pub present: u32,
}

/// Wait states put on an edge for the sake of a line in the loop behind it.
pub(super) struct Outer {
    /// How many are missing because of instructions before the loop only.
    short: u32,
    /// Those instructions.
    causes: Vec<Shortfall>,
}

/// The pass.
pub(super) struct DistancePass<'a> {
    pub program: &'a Program,
    /// Which rules count.
    rules: Config,
    /// The lines as the rules see them.
    views: Vec<View>,
    /// Wait states on edges, and why.
    pub early: BTreeMap<Edge, (u32, Vec<Shortfall>)>,
    /// What this round of hoisting adds.
    round: BTreeMap<Edge, u32>,
}

impl<'a> DistancePass<'a> {
    pub fn new(program: &'a Program, rules: Config) -> DistancePass<'a> {
        let views = program.lines.iter().map(|l| View::new(program.target, &l.inst)).collect();
        DistancePass { program, rules, views, early: BTreeMap::new(), round: BTreeMap::new() }
    }

    /// Calls `found` for every earlier instruction that `line` follows too closely.
    pub fn shortfalls(&self, state: &Window, line: usize, found: &mut dyn FnMut(Shortfall)) {
        let second = &self.views[line];
        for recent in &state.recent {
            let producer = recent.line as usize;
            let present = (state.clock - recent.at) as u32;
            if present < self.reach(producer)
                && let Some(required) = self.views[producer].required_where(second, self.rules, recent.live)
                && u32::from(required.states) > present
            {
                found(Shortfall { producer, consumer: line, required, present });
            }
        }
        // Neighbours are found above, too.
        if let Some(start) = state.clause
            && let Some(clause) = self.views.get(start as usize..line)
            && let Some((at, required)) = hazards::clause_need(clause, second, self.rules)
        {
            found(Shortfall { producer: start as usize + at, consumer: line, required, present: 0 });
        }
    }

    /// Of the earlier instructions that `line` follows too closely, those that lack most wait states.
    pub fn strictest(&self, state: &Window, line: usize) -> Vec<Shortfall> {
        let mut causes = Vec::new();
        self.shortfalls(state, line, &mut |s| causes.push(s));
        let most = causes.iter().map(Shortfall::missing).max();
        causes.retain(|s| Some(s.missing()) == most);
        causes
    }

    /// The longest wait that any rule may ask behind `line`.
    fn reach(&self, line: usize) -> u32 {
        u32::from(self.views[line].reach())
    }

    /// True if the instruction is still within reach.
    fn in_reach(&self, state: &Window, recent: &Recent) -> bool {
        ((state.clock - recent.at) as u32) < self.reach(recent.line as usize)
    }
}

impl Shortfall {
    /// How many wait states are missing.
    pub fn missing(&self) -> u32 {
        u32::from(self.required.states).saturating_sub(self.present)
    }
}

impl Pass for DistancePass<'_> {
    type State = Window;
    type Need = u32;
    type Cause = Outer;
    const NONE: u32 = 0;
    const NUMBER_FIRST: bool = false;

    fn stronger(a: u32, b: u32) -> u32 {
        a.max(b)
    }

    fn entry(&self, _: EntryKind) -> Window {
        Window::default()
    }

    /// The caller's instructions before the call are as near as if there were no call between.
    fn come_back(&self, _: &mut Window) {}

    fn join(&self, into: &mut Window, from: &Window) {
        let mut merged: Vec<Recent> = Vec::with_capacity(into.recent.len() + from.recent.len());
        merged.extend(into.recent.iter().chain(&from.recent));
        // Of the same line the nearer comes first; a farther one stays if it owns registers that no nearer one does.
        merged.sort_unstable_by_key(|r| (r.line, -r.at, std::cmp::Reverse(r.live)));
        let mut kept: Vec<Recent> = Vec::with_capacity(merged.len());
        for r in merged {
            let same = kept.iter().rev().take_while(|k| k.line == r.line);
            if !same.into_iter().any(|k| k.live | r.live == k.live) {
                kept.push(r);
            }
        }
        into.recent = kept;
        self.cap(into);
        // A clause comes from the line above only: every other way in is a branch, which ends it. The longer is the worse.
        into.clause = match (into.clause, from.clause) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn need(&self, state: &Window, line: usize, counts: &dyn Fn(usize) -> bool) -> u32 {
        let mut need = 0;
        self.shortfalls(state, line, &mut |s| {
            if counts(s.producer) {
                need = need.max(s.missing());
            }
        });
        need
    }

    fn edge_need(&self, _state: &Window, edge: Edge) -> u32 {
        self.early.get(&edge).map_or(0, |e| e.0)
    }

    fn wait(&self, state: &mut Window, need: u32) {
        state.clock += need as i32;
        state.clause = None;
    }

    fn step(&self, state: &mut Window, line: usize) {
        state.clock += hazards::wait_states(&self.program.lines[line].inst) as i32;
        if self.rules.xnack {
            self.step_clause(state, line);
        }
        if self.views[line].matrix_result().is_some() {
            for r in &mut state.recent {
                r.live = self.views[r.line as usize].live_behind(r.live, &self.views[line]);
            }
        }
        if self.reach(line) > 0 {
            // The same line may be in reach from the last time round a short loop.
            state.recent.retain(|r| r.line != line as u32);
            state.recent.push(Recent { line: line as u32, at: state.clock, live: u32::MAX });
        }
        if state.recent.len() > COMPACT_ABOVE {
            self.drop_passed(state);
        }
    }

    fn seal(&self, state: &mut Window) {
        self.drop_passed(state);
        for r in &mut state.recent {
            r.at -= state.clock;
        }
        state.clock = 0;
        state.recent.sort_unstable_by_key(|r| (r.line, -r.at, std::cmp::Reverse(r.live)));
    }

    fn outer_cause(&self, state: &Window, line: usize, inside: &dyn Fn(usize) -> bool) -> Outer {
        let mut causes = Vec::new();
        self.shortfalls(state, line, &mut |s| {
            if !inside(s.producer) {
                causes.push(s);
            }
        });
        let short = self.need(state, line, &|_| true) - self.need(state, line, inside);
        Outer { short, causes }
    }

    fn strength(wait: u32) -> u64 {
        u64::from(wait)
    }

    fn hoist(&mut self, cause: &Outer, edges: &[(Edge, &Window)]) {
        for (edge, state) in edges {
            let brings = |s: &&Shortfall| {
                let in_clause = state.clause.is_some_and(|start| start as usize <= s.producer);
                in_clause || state.recent.iter().any(|r| r.line as usize == s.producer)
            };
            let here: Vec<Shortfall> = cause.causes.iter().filter(brings).cloned().collect();
            if !here.is_empty() {
                let round = self.round.entry(*edge).or_default();
                *round = cause.short.max(*round);
                self.early.entry(*edge).or_default().1.extend(here);
            }
        }
    }

    fn hoisted(&mut self) {
        for (edge, states) in std::mem::take(&mut self.round) {
            self.early.entry(edge).or_default().0 += states;
        }
    }

    fn weaker(wait: u32) -> Vec<u32> {
        (0..wait).collect()
    }
}

/// No more instructions than this are kept, those that reach farthest. Only where everything may jump everywhere can more than
/// a few dozen be in reach.
const MOST_RECENT: usize = 512;

/// Instructions out of reach are dropped when more than this many have piled up.
const COMPACT_ABOVE: usize = 32;

impl DistancePass<'_> {
    /// The clause behind `line`: the same, a new one, or none.
    fn step_clause(&self, state: &mut Window, line: usize) {
        let kind = self.views[line].clause_kind();
        let same = state.clause.filter(|start| self.views[*start as usize].clause_kind() == kind);
        state.clause = kind.and(same.or(Some(line as u32)));
    }

    /// Keeps what reaches farthest if there is too much; sealed, and so is the result.
    fn cap(&self, state: &mut Window) {
        if state.recent.len() > MOST_RECENT {
            let left = |r: &Recent| self.reach(r.line as usize).saturating_sub((state.clock - r.at) as u32);
            state.recent.sort_by_key(|r| std::cmp::Reverse(left(r)));
            state.recent.truncate(MOST_RECENT);
            state.recent.sort_unstable_by_key(|r| (r.line, -r.at, std::cmp::Reverse(r.live)));
        }
    }

    fn drop_passed(&self, state: &mut Window) {
        let mut recent = std::mem::take(&mut state.recent);
        recent.retain(|r| self.in_reach(state, r));
        state.recent = recent;
    }
}
