//! Plans the waits of a program: which are removed, which must remain because they order memory, and which the inserter
//! adds.

use std::collections::BTreeMap;
use std::ops::Range;

use gcn_isa::Program;
use gcn_isa::cfg::Flow;
use gcn_isa::check::unordered_lds_accesses;
use gcn_isa::counters::{Counter, MemoryEffect, WaitCnt, events};
use gcn_isa::hazards::counter::copies_to_lds;
use gcn_isa::hazards::remedy;
use gcn_isa::table::Class;
use gcn_isa::wait::{Inserted, LdsOrder, WaitOptions, insert_wait_states, insert_waitcnt, insert_waits};

use super::Only;
use super::order::{Operation, Order, Roles};
use super::totals::{Waits, Weighted};

/// Marks a line that the original does not have.
pub(super) const NEW: u32 = u32::MAX;

/// Options of a plan.
#[derive(Clone, Debug)]
pub(super) struct How {
    /// The options for the inserter.
    pub wait: WaitOptions,
    /// True if the existing waits are removed first.
    pub strip: bool,
    /// The only kind of wait to change; `None` for both kinds.
    pub only: Option<Only>,
}

/// A part of a wait that remains because it orders memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// The line of the wait in the original.
    pub wait: usize,
    /// The operation that the wait completes.
    pub operation: Operation,
    /// The first instruction at which the completion matters.
    pub place: usize,
}

/// A planned program.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// The program with its new waits.
    pub program: Program,
    /// For each line of the planned program, the original line or [`NEW`].
    pub origins: Vec<u32>,
    /// The waits that were inserted or strengthened.
    pub inserted: Vec<Inserted>,
    /// The waits that remain to order memory.
    pub kept: Vec<Kept>,
}

/// Which of a function's waits are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Take {
    All,
    /// Only `s_nop`. Removing an `s_waitcnt`, which is also a wait state, may require a longer `s_nop`.
    OnlyNops,
    Nothing,
}

/// Plans the waits of a program with these functions.
pub(super) fn plan(program: &Program, functions: &[Range<usize>], how: &How) -> Plan {
    // Only the LDS accesses for which the checker misses a wait get new waits. A program may have several buffers in LDS; if it waits for
    // an access before the right barrier, it need not wait before the others.
    let counters = how.only != Some(Only::WaitStates);
    let counters = counters && how.wait.rules.counts(copies_to_lds(program.target.instruction_set()));
    let unordered = if counters { unordered_lds_accesses(program) } else { Vec::new() };
    if unordered.is_empty() {
        return plan_ordered(program, functions, how, unordered);
    }
    let plan = plan_ordered(program, functions, how, unordered.clone());
    // If very many accesses are outstanding, the analysis reports only one of several similar ones.
    let origins = unordered_lds_accesses(&plan.program).into_iter().filter_map(|line| plan.origins.get(line));
    let left: Vec<usize> = origins.map(|origin| *origin as usize).collect();
    if left.is_empty() {
        plan
    } else {
        plan_ordered(program, functions, how, alike(program, unordered, &left))
    }
}

/// `lines`, and all lines that access LDS or write memory in the same way as one of `left`, in ascending order.
fn alike(program: &Program, mut lines: Vec<usize>, left: &[usize]) -> Vec<usize> {
    let accesses = |line: usize| {
        let events = program.lines.get(line).map(|l| events(program.target, &l.inst)).unwrap_or_default();
        let all = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
        all - MemoryEffect::LOAD
    };
    let kinds = left.iter().fold(MemoryEffect::empty(), |all, line| all | accesses(*line));
    lines.extend((0..program.lines.len()).filter(|line| accesses(*line).intersects(kinds)));
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// As [`plan`], given the LDS accesses that must be ordered.
fn plan_ordered(program: &Program, functions: &[Range<usize>], how: &How, unordered: Vec<usize>) -> Plan {
    if !how.strip {
        let origins = (0..program.lines.len() as u32).collect();
        return insert(program.clone(), origins, how, &unordered);
    }
    let strip = Strip::new(program, how, unordered);
    let mut takes = vec![Take::All; functions.len()];
    let plan = strip.plan(&strip.levels(functions, &takes));
    let original = Weighted::new(program);
    let before: Vec<Waits> = functions.iter().map(|f| original.count(f.clone())).collect();
    let mut found: Vec<(Take, Waits)> = plan.totals(functions).into_iter().map(|w| (Take::All, w)).collect();
    let is_worse =
        |(i, f): (usize, &(Take, Waits))| before.get(i).is_some_and(|b| f.1.is_worse_than(b)).then_some(i);
    let worse: Vec<usize> = found.iter().enumerate().filter_map(is_worse).collect();
    if worse.is_empty() {
        return plan;
    }
    // If removing every wait makes the inserter add more wait states than there were before, fewer waits are removed.
    for take in [Take::OnlyNops, Take::Nothing] {
        worse.iter().for_each(|i| takes[*i] = take);
        let after = strip.plan(&strip.levels(functions, &takes)).totals(functions);
        for i in &worse {
            if after[*i].cost() < found[*i].1.cost() {
                found[*i] = (take, after[*i]);
            }
        }
    }
    let takes: Vec<Take> = found.iter().map(|f| f.0).collect();
    strip.plan(&strip.levels(functions, &takes))
}

impl Plan {
    /// The total waits of each function of the original.
    pub fn totals(&self, functions: &[Range<usize>]) -> Vec<Waits> {
        let lines = self.original_lines();
        let at = |line: usize| lines.partition_point(|l| *l < line);
        let program = Weighted::new(&self.program);
        functions.iter().map(|f| program.count(at(f.start)..at(f.end))).collect()
    }

    /// For each line, the original line; for a new line, that of the next line that is not new.
    fn original_lines(&self) -> Vec<usize> {
        let mut next = usize::MAX;
        let mut lines: Vec<usize> = Vec::with_capacity(self.origins.len());
        for origin in self.origins.iter().rev() {
            if *origin != NEW {
                next = *origin as usize;
            }
            lines.push(next);
        }
        lines.reverse();
        lines
    }
}

/// Runs the inserter. `origins` are the original numbers of the lines; `unordered` are the original numbers of the LDS accesses that must
/// be waited for.
fn insert(mut program: Program, origins: Vec<u32>, how: &How, unordered: &[usize]) -> Plan {
    let is_unordered = |origin: u32| unordered.binary_search(&(origin as usize)).is_ok();
    let lines = origins.iter().enumerate().filter(|(_, origin)| is_unordered(**origin));
    let lds_order = LdsOrder::OfLines(lines.map(|(line, _)| line).collect());
    let wait = WaitOptions { lds_order, ..how.wait.clone() };
    let mut inserted = match how.only {
        None => insert_waits(&mut program, &wait),
        Some(Only::Counters) => insert_waitcnt(&mut program, &wait),
        Some(Only::WaitStates) => insert_wait_states(&mut program, &wait),
    };
    inserted.sort_by_key(|i| i.at);
    let mut is_new = vec![false; program.lines.len()];
    for i in &inserted {
        is_new.iter_mut().skip(i.at).take(i.count).for_each(|new| *new = true);
    }
    let mut old = origins.into_iter();
    let origins = is_new.iter().map(|new| if *new { NEW } else { old.next().unwrap_or(NEW) }).collect();
    Plan { program, origins, inserted, kept: Vec::new() }
}

/// A program whose waits are to be removed.
struct Strip<'a> {
    program: &'a Program,
    how: &'a How,
    /// For each line, whether it is reachable. Waits in unreachable code are padding and remain.
    reached: Vec<bool>,
    roles: Roles,
    /// The order that the program guarantees. `None` if it is unknown because too many operations may be outstanding; then no wait is
    /// removed.
    order: Option<Order>,
    /// LDS accesses that the program does not order.
    unordered: Vec<usize>,
}

impl<'a> Strip<'a> {
    fn new(program: &'a Program, how: &'a How, unordered: Vec<usize>) -> Strip<'a> {
        let roles = Roles::of(program);
        let names: Vec<u32> = (0..program.lines.len() as u32).collect();
        let order = Order::of(program, &names, &roles);
        Strip { program, how, reached: reached(program), roles, order, unordered }
    }

    /// For each line, which waits are removed there.
    fn levels(&self, functions: &[Range<usize>], takes: &[Take]) -> Vec<Take> {
        let mut levels = vec![Take::All; self.program.lines.len()];
        for (function, take) in functions.iter().zip(takes) {
            levels.iter_mut().take(function.end).skip(function.start).for_each(|l| *l = *take);
        }
        levels
    }

    /// Removes and inserts waits, and restores waits until the order of the original is guaranteed.
    fn plan(&self, levels: &[Take]) -> Plan {
        self.order.as_ref().and_then(|order| self.plan_ordered(levels, order)).unwrap_or_else(|| {
            let levels: Vec<Take> = levels.iter().map(|level| (*level).max(Take::OnlyNops)).collect();
            let (program, origins) = self.without_waits(&levels, &BTreeMap::new());
            insert(program, origins, self.how, &self.unordered)
        })
    }

    /// As [`Strip::plan`], given the order of the original. `None` if the order of the result is unknown.
    fn plan_ordered(&self, levels: &[Take], order: &Order) -> Option<Plan> {
        let mut keep: BTreeMap<usize, WaitCnt> = BTreeMap::new();
        let mut kept: Vec<Kept> = Vec::new();
        loop {
            let (program, origins) = self.without_waits(levels, &keep);
            let mut plan = insert(program, origins, self.how, &self.unordered);
            let now = Order::of(&plan.program, &plan.origins, &self.roles)?;
            let beyond = now.beyond(order);
            let mut grown = false;
            for (wait, operation) in order.finishers(&beyond) {
                let wait = wait as usize;
                let Some(original) = self.program.lines.get(wait).and_then(|l| WaitCnt::of(&l.inst)) else {
                    continue;
                };
                let counter = operation.1;
                let stays = keep.entry(wait).or_insert(WaitCnt::NONE);
                let stronger = stays.and(counter.at(counter.of(original)));
                grown |= stronger != *stays;
                *stays = stronger;
                let at = beyond.binary_search_by_key(&operation, |b| b.0).ok();
                let place = at.and_then(|i| beyond.get(i)).map_or(wait, |b| b.1 as usize);
                kept.push(Kept { wait, operation, place });
            }
            if !grown {
                kept.sort_by_key(|k| (k.wait, k.operation));
                kept.dedup_by_key(|k| (k.wait, k.operation.1));
                plan.kept = kept;
                return Some(plan);
            }
        }
    }

    /// The program without its waits, except for those that remain, and the original numbers of its lines.
    fn without_waits(&self, levels: &[Take], keep: &BTreeMap<usize, WaitCnt>) -> (Program, Vec<u32>) {
        let mut program = Program {
            target: self.program.target,
            wave: self.program.wave,
            name: self.program.name.clone(),
            lines: Vec::with_capacity(self.program.lines.len()),
            labels: self.program.labels.clone(),
            entries: self.program.entries.clone(),
            gaps: self.program.gaps.clone(),
            single_wave: self.program.single_wave,
        };
        let mut origins = Vec::with_capacity(self.program.lines.len());
        // The new number of each line; for a removed line, that of the next remaining line.
        let mut numbers = Vec::with_capacity(self.program.lines.len() + 1);
        for (number, line) in self.program.lines.iter().enumerate() {
            numbers.push(program.lines.len());
            let level = levels.get(number).copied().unwrap_or(Take::Nothing);
            if !self.is_taken(number, level) {
                program.lines.push(line.clone());
                origins.push(number as u32);
            } else if let Some(wait) = keep.get(&number) {
                let mut line = line.clone();
                wait.put_into(line.inst_mut());
                program.lines.push(line);
                origins.push(number as u32);
            }
        }
        numbers.push(program.lines.len());
        let renumber = |at: usize| numbers.get(at).copied().unwrap_or(program.lines.len());
        program.labels.iter_mut().for_each(|l| l.at = l.at.map(renumber));
        program.entries.iter_mut().for_each(|e| e.at = renumber(e.at));
        program.gaps.iter_mut().for_each(|g| *g = renumber(*g));
        (program, origins)
    }

    fn is_taken(&self, line: usize, level: Take) -> bool {
        let only = |kind| self.how.only.is_none_or(|o| o == kind);
        let reached = self.reached.get(line).copied().unwrap_or(false);
        reached
            && match self.program.lines.get(line).map(|l| l.inst.desc.class) {
                Some(Class::Nop) => only(Only::WaitStates) && level < Take::Nothing,
                Some(Class::Waitcnt) => {
                    match self.program.lines.get(line).is_some_and(|l| WaitCnt::of(&l.inst).is_some()) {
                        true => only(Only::Counters) && level < Take::OnlyNops,
                        // A wait for dependencies is removed if the rules would insert it.
                        false => {
                            let remedy = self
                                .program
                                .lines
                                .get(line)
                                .is_some_and(|l| remedy::waits_for_dependencies(&l.inst));
                            remedy && only(Only::WaitStates) && level < Take::Nothing
                        }
                    }
                }
                _ => false,
            }
    }
}

/// For each line, whether control reaches it.
pub(super) fn reached(program: &Program) -> Vec<bool> {
    let flow = Flow::of(program);
    let mut lines = vec![false; program.lines.len()];
    for (block, reached) in flow.cfg.blocks.iter().zip(flow.reachable()) {
        lines.iter_mut().take(block.end).skip(block.start).for_each(|l| *l = reached);
    }
    lines
}

/// The part of `wait` that concerns one counter, as text: `vmcnt(2)`.
pub(super) fn part(program: &Program, wait: WaitCnt, counter: Counter) -> String {
    counter.at(counter.of(wait)).on(program.target.instruction_set()).counters()
}
