//! Tracks RDNA's hazard sequences by forward dataflow: the sequences that may be in progress before each instruction, over all paths.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::report::{self, Amount, Caveat, Finding, Findings};
use crate::cfg::Flow;
use crate::hazards::AnyRule as _;
use crate::hazards::remedy::Fix;
use crate::hazards::sequences::{Danger, Pending, Sequences};
use crate::hazards::{Config, Views};
use crate::inst::Via;
use crate::program::Program;

/// The identity of a finding: the rule and the two lines.
pub(super) type Site = (&'static str, Option<usize>, usize);

/// Adds findings of the rules with remedies. Findings that exist only because of jumps to unknown targets get the grade of cautious
/// findings.
pub(super) fn findings(program: &Program, flow: &Flow, rules: Config, found: &mut Findings) {
    let views = || Views::of(program, &rules.indexing(program, flow));
    let sequences = Sequences::of(program, views(), rules);
    if sequences.is_idle() {
        return;
    }
    let mut known = HashSet::new();
    if flow.has_guesses() {
        let sure = super::without_guesses(program, flow);
        Search::new(program, &sure, &sequences).findings(None, &mut known, found);
        Search::new(program, flow, &sequences).findings(Some(Caveat::UnknownJump), &mut known, found);
    } else {
        Search::new(program, flow, &sequences).findings(None, &mut known, found);
    }
}

/// Calls `ask` with the sequences that may be in progress in a program, if the program's target has applicable rules with remedies.
pub(super) fn with_search(program: &Program, flow: &Flow, rules: Config, ask: impl FnOnce(&Search<'_>)) {
    let sequences = Sequences::of(program, Views::of(program, &rules.indexing(program, flow)), rules);
    if !sequences.is_idle() {
        ask(&Search::new(program, flow, &sequences));
    }
}

/// The sequences that may be in progress at the start of each block.
pub(super) struct Search<'a> {
    pub program: &'a Program,
    pub flow: &'a Flow,
    pub sequences: &'a Sequences<'a>,
    pub before: Vec<Option<Pending>>,
    /// The states at the ends of blocks.
    pub after: Vec<Option<Pending>>,
}

impl<'a> Search<'a> {
    /// Iterates over all paths to a fixpoint. The iteration terminates because the state of a block only grows and is
    /// bounded by the registers and the reach of the rules.
    fn new(program: &'a Program, flow: &'a Flow, sequences: &'a Sequences<'a>) -> Search<'a> {
        let nothing = vec![None; flow.cfg.blocks.len()];
        let mut search = Search { program, flow, sequences, before: nothing.clone(), after: nothing };
        let mut open = BTreeSet::new();
        for root in &flow.roots {
            if search.learn(root.block, sequences.entry(root.kind)) {
                open.insert(root.block);
            }
        }
        while let Some(block) = open.pop_first() {
            let Some(mut state) = search.before[block].clone() else { continue };
            let lines = &flow.cfg.blocks[block];
            (lines.start..lines.end).for_each(|line| sequences.step(&mut state, line));
            sequences.seal(&mut state);
            search.after[block] = Some(state);
            for (from, next) in search.edges(block) {
                if let Some(state) = search.along(from, next, |block| search.after[block].as_ref())
                    && search.learn(next, state)
                {
                    open.insert(next);
                }
            }
        }
        search
    }

    /// The edges along which the state may change when the state at the end of `block` changes. These are the edges from `block` and, if
    /// the block ends in a call, the edges from the returns of the called functions: a sequence in progress at the call may still be in
    /// progress after it.
    pub fn edges(&self, block: usize) -> Vec<(usize, usize)> {
        let Flow { cfg, .. } = self.flow;
        let own = cfg.blocks[block].succs.iter().map(|next| (block, *next));
        let returns = self.flow.after_call(block).into_iter().flat_map(|next| {
            let ends = move |from: &&usize| self.flow.ends_call(**from, next).is_some();
            cfg.blocks[next].preds.iter().filter(ends).map(move |from| (*from, next))
        });
        own.chain(returns).collect()
    }

    /// The state along an edge; `None` if the edge's source is unreachable. `after` returns the states at the ends of blocks.
    pub fn along<'p>(
        &self,
        from: usize,
        to: usize,
        after: impl Fn(usize) -> Option<&'p Pending>,
    ) -> Option<Pending> {
        let mut state = after(from)?.clone();
        if self.flow.comes_back(from, to) {
            self.sequences.come_back(&mut state);
        }
        if self.flow.enters(from, to) {
            self.sequences.enter(&mut state);
        }
        if let Some(call) = self.flow.ends_call(from, to) {
            self.sequences.leave(&mut state, after(call));
        }
        Some(state)
    }

    /// Joins the state of a path into the state of `block`. Returns true if that state changed.
    fn learn(&mut self, block: usize, brought: Pending) -> bool {
        let Some(known) = &self.before[block] else {
            self.before[block] = Some(brought);
            return true;
        };
        let mut joined = known.clone();
        self.sequences.join(&mut joined, &brought);
        let news = joined != *known;
        self.before[block] = Some(joined);
        news
    }

    /// True if control can reach the line.
    pub fn reaches(&self, line: usize) -> bool {
        self.before[self.flow.cfg.block_of(line)].is_some()
    }

    /// The state before a reachable line; `None` if the line is unreachable.
    pub fn before(&self, line: usize) -> Option<Pending> {
        let block = self.flow.cfg.block_of(line);
        let mut state = self.before[block].clone()?;
        (self.flow.cfg.blocks[block].start..line).for_each(|line| self.sequences.step(&mut state, line));
        Some(state)
    }

    /// All violations, each with the fix that it needs.
    pub fn sites(&self) -> HashMap<Site, Fix> {
        let mut sites = HashMap::new();
        for (block, before) in self.before.iter().enumerate() {
            let Some(mut state) = before.clone() else { continue };
            for line in self.flow.cfg.blocks[block].start..self.flow.cfg.blocks[block].end {
                self.sequences.dangers(&state, line, |danger| {
                    _ = sites.insert((danger.rule.id, danger.first, line), danger.fix);
                });
                self.sequences.step(&mut state, line);
            }
        }
        sites
    }

    fn findings(&self, caveat: Option<Caveat>, known: &mut HashSet<Site>, found: &mut Findings) {
        for (block, before) in self.before.iter().enumerate() {
            let Some(mut state) = before.clone() else { continue };
            let lines = &self.flow.cfg.blocks[block];
            for line in lines.start..lines.end {
                let mut dangers = Vec::new();
                self.sequences.dangers(&state, line, |danger| dangers.push(danger));
                // Of several violations with the same fix, only the best supported one is reported.
                dangers.sort_by_key(|d| std::cmp::Reverse(d.rule.grade()));
                for (at, danger) in dangers.iter().enumerate() {
                    let mended =
                        dangers[..at].iter().any(|d| d.first == danger.first && d.fix.covers(danger.fix));
                    if !mended && known.insert((danger.rule.id, danger.first, line)) {
                        found.push(self.finding(danger, line, caveat));
                    }
                }
                self.sequences.step(&mut state, line);
            }
        }
    }

    fn finding(&self, danger: &Danger, second: usize, caveat: Option<Caveat>) -> Finding {
        let name = |line: usize| self.program.lines[line].inst.desc.printed;
        Finding {
            rule: danger.rule.id,
            grade: report::grade(danger.rule.grade(), caveat, Via::Name),
            title: danger.rule.title,
            first: danger.first,
            second,
            first_name: danger.first.map_or("", name),
            second_name: name(second),
            loc: self.program.lines[second].loc,
            reg: danger.reg,
            via: Via::Name,
            need: Amount::Remedy { fix: danger.fix, target: self.program.target },
            have: Amount::NoWait,
            path: Vec::new(),
            caveat,
        }
    }
}
