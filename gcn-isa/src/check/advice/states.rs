//! Finds unnecessary wait states: computes how many wait states of an `s_nop` are not needed by any dependency across it.

use smallvec::SmallVec;

use super::Advice;
use crate::check::distance::Distances;
use crate::check::report::Amount;
use crate::hazards::{self, Kinds, MAX_REACH, Since, View};
use crate::program::Program;
use crate::table::Class;

/// A summary of the code between the `s_nop` and a nearby line.
#[derive(Clone, Copy)]
struct Way {
    /// The number of wait states on the path.
    distance: u32,
    /// The kinds of the instructions on the path. Rules about an instruction between two others need them.
    crossed: Kinds,
}

impl Way {
    const NONE: Way = Way { distance: 0, crossed: Kinds::empty() };

    fn past(self, facts: &Distances<'_>, line: usize) -> Way {
        let crossed = self.crossed | facts.views[line].crossing();
        Way { distance: self.distance + facts.states[line], crossed }
    }

    /// Joins the summaries of two paths: the result has the smaller distance and the kinds of both paths.
    fn either(self, other: Way) -> Way {
        Way { distance: self.distance.min(other.distance), crossed: self.crossed | other.crossed }
    }

    fn ends(self) -> bool {
        self.distance >= u32::from(MAX_REACH)
    }
}

/// The number of a nearby line or block, with a summary of all paths between this line or block and the `s_nop`.
type Near = (usize, Way);

pub(in crate::check) fn advise(program: &Program, facts: &Distances<'_>) -> Vec<Advice> {
    let mut advice = Vec::new();
    for (index, block) in facts.flow.cfg.blocks.iter().enumerate().filter(|b| facts.reachable[b.0]) {
        for line in block.start..block.end {
            if program.lines[line].inst.desc.class != Class::Nop {
                continue;
            }
            let have = facts.states[line];
            let spare = spare(facts, index, line);
            if spare > 0 {
                let amount = |states: u32| Amount::States(states.min(u32::from(u8::MAX)) as u8);
                let (have, enough) = (amount(have), amount(have - spare));
                advice.push(Advice { line, have, enough, may_order: false });
            }
        }
    }
    advice
}

/// The number of wait states of the `s_nop` at `line` that no dependency needs.
fn spare(facts: &Distances<'_>, block: usize, line: usize) -> u32 {
    let have = facts.states[line];
    let before = backward(facts, block, line);
    let after = forward(facts, block, line);
    let mut spare = if parts_clauses(facts, line) { have - 1 } else { have };
    for (first, to_nop) in &before {
        let view = &facts.views[*first];
        for (second, from_nop) in &after {
            let around = to_nop.distance + from_nop.distance;
            if u32::from(view.reach()) <= around {
                continue;
            }
            let crossed = to_nop.crossed | from_nop.crossed;
            let second = &facts.views[*second];
            if let Some(need) = view.required_since(second, facts.rules, Since::across(crossed)) {
                spare = spare.min((around + have).saturating_sub(u32::from(need.states)));
            }
        }
    }
    spare
}

/// True if the `s_nop` at `line` separates memory instructions that XNACK replay must not repeat as one clause. A comparison of pairs of
/// instructions does not show this, because the conflict may be with any earlier instruction of the clause. Successive lines count as a
/// clause even where control cannot fall through from one line to the next; at worst, an unnecessary `s_nop` is kept.
fn parts_clauses(facts: &Distances<'_>, line: usize) -> bool {
    let kind = |line: usize| facts.views[line].clause_kind();
    let Some(before) = line.checked_sub(1).and_then(kind).filter(|_| facts.rules.xnack) else { return false };
    let member = |line: &usize| kind(*line) == Some(before);
    let mut clause: Vec<&View> = (0..line).rev().take_while(member).map(|l| &facts.views[l]).collect();
    clause.reverse();
    (line + 1..facts.views.len()).take_while(member).any(|next| {
        let next = &facts.views[next];
        let conflicts = hazards::clause_need(clause.iter().copied(), next, facts.rules).is_some();
        clause.push(next);
        conflicts
    })
}

/// The lines that may execute before `line` and that some rule may connect with a line after it.
fn backward(facts: &Distances<'_>, block: usize, line: usize) -> SmallVec<[Near; 16]> {
    let mut near = SmallVec::new();
    // Ranges of blocks that remain to be walked: block, one past the last line, summary of the path so far.
    let mut open: SmallVec<[(usize, usize, Way); 4]> = SmallVec::new();
    let mut entered: SmallVec<[Near; 8]> = SmallVec::new();
    open.push((block, line, Way::NONE));
    while let Some((block, end, mut way)) = open.pop() {
        for first in (facts.flow.cfg.blocks[block].start..end).rev() {
            note(&mut near, first, way);
            way = way.past(facts, first);
            if way.ends() {
                break;
            }
        }
        if !way.ends() {
            for &pred in facts.flow.cfg.blocks[block].preds.iter().filter(|p| facts.reachable[**p]) {
                if improves(&mut entered, pred, way) {
                    open.push((pred, facts.flow.cfg.blocks[pred].end, way));
                }
            }
        }
    }
    near
}

/// The lines that may execute after `line` and that some rule may connect with a line before it.
fn forward(facts: &Distances<'_>, block: usize, line: usize) -> SmallVec<[Near; 16]> {
    let mut near = SmallVec::new();
    let mut open: SmallVec<[(usize, usize, Way); 4]> = SmallVec::new();
    let mut entered: SmallVec<[Near; 8]> = SmallVec::new();
    open.push((block, line + 1, Way::NONE));
    while let Some((block, start, mut way)) = open.pop() {
        for second in start..facts.flow.cfg.blocks[block].end {
            note(&mut near, second, way);
            way = way.past(facts, second);
            if way.ends() {
                break;
            }
        }
        if !way.ends() {
            for &succ in &facts.flow.cfg.blocks[block].succs {
                if improves(&mut entered, succ, way) {
                    open.push((succ, facts.flow.cfg.blocks[succ].start, way));
                }
            }
        }
    }
    near
}

fn note(near: &mut SmallVec<[Near; 16]>, line: usize, way: Way) {
    match near.iter_mut().find(|n| n.0 == line) {
        Some(known) => known.1 = known.1.either(way),
        None => near.push((line, way)),
    }
}

/// False if the block has already been entered on a path that is at most as long and has at least the same kinds of instructions.
fn improves(entered: &mut SmallVec<[Near; 8]>, block: usize, way: Way) -> bool {
    match entered.iter_mut().find(|e| e.0 == block) {
        Some((_, known)) if known.distance <= way.distance && known.crossed.contains(way.crossed) => false,
        Some((_, known)) => {
            *known = known.either(way);
            true
        }
        None => {
            entered.push((block, way));
            true
        }
    }
}
