//! The reason for each wait of a file.
//!
//! The inserter determines which waits are needed. It runs three times: on the program without its `s_waitcnt`, on the program without its
//! `s_nop`, and, for RDNA's hazard sequences, on the program without its `s_nop` and its waits for dependencies. For each instruction that
//! would have to wait, it reports the earlier instruction on which that instruction depends. Such a pair is called a *need*.
//!
//! Each need is served by waits of the original program: a need for a counter by the nearest sufficient `s_waitcnt` on the way back from
//! the instruction, a need for wait states by every `s_nop` on the way back to the earlier instruction. A wait that serves no need either
//! orders memory (see the parent module) or is not needed.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use gcn_isa::cfg::Flow;
use gcn_isa::check::{self, Advice};
use gcn_isa::counters::{Counter, WaitCnt, events};
use gcn_isa::hazards::remedy::{self, Fix};
use gcn_isa::hazards::{Config, wait_states};
use gcn_isa::immediate::Immediate;
use gcn_isa::table::{Class, InstDesc};
use gcn_isa::wait::{
    Demand, Inserted, Reason, WaitOptions, insert_remedies, insert_wait_states, insert_waitcnt,
};
use gcn_isa::{Inst, Program};
use serde::Serialize;

use super::plan::{How, Kept, plan};
use super::reason::describe;
use super::{part, superfluous, wait_options};
use crate::code::{Code, Unit};

/// A wait with its reasons.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ExplainedWait {
    /// The section that contains the wait.
    pub section: String,
    /// The function that contains the wait; `None` if it is in none.
    pub function: Option<String>,
    /// The index of the wait's line in the section's program.
    pub index: usize,
    /// The wait's line in the assembly file, from 1.
    pub line: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The rules that the wait serves, with the two instructions of each.
    pub reasons: Vec<String>,
    /// A weaker wait that would be sufficient, or `nothing`; `None` if no weaker wait is.
    pub enough: Option<String>,
}

impl ExplainedWait {
    /// The reasons for the wait in words, or that nothing needs it.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.reasons.clone();
        if self.verdict != Verdict::Needed && (words.is_empty() || self.verdict == Verdict::NotNeeded) {
            words.insert(0, self.verdict.text().to_owned());
        }
        if let Some(enough) = self.enough.as_ref().filter(|_| self.verdict == Verdict::Needed) {
            words.push(format!("`{enough}` would be enough"));
        }
        words
    }
}

/// Whether a wait is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A rule needs the wait.
    Needed,
    /// No rule about registers needs the wait, but other waves or the host may observe a difference without it.
    OrdersMemory,
    /// Nothing needs the wait.
    NotNeeded,
    /// Control does not reach the wait.
    Unreached,
    /// `s_delay_alu`: a scheduling hint, which affects speed but not results.
    Hint,
}

impl Verdict {
    /// The verdict in words.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Needed => "needed",
            Verdict::OrdersMemory => "orders memory",
            Verdict::NotNeeded => "not needed by any rule",
            Verdict::Unreached => "control does not come here",
            Verdict::Hint => "a hint: the hardware waits for results of the ALU by itself",
        }
    }
}

/// Explains every wait of a file, in the order of the file.
///
/// ```
/// use gcn_emit::{asm, code::Unit, rewrite::{Verdict, explain}};
/// use gcn_isa::hazards::RuleSet;
///
/// let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
///     global_load_dword v0, v[2:3], off
///     s_waitcnt vmcnt(0)
///     v_mov_b32 v1, v0
///     s_nop 0
///     s_endpgm";
/// let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
/// let unit = Unit::of_assembly(&asm::assemble("k.s", source, &options).unwrap()).unwrap();
/// let waits = explain(&unit, RuleSet::Safe);
/// assert_eq!((waits[0].verdict, waits[1].verdict), (Verdict::Needed, Verdict::NotNeeded));
/// assert!(waits[0].reasons[0].starts_with("waitcnt.raw: v0 of global_load_dword (line 2)"), "{:?}", waits[0].reasons);
/// ```
pub fn explain(unit: &Unit, rules: impl Into<Config>) -> Vec<ExplainedWait> {
    let xnack = unit.target_id.may_replay();
    let options = WaitOptions { leave_loops: false, ..wait_options(xnack, rules.into()) };
    let check = check::Options { rules: options.rules, ..check::Options::default() };
    unit.sections.iter().flat_map(|code| section(code, &options, check)).collect()
}

/// True for the instructions that [`explain`] explains.
pub fn is_wait(desc: &InstDesc) -> bool {
    matches!(desc.class, Class::Nop | Class::Waitcnt) || is_hint(desc)
}

fn is_hint(desc: &InstDesc) -> bool {
    desc.entry.immediate == Immediate::Delay
}

fn section(code: &Code, options: &WaitOptions, check: check::Options) -> Vec<ExplainedWait> {
    let program = &code.program;
    let flow = Flow::of(program);
    let served = Served::of(program, &flow, options);
    let ranges: Vec<Range<usize>> = code.functions.iter().map(|f| f.lines.clone()).collect();
    let strip = How { wait: options.clone(), strip: true, only: None };
    let kept = plan(program, &ranges, &strip).kept;
    let advice: BTreeMap<usize, Advice> =
        check::advice(program, check).into_iter().map(|a| (a.line, a)).collect();
    let reached = super::plan::reached(program);
    let is_hint = |line: usize| is_hint(program.lines[line].inst.desc);
    let waits = (0..program.lines.len()).filter(|line| is_wait(program.lines[*line].inst.desc)).map(|line| {
        let advice = advice.get(&line);
        let enough = advice.map(|a| superfluous::text(a.enough).unwrap_or_else(|| "nothing".to_owned()));
        let line_of = |line: usize| code.places.get(line).and_then(|p| p.line);
        let mut reasons: Vec<String> = Vec::new();
        for reason in served.by(line) {
            let text = describe(program, reason, &line_of);
            if !reasons.contains(&text) {
                reasons.push(text);
            }
        }
        let first = kept.partition_point(|k| k.wait < line);
        let orders: Vec<&Kept> = kept.iter().skip(first).take_while(|k| k.wait == line).collect();
        let can_go = enough.as_deref() == Some("nothing");
        let verdict = match () {
            () if !reached[line] => Verdict::Unreached,
            () if is_hint(line) => Verdict::Hint,
            () if !reasons.is_empty() && !can_go => Verdict::Needed,
            () if !orders.is_empty() => Verdict::OrdersMemory,
            () if advice.is_none() => Verdict::Needed,
            () => Verdict::NotNeeded,
        };
        reasons.extend(orders.iter().filter_map(|kept| order_text(program, kept, &line_of)));
        let function = code.function_of(line).map(|f| f.name.clone());
        let section = code.section.clone();
        ExplainedWait { section, function, index: line, line: line_of(line), verdict, reasons, enough }
    });
    waits.collect()
}

fn order_text(program: &Program, kept: &Kept, line_of: &dyn Fn(usize) -> Option<u32>) -> Option<String> {
    let wait = WaitCnt::of(&program.lines.get(kept.wait)?.inst)?;
    let name = |line: usize| {
        let mnemonic = program.lines.get(line).map_or("?", |l| l.inst.desc.printed);
        line_of(line).map_or_else(|| mnemonic.to_owned(), |n| format!("{mnemonic} (line {n})"))
    };
    let (first, second) = (name(kept.operation.0 as usize), name(kept.place));
    Some(format!("orders memory: {first} is done before {second}: {}", part(program, wait, kept.operation.1)))
}

/// Which waits serve which needs.
struct Served {
    /// The indices of the needs that each wait serves, by the line of the wait.
    needs: BTreeMap<usize, Vec<usize>>,
    reasons: Vec<Reason>,
}

/// The maximum number of blocks that are searched for the waits that serve one need.
const MOST_BLOCKS: usize = 64;

impl Served {
    fn of(program: &Program, flow: &Flow, options: &WaitOptions) -> Served {
        let mut served = Served { needs: BTreeMap::new(), reasons: Vec::new() };
        for reason in needs(program, is_counter_wait, |p| insert_waitcnt(p, options)) {
            served.counter(program, flow, reason);
        }
        for reason in needs(program, is_nop, |p| insert_wait_states(p, options)) {
            served.states(program, flow, reason);
        }
        let is_remedy = |inst: &Inst| is_nop(inst) || remedy::waits_for_dependencies(inst);
        for reason in needs(program, is_remedy, |p| insert_remedies(p, options)) {
            served.remedy(program, flow, reason);
        }
        served
    }

    fn by(&self, line: usize) -> impl Iterator<Item = &Reason> {
        self.needs.get(&line).into_iter().flatten().filter_map(|i| self.reasons.get(*i))
    }

    fn counter(&mut self, program: &Program, flow: &Flow, reason: Reason) {
        let Demand::Count { counter, needed, .. } = reason.demand else { return };
        let entry = reason.rule == "call.entry";
        let mut found = Vec::new();
        if entry {
            let wait = program.lines.get(reason.consumer).and_then(|l| WaitCnt::of(&l.inst));
            found.extend(wait.map(|_| reason.consumer));
        }
        let producer = reason.producer;
        walk_back(program, flow, reason.consumer, 0, &mut |line, behind: u32| {
            let inst = &program.lines[line].inst;
            if let Some(wait) = WaitCnt::of(inst)
                && counter.is_in(wait)
                && (u32::from(counter.of(wait)) + behind <= u32::from(needed) || counter.of(wait) == 0)
            {
                found.push(line);
                return None;
            }
            (Some(line) != producer).then(|| behind + issued(program, line, counter))
        });
        self.add(reason, found);
    }

    fn states(&mut self, program: &Program, flow: &Flow, reason: Reason) {
        let Demand::States { needed, .. } = reason.demand else { return };
        let mut found = Vec::new();
        let producer = reason.producer;
        walk_back(program, flow, reason.consumer, 0, &mut |line, behind: u32| {
            let inst = &program.lines[line].inst;
            if inst.desc.class == Class::Nop {
                found.push(line);
            }
            let behind = behind + wait_states(inst);
            (Some(line) != producer && behind < needed.max(1) + 1).then_some(behind)
        });
        self.add(reason, found);
    }

    /// Finds the waits that interrupt a hazard sequence: for dependencies the nearest wait, for wait states all waits on the way back to
    /// the first instruction.
    fn remedy(&mut self, program: &Program, flow: &Flow, reason: Reason) {
        let Demand::Remedy { fix, .. } = reason.demand else { return };
        let mut found = Vec::new();
        let producer = reason.producer;
        walk_back(program, flow, reason.consumer, 0, &mut |line, behind: u32| {
            let inst = &program.lines[line].inst;
            let waited = Fix::waiting(program.target, inst).waits;
            if !fix.waits.is_empty() && remedy::waits_for_dependencies(inst) && waited.contains(fix.waits) {
                found.push(line);
                return None;
            }
            if fix.states > 0 && is_nop(inst) {
                found.push(line);
            }
            let behind = behind + wait_states(inst);
            let reaches = !fix.waits.is_empty() || behind <= u32::from(fix.states);
            (Some(line) != producer && reaches).then_some(behind)
        });
        self.add(reason, found);
    }

    fn add(&mut self, reason: Reason, waits: Vec<usize>) {
        for wait in waits {
            let needs = self.needs.entry(wait).or_default();
            if needs.last() != Some(&self.reasons.len()) {
                needs.push(self.reasons.len());
            }
        }
        self.reasons.push(reason);
    }
}

/// The amount by which a line increments a counter.
fn issued(program: &Program, line: usize, counter: Counter) -> u32 {
    let set = program.target.instruction_set();
    let events = events(program.target, &program.lines[line].inst);
    events.iter().filter(|e| e.stream.counter(set) == counter).map(|e| u32::from(e.count)).sum()
}

/// Walks back from before `line` on all paths. `visit` gets each line and the count between that line and the start. It returns the count
/// including the line, or `None` to end the path.
fn walk_back(
    program: &Program,
    flow: &Flow,
    line: usize,
    from: u32,
    visit: &mut dyn FnMut(usize, u32) -> Option<u32>,
) {
    let Some(last) = line.checked_sub(0).filter(|l| *l < program.lines.len()) else { return };
    let first_block = flow.cfg.block_of(last);
    let mut seen = HashSet::new();
    let mut work = vec![(first_block, line, from)];
    while let Some((block, end, mut counted)) = work.pop() {
        let start = flow.cfg.blocks[block].start;
        let mut open = true;
        for line in (start..end).rev() {
            match visit(line, counted) {
                Some(now) => counted = now,
                None => {
                    open = false;
                    break;
                }
            }
        }
        if open && seen.len() < MOST_BLOCKS {
            for &pred in &flow.cfg.blocks[block].preds {
                if seen.insert(pred) {
                    work.push((pred, flow.cfg.blocks[pred].end, counted));
                }
            }
        }
    }
}

fn is_nop(inst: &Inst) -> bool {
    inst.desc.class == Class::Nop
}

/// True for a wait for counters. Waits for dependencies, which have the same class, are excluded.
fn is_counter_wait(inst: &Inst) -> bool {
    inst.desc.class == Class::Waitcnt && !remedy::waits_for_dependencies(inst)
}

/// The reasons of the waits that `insert` adds to the program after waits of one kind have been removed; all line
/// numbers are those of `program`.
fn needs(
    program: &Program,
    is_wait: impl Fn(&Inst) -> bool,
    insert: impl FnOnce(&mut Program) -> Vec<Inserted>,
) -> Vec<Reason> {
    let mut bare = program.clone();
    let keep: Vec<bool> = program.lines.iter().map(|l| !is_wait(&l.inst)).collect();
    let mut numbers = Vec::with_capacity(keep.len() + 1);
    let mut originals = Vec::new();
    for (line, keep) in keep.iter().enumerate() {
        numbers.push(originals.len());
        if *keep {
            originals.push(line);
        }
    }
    numbers.push(originals.len());
    bare.lines = originals.iter().map(|l| program.lines[*l].clone()).collect();
    let renumber = |at: usize| numbers.get(at).copied().unwrap_or(originals.len());
    bare.labels.iter_mut().for_each(|l| l.at = l.at.map(renumber));
    bare.entries.iter_mut().for_each(|e| e.at = renumber(e.at));
    bare.gaps.iter_mut().for_each(|g| *g = renumber(*g));
    let inserted = insert(&mut bare);
    // Maps line numbers back to those of `program`: first to the numbers before the insertion, then to those with the removed waits.
    let mut is_new = vec![false; bare.lines.len()];
    inserted.iter().for_each(|i| is_new.iter_mut().skip(i.at).take(i.count).for_each(|n| *n = true));
    let mut rest = originals.iter().copied();
    let back: Vec<usize> =
        is_new.iter().map(|new| if *new { usize::MAX } else { rest.next().unwrap_or(usize::MAX) }).collect();
    let old = |line: usize| back.get(line).copied().filter(|l| *l != usize::MAX);
    let mut reasons = Vec::new();
    for mut reason in inserted.into_iter().flat_map(|i| i.reasons) {
        reason.producer = reason.producer.and_then(old);
        let entry = reason.rule == "call.entry";
        let consumer = old(reason.consumer);
        if let Some(consumer) = consumer {
            // A wait that is inserted at a function's entry is the first line of the function.
            let first = (0..consumer).rev().take_while(|l| entry && !keep[*l]).last();
            reason.consumer = first.unwrap_or(consumer);
            reasons.push(reason);
        }
    }
    reasons
}
