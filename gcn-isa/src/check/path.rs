//! Finds the paths on which an operation is still outstanding. The report shows them, and the assumptions of a finding depend on them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use smallvec::SmallVec;

use super::calls::Calls;
use super::choices::{self, Exits};
use super::facts::LineFacts;
use super::node::{End, Node};
use super::outstanding::Outstanding;
use super::report::Caveat;
use crate::cfg::Flow;
use crate::counters::Counter;
use crate::inst::Inst;
use crate::program::Program;

/// Budget of all searches together, in visited lines: the first number for each line of the program, but at least the second number. A
/// broken program can have as many findings as lines. The paths of the first findings are enough to fix it.
const LOOKS: (usize, usize) = (32, 1 << 21);

/// Budget of all searches that do not affect the verdict, in visited lines.
const LOOKS_FOR_REPORT: usize = 1 << 16;

/// The maximum number of nodes of one search.
const MOST_NODES: usize = 4096;

/// What a search found about the paths of a finding.
#[derive(Default)]
pub(super) struct Judgement {
    /// The lines at which the shortest path (in blocks) enters its blocks. The list is empty if the path stays in one block or is not
    /// known.
    pub path: Vec<usize>,
    /// The assumption that every path needs; `None` if at least one path needs no assumption.
    pub caveat: Option<Caveat>,
}

/// Searches paths within a budget. The budget keeps the time of the whole check linear in the program's length.
pub(super) struct PathSearch<'a> {
    program: &'a Program,
    flow: &'a Flow,
    lines: &'a [LineFacts],
    /// The lines that wait for an operation, start an operation, or return from a function, in order.
    relevant: Vec<u32>,
    exits: Option<Exits>,
    /// The blocks at which the program or one of its functions is entered.
    roots: HashSet<usize>,
    /// For each rule, the blocks from whose start control can reach an instruction that the rule's wait may serve.
    serving: HashMap<&'static str, Vec<bool>>,
    /// For each rule and counter, the blocks from whose start control can reach a wait on the counter and after it such an instruction.
    waited: HashMap<(&'static str, Counter), Vec<bool>>,
    looks: usize,
    /// The number of times that [`PathSearch::is_served`] could not decide.
    pub unserved: usize,
}

/// The nodes that a search has found.
struct Explored<'a> {
    nodes: Vec<Node<'a>>,
    /// The assumption of the best path in `nodes`; `None` if no path reaches the second instruction.
    judged: Option<Option<Caveat>>,
    /// False if the search exceeded its budget, so that there may be more paths and better ones.
    complete: bool,
}

impl<'a> PathSearch<'a> {
    pub fn new(program: &'a Program, flow: &'a Flow, lines: &'a [LineFacts]) -> PathSearch<'a> {
        PathSearch {
            program,
            flow,
            lines,
            relevant: Vec::new(),
            exits: None,
            roots: flow.roots.iter().map(|r| r.block).collect(),
            serving: HashMap::new(),
            waited: HashMap::new(),
            looks: lines.len().saturating_mul(LOOKS.0).max(LOOKS.1),
            unserved: 0,
        }
    }

    /// Lets all further searches use the budget for the report, so that only the first findings get paths.
    pub fn spend_little(&mut self) {
        self.looks = self.looks.min(LOOKS_FOR_REPORT);
    }

    /// Judges the paths that reach `second` while the operation of `first` is outstanding.
    pub fn judge(&mut self, first: usize, second: usize) -> Judgement {
        let block = &self.flow.cfg.blocks[self.flow.cfg.block_of(first)];
        if (first + 1..block.end).contains(&second) {
            return Judgement::default();
        }
        let mut explored = self.explore(first, Some(second));
        if explored.judged == Some(Some(Caveat::Branches))
            && let Some(between) = self.between(first, second)
        {
            explored.judged = Some(self.judged(&explored.nodes, Some(&between)));
        }
        let at = explored.nodes.iter().position(|n| matches!(n.end, End::Second));
        let path = at.map(|at| self.path(&explored.nodes, at)).unwrap_or_default();
        let caveat = match explored.judged {
            Some(None) => None,
            _ if !explored.complete => Some(Caveat::Undecided),
            Some(caveat) => caveat,
            None => Some(Caveat::Unfollowed),
        };
        Judgement { path, caveat }
    }

    /// The assumption of the best path in `nodes` to the second instruction. For `between`, see [`PathSearch::between`]. `None` if the path
    /// needs no assumption.
    fn judged(&mut self, nodes: &[Node<'_>], between: Option<&HashSet<usize>>) -> Option<Caveat> {
        let exits = self.exits.get_or_insert_with(|| Exits::of(self.program, self.flow));
        choices::caveat(self.flow, exits, nodes, between)
    }

    /// The blocks on paths from `first` to `second`. `None` if some path to `second` does not contain the block of `first`, or if both
    /// instructions are in the same block.
    fn between(&mut self, first: usize, second: usize) -> Option<HashSet<usize>> {
        let (start, end) = (self.flow.cfg.block_of(first), self.flow.cfg.block_of(second));
        let mut between = HashSet::new();
        let mut open = vec![end];
        while let Some(block) = open.pop() {
            if block == start || !between.insert(block) {
                continue;
            }
            self.looks = self.looks.checked_sub(1)?;
            if self.roots.contains(&block) {
                return None;
            }
            open.extend(&self.flow.cfg.blocks[block].preds);
        }
        (start != end).then_some(between)
    }

    /// True if an instruction for which `serves` returns true can follow a wait that completes the operation of `first`, or if the budget
    /// did not suffice to decide this.
    pub fn is_served(
        &mut self,
        first: usize,
        rule: &'static str,
        serves: fn(&Inst, &LineFacts) -> bool,
    ) -> bool {
        let Explored { nodes, complete, .. } = self.explore(first, None);
        if !complete {
            self.unserved += 1;
            return true;
        }
        let line_serves = |line: usize| serves(&self.program.lines[line].inst, &self.lines[line]);
        let blocks = &self.flow.cfg.blocks;
        let reachable = self.serving.entry(rule).or_insert_with(|| {
            let here = |b: usize| (blocks[b].start..blocks[b].end).any(line_serves);
            reaches(self.flow, here)
        });
        let set = self.program.target.instruction_set();
        let counters: SmallVec<[Counter; 2]> =
            self.lines[first].events.iter().map(|e| e.stream.counter(set)).collect();
        // True if an access that the wait at `line` serves can follow.
        let leads = |line: usize, block: usize| {
            (line..blocks[block].end).any(line_serves) || blocks[block].succs.iter().any(|s| reachable[*s])
        };
        nodes.iter().any(|node| {
            let End::Finished(line) = node.end else { return false };
            let end = blocks[node.block].end;
            counters.iter().any(|counter| {
                let waits = |line: &usize| self.lines[*line].wait.is_some_and(|wait| counter.is_in(wait));
                if waits(&line) {
                    return leads(line, node.block);
                }
                // The counter became full, so the operation is complete. A later wait serves it, too.
                let after_wait = self.waited.entry((rule, *counter)).or_insert_with(|| {
                    let here =
                        |b: usize| (blocks[b].start..blocks[b].end).filter(waits).any(|line| leads(line, b));
                    reaches(self.flow, here)
                });
                (line..end).filter(waits).any(|line| leads(line, node.block))
                    || blocks[node.block].succs.iter().any(|s| after_wait[*s])
            })
        })
    }

    /// Every block that can be entered with the operation of `first` outstanding, in breadth-first order. The search
    /// ends early when a path to `second` needs no assumption.
    fn explore(&mut self, first: usize, second: Option<usize>) -> Explored<'a> {
        let mut explored = Explored { nodes: Vec::new(), judged: None, complete: false };
        if self.looks == 0 {
            return explored;
        }
        explored.complete = self.search(&mut explored.nodes, first, second);
        if explored.nodes.iter().any(|n| matches!(n.end, End::Second)) {
            explored.judged = Some(self.judged(&explored.nodes, None));
            explored.complete &= self.exits.as_ref().is_some_and(|e| e.complete);
        }
        explored
    }

    /// Fills `nodes` for [`PathSearch::explore`]. Returns false if the search ended early.
    fn search(&mut self, nodes: &mut Vec<Node<'a>>, first: usize, second: Option<usize>) -> bool {
        let start = self.flow.cfg.block_of(first);
        let mut state = Outstanding::none(self.program.target.instruction_set());
        self.lines[first].step(&mut state, first);
        let end = self.follow(&mut state, first, first + 1..self.flow.cfg.blocks[start].end, second);
        nodes.push(Node { block: start, state, calls: Calls::default(), parent: 0, end });
        // `states` has a number for each state. The other map has the node for each block, number of the incoming state, and calls.
        let mut states: HashMap<Outstanding<'a>, usize> = HashMap::new();
        let mut known: HashMap<(usize, usize, Calls), usize> = HashMap::new();
        let mut done = 0;
        // Judging takes time linear in the number of nodes. It happens when the second instruction is first reached, and whenever the
        // number of nodes has doubled since the last time.
        let (mut reached, mut next_look) = (false, 0);
        while done < nodes.len() {
            if reached && nodes.len() >= next_look {
                next_look = 2 * nodes.len();
                if self.judged(nodes, None).is_none() {
                    return false;
                }
            }
            if matches!(nodes[done].end, End::Open(_)) {
                let from = nodes[done].block;
                let state = nodes[done].state.clone().blurred();
                let number = states.len();
                let number = *states.entry(state.clone()).or_insert(number);
                for &succ in &self.flow.cfg.blocks[from].succs {
                    if self.flow.comes_back(from, succ) {
                        continue;
                    }
                    self.looks = self.looks.saturating_sub(1);
                    let Some(calls) = nodes[done].calls.forward(self.flow, from, succ) else { continue };
                    let key = (succ, number, calls.clone());
                    let node = match known.get(&key) {
                        Some(&node) => node,
                        None => {
                            if nodes.len() >= MOST_NODES || self.looks == 0 {
                                return false;
                            }
                            let block = &self.flow.cfg.blocks[succ];
                            let mut state = state.clone();
                            let end = self.follow(&mut state, first, block.start..block.end, second);
                            reached |= matches!(end, End::Second);
                            nodes.push(Node { block: succ, state, calls, parent: done, end });
                            known.insert(key, nodes.len() - 1);
                            nodes.len() - 1
                        }
                    };
                    if let End::Open(next) = &mut nodes[done].end {
                        next.push((succ, node));
                    }
                }
            }
            done += 1;
        }
        true
    }

    /// Follows the operation of `first` through the lines of `range`.
    fn follow(
        &mut self,
        state: &mut Outstanding<'a>,
        first: usize,
        range: Range<usize>,
        second: Option<usize>,
    ) -> End {
        if self.relevant.is_empty() {
            self.relevant = relevant(self.lines);
        }
        let second = second.filter(|s| range.contains(s));
        let until = second.unwrap_or(range.end);
        let from = self.relevant.partition_point(|l| (*l as usize) < range.start);
        for &line in self.relevant[from..].iter().take_while(|l| (**l as usize) < until) {
            let line = line as usize;
            self.looks = self.looks.saturating_sub(1);
            let facts = &self.lines[line];
            if let Some(wait) = facts.wait {
                state.wait(wait);
            }
            if facts.returns() || self.is_finished(state, first) {
                return End::Finished(line);
            }
            // When control comes back to the first line, it starts a younger operation, which a wait may leave outstanding.
            for event in &facts.events {
                state.issue_behind(line, event);
            }
        }
        self.looks = self.looks.saturating_sub(1);
        if second.is_some() { End::Second } else { End::Open(SmallVec::new()) }
    }

    /// True if no operation of `first` is outstanding. Operations without obligations are visible only through their
    /// counter.
    fn is_finished(&self, state: &Outstanding<'_>, first: usize) -> bool {
        let events = &self.lines[first].events;
        let set = self.program.target.instruction_set();
        if !events.is_empty() && events.iter().all(|e| state.any_on(e.stream.counter(set)).is_none()) {
            return true;
        }
        let tracked = events.iter().any(Outstanding::keeps_track_of);
        tracked && !state.operations().iter().any(|o| o.line() == first && !o.is_done_if_trusted())
    }

    /// The lines at which a path from the start to the node `at` enters its blocks, without the line of the start.
    fn path(&self, nodes: &[Node<'_>], at: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut node = at;
        while nodes[node].parent != node {
            if !self.flow.is_hub(nodes[node].block) {
                path.push(self.flow.cfg.blocks[nodes[node].block].start);
            }
            node = nodes[node].parent;
        }
        path.reverse();
        path
    }
}

/// The lines that wait for an operation, start an operation, or return from a function.
fn relevant(lines: &[LineFacts]) -> Vec<u32> {
    let matters = |l: &LineFacts| l.wait.is_some() || !l.events.is_empty() || l.returns();
    lines.iter().enumerate().filter(|(_, l)| matters(l)).map(|(i, _)| i as u32).collect()
}

/// For each block, whether control can reach, from this block, a block for which `here` returns true.
fn reaches(flow: &Flow, here: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut found = vec![false; flow.cfg.blocks.len()];
    let mut open: Vec<usize> = (0..found.len()).filter(|b| here(*b)).collect();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut found[block], true) {
            open.extend(&flow.cfg.blocks[block].preds);
        }
    }
    found
}
