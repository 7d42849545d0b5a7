//! The registers that outstanding operations may still own at the waits of a program.
//!
//! This is a forward dataflow analysis of a program that already has its `s_waitcnt`. An operation owns its result until some instruction
//! uses the result, because that instruction has a wait. The effect of a wait itself is ignored, so a register may stay in the set for too
//! long, but never too short.

use std::collections::{BTreeSet, HashMap};

use crate::Program;
use crate::cfg::Flow;
use crate::counters::events;
use crate::indexing::Indexing;
use crate::order::{Set, Touched};
use crate::program::EntryKind;

/// For each wait of a program, the registers that may be pending before it.
pub(super) struct Pending(HashMap<usize, Set>);

impl Pending {
    /// Computes the sets for the lines of `waits`.
    pub fn before(waits: &BTreeSet<usize>, program: &Program, flow: &Flow, indexing: &Indexing) -> Pending {
        let mut found = HashMap::with_capacity(waits.len());
        if waits.is_empty() {
            return Pending(found);
        }
        let held = held(program, indexing);
        for (block, pending) in at_entries(program, flow, indexing).into_iter().enumerate() {
            let range = flow.cfg.blocks[block].start..flow.cfg.blocks[block].end;
            if waits.range(range.clone()).next().is_none() {
                continue;
            }
            let mut pending = pending;
            for line in range {
                if waits.contains(&line) {
                    let mut all = pending;
                    all.add_all(&held);
                    found.insert(line, all);
                }
                step(program, indexing, &mut pending, line);
            }
        }
        Pending(found)
    }

    /// The registers that may be pending at this wait; `None` if the line is not one of the waits.
    pub fn at(&self, line: usize) -> Option<&Set> {
        self.0.get(&line)
    }
}

fn step(program: &Program, indexing: &Indexing, pending: &mut Set, line: usize) {
    let inst = &program.lines[line].inst;
    let touched = Touched::of(program, indexing, line);
    pending.take_all(&touched.reads);
    pending.take_all(&touched.writes);
    for event in events(program.target, &indexing.meant(line, inst)) {
        event.writes.into_iter().for_each(|reg| pending.add_reg(reg));
    }
}

/// The registers that operations read after they are issued. An instruction may read such a register again without a wait, so its access
/// does not prove that the operation is done.
fn held(program: &Program, indexing: &Indexing) -> Set {
    let mut held = Set::default();
    for (at, line) in program.lines.iter().enumerate() {
        for event in events(program.target, &indexing.meant(at, &line.inst)) {
            event.holds.iter().for_each(|&reg| held.add_reg(reg));
        }
    }
    held
}

/// The registers that may be pending at the start of each block.
fn at_entries(program: &Program, flow: &Flow, indexing: &Indexing) -> Vec<Set> {
    let blocks = &flow.cfg.blocks;
    let mut entry = vec![Set::default(); blocks.len()];
    let function = flow.roots.iter().any(|root| root.kind == EntryKind::Function);
    if function || blocks.iter().any(|b| b.unknown_exit) {
        // Code outside the program may have left operations outstanding.
        return vec![Set::ALL; blocks.len()];
    }
    let mut work: BTreeSet<usize> = (0..blocks.len()).collect();
    while let Some(block) = work.pop_first() {
        let mut pending = entry[block];
        (blocks[block].start..blocks[block].end).for_each(|line| step(program, indexing, &mut pending, line));
        for &next in &blocks[block].succs {
            let mut joined = entry[next];
            joined.add_all(&pending);
            if joined != entry[next] {
                entry[next] = joined;
                work.insert(next);
            }
        }
    }
    entry
}
