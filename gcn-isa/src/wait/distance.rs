//! The wait-state pass: inserts the distances that must separate dependent instructions.
//!
//! The state before an instruction has an entry for each earlier instruction to which some rule may still apply: the smallest number of
//! wait states since that instruction on any path. The join is the minimum. An entry is dropped once the largest number of wait states that
//! any rule may require after the instruction has passed. Therefore the reach of the longest rule limits the size of states, and loops
//! converge.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::cfg::Flow;
use crate::hazards::{self, Config, Need, Since, Views};

use super::loops::Edge;
use super::solve::Pass;
use crate::indexing::Indexing;
use crate::program::EntryKind;
use crate::{Program, Reg};

/// An earlier instruction that rules may still connect with a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Recent {
    line: u32,
    /// The value of the clock when the instruction was issued. In sealed states, it is the negated number of wait states since then.
    at: i32,
    /// A summary of the instructions since then.
    since: Since,
    /// The largest number of wait states that any rule may require after the instruction.
    reach: u8,
    /// The registers that the instruction owns until a later instruction overwrites them ([`View::owned`](crate::hazards::View::owned)).
    /// `None` if it owns none.
    owned: Option<Reg>,
    /// True if the instruction is before the call of the function that control is in.
    outer: bool,
}

impl Recent {
    /// The number of wait states since the instruction; `None` if no rule can still apply to the instruction.
    fn distance(&self, clock: i32) -> Option<u32> {
        let passed = (clock - self.at) as u32;
        (passed < u32::from(self.reach)).then_some(passed)
    }

    /// True if all rules that apply after `other` also apply after this instruction. `other` must be at least as far away.
    fn covers(&self, other: &Recent) -> bool {
        self.line == other.line && self.since.covers(other.since) && (!self.outer || other.outer)
    }

    /// The sort key. Among entries of the same line, the nearest comes first.
    fn rank(&self) -> (u32, i32, Reverse<Since>, bool) {
        (self.line, -self.at, Reverse(self.since), self.outer)
    }
}

/// The earlier instructions to which rules may still apply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Window {
    /// The entries. They are sorted by line in a sealed state.
    recent: Vec<Recent>,
    /// The number of wait states since the block's start.
    clock: i32,
    /// The first line of the memory clause that continues at this point, with XNACK; `None` outside of a clause.
    clause: Option<u32>,
    /// The value of the clock until which rules may apply to instructions whose entries were dropped because there were too many.
    crowd: i32,
}

impl Window {
    /// The entries of a line; `self` must be sealed.
    fn of_line(&self, line: u32) -> &[Recent] {
        let first = self.recent.partition_point(|r| r.line < line);
        let count = self.recent[first..].partition_point(|r| r.line == line);
        &self.recent[first..first + count]
    }

    /// The number of wait states after which no rule applies any more to the instructions whose entries were dropped.
    fn crowd(&self) -> u32 {
        u32::try_from(self.crowd - self.clock).unwrap_or(0)
    }

    /// True if, regardless of the code that follows, no rule requires more after this state than after `other`.
    pub fn asks_no_more_than(&self, other: &Window) -> bool {
        let asks_more = |r: &Recent, distance: u32| {
            let as_near = |o: &Recent| o.covers(r) && o.distance(other.clock).is_some_and(|d| d <= distance);
            !other.recent.iter().any(as_near)
        };
        let more = |r: &Recent| r.distance(self.clock).is_some_and(|distance| asks_more(r, distance));
        self.clause == other.clause && self.crowd() <= other.crowd() && !self.recent.iter().any(more)
    }
}

/// A distance that is too short.
#[derive(Debug, Clone)]
pub(super) struct Shortfall {
    pub producer: usize,
    pub consumer: usize,
    pub required: Need,
    pub present: u32,
}

/// The distances that are too short before one instruction. There is seldom more than one.
pub(super) type Shortfalls = SmallVec<[Shortfall; 1]>;

/// A memoised result of the rules for a pair of instructions. Code is repetitive, so the same pairs recur.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    /// The numbers of the two views, and a summary of the code between them; `None` as long as nothing is memoised here.
    pair: Option<(u32, u32, Since)>,
    need: Option<Need>,
}

/// The number of entries in the cache of pairs. It is a power of two.
const ASKED: usize = 1 << 10;

/// Wait states to be moved from a line in a loop to the edges that enter the loop.
pub(super) struct Outer {
    /// The number of wait states that are missing only because of instructions before the loop.
    short: u32,
    /// The distances to those instructions.
    causes: Vec<Shortfall>,
}

/// The wait-state pass.
pub(super) struct DistancePass<'a> {
    pub program: &'a Program,
    /// The rules to satisfy.
    rules: Config,
    /// The registers that are accessed through indices.
    pub indexing: Indexing,
    /// The views of the program's lines.
    views: Views,
    /// A direct-mapped cache of [`ASKED`] entries.
    asked: Vec<Cell<Asked>>,
    /// The wait states on edges, and their causes.
    pub early: BTreeMap<Edge, (u32, Vec<Shortfall>)>,
    /// The wait states that the current round of hoisting adds to edges.
    round: BTreeMap<Edge, u32>,
}

impl<'a> DistancePass<'a> {
    pub fn new(program: &'a Program, flow: &Flow, rules: Config) -> DistancePass<'a> {
        let indexing = rules.indexing(program, flow);
        let views = Views::of(program, &indexing);
        let places = program.lines.len().next_power_of_two().min(ASKED);
        let asked = vec![Cell::new(Asked::default()); places];
        DistancePass {
            program,
            rules,
            indexing,
            views,
            asked,
            early: BTreeMap::new(),
            round: BTreeMap::new(),
        }
    }

    /// The number of passes for which the matrix pipe is busy with `line`.
    pub fn passes(&self, line: usize) -> u8 {
        self.views[line].passes()
    }

    /// The largest number of wait states that any rule requires between an earlier instruction and `line`; `None` if no rule applies.
    fn required(&self, earlier: &Recent, line: usize) -> Option<Need> {
        let first = earlier.line as usize;
        let pair = (self.views.number(first), self.views.number(line), earlier.since);
        let hash = (pair.0.wrapping_mul(31) ^ pair.1).wrapping_mul(0x9e37_79b1) >> 16;
        let place = self.asked.get(hash as usize & (self.asked.len() - 1))?;
        let known = place.get();
        if known.pair == Some(pair) {
            return known.need;
        }
        let need = self.views[first].required_since(&self.views[line], self.rules, earlier.since);
        place.set(Asked { pair: Some(pair), need });
        need
    }

    /// Calls `found` for every earlier instruction that `line` follows too closely.
    pub fn shortfalls(&self, state: &Window, line: usize, found: &mut dyn FnMut(Shortfall)) {
        let second = &self.views[line];
        for recent in &state.recent {
            let producer = recent.line as usize;
            if let Some(present) = recent.distance(state.clock)
                && let Some(required) = self.required(recent, line)
                && u32::from(required.states) > present
            {
                found(Shortfall { producer, consumer: line, required, present });
            }
        }
        // The clause rule between adjacent instructions has already been found above.
        if let Some(start) = state.clause
            && let clause = self.views.lines(start as usize..line)
            && let Some((at, required)) = hazards::clause_need(clause, second, self.rules)
        {
            found(Shortfall { producer: start as usize + at, consumer: line, required, present: 0 });
        }
    }

    /// Among the distances that are too short before `line`, those that lack the most wait states.
    pub fn strictest(&self, state: &Window, line: usize) -> Shortfalls {
        let mut causes = Shortfalls::new();
        self.shortfalls(state, line, &mut |s| causes.push(s));
        let most = causes.iter().map(Shortfall::missing).max();
        causes.retain(|s| Some(s.missing()) == most);
        causes
    }
}

impl Shortfall {
    /// The number of missing wait states.
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

    /// The instructions of the external function are not counted, so the distances to the instructions before the call stay as if there
    /// were no call.
    fn come_back(&self, _: &mut Window) {}

    fn enter(&self, state: &mut Window, by_call: bool) {
        state.recent.iter_mut().for_each(|r| r.outer = by_call);
        state.recent.sort_unstable_by_key(Recent::rank);
        state.recent.dedup();
    }

    /// An entry with `outer` is for an instruction before some call of this function, not necessarily before this one. It is kept only if
    /// the same instruction is also in the state before this call.
    fn leave(&self, state: &mut Window, call: Option<&Window>) {
        state.recent.retain_mut(|r| {
            if !r.outer {
                return true;
            }
            let same = call.map_or(&[][..], |c| c.of_line(r.line));
            // The return adds at least one wait state to the distance before the call.
            let Some(nearest) = same.iter().map(|c| c.at).max() else { return false };
            r.outer = same.iter().all(|c| c.outer);
            r.at = r.at.min(nearest - 1);
            r.distance(0).is_some()
        });
        state.recent.sort_unstable_by_key(Recent::rank);
    }

    fn join(&self, into: &mut Window, from: &Window) {
        let mut merged: Vec<Recent> = Vec::with_capacity(into.recent.len() + from.recent.len());
        merged.extend(into.recent.iter().chain(&from.recent));
        // An entry of the same line that is farther away is kept only if it owns registers that no nearer entry owns, or if more kinds of
        // instructions follow it.
        merged.sort_unstable_by_key(Recent::rank);
        let mut kept: Vec<Recent> = Vec::with_capacity(merged.len());
        for r in merged {
            let same = kept.iter().rev().take_while(|k| k.line == r.line);
            if !same.into_iter().any(|k| k.covers(&r)) {
                kept.push(r);
            }
        }
        into.recent = kept;
        into.crowd = into.crowd.max(from.crowd);
        cap(into);
        // Control can enter a clause only from the line above it. Every other edge is a branch, which ends the clause. The longer clause is
        // worse for the instructions that follow.
        into.clause = match (into.clause, from.clause) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn need(&self, state: &Window, line: usize, counts: &dyn Fn(usize) -> bool) -> u32 {
        let mut need = state.crowd();
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
        let (view, clock) = (&self.views[line], state.clock);
        if view.matters_between() {
            let crosses = !view.crossing().is_empty();
            for r in state.recent.iter_mut().filter(|r| crosses || r.owned.is_some()) {
                r.since = r.since.past_owned(r.owned, view);
            }
        }
        // In a short loop, the entry of the same line from the previous iteration may still be within reach.
        let line = line as u32;
        state.recent.retain(|r| r.line != line && r.distance(clock).is_some());
        let reach = view.reach();
        if reach > 0 {
            let owned = view.owned();
            state.recent.push(Recent { line, at: clock, since: Since::NOTHING, reach, owned, outer: false });
        }
    }

    fn seal(&self, state: &mut Window) {
        state.crowd = state.crowd() as i32;
        let clock = std::mem::take(&mut state.clock);
        state.recent.retain(|r| r.distance(clock).is_some());
        for r in &mut state.recent {
            r.at -= clock;
        }
        state.recent.sort_unstable_by_key(Recent::rank);
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

    fn size(&self, state: &Window) -> usize {
        state.recent.len()
    }

    fn strength(&self, wait: u32) -> u64 {
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

    fn weaker(&self, wait: u32) -> Vec<u32> {
        (0..wait).collect()
    }
}

/// The maximum number of entries. The entries that reach farthest are kept. The instructions that follow wait until no rule applies to the
/// dropped entries. More than a few dozen entries can be within reach only in programs in which every jump may lead everywhere.
const MOST_RECENT: usize = 512;

impl DistancePass<'_> {
    /// Updates the memory clause for `line`, which continues the clause, begins a new clause, or ends it.
    fn step_clause(&self, state: &mut Window, line: usize) {
        let kind = self.views[line].clause_kind();
        let same = state.clause.filter(|start| self.views[*start as usize].clause_kind() == kind);
        state.clause = kind.and(same.or(Some(line as u32)));
    }
}

/// If there are too many entries, keeps those that reach farthest. The state must be sealed, and remains so.
fn cap(state: &mut Window) {
    if state.recent.len() > MOST_RECENT {
        let clock = state.clock;
        let left = |r: &Recent| u32::from(r.reach).saturating_sub((clock - r.at) as u32);
        state.recent.sort_by_key(|r| Reverse(left(r)));
        let most = state.recent[MOST_RECENT..].iter().map(left).max().unwrap_or(0);
        state.crowd = state.crowd.max(clock + most as i32);
        state.recent.truncate(MOST_RECENT);
        state.recent.sort_unstable_by_key(Recent::rank);
    }
}
