//! Checks wait states by walking backwards from each instruction along every path towards the entry, as far as any rule reaches.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::calls::Calls;
use super::report::{self, Amount, Caveat, Finding, Findings};
use crate::cfg::Flow;
use crate::hazards::AnyRule as _;
use crate::hazards::{self, Config, Grade, Kinds, Need, Since, Views};
use crate::program::Program;

/// A program's instructions prepared for the wait-state rules.
pub(super) struct Distances<'a> {
    program: &'a Program,
    pub flow: &'a Flow,
    /// For each block, whether control can reach it.
    pub reachable: Vec<bool>,
    pub rules: Config,
    pub views: Views,
    pub states: Vec<u32>,
    /// The largest number of wait states that any rule requires after an instruction of the program.
    reach: u32,
}

impl<'a> Distances<'a> {
    pub fn new(program: &'a Program, flow: &'a Flow, rules: Config) -> Distances<'a> {
        let views = Views::of(program, &rules.indexing(program, flow));
        let states = program.lines.iter().map(|l| hazards::wait_states(&l.inst)).collect();
        let reach = (0..views.len()).map(|line| views[line].reach()).max().unwrap_or(0).into();
        Distances { program, flow, reachable: flow.reachable(), rules, views, states, reach }
    }

    /// Findings of the wait-state rules.
    pub fn findings(&self, findings: &mut Findings) {
        let mut clause = 0;
        let budget = self.views.len().saturating_mul(HUB_WALKS.0).max(HUB_WALKS.1);
        let mut budgets = Budgets { jumps: budget, returns: budget };
        for (index, block) in self.flow.cfg.blocks.iter().enumerate().filter(|b| self.reachable[b.0]) {
            if !self.falls_into(index) {
                clause = block.start;
            }
            for second in block.start..block.end {
                self.check(index, second, &mut budgets, findings);
                if let Some((first, need)) = self.clause_need(clause, second) {
                    if !self.is_found_above(first, second, need) {
                        findings.push(self.clause_finding(first, second, need));
                    }
                    clause = second;
                }
            }
        }
    }
}

/// A range of lines at the end of a path that is walked backwards. All ranges that are found from one second instruction form that
/// instruction's *trail*.
#[derive(Clone)]
struct Stretch {
    block: usize,
    /// One more than the index of the last line of the range.
    end: usize,
    /// The number of wait states between the end of the range and the second instruction.
    distance: u32,
    /// The range that follows this one on the path, as an index into the trail; `None` for the range that ends at the second instruction.
    next: Option<usize>,
    /// Lines on the path that overwrite registers. Rules about earlier writes of these registers then do not apply to the second
    /// instruction.
    overwriters: SmallVec<[u32; 2]>,
    /// The kinds of the instructions on the path. Rules about an instruction between two others need them.
    crossed: Kinds,
    /// True if the path contains a jump with an unknown target.
    jumps: bool,
    /// The calls whose returns are on the path, the innermost last. When a walk reaches the start of a called function, it continues at its
    /// call.
    calls: Calls,
}

impl Stretch {
    /// True if a walk from this range finds everything that a walk from `other` finds.
    fn covers(&self, other: &Stretch) -> bool {
        self.block == other.block
            && self.distance <= other.distance
            && self.crossed.contains(other.crossed)
            && self.overwriters.iter().all(|line| other.overwriters.contains(line))
            && (!self.jumps || other.jumps)
            && (self.calls == other.calls || self.calls.is_empty())
    }
}

/// An index of the trail by block. It is used for trails that are too long for linear search.
#[derive(Default)]
struct Entered {
    by_block: HashMap<usize, Vec<usize>>,
    /// The number of entries of the trail that are in the index.
    known: usize,
}

/// The maximum length of trails that are searched linearly.
const SHORT_TRAIL: usize = 32;

impl Entered {
    /// True if an entry of `trail` covers `new`. The first entry is skipped, because it begins in the middle of its block.
    fn covers(&mut self, trail: &[Stretch], new: &Stretch) -> bool {
        if trail.len() <= SHORT_TRAIL {
            return trail.iter().skip(1).any(|s| s.covers(new));
        }
        for (index, stretch) in trail.iter().enumerate().skip(self.known.max(1)) {
            self.by_block.entry(stretch.block).or_default().push(index);
        }
        self.known = trail.len();
        self.by_block.get(&new.block).is_some_and(|list| list.iter().any(|i| trail[*i].covers(new)))
    }
}

/// Budget for walking backwards through hubs of one kind, for all walks of a program together: the first number for each line, but at least
/// the second number. A *hub* is an artificial block that represents all edges of a kind ([`Flow::is_hub`]). A program in which every jump
/// may lead everywhere, or in which every function is called from everywhere, has too many pairs of instructions to examine every pair.
const HUB_WALKS: (usize, usize) = (32, 1 << 20);

/// The remaining budgets for walks through hubs.
struct Budgets {
    /// The budget for hubs of jumps with unknown targets.
    jumps: usize,
    /// The budget for hubs of returns. An instruction whose walk ends because this budget is used up counts as undecided.
    returns: usize,
}

/// Two instructions whose distance is too short. One `Short` is kept for each pair of instructions and each grade. Otherwise a cautious
/// rule that requires more wait states, or an unknown jump that makes the distance shorter, could hide the requirement of a better
/// supported rule on a path that the program shows.
struct Short {
    first: usize,
    need: Need,
    distance: u32,
    stretch: usize,
    caveat: Option<Caveat>,
    grade: Grade,
}

impl Short {
    fn new(first: usize, need: Need, distance: u32, stretch: usize, jumps: bool) -> Short {
        let caveat = jumps.then_some(Caveat::UnknownJump).or(Caveat::of_index(need.via));
        let grade = report::grade(need.rule.grade(), caveat, need.via);
        Short { first, need, distance, stretch, caveat, grade }
    }

    /// The number of wait states that are missing.
    fn missing(&self) -> u32 {
        u32::from(self.need.states).saturating_sub(self.distance)
    }
}

impl Distances<'_> {
    /// True if control falls through into the block from the block before it.
    fn falls_into(&self, block: usize) -> bool {
        let above = block.checked_sub(1).filter(|b| self.reachable[*b]);
        above.is_some_and(|above| self.flow.cfg.blocks[block].preds.contains(&above))
    }

    /// The requirement of the memory clause rule for `second` within the lines from `start` on, with the earlier instruction; `None` if
    /// there is none.
    fn clause_need(&self, start: usize, second: usize) -> Option<(usize, Need)> {
        let clause = self.views.lines(start..second);
        let (at, need) = hazards::clause_need(clause, &self.views[second], self.rules)?;
        Some((start + at, need))
    }

    /// True if the clause rule already applies to the two as adjacent instructions, so that the backward walk has found the violation.
    fn is_found_above(&self, first: usize, second: usize, need: Need) -> bool {
        let needs = || self.views[first].required_all(&self.views[second], self.rules);
        first + 1 == second && needs().iter().any(|n| n.rule == need.rule)
    }

    fn clause_finding(&self, first: usize, second: usize, need: Need) -> Finding {
        let short = Short::new(first, need, 0, 0, false);
        let stretch = Stretch {
            block: 0,
            end: second,
            distance: 0,
            next: None,
            overwriters: SmallVec::new(),
            crossed: Kinds::empty(),
            jumps: false,
            calls: Calls::default(),
        };
        self.finding(&short, second, &[stretch])
    }

    fn check(&self, block: usize, second: usize, budgets: &mut Budgets, findings: &mut Findings) {
        // Entries are in the order of their discovery; the entries before `done` have been walked.
        let mut trail: SmallVec<[Stretch; 4]> = SmallVec::new();
        let start = Stretch {
            block,
            end: second,
            distance: 0,
            next: None,
            overwriters: SmallVec::new(),
            crossed: Kinds::empty(),
            jumps: false,
            calls: Calls::default(),
        };
        trail.push(start);
        let mut shorts: SmallVec<[Short; 2]> = SmallVec::new();
        let mut entered = Entered::default();
        let mut done = 0;
        let mut cut = false;
        while let Some(mut stretch) = trail.get(done).cloned() {
            if self.walk(&mut stretch, done, second, &mut shorts) {
                let block = &self.flow.cfg.blocks[stretch.block];
                for &pred in block.preds.iter().filter(|p| self.reachable[**p]) {
                    if self.flow.is_guess(stretch.block) {
                        // Findings on the remaining paths would be cautious, and the report lists the unknown jumps separately.
                        let Some(left) = budgets.jumps.checked_sub(1) else { break };
                        budgets.jumps = left;
                    } else if self.flow.is_hub(stretch.block) {
                        let Some(left) = budgets.returns.checked_sub(1) else {
                            cut = true;
                            break;
                        };
                        budgets.returns = left;
                    }
                    let Some(calls) = stretch.calls.back(self.flow, pred, stretch.block) else { continue };
                    let new = Stretch {
                        block: pred,
                        end: self.flow.cfg.blocks[pred].end,
                        next: Some(done),
                        jumps: stretch.jumps || self.flow.is_guess(stretch.block),
                        calls,
                        ..stretch.clone()
                    };
                    if !entered.covers(&trail, &new) {
                        trail.push(new);
                    }
                }
            }
            done += 1;
        }
        findings.undecided += usize::from(cut);
        // For each pair, report the best supported finding first, and then only the findings that require more wait states.
        shorts.sort_by_key(|s| (s.first, std::cmp::Reverse(s.grade)));
        for pair in shorts.chunk_by(|a, b| a.first == b.first) {
            let mut mended = 0;
            for short in pair {
                if short.missing() > mended {
                    findings.push(self.finding(short, second, &trail));
                    mended = short.missing();
                }
            }
        }
    }

    /// Checks the lines of the range against the second instruction, and extends the range's distance to the start of the block. Returns
    /// true if a rule may reach beyond that start.
    fn walk(
        &self,
        stretch: &mut Stretch,
        index: usize,
        second: usize,
        shorts: &mut SmallVec<[Short; 2]>,
    ) -> bool {
        for first in (self.flow.cfg.blocks[stretch.block].start..stretch.end).rev() {
            let view = &self.views[first];
            let distance = stretch.distance;
            if u32::from(view.reach()) > distance {
                self.each_need(first, second, stretch, |need| {
                    if u32::from(need.states) <= distance {
                        return;
                    }
                    let short = Short::new(first, need, distance, index, stretch.jumps);
                    match shorts.iter_mut().find(|s| (s.first, s.grade) == (first, short.grade)) {
                        Some(known) if known.missing() >= short.missing() => {}
                        Some(known) => *known = short,
                        None => shorts.push(short),
                    }
                });
            }
            if view.overwrites_for(&self.views[second]) {
                stretch.overwriters.push(first as u32);
            }
            stretch.crossed |= view.crossing();
            stretch.distance += self.states[first];
            if stretch.distance >= self.reach {
                return false;
            }
        }
        true
    }

    /// Calls `found` with the requirement of each rule between `first` and the second instruction, given the code between them.
    fn each_need(&self, first: usize, second: usize, stretch: &Stretch, found: impl FnMut(Need)) {
        let view = &self.views[first];
        let past = |since: Since, line: &u32| since.past(view, &self.views[*line as usize]);
        let since = stretch.overwriters.iter().fold(Since::across(stretch.crossed), past);
        view.each_need(&self.views[second], self.rules, since, found);
    }

    fn finding(&self, short: &Short, second: usize, trail: &[Stretch]) -> Finding {
        let mut path = Vec::new();
        let mut next = trail[short.stretch].next;
        while let Some(i) = next {
            if !self.flow.is_hub(trail[i].block) {
                path.push(self.flow.cfg.blocks[trail[i].block].start);
            }
            next = trail[i].next;
        }
        Finding {
            rule: short.need.rule.id,
            grade: short.grade,
            title: short.need.rule.title,
            first: Some(short.first),
            second,
            first_name: self.program.lines[short.first].inst.desc.printed,
            second_name: self.program.lines[second].inst.desc.printed,
            loc: self.program.lines[second].loc,
            reg: short.need.reg,
            via: short.need.via,
            need: Amount::States(short.need.states),
            have: Amount::States(short.distance.min(u32::from(u8::MAX)) as u8),
            path,
            caveat: short.caveat,
        }
    }
}
