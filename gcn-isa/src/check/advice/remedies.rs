//! Finds waits for dependencies that could be weaker, and unnecessary instances of the other waits that interrupt hazard sequences on RDNA.
//! Each wait is replaced by a weaker one, and the program is analysed from there until the states with the two waits are equal again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Advice;
use crate::check::remedies::{Search, Site};
use crate::check::report::Amount;
use crate::hazards::remedy::{Fix, waits_for_dependencies};
use crate::hazards::sequences::{Danger, Pending, Sequences};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::table::Class;

/// Budget of all walks together, in visited lines: the first number for each line of the program, but at least the second number. A wait
/// whose walk exceeds the budget gets no advice.
const LOOKS: (usize, usize) = (64, 1 << 20);

/// Removes advice to weaken waits that interrupt a hazard sequence, and adds advice about waits for dependencies.
pub(in crate::check) fn advise(search: &Search<'_>, advice: &mut Vec<Advice>) {
    let program = search.program;
    let looks = program.lines.len().saturating_mul(LOOKS.0).max(LOOKS.1);
    let mut walk = Walk { search, known: search.sites(), looks };
    advice.retain_mut(|a| {
        let inst = &program.lines[a.line].inst;
        if let (Amount::States(have), Amount::States(enough)) = (a.have, a.enough) {
            let all = (enough..have).map(Amount::States);
            let found = all.into_iter().find(|e| walk.is_clean(a.line, lessened(inst, *e).as_ref()));
            a.enough = found.unwrap_or(a.have);
            return found.is_some();
        }
        walk.is_clean(a.line, lessened(inst, a.enough).as_ref())
    });
    for line in 0..program.lines.len() {
        let inst = &program.lines[line].inst;
        if waits_for_dependencies(inst) && search.reaches(line) {
            let have = Fix::waiting(program.target, inst);
            let enough = walk.weakest(line, have);
            if enough != have {
                let amount = |fix: Fix| Amount::Remedy { fix, target: program.target };
                advice.push(Advice { line, have: amount(have), enough: amount(enough), may_order: false });
            }
        }
    }
}

/// The instruction with the weaker wait `enough`; `None` if the instruction can be removed.
fn lessened(inst: &Arc<Inst>, enough: Amount) -> Option<Inst> {
    let mut inst = Inst::clone(inst);
    match enough {
        Amount::States(0) => None,
        Amount::States(states) if inst.desc.class == Class::Nop => {
            inst.operands[0] = Operand::Imm(i64::from(states) - 1);
            Some(inst)
        }
        Amount::Wait(on) if on.wait.is_none() => None,
        Amount::Wait(on) => {
            on.wait.put_into(&mut inst);
            Some(inst)
        }
        _ => Some(inst),
    }
}

struct Walk<'a, 's> {
    search: &'a Search<'s>,
    /// The violations that the program already has.
    known: HashMap<Site, Fix>,
    looks: usize,
}

impl Walk<'_, '_> {
    /// The smallest subset of the dependencies in `have` that is sufficient.
    fn weakest(&mut self, line: usize, have: Fix) -> Fix {
        if self.is_clean(line, None) {
            return Fix::NONE;
        }
        let target = self.search.program.target;
        let mut enough = have;
        for wait in have.waits.iter() {
            let less = Fix { waits: enough.waits.difference(wait), ..enough };
            let inst = less.instructions(target).into_iter().next();
            if inst.is_some() && self.is_clean(line, inst.as_ref()) {
                enough = less;
            }
        }
        enough
    }

    /// True if no new violation occurs when `instead` replaces the line.
    fn is_clean(&mut self, line: usize, instead: Option<&Inst>) -> bool {
        let Search { flow, sequences, .. } = *self.search;
        let block = flow.cfg.block_of(line);
        // The state before the line is recomputed from the start of its block.
        self.looks = self.looks.saturating_sub(line - flow.cfg.blocks[block].start);
        let Some(mut state) = self.search.before(line).filter(|_| self.looks > 0) else { return false };
        if let Some(inst) = instead {
            sequences.execute(&mut state, inst);
        }
        let mut before: HashMap<usize, Pending> = HashMap::new();
        let mut after: HashMap<usize, Pending> = HashMap::new();
        let mut open = BTreeSet::new();
        let mut part = Some((block, line + 1, state));
        while let Some((block, from, mut state)) = part {
            let lines = from..flow.cfg.blocks[block].end;
            self.looks = self.looks.saturating_sub(lines.len() + 1);
            if self.looks == 0 || !self.passes(sequences, &mut state, lines) {
                return false;
            }
            sequences.seal(&mut state);
            after.insert(block, state);
            for (from, next) in self.search.edges(block) {
                let Some(brought) =
                    self.search.along(from, next, |b| after.get(&b).or(self.search.after[b].as_ref()))
                else {
                    continue;
                };
                let known = before.get(&next).or(self.search.before[next].as_ref());
                let joined = known.map_or_else(
                    || brought.clone(),
                    |known| {
                        let mut joined = known.clone();
                        sequences.join(&mut joined, &brought);
                        joined
                    },
                );
                if known != Some(&joined) {
                    before.insert(next, joined);
                    open.insert(next);
                }
            }
            part = open
                .pop_first()
                .and_then(|next| Some((next, flow.cfg.blocks[next].start, before.get(&next)?.clone())));
        }
        true
    }

    /// Applies lines to the state. Returns false if a new violation occurs at one of them.
    fn passes(&self, sequences: &Sequences<'_>, state: &mut Pending, lines: std::ops::Range<usize>) -> bool {
        for line in lines {
            let mut clean = true;
            sequences.dangers(state, line, |danger: Danger| {
                let known = self.known.get(&(danger.rule.id, danger.first, line));
                clean &= known.is_some_and(|fix| fix.covers(danger.fix));
            });
            if !clean {
                return false;
            }
            sequences.step(state, line);
        }
        true
    }
}
