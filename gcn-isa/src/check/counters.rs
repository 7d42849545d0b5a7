//! Checks the counters by forward dataflow: which operations may be outstanding at each instruction on any path, and whether the program
//! waits for them in time.

use std::collections::{BTreeSet, HashMap, HashSet};

use smallvec::SmallVec;

use super::access::{Accesses, Touching};
use super::barriers::{Barriers, Verdict};
use super::facts::{Facts, LineFacts, Shared};
use super::operation::Operation;
use super::outstanding::Outstanding;
use super::path::{Judgement, PathSearch};
use super::phases::Phases;
use super::report::{self, Amount, Caveat, Finding, Findings};
use super::{MemoryModel, Options};
use crate::cfg::{Block, Flow, is_return};
use crate::counters::{self, Counter, MemoryEffect, Stream, WaitCnt};
use crate::hazards::AnyRule as _;
use crate::hazards::Grade;
use crate::hazards::counter::{self as rules, CounterRule};
use crate::indexing::Indexing;
use crate::inst::{Inst, RegUse, Via};
use crate::program::{EntryKind, Line, Program};
use crate::reg::Reg;
use crate::table::{Behaviours, Class};
use crate::target::InstructionSet;

/// The operations that may be outstanding at each point of a program, and the rules that are broken as a result.
pub(super) struct CounterCheck<'a> {
    program: &'a Program,
    pub flow: &'a Flow,
    options: Options,
    indexing: &'a Indexing,
    pub lines: &'a [LineFacts],
    /// The state at the start of each block; `None` for blocks that no path reaches.
    pub states: Vec<Option<Outstanding<'a>>>,
}

impl<'a> CounterCheck<'a> {
    /// Computes the operations that may be outstanding at the start of each block.
    pub fn new(program: &'a Program, flow: &'a Flow, facts: &'a Facts, options: Options) -> CounterCheck<'a> {
        let Facts { indexing, lines } = facts;
        CounterCheck {
            program,
            flow,
            options,
            indexing,
            lines,
            states: solve(program.target.instruction_set(), flow, lines),
        }
    }

    pub fn set(&self) -> InstructionSet {
        self.program.target.instruction_set()
    }

    /// Reports the findings of the counter rules, and returns the identities of the findings.
    pub fn findings(&self, findings: &mut Findings) -> Known {
        let mut known = Known::default();
        findings.undecided += self.each_broken(|broken, line, paths| {
            known.add(broken, line);
            let judgement = broken.first.map_or_else(Judgement::default, |first| paths.judge(first, line));
            findings.push(self.finding(broken, line, judgement));
        });
        known
    }

    /// Reports the findings that are not in `known`, which has the findings of the same program on the paths that the program shows. Every
    /// finding that this function reports depends on a jump to an unknown target, so its grade is low in any case, and no budget affects
    /// the grades.
    pub fn findings_beyond(&self, known: &Known, findings: &mut Findings) {
        self.each_broken(|broken, line, paths| {
            if !known.covers(broken, line) {
                paths.spend_little();
                let path = broken.first.map_or_else(Vec::new, |first| paths.judge(first, line).path);
                let judgement = Judgement { path, caveat: Some(Caveat::UnknownJump) };
                findings.push(self.finding(broken, line, judgement));
            }
        });
    }

    /// Adds the lines whose LDS accesses break a rule.
    pub fn unordered_lds_accesses(&self, lines: &mut BTreeSet<usize>) {
        self.each_broken(|broken, _, _| {
            lines.extend(broken.first.filter(|_| ADDRESS_RULES.contains(&broken.rule)));
        });
    }

    /// Calls `tell` for each broken rule that is worth reporting, with the line that breaks it. Returns the number of
    /// cases that a budget left undecided.
    fn each_broken(&self, mut tell: impl FnMut(&Broken, usize, &mut PathSearch<'_>)) -> usize {
        let mut paths = PathSearch::new(self.program, self.flow, self.lines);
        let mut told = Told::default();
        for (block, entry) in self.flow.cfg.blocks.iter().zip(&self.states) {
            let Some(mut state) = entry.clone() else { continue };
            for (line, facts) in numbered(self.lines, block) {
                for mut broken in self.broken(&state, line) {
                    if let Some(second) = self.worth_telling(&mut broken, line, &mut paths, &mut told) {
                        tell(&broken, second, &mut paths);
                    }
                    // One finding is enough: a wait before this LDS access also serves the later LDS accesses of the block.
                    let copy = COPIES.iter().find(|(rule, _)| *rule == broken.rule);
                    if let Some(((_, effect), first)) = copy.zip(broken.first) {
                        state.forget(first, *effect);
                    }
                }
                facts.step(&mut state, line);
            }
        }
        paths.unserved + told.undecided
    }

    /// The line that breaks the rule; `None` if the finding may be a false alarm because the program uses several buffers in LDS: see
    /// [`MemoryModel::Sure`].
    fn worth_telling<'s>(
        &'s self,
        broken: &mut Broken,
        line: usize,
        paths: &mut PathSearch<'_>,
        told: &mut Told<'s>,
    ) -> Option<usize> {
        let is_about_addresses = ADDRESS_RULES.contains(&broken.rule);
        let Some(first) = broken.first.filter(|_| is_about_addresses) else { return Some(line) };
        if self.options.memory_model == MemoryModel::Strict {
            return Some(line);
        }
        if COPIES.iter().any(|(copy, _)| *copy == broken.rule) {
            return self.early_access(broken, (first, line), paths, told);
        }
        self.is_late_at_barrier(broken, (first, line), paths, told).then_some(line)
    }

    /// The line that accesses the LDS bytes of a copy too early; `None` if the program may use several buffers. An access of the copy's own
    /// bytes is an error on every path. Otherwise nothing is known about addresses, and an access after the right wait, also one in a later
    /// iteration, shows that this access may be to another buffer.
    fn early_access<'s>(
        &'s self,
        broken: &mut Broken,
        (first, line): (usize, usize),
        paths: &mut PathSearch<'_>,
        told: &mut Told<'s>,
    ) -> Option<usize> {
        let rule = broken.rule.id;
        if !told.findings.insert((rule, first)) {
            return None;
        }
        let writes = broken.rule == &rules::ASYNC_LDS_READ;
        if self.set().has_async_copies() {
            // A path without a wait is an error: nothing else waits for such copies, so LDS is read while they write it, or written while
            // they read it.
            broken.is_shown = true;
            let matters: fn(&LineFacts) -> bool =
                if writes { LineFacts::writes_lds_at_once } else { |facts| facts.reads(Shared::Lds) };
            if let Some((second, need)) = told.barriers(self).access_during(first, matters) {
                broken.need = need;
                return Some(second);
            }
        }
        let serves: fn(&Inst, &LineFacts) -> bool = match writes {
            true => |_, facts| facts.writes(Shared::Lds),
            false => |_, facts| facts.reads(Shared::Lds),
        };
        (!paths.is_served(first, rule, serves)).then_some(line)
    }

    /// False if the program may let the access pass the barrier at `line` on purpose.
    fn is_late_at_barrier<'s>(
        &'s self,
        broken: &mut Broken,
        (first, line): (usize, usize),
        paths: &mut PathSearch<'_>,
        told: &mut Told<'s>,
    ) -> bool {
        let rule = broken.rule.id;
        if rule == rules::BARRIER_LDS_READ.id {
            return self.is_written_after(line, told) && told.findings.insert((rule, first));
        }
        let barriers = told.barriers(self);
        let shared = if broken.rule == &rules::BARRIER_STORE { Shared::Global } else { Shared::Lds };
        let (write, verdict) = barriers.judge(first, line, shared);
        broken.is_shown = verdict == Verdict::Late;
        match verdict {
            Verdict::Deferred => false,
            Verdict::Late => {
                broken.first = Some(write);
                told.late.insert((rule, write, line))
            }
            // No LDS access after the barrier is known to come too early. The finding is suppressed if another barrier can follow a wait
            // that completes the write, because the write may be meant for that barrier.
            Verdict::Unknown | Verdict::Undecided => {
                if !told.findings.insert((rule, first)) {
                    return false;
                }
                let unserved = paths.unserved;
                let arrives = |inst: &Inst, _: &LineFacts| inst.desc.does(Behaviours::ARRIVES_AT_BARRIER);
                let tells = !paths.is_served(first, rule, arrives);
                let is_counted = tells || paths.unserved > unserved;
                told.undecided += usize::from(verdict == Verdict::Undecided && !is_counted);
                tells
            }
        }
    }

    /// True if LDS may be written after the barrier at `line` and before the next barrier.
    fn is_written_after(&self, line: usize, told: &mut Told<'_>) -> bool {
        let phases = told.phases.get_or_insert_with(|| Phases::of(self.program, self.flow, self.lines));
        phases.is_written_after(line, self.program, self.flow, self.lines)
    }
}

/// The findings so far: for each rule and pair of instructions, the wait that the finding requires.
#[derive(Default)]
pub(super) struct Known(HashMap<(&'static str, Option<usize>, Option<usize>), WaitCnt>);

impl Known {
    /// The identity of a finding. For a rule about LDS accesses, one finding for each first instruction is enough.
    fn key(broken: &Broken, line: usize) -> (&'static str, Option<usize>, Option<usize>) {
        (broken.rule.id, broken.first, (!ADDRESS_RULES.contains(&broken.rule)).then_some(line))
    }

    fn add(&mut self, broken: &Broken, line: usize) {
        let need = self.0.entry(Known::key(broken, line)).or_insert(broken.need);
        *need = need.and(broken.need);
    }

    /// True if the wait that resolves an earlier finding also resolves this one.
    fn covers(&self, broken: &Broken, line: usize) -> bool {
        self.0.get(&Known::key(broken, line)).is_some_and(|need| need.and(broken.need) == *need)
    }
}

/// The guarantees of the calling convention, on which code outside the program relies. They are checked regardless of the selected rules.
const CONVENTION: [&CounterRule; 2] = [&rules::CALL_ENTRY, &rules::CALL_EXIT];

/// The findings that have been reported so far.
#[derive(Default)]
struct Told<'a> {
    /// The reported findings, as rule and first instruction.
    findings: HashSet<(&'static str, usize)>,
    /// Broken rules about barriers after which an LDS access is known to come too early, with both instructions.
    late: HashSet<(&'static str, usize, usize)>,
    phases: Option<Phases>,
    barriers: Option<Barriers<'a>>,
    /// The number of writes before barriers for which the search exceeded its budget before it could decide whether they are late.
    undecided: usize,
}

impl<'a> Told<'a> {
    /// The analysis of barriers and addresses, created when it is first needed.
    fn barriers(&mut self, check: &'a CounterCheck<'_>) -> &mut Barriers<'a> {
        self.barriers.get_or_insert_with(|| Barriers::new(check.program, check.flow, check.lines))
    }
}

/// The rules about LDS accesses before a copy is done, each with the copy's effect on LDS.
const COPIES: [(&CounterRule, MemoryEffect); 3] = [
    (&rules::LDS_DMA, MemoryEffect::LDS_DMA),
    (&rules::ASYNC_LDS, MemoryEffect::LDS_DMA),
    (&rules::ASYNC_LDS_READ, MemoryEffect::LDS_READ),
];

/// The rules about LDS accesses, and about memory accesses at barriers. Whether such a rule is broken depends on addresses.
const ADDRESS_RULES: [&CounterRule; 7] = [
    &rules::LDS_DMA,
    &rules::ASYNC_LDS,
    &rules::ASYNC_LDS_READ,
    &rules::BARRIER_LDS,
    &rules::BARRIER_LDS_READ,
    &rules::BARRIER_LDS_DMA,
    &rules::BARRIER_STORE,
];

/// The lines of a block, each with its number.
fn numbered<'a>(lines: &'a [LineFacts], block: &Block) -> impl Iterator<Item = (usize, &'a LineFacts)> {
    (block.start..block.end).zip(&lines[block.start..block.end])
}

/// The state at the start of each block, joined over all paths; `None` for blocks that no path reaches.
fn solve<'a>(set: InstructionSet, flow: &Flow, lines: &'a [LineFacts]) -> Vec<Option<Outstanding<'a>>> {
    let mut states: Vec<Option<Outstanding<'a>>> = vec![None; flow.cfg.blocks.len()];
    for root in &flow.roots {
        let entered = match root.kind {
            EntryKind::Kernel => Outstanding::none(set),
            EntryKind::Function => Outstanding::of_caller(set),
        };
        meet(&mut states[root.block], &entered);
    }
    let mut waiting: Vec<bool> = states.iter().map(Option::is_some).collect();
    // Iterate in program order, which agrees with control flow except for back edges.
    while waiting.contains(&true) {
        for (b, block) in flow.cfg.blocks.iter().enumerate() {
            if !std::mem::take(&mut waiting[b]) {
                continue;
            }
            let Some(mut state) = states[b].clone() else { continue };
            for (line, facts) in numbered(lines, block) {
                facts.step(&mut state, line);
            }
            for &succ in &block.succs {
                waiting[succ] |= if flow.comes_back(b, succ) {
                    let mut after = state.clone();
                    after.wait_as_at_calls();
                    meet(&mut states[succ], &after)
                } else {
                    meet(&mut states[succ], &state)
                };
            }
        }
    }
    states
}

/// Joins the state of another path. Returns true if that changed anything.
fn meet<'a>(known: &mut Option<Outstanding<'a>>, new: &Outstanding<'a>) -> bool {
    match known {
        Some(known) => known.join(new),
        None => {
            *known = Some(new.clone());
            true
        }
    }
}

/// A rule that is broken because of one earlier instruction, with all the counters involved.
pub(super) struct Broken {
    pub rule: &'static CounterRule,
    /// The earlier instruction; `None` for operations of the caller.
    pub first: Option<usize>,
    reg: Option<Reg>,
    via: Via,
    pub need: WaitCnt,
    /// True if the finding is certain without assumptions about addresses, because an access follows before which the first instruction may
    /// not be complete ([`Verdict::Late`]).
    is_shown: bool,
}

impl CounterCheck<'_> {
    /// The rules that are broken at `line` if the operations in `state` may be outstanding before it.
    pub fn broken(&self, state: &Outstanding<'_>, line: usize) -> SmallVec<[Broken; 2]> {
        let mut broken: SmallVec<[Broken; 2]> = SmallVec::new();
        if !state.operations().is_empty() {
            self.conflicts(state, line, &mut broken);
        }
        for &counter in self.lines[line].uses_of_caller.iter().filter(|c| state.caller_on(**c)) {
            add(
                &mut broken,
                Broken {
                    rule: &rules::CALL_ENTRY,
                    first: None,
                    reg: None,
                    via: Via::Name,
                    need: counter.at(0),
                    is_shown: false,
                },
            );
        }
        self.drained(state, &self.program.lines[line], &mut broken);
        broken.retain(|b| self.options.rules.counts(b.rule) || CONVENTION.contains(&b.rule));
        broken
    }

    fn conflicts(&self, state: &Outstanding<'_>, line: usize, broken: &mut SmallVec<[Broken; 2]>) {
        let (inst, events) = (&self.program.lines[line].inst, &self.lines[line].events);
        let access = Accesses::of(self.set(), line, inst, events, self.indexing);
        let room = counters::room(self.set(), events);
        for operation in state.operations() {
            if let Some((rule, used)) = self.conflict(operation, &access, line) {
                // Findings of rules about addresses are already graded as suspicions, so no doubt is added.
                let doubt = operation.doubt(room).filter(|_| !ADDRESS_RULES.contains(&rule));
                let rule = doubt.unwrap_or(rule);
                let need = operation.counter().at(operation.needed());
                let (reg, via) = (used.map(|u| u.reg), used.map_or(Via::Name, |u| u.via));
                add(broken, Broken { rule, first: Some(operation.line()), reg, via, need, is_shown: false });
            }
        }
        broken.sort_by_key(|b| b.first);
    }

    /// The rule that requires `operation` to be done before the instruction of `access`; `None` if no rule does.
    fn conflict(
        &self,
        operation: &Operation<'_>,
        access: &Accesses<'_>,
        line: usize,
    ) -> Option<(&'static CounterRule, Option<RegUse>)> {
        let mut registers: SmallVec<[(&'static CounterRule, RegUse); 3]> = SmallVec::new();
        let stream = operation.stream();
        if let Some(owed) = operation.owed() {
            let read = access.reads_too_early(stream, &owed, Touching::Bits);
            registers.extend(read.map(|read| (&rules::RAW, read)));
            let write = access.writes_too_early(stream, &owed, Touching::Bits);
            let ordered = stream == Stream::FlatVm && access.events.iter().any(|e| e.stream == Stream::Vmem);
            let rule = if ordered { &rules::WAW_FLAT } else { &rules::WAW };
            registers.extend(write.map(|write| (rule, write)));
            if registers.is_empty() && self.options.rules.counts(&rules::HALF) {
                let read = access.reads_too_early(stream, &owed, Touching::OtherHalf);
                let other = read.or_else(|| access.writes_too_early(stream, &owed, Touching::OtherHalf));
                registers.extend(other.map(|used| (&rules::HALF, used)));
            }
        }
        let overwritten = operation.holds().iter().find_map(|held| access.overwrites(stream, *held));
        let rule = if stream.of_operands().is_some() { &rules::OPERAND_WAR } else { &rules::WAR };
        registers.extend(overwritten.map(|write| (rule, write)));
        // If an index may reach one register and the instruction certainly uses another register, report the latter.
        if let Some((rule, used)) = registers.into_iter().min_by_key(|r| r.1.via) {
            return Some((rule, Some(used)));
        }
        let dma = operation.memory().contains(MemoryEffect::LDS_DMA);
        if dma && access.memory.intersects(self.options.memory_model.lds_accesses()) {
            return Some((rules::copies_to_lds(self.set()), None));
        }
        let reads = stream.copies() && operation.memory().contains(MemoryEffect::LDS_READ);
        if reads
            && access.memory.contains(MemoryEffect::LDS_WRITE)
            && self.options.memory_model != MemoryModel::Off
        {
            return Some((&rules::ASYNC_LDS_READ, None));
        }
        let is_barrier = access.inst.desc.class == Class::Barrier;
        let depends = is_barrier || access.events.iter().any(|e| e.stream.accesses_memory());
        if operation.memory().contains(MemoryEffect::SYNC)
            && depends
            && self.options.memory_model != MemoryModel::Off
        {
            return Some((&rules::GWS, None));
        }
        let arrives = access.inst.desc.does(Behaviours::ARRIVES_AT_BARRIER);
        let barrier = arrives && self.program.target.has_back_off_barrier() && !self.program.single_wave;
        if barrier && self.options.memory_model != MemoryModel::Off {
            if dma {
                return Some((&rules::BARRIER_LDS_DMA, None));
            }
            if operation.memory().contains(MemoryEffect::LDS_WRITE) {
                return Some((&rules::BARRIER_LDS, None));
            }
            if operation.memory().contains(MemoryEffect::STORE) && self.program.lines[line].orders_stores {
                return Some((&rules::BARRIER_STORE, None));
            }
            if operation.memory().contains(MemoryEffect::LDS_READ) && !self.program.lines[line].reads_pass {
                return Some((&rules::BARRIER_LDS_READ, None));
            }
        }
        None
    }

    /// Adds the broken rules that require whole counters to be 0.
    fn drained(&self, state: &Outstanding<'_>, line: &Line, broken: &mut SmallVec<[Broken; 2]>) {
        let inst = &line.inst;
        let at_calls: SmallVec<[Counter; 7]>;
        let (rule, counters): (_, &[Counter]) = match inst.desc.class {
            Class::Barrier if !self.program.target.has_back_off_barrier() => {
                (&rules::BARRIER_COUNTERS, self.set().counters())
            }
            Class::CacheCtl
                if self.options.memory_model != MemoryModel::Off
                    && inst.desc.does(Behaviours::AFTER_LOADS) =>
            {
                (&rules::WBINVL1, &[Counter::Vm])
            }
            Class::Branch if is_return(line) => {
                at_calls = WaitCnt::at_calls(self.set()).counters().collect();
                (&rules::CALL_EXIT, &at_calls)
            }
            _ => return,
        };
        for &counter in counters {
            if let Some(first) = state.access_on(counter) {
                add(
                    broken,
                    Broken {
                        rule,
                        first: Some(first),
                        reg: None,
                        via: Via::Name,
                        need: counter.at(0),
                        is_shown: false,
                    },
                );
            }
        }
    }

    fn finding(&self, broken: &Broken, second: usize, judgement: Judgement) -> Finding {
        let name = |line: usize| self.program.lines[line].inst.desc.printed;
        let rule = broken.rule;
        let Judgement { path, caveat } = judgement;
        let unknown = (ADDRESS_RULES.contains(&rule) && !broken.is_shown).then_some(Caveat::Addresses);
        let caveat = caveat.or(unknown).or(Caveat::of_index(broken.via));
        // Without further evidence, such a finding is only a suspicion, because the rule does not consider the code that follows.
        let grade = if broken.is_shown { Grade::Documented } else { rule.grade() };
        Finding {
            rule: rule.id,
            grade: report::grade(grade, caveat, broken.via),
            title: rule.title,
            first: broken.first,
            second,
            first_name: broken.first.map_or("", name),
            second_name: name(second),
            loc: self.program.lines[second].loc,
            reg: broken.reg,
            via: broken.via,
            need: Amount::Wait(broken.need.on(self.set())),
            have: Amount::NoWait,
            path,
            caveat,
        }
    }
}

/// Adds a broken rule. If the same instruction already breaks the rule, only the counter is added.
fn add(broken: &mut SmallVec<[Broken; 2]>, new: Broken) {
    match broken.iter_mut().find(|b| b.first == new.first && b.rule == new.rule) {
        Some(known) => known.need = known.need.and(new.need),
        None => broken.push(new),
    }
}
