//! Wait states that could go: how much every dependence that crosses an `s_nop` has to spare.

use smallvec::SmallVec;

use super::Advice;
use crate::check::distance::Distances;
use crate::check::report::Amount;
use crate::hazards::MAX_REACH;
use crate::program::Program;
use crate::table::Class;

/// A line with the fewest wait states between it and the `s_nop`.
type Near = (usize, u32);

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

/// How many wait states of the `s_nop` at `line` no dependence needs.
fn spare(facts: &Distances<'_>, block: usize, line: usize) -> u32 {
    let have = facts.states[line];
    let before = backward(facts, block, line);
    let after = forward(facts, block, line);
    let mut spare = have;
    for &(first, to_nop) in &before {
        let view = &facts.views[first];
        for &(second, from_nop) in &after {
            let around = to_nop + from_nop;
            if u32::from(view.reach()) <= around {
                continue;
            }
            if let Some(need) = view.required(&facts.views[second], facts.rules) {
                spare = spare.min((around + have).saturating_sub(u32::from(need.states)));
            }
        }
    }
    spare
}

/// The lines that can come before `line` within the reach of any rule.
fn backward(facts: &Distances<'_>, block: usize, line: usize) -> SmallVec<[Near; 16]> {
    let mut near = SmallVec::new();
    // Stretches of blocks still to walk: block, one past the last line, distance so far.
    let mut open: SmallVec<[(usize, usize, u32); 4]> = SmallVec::new();
    let mut entered: SmallVec<[(usize, u32); 8]> = SmallVec::new();
    open.push((block, line, 0));
    while let Some((block, end, mut distance)) = open.pop() {
        for first in (facts.flow.cfg.blocks[block].start..end).rev() {
            note(&mut near, first, distance);
            distance += facts.states[first];
            if distance >= u32::from(MAX_REACH) {
                break;
            }
        }
        if distance < u32::from(MAX_REACH) {
            for &pred in facts.flow.cfg.blocks[block].preds.iter().filter(|p| facts.reachable[**p]) {
                if improves(&mut entered, pred, distance) {
                    open.push((pred, facts.flow.cfg.blocks[pred].end, distance));
                }
            }
        }
    }
    near
}

/// The lines that can come after `line` within the reach of any rule.
fn forward(facts: &Distances<'_>, block: usize, line: usize) -> SmallVec<[Near; 16]> {
    let mut near = SmallVec::new();
    let mut open: SmallVec<[(usize, usize, u32); 4]> = SmallVec::new();
    let mut entered: SmallVec<[(usize, u32); 8]> = SmallVec::new();
    open.push((block, line + 1, 0));
    while let Some((block, start, mut distance)) = open.pop() {
        for second in start..facts.flow.cfg.blocks[block].end {
            note(&mut near, second, distance);
            distance += facts.states[second];
            if distance >= u32::from(MAX_REACH) {
                break;
            }
        }
        if distance < u32::from(MAX_REACH) {
            for &succ in &facts.flow.cfg.blocks[block].succs {
                if improves(&mut entered, succ, distance) {
                    open.push((succ, facts.flow.cfg.blocks[succ].start, distance));
                }
            }
        }
    }
    near
}

fn note(near: &mut SmallVec<[Near; 16]>, line: usize, distance: u32) {
    match near.iter_mut().find(|n| n.0 == line) {
        Some(known) => known.1 = known.1.min(distance),
        None => near.push((line, distance)),
    }
}

/// True if the block was not entered at so short a distance before.
fn improves(entered: &mut SmallVec<[(usize, u32); 8]>, block: usize, distance: u32) -> bool {
    match entered.iter_mut().find(|e| e.0 == block) {
        Some(known) if known.1 <= distance => false,
        Some(known) => {
            known.1 = distance;
            true
        }
        None => {
            entered.push((block, distance));
            true
        }
    }
}
