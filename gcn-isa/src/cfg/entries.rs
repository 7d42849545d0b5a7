//! Finds the places where control may enter although no visible edge leads there.

use super::flow::Root;
use super::{Cfg, destination};
use crate::operand::Operand;
use crate::program::{EntryKind, Program};
use crate::table::Class;

/// For each block, whether a jump with an unknown destination may lead there: functions, labels that no branch names,
/// and blocks without predecessors, but not blocks that only the dispatcher enters.
pub(super) fn unknown_entries(program: &Program, cfg: &Cfg) -> Vec<bool> {
    let lines = program.lines.len();
    let mut found: Vec<bool> = cfg.blocks.iter().map(|b| b.preds.is_empty()).collect();
    let named = named_labels(program);
    for (label, _) in program.labels.iter().zip(&named).filter(|(_, named)| !**named) {
        if let Some(at) = label.at.filter(|at| *at < lines) {
            found[cfg.block_of(at)] = true;
        }
    }
    let entry = |kind| program.entries.iter().filter(move |e| e.kind == kind).map(|e| e.at);
    let start = program.entries.is_empty().then_some(0);
    let dispatched = start.into_iter().chain(entry(EntryKind::Kernel)).map(|at| (at, false));
    let others = program.gaps.iter().copied().chain(entry(EntryKind::Function)).map(|at| (at, true));
    // Functions come last and take precedence: a place that is both a kernel and a function can be called.
    for (at, is_entry) in dispatched.chain(others).filter(|(at, _)| *at < lines) {
        found[cfg.block_of(at)] = is_entry;
    }
    found
}

/// For each label, whether a branch or a resolved jump leads to it.
fn named_labels(program: &Program) -> Vec<bool> {
    let mut named = vec![false; program.labels.len()];
    for line in program.lines.iter().filter(|l| l.inst.desc.class == Class::Branch) {
        let operands = line.inst.operands.iter().filter_map(|o| match o {
            Operand::Label(label) => Some(*label),
            _ => None,
        });
        for label in operands.chain(line.jump.and_then(|_| destination(line))) {
            if let Some(named) = named.get_mut(label.0 as usize) {
                *named = true;
            }
        }
    }
    named
}

/// The blocks at which control enters from outside.
pub(super) fn roots(program: &Program, cfg: &Cfg) -> Vec<Root> {
    let lines = program.lines.len();
    let mut roots: Vec<Root> = program
        .entries
        .iter()
        .filter(|e| e.at < lines)
        .map(|e| Root { block: cfg.block_of(e.at), kind: e.kind })
        .collect();
    if roots.is_empty() && lines > 0 {
        roots.push(Root { block: 0, kind: EntryKind::Kernel });
    }
    let gaps = program.gaps.iter().filter(|g| **g < lines);
    roots.extend(gaps.map(|gap| Root { block: cfg.block_of(*gap), kind: EntryKind::Kernel }));
    Root::sort(&mut roots);
    roots
}
