//! Counters, forward: what may be outstanding at each instruction on any path, and whether it is waited for in time.

use smallvec::SmallVec;

use super::Options;
use super::outstanding::{Operation, Outstanding};
use super::path::PathSearch;
use super::report::{Amount, Finding, Findings};
use crate::cfg::{Block, Cfg};
use crate::counters::{self, Counter, Events, MemoryEffect, Stream, WaitCnt};
use crate::hazards::Grade;
use crate::inst::{Inst, RegUse};
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{Reg, RegFile};
use crate::table::{Access, Class};

/// A rule about the counters.
pub(super) struct CounterRule {
    pub id: &'static str,
    title: &'static str,
    grade: Grade,
}

const RAW: CounterRule = CounterRule {
    id: "waitcnt.raw",
    title: "a register is read before the memory operation that writes it is done",
    grade: Grade::Certain,
};
const WAW: CounterRule = CounterRule {
    id: "waitcnt.waw",
    title: "a register is written before the memory operation that writes it is done",
    grade: Grade::Certain,
};
/// FLAT counts on vmcnt in order if it went to memory, and lgkmcnt(0) says that it did not go to LDS; LLVM relies on it.
const WAW_FLAT: CounterRule = CounterRule {
    id: "waitcnt.flat-waw",
    title: "a vector memory operation writes a register before the FLAT operation that writes it is done",
    grade: Grade::Cautious,
};
const WAR: CounterRule = CounterRule {
    id: "waitcnt.exp-war",
    title: "a register is written before the GDS or GWS operation that reads it has done so",
    grade: Grade::Documented,
};
const LDS_DMA: CounterRule = CounterRule {
    id: "waitcnt.lds-dma",
    title: "LDS is accessed before a load into LDS is done",
    grade: Grade::Documented,
};
const WBINVL1: CounterRule = CounterRule {
    id: "waitcnt.wbinvl1",
    title: "the vector cache is invalidated before earlier vector memory operations are done",
    grade: Grade::Cautious,
};
const BARRIER_COUNTERS: CounterRule = CounterRule {
    id: "barrier.counters",
    title: "a barrier is reached with operations outstanding; this target needs every counter at 0",
    grade: Grade::Documented,
};
const BARRIER_LDS: CounterRule = CounterRule {
    id: "barrier.lds",
    title: "a barrier is reached before an LDS write is done, so other waves may not see it",
    grade: Grade::Documented,
};
const BARRIER_LDS_DMA: CounterRule = CounterRule {
    id: "barrier.lds-dma",
    title: "a barrier is reached before a load into LDS is done, so other waves may not see it",
    grade: Grade::Documented,
};

/// What may be outstanding everywhere in a program, and what that breaks.
pub(super) struct CounterCheck<'a> {
    program: &'a Program,
    pub cfg: &'a Cfg,
    options: Options,
    pub lines: Vec<LineFacts>,
    /// At the start of each block; `None` for blocks that no path reaches.
    pub states: Vec<Option<Outstanding>>,
}

impl<'a> CounterCheck<'a> {
    pub fn new(program: &'a Program, cfg: &'a Cfg, entries: &[usize], options: Options) -> CounterCheck<'a> {
        let lines: Vec<LineFacts> = program.lines.iter().map(|l| LineFacts::of(program, &l.inst)).collect();
        let states = solve(cfg, entries, &lines);
        CounterCheck { program, cfg, options, lines, states }
    }

    /// Findings of the counter rules.
    pub fn findings(&self, findings: &mut Findings) {
        let mut paths = PathSearch::new(self.cfg, &self.lines);
        for (block, entry) in self.cfg.blocks.iter().zip(&self.states) {
            let Some(mut state) = entry.clone() else { continue };
            for (line, facts) in numbered(&self.lines, block) {
                for broken in self.broken(&state, line) {
                    findings.push(|| self.finding(&broken, line, &mut paths));
                    // One finding says it: a wait before this access of LDS serves those that follow in the block.
                    if broken.rule.id == LDS_DMA.id {
                        state.forget(broken.first, MemoryEffect::LDS_DMA);
                    }
                }
                facts.step(&mut state, line);
            }
        }
    }
}

/// What an instruction does, as far as counters are concerned.
pub(super) struct LineFacts {
    pub wait: Option<WaitCnt>,
    pub events: Events,
}

impl LineFacts {
    fn of(program: &Program, inst: &Inst) -> LineFacts {
        let wait = match inst.operands.first() {
            Some(Operand::Imm(imm)) if inst.desc.class == Class::Waitcnt => {
                Some(WaitCnt::decode((*imm & 0xffff) as u16))
            }
            _ => None,
        };
        LineFacts { wait, events: counters::events(program.target, inst) }
    }

    /// The state behind the instruction.
    pub fn step(&self, state: &mut Outstanding, line: usize) {
        if let Some(wait) = self.wait {
            state.wait(wait);
        }
        for event in &self.events {
            state.issue(line, event);
        }
    }
}

/// The lines of a block with their numbers.
fn numbered<'a>(lines: &'a [LineFacts], block: &Block) -> impl Iterator<Item = (usize, &'a LineFacts)> {
    (block.start..block.end).zip(&lines[block.start..block.end])
}

/// The state at the start of each block, joined over all paths; `None` for blocks that no path reaches. Control comes in
/// at `entries` with nothing outstanding.
fn solve(cfg: &Cfg, entries: &[usize], lines: &[LineFacts]) -> Vec<Option<Outstanding>> {
    let mut states: Vec<Option<Outstanding>> = vec![None; cfg.blocks.len()];
    for &entry in entries {
        states[entry] = Some(Outstanding::default());
    }
    let mut waiting: Vec<bool> = states.iter().map(Option::is_some).collect();
    // Rounds in program order, which follows control flow but for back edges.
    while waiting.contains(&true) {
        for (b, block) in cfg.blocks.iter().enumerate() {
            if !std::mem::take(&mut waiting[b]) {
                continue;
            }
            let Some(mut state) = states[b].clone() else { continue };
            for (line, facts) in numbered(lines, block) {
                facts.step(&mut state, line);
            }
            for &succ in &block.succs {
                let changed = match &mut states[succ] {
                    Some(known) => known.join(&state),
                    none => {
                        *none = Some(state.clone());
                        true
                    }
                };
                waiting[succ] |= changed;
            }
        }
    }
    states
}

/// One rule broken by one earlier instruction, on as many counters as it takes.
pub(super) struct Broken {
    pub rule: &'static CounterRule,
    pub first: usize,
    reg: Option<Reg>,
    pub need: WaitCnt,
}

impl CounterCheck<'_> {
    /// The rules that `line` breaks if `state` may be outstanding before it.
    pub fn broken(&self, state: &Outstanding, line: usize) -> SmallVec<[Broken; 2]> {
        let inst = &self.program.lines[line].inst;
        let mut broken: SmallVec<[Broken; 2]> = SmallVec::new();
        if !state.operations().is_empty() {
            self.conflicts(state, line, &mut broken);
        }
        self.drained(state, inst, &mut broken);
        broken.retain(|b| b.rule.grade >= self.options.rules.at_least);
        broken
    }

    fn conflicts(&self, state: &Outstanding, line: usize, broken: &mut SmallVec<[Broken; 2]>) {
        let access = Accesses::of(&self.program.lines[line].inst, &self.lines[line].events);
        for operation in state.operations() {
            if let Some((rule, reg)) = self.conflict(operation, &access) {
                let need = operation.stream.counter().at(state.needed(operation));
                add(broken, Broken { rule, first: operation.line, reg, need });
            }
        }
    }

    /// The rule by which `operation` must be done before `inst`.
    fn conflict(
        &self,
        operation: &Operation,
        access: &Accesses<'_>,
    ) -> Option<(&'static CounterRule, Option<Reg>)> {
        if let Some(written) = operation.writes {
            if let Some(reg) = access.reads_too_early(operation.stream, written) {
                return Some((&RAW, Some(reg)));
            }
            if let Some(reg) = access.writes_too_early(operation.stream, written) {
                let ordered = operation.stream == Stream::FlatVm
                    && access.events.iter().any(|e| e.stream == Stream::Vmem);
                return Some((if ordered { &WAW_FLAT } else { &WAW }, Some(reg)));
            }
        }
        for held in &operation.holds {
            if let Some(write) = access.writes.iter().find(|w| w.reg.overlaps(*held)) {
                return Some((&WAR, Some(write.reg)));
            }
        }
        if !self.options.memory_model {
            return None;
        }
        let dma = operation.memory.contains(MemoryEffect::LDS_DMA);
        if dma && access.memory.intersects(MemoryEffect::LDS_READ | MemoryEffect::LDS_WRITE) {
            return Some((&LDS_DMA, None));
        }
        if access.inst.desc.class == Class::Barrier && self.program.target.has_back_off_barrier() {
            if dma {
                return Some((&BARRIER_LDS_DMA, None));
            }
            if operation.memory.contains(MemoryEffect::LDS_WRITE) {
                return Some((&BARRIER_LDS, None));
            }
        }
        None
    }

    /// Rules by which whole counters must be at 0.
    fn drained(&self, state: &Outstanding, inst: &Inst, broken: &mut SmallVec<[Broken; 2]>) {
        let (rule, counters): (_, &[Counter]) = match inst.desc.class {
            Class::Barrier if !self.program.target.has_back_off_barrier() => {
                (&BARRIER_COUNTERS, &Counter::ALL)
            }
            Class::CacheCtl
                if self.options.memory_model && inst.desc.mnemonic.starts_with("buffer_wbinvl1") =>
            {
                (&WBINVL1, &[Counter::Vm])
            }
            _ => return,
        };
        for &counter in counters {
            if let Some(first) = state.any_on(counter) {
                add(broken, Broken { rule, first, reg: None, need: counter.at(0) });
            }
        }
    }

    fn finding(&self, broken: &Broken, second: usize, paths: &mut PathSearch<'_>) -> Finding {
        Finding {
            rule: broken.rule.id,
            grade: broken.rule.grade,
            title: broken.rule.title,
            first: Some(broken.first),
            second,
            first_name: self.program.lines[broken.first].inst.desc.printed,
            second_name: self.program.lines[second].inst.desc.printed,
            loc: self.program.lines[second].loc,
            reg: broken.reg,
            need: Amount::Wait(broken.need),
            have: Amount::NoWait,
            path: paths.unfinished(broken.first, second),
        }
    }
}

/// Adds a broken rule, or its counter to the same rule broken by the same instruction.
fn add(broken: &mut SmallVec<[Broken; 2]>, new: Broken) {
    match broken.iter_mut().find(|b| b.first == new.first && b.rule.id == new.rule.id) {
        Some(known) => known.need = known.need.and(new.need),
        None => broken.push(new),
    }
}

/// What an instruction touches, worked out once for all operations that may be outstanding.
struct Accesses<'a> {
    inst: &'a Inst,
    events: &'a Events,
    reads: SmallVec<[RegUse; 6]>,
    writes: SmallVec<[RegUse; 3]>,
    memory: MemoryEffect,
    /// The operand that is read and written by a load: it is read only when the data arrives.
    merged: Option<u8>,
}

impl<'a> Accesses<'a> {
    fn of(inst: &'a Inst, events: &'a Events) -> Accesses<'a> {
        let tied = |o: &crate::table::OperandDesc| o.access == Access::ReadWrite;
        let merged = inst.desc.operands.iter().position(tied).filter(|_| is_load(inst)).map(|i| i as u8);
        let memory = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
        Accesses { inst, events, reads: inst.reads(), writes: inst.writes(), memory, merged }
    }

    /// True if the result of this instruction in `reg` arrives after that of any operation of `stream` issued before.
    fn arrives_after(&self, stream: Stream, reg: Reg) -> bool {
        self.events.iter().any(|e| e.writes == Some(reg) && counters::finishes_after(stream, e.stream))
    }

    /// The register of `written` that the instruction reads. A load that keeps part of its destination reads it only when
    /// its data arrives.
    fn reads_too_early(&self, stream: Stream, written: Reg) -> Option<Reg> {
        let merges = |u: &RegUse| u.operand.is_some() && u.operand == self.merged;
        let too_early =
            |u: &&RegUse| u.reg.overlaps(written) && !(merges(u) && self.arrives_after(stream, u.reg));
        self.reads.iter().find(too_early).map(|u| u.reg)
    }

    fn writes_too_early(&self, stream: Stream, written: Reg) -> Option<Reg> {
        let too_early = |u: &&RegUse| u.reg.overlaps(written) && !self.arrives_after(stream, u.reg);
        self.writes.iter().find(too_early).map(|u| u.reg)
    }
}

/// True if the operand that the instruction reads and writes is the destination of a load, not data to be sent.
fn is_load(inst: &Inst) -> bool {
    matches!(
        inst.desc.class,
        Class::VmemLoad | Class::GlobalLoad | Class::ScratchLoad | Class::FlatLoad | Class::LdsRead
    ) && inst.operands.first().and_then(|o| o.reg()).is_some_and(|r| r.file != RegFile::Sgpr)
}
