//! Sites of the counter rules, and findings about single instructions.

use std::collections::HashSet;

use super::Evidence;
use crate::cfg::Cfg;
use crate::check::{self, Caveat, MemoryModel, Options};
use crate::counters::{self, Event, Events, MemoryEffect};
use crate::hazards::counter::{self, CounterRule};
use crate::hazards::{self, Config};
use crate::inst::{Inst, RegUse};
use crate::program::Program;
use crate::reg::Reg;
use crate::table::Behaviours;
use crate::target::InstructionSet;

/// The maximum number of operations of a block that are tracked. If there are more, the oldest is forgotten.
const MOST_OPERATIONS: usize = 256;

/// Counts the broken sites from the checker's findings, and the satisfied sites of each block.
pub(super) fn count(program: &Program, config: Config, evidence: &mut Evidence) {
    let options = Options { rules: config, memory_model: MemoryModel::Strict, ..Options::default() };
    let report = check::check_with(program, options);
    let mut broken = HashSet::new();
    // A register that an index may access is not a site, and neither is an instruction that only an unknown jump may reach, because it is
    // unknown whether the access or the jump really occurs.
    let unknown = [Some(Caveat::Index), Some(Caveat::UnknownJump)];
    let sites = report.findings.iter().filter(|f| !unknown.contains(&f.caveat));
    for finding in sites.filter(|f| hazards::rule(f.rule).is_none()) {
        evidence.entry(finding.rule).or_default().broken += 1;
        broken.insert((finding.rule, finding.first, finding.second));
    }
    let set = program.target.instruction_set();
    for block in &Cfg::build(program).blocks {
        let mut open = Open::default();
        for line in block.start..block.end {
            let inst = &program.lines[line].inst;
            let events = counters::events(program.target, inst);
            open.settle(set, (inst, &events), |rule, first| {
                if !broken.contains(&(rule.id, Some(first), line)) {
                    evidence.entry(rule.id).or_default().kept += 1;
                }
            });
            open.start(line, events);
        }
    }
}

/// An operation on whose completion a later instruction may depend.
struct Operation {
    line: usize,
    writes: Option<Reg>,
    memory: MemoryEffect,
}

/// The operations of a block on which no instruction has depended yet. A wait may or may not have completed them.
#[derive(Default)]
struct Open(Vec<Operation>);

impl Open {
    /// Removes the operations on which `inst` depends, and reports the rule for each of them.
    fn settle(
        &mut self,
        set: InstructionSet,
        (inst, events): (&Inst, &Events),
        mut depends: impl FnMut(&'static CounterRule, usize),
    ) {
        let access = Access::of(inst, events);
        self.0.retain_mut(|operation| {
            if let Some(reg) = operation.writes {
                let rule = access.register_rule(reg);
                if let Some(rule) = rule {
                    depends(rule, operation.line);
                }
                if rule.is_some() || access.overwrites(reg) {
                    operation.writes = None;
                }
            }
            if let Some((rule, effect)) = access.memory_rule(set, operation.memory) {
                depends(rule, operation.line);
                operation.memory -= effect;
            }
            operation.writes.is_some() || !operation.memory.is_empty()
        });
    }

    /// Adds the operations that the instruction of `line` starts.
    fn start(&mut self, line: usize, events: Events) {
        let expected = |e: &Event| e.writes.is_some() || !awaited(e).is_empty();
        for event in events.into_iter().filter(expected) {
            if self.0.len() >= MOST_OPERATIONS {
                self.0.remove(0);
            }
            self.0.push(Operation { line, writes: event.writes, memory: awaited(&event) });
        }
    }
}

/// The effect on LDS that must be complete before a barrier. A read-modify-write counts as a write.
fn awaited(event: &Event) -> MemoryEffect {
    let writes = MemoryEffect::LDS_WRITE | MemoryEffect::LDS_DMA;
    let awaited = if event.memory.intersects(writes) { writes } else { MemoryEffect::LDS_READ };
    event.memory & awaited
}

/// The accesses of an instruction.
struct Access<'a> {
    inst: &'a Inst,
    events: &'a Events,
    reads: smallvec::SmallVec<[RegUse; 6]>,
    writes: smallvec::SmallVec<[RegUse; 3]>,
}

impl<'a> Access<'a> {
    fn of(inst: &'a Inst, events: &'a Events) -> Access<'a> {
        let (mut reads, mut writes) = (inst.reads(), inst.writes());
        let (read, written) = inst.scc();
        reads.extend(read);
        writes.extend(written);
        Access { inst, events, reads, writes }
    }

    /// The rule that requires an operation that writes `reg` to complete before the instruction. Successive operations that write the same
    /// register are excluded, because most of them finish in order. `None` if no rule does.
    fn register_rule(&self, reg: Reg) -> Option<&'static CounterRule> {
        if self.reads.iter().any(|u| u.reg.overlaps(reg)) {
            return Some(&counter::RAW);
        }
        let starts = self.events.iter().any(|e| e.writes.is_some());
        (self.overwrites(reg) && !starts).then_some(&counter::WAW)
    }

    fn overwrites(&self, reg: Reg) -> bool {
        self.writes.iter().any(|u| u.reg.overlaps(reg))
    }

    /// The rule that requires an operation with the effect `memory` to complete before the instruction, and that effect; `None` if no rule
    /// does.
    fn memory_rule(
        &self,
        set: InstructionSet,
        memory: MemoryEffect,
    ) -> Option<(&'static CounterRule, MemoryEffect)> {
        let dma = memory.contains(MemoryEffect::LDS_DMA);
        if self.inst.desc.does(Behaviours::ARRIVES_AT_BARRIER) {
            let rules = [
                (&counter::BARRIER_LDS_DMA, MemoryEffect::LDS_DMA),
                (&counter::BARRIER_LDS, MemoryEffect::LDS_WRITE),
                (&counter::BARRIER_LDS_READ, MemoryEffect::LDS_READ),
            ];
            return rules.into_iter().find(|r| memory.contains(r.1));
        }
        let lds = MemoryEffect::LDS_READ | MemoryEffect::LDS_WRITE;
        let accesses = self.events.iter().any(|e| e.memory.intersects(lds));
        (dma && accesses).then_some((counter::copies_to_lds(set), MemoryEffect::LDS_DMA))
    }
}
