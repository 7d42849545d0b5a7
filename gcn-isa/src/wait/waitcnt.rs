//! The waitcnt pass, which decides which instructions wait for which counters and for which values.
//!
//! The rules are those of CDNA3 ISA section 4.4 as measured with LLVM 22. They have the names that `crate::check` uses: `waitcnt.raw` and
//! `waitcnt.waw` for registers, `waitcnt.exp-war` for data that an operation has yet to read, `waitcnt.lds-dma` for LDS that is written
//! outside the LDS queue, `waitcnt.wbinvl1`, `barrier.*`, `call.entry` and `call.exit`. The calling convention and the wait for LDS DMA
//! apply regardless of the selected rules.
//!
//! An instruction that would overflow a counter does not issue before the counter has room ([`Counter::capacity`]). The manuals do not
//! mention this stall. The waits rely on it only if the rule `waitcnt.full`, which doubts it, is not selected.
//!
//! If the rule is selected, and an operation is followed by more younger operations than the field can express, the wait is for the field's
//! largest value, as in LLVM 22. This wait completes the operation whether or not the hardware stalls; if it does, the wait is for at most
//! one operation too many. FLAT operations and the data of GDS have no order, so a full counter proves nothing about them.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::cfg::{Flow, is_return};
use crate::counters::{self, Counter, Event, Stream, WaitCnt};
use crate::hazards::counter::{
    ASYNC_LDS_READ, BARRIER_COUNTERS, BARRIER_LDS, BARRIER_LDS_DMA, BARRIER_LDS_READ, BARRIER_STORE,
    CALL_ENTRY, CALL_EXIT, CounterRule, FULL, GWS, HALF, MIXED, OPERAND_WAR, RAW, WAR, WAW, WAW_FLAT,
    WBINVL1, copies_to_lds,
};
use crate::indexing::Indexing;
use crate::inst::{RegUse, Via};
use crate::program::EntryKind;
use crate::reg::{self, Half};
use crate::table::{Behaviours, Class};
use crate::target::InstructionSet;
use crate::{Inst, Program, Reg};

use super::events::{self, Debt};
use super::loops::Edge;
use super::outstanding::{Entry, Issue, Outstanding};
use super::solve::Pass;
use super::{Orders, WaitOptions};

/// A conflict that requires a wait before an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    pub rule: &'static str,
    pub counter: Counter,
    /// The largest sufficient value of the counter.
    pub limit: u8,
    pub producer: Option<u32>,
    pub reg: Option<Reg>,
    /// The way in which the instruction accesses the register.
    pub via: Via,
}

impl Conflict {
    /// A conflict that does not concern a register.
    fn whole(rule: &'static str, counter: Counter, producer: Option<u32>) -> Conflict {
        Conflict { rule, counter, limit: 0, producer, reg: None, via: Via::Name }
    }
}

/// A producer for which an edge waits because of a line in the loop after the edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Early {
    pub conflict: Conflict,
    pub consumer: usize,
}

impl Early {
    fn key(&self) -> (u8, Option<u32>) {
        (self.conflict.counter as u8, self.conflict.producer)
    }
}

/// The waitcnt pass.
pub(super) struct WaitcntPass<'a> {
    pub program: &'a Program,
    pub options: &'a WaitOptions,
    /// The waits on edges, by counter and producer.
    pub early: BTreeMap<Edge, BTreeMap<(u8, Option<u32>), Early>>,
    /// The operations that each line starts, concatenated.
    events: Vec<Event>,
    /// The index in `events` at which the operations of each line begin. It has one entry more than there are lines.
    starts: Vec<usize>,
    /// True to assume that operations of one stream complete in order, even while other operations are outstanding on the counter.
    trusts_order: bool,
    /// True to assume that an instruction that would overflow a counter stalls until older operations are done.
    trusts_stall: bool,
    /// True to treat the halves of a register as separate registers, on hardware that supports this.
    trusts_halves: bool,
    /// The first lines of functions, in ascending order.
    functions: Vec<usize>,
    /// The registers that are accessed through an index.
    indexing: Indexing,
}

impl<'a> WaitcntPass<'a> {
    pub fn new(program: &'a Program, flow: &Flow, options: &'a WaitOptions) -> WaitcntPass<'a> {
        let indexing = options.rules.indexing(program, flow);
        let mut events = Vec::new();
        let mut starts = Vec::with_capacity(program.lines.len() + 1);
        for (at, line) in program.lines.iter().enumerate() {
            starts.push(events.len());
            events.extend(counters::events(program.target, &indexing.meant(at, &line.inst)));
        }
        starts.push(events.len());
        let entered = program.entries.iter().filter(|e| e.kind == EntryKind::Function).map(|e| e.at);
        let mut functions: Vec<usize> = entered.filter(|at| *at < program.lines.len()).collect();
        functions.extend((options.callable && !program.lines.is_empty()).then_some(0));
        functions.sort_unstable();
        functions.dedup();
        functions.retain(|line| !waits_at_once(program, *line));
        // If the rules that doubt these properties are disabled, rely on the manual and on AMD's emulator.
        let trusts = |doubt: &CounterRule| !options.rules.counts(doubt);
        let (trusts_order, trusts_stall, trusts_halves) = (trusts(&MIXED), trusts(&FULL), trusts(&HALF));
        let early = BTreeMap::new();
        WaitcntPass {
            program,
            options,
            early,
            events,
            starts,
            trusts_order,
            trusts_stall,
            trusts_halves,
            functions,
            indexing,
        }
    }

    /// True if `line` is the entry of a function that does not itself begin by waiting for every counter. A wait is then inserted there,
    /// because any caller may have left operations outstanding.
    pub fn is_function(&self, line: usize) -> bool {
        self.functions.binary_search(&line).is_ok()
    }

    fn set(&self) -> InstructionSet {
        self.program.target.instruction_set()
    }

    fn events(&self, line: usize) -> &[Event] {
        &self.events[self.starts[line]..self.starts[line + 1]]
    }

    /// Calls `found` for every operation for which `line` must wait, except those that are certainly done because a full counter stalls.
    pub fn conflicts(&self, state: &Outstanding, line: usize, found: &mut dyn FnMut(Conflict)) {
        let room =
            if self.trusts_stall { counters::room(self.set(), self.events(line)) } else { WaitCnt::NONE };
        let found = &mut |c: Conflict| {
            if c.limit < c.counter.of(room) {
                found(c);
            }
        };
        let inst = &self.program.lines[line].inst;
        if self.is_function(line) {
            for counter in WaitCnt::at_calls(self.set()).counters() {
                found(Conflict::whole(CALL_ENTRY.id, counter, None));
            }
        }
        let events = self.events(line);
        // Few instructions use outstanding registers. This test excludes the other instructions cheaply.
        if self.indexing.at(line).is_some() || inst.names(|reg| state.owes(reg)) || state.owes(reg::SCC) {
            self.owed_registers(state, line, found);
        }
        if events::touch_lds(events) {
            memory_conflicts(state, copies_to_lds(self.set()).id, Debt::LdsDma, found);
        }
        if events::write_lds(events) {
            let copies = |e: &&Entry| e.debt == Debt::LdsRead && e.stream.copies();
            let entries = state.entries().iter().filter(copies);
            entries.for_each(|entry| found(conflict(state, entry, ASYNC_LDS_READ.id)));
        }
        if let Some(rule) = self.counts(&GWS)
            && (inst.desc.class == Class::Barrier || events.iter().any(|e| e.stream.accesses_memory()))
        {
            memory_conflicts(state, rule, Debt::Sync, found);
        }
        match inst.desc.class {
            // What a wave waits for after it has arrived comes too late for the waves that have passed the barrier.
            Class::Barrier if inst.desc.does(Behaviours::ARRIVES_AT_BARRIER) => {
                self.barrier(state, line, found);
            }
            Class::CacheCtl if inst.desc.does(Behaviours::AFTER_LOADS) => {
                if let Some(rule) = self.counts(&WBINVL1) {
                    drain(state, rule, &[Counter::Vm], found);
                }
            }
            Class::Branch if is_return(&self.program.lines[line]) => {
                let counters: SmallVec<[Counter; 7]> = WaitCnt::at_calls(self.set()).counters().collect();
                drain(state, CALL_EXIT.id, &counters, found);
            }
            _ => {}
        }
    }

    /// Calls `found` for the registers of `line` that an outstanding operation owes.
    fn owed_registers(&self, state: &Outstanding, line: usize, found: &mut dyn FnMut(Conflict)) {
        let (inst, events) = (&self.program.lines[line].inst, self.events(line));
        let (scc_read, scc_written) = inst.scc();
        for read in self.indexing.reads(line, inst).into_iter().chain(scc_read) {
            if state.owes(read.reg) {
                let merge = events::is_merge(inst, events, read);
                let rule = |e: &Entry| read_rule(e, merge && e.comes_before(self.set(), events, read.reg));
                register_conflicts(state, read, self.half(inst, read), rule, found);
            }
        }
        for write in self.indexing.writes(line, inst).into_iter().chain(scc_written) {
            if state.owes(write.reg) {
                let rule = |e: &Entry| self.overwrite_rule(e, events, write.reg);
                register_conflicts(state, write, self.half(inst, write), rule, found);
            }
        }
    }

    /// The half of its register that a use of `inst` accesses, if the rules allow the halves to be treated separately.
    fn half(&self, inst: &Inst, used: RegUse) -> Option<Half> {
        let named = used.operand.filter(|_| self.trusts_halves && used.via == Via::Name);
        named.and_then(|i| inst.half(i))
    }

    /// All conflicts for which `line` must wait.
    pub fn all_conflicts(&self, state: &Outstanding, line: usize) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        self.conflicts(state, line, &mut |c| conflicts.push(c));
        conflicts
    }

    /// The rule that forbids overwriting a register that `entry` owes; `None` if the later result certainly arrives after the result of
    /// `entry`.
    fn overwrite_rule(&self, entry: &Entry, events: &[Event], reg: Reg) -> Option<&'static str> {
        match entry.debt {
            Debt::Write if entry.comes_before(self.set(), events, reg) => None,
            Debt::Write
                if entry.stream == Stream::FlatVm && events.iter().any(|e| e.stream == Stream::Vmem) =>
            {
                self.counts(&WAW_FLAT)
            }
            Debt::Write => Some(WAW.id),
            Debt::Read if entry.is_read_before(events, reg) => None,
            Debt::Read if entry.stream.of_operands().is_some() => self.counts(&OPERAND_WAR),
            Debt::Read => self.counts(&WAR),
            _ => None,
        }
    }

    /// The ID of the rule if the rule is enabled, otherwise `None`.
    fn counts(&self, rule: &CounterRule) -> Option<&'static str> {
        self.options.rules.counts(rule).then_some(rule.id)
    }

    fn barrier(&self, state: &Outstanding, line: usize, found: &mut dyn FnMut(Conflict)) {
        if !self.program.target.has_back_off_barrier() {
            if let Some(rule) = self.counts(&BARRIER_COUNTERS) {
                drain(state, rule, self.set().counters(), found);
            }
            return;
        }
        let debts = [
            (Orders::LDS_WRITES, BARRIER_LDS.id, Debt::LdsWrite),
            (Orders::LDS_READS, BARRIER_LDS_READ.id, Debt::LdsRead),
            (Orders::LDS_DMA, BARRIER_LDS_DMA.id, Debt::LdsDma),
            (Orders::GLOBAL_STORES, BARRIER_STORE.id, Debt::Store),
        ];
        let mut orders = self.options.barrier_orders;
        if self.program.lines[line].reads_pass {
            orders.remove(Orders::LDS_READS);
        }
        if self.program.lines[line].orders_stores && self.counts(&BARRIER_STORE).is_some() {
            orders.insert(Orders::GLOBAL_STORES);
        }
        for (what, rule, debt) in debts {
            if orders.contains(what) {
                memory_conflicts(state, rule, debt, found);
            }
        }
    }
}

/// The rule that forbids reading a register that `entry` owes. `after` is true if the instruction reads the register only when a later
/// result arrives. `None` if the register may be read.
fn read_rule(entry: &Entry, after: bool) -> Option<&'static str> {
    (entry.debt == Debt::Write && !after).then_some(RAW.id)
}

fn register_conflicts(
    state: &Outstanding,
    used: RegUse,
    half: Option<Half>,
    rule: impl Fn(&Entry) -> Option<&'static str>,
    found: &mut dyn FnMut(Conflict),
) {
    for entry in state.entries() {
        if let Some(owed) = entry.owed(used.reg, half)
            && let Some(rule) = rule(entry)
        {
            found(Conflict { reg: Some(owed), via: used.via, ..conflict(state, entry, rule) });
        }
    }
}

fn memory_conflicts(state: &Outstanding, rule: &'static str, debt: Debt, found: &mut dyn FnMut(Conflict)) {
    for entry in state.entries().iter().filter(|e| e.debt == debt) {
        found(conflict(state, entry, rule));
    }
}

fn conflict(state: &Outstanding, entry: &Entry, rule: &'static str) -> Conflict {
    let limit = state.limit(entry);
    Conflict { limit, ..Conflict::whole(rule, state.counter(entry.stream), Some(entry.producer)) }
}

/// Calls `found` for every operation that is outstanding on these counters.
fn drain(state: &Outstanding, rule: &'static str, counters: &[Counter], found: &mut dyn FnMut(Conflict)) {
    for stream in Stream::ALL.into_iter().filter(|s| counters.contains(&state.counter(*s))) {
        if let Some(line) = state.access(stream) {
            found(Conflict::whole(rule, state.counter(stream), Some(line)));
        }
    }
}

/// True if the program, from `line` on, waits for every counter or ends before any instruction uses a register.
fn waits_at_once(program: &Program, line: usize) -> bool {
    let mut waited = WaitCnt::NONE;
    for inst in program.lines[line..].iter().map(|l| &l.inst) {
        waited = waited.and(WaitCnt::of(inst).unwrap_or(WaitCnt::NONE));
        let at_calls = WaitCnt::at_calls(program.target.instruction_set());
        if waited.and(at_calls) == waited || inst.desc.class == Class::Endpgm {
            return true;
        }
        if inst.ends_block() || !inst.reads().is_empty() || !inst.writes().is_empty() {
            return false;
        }
    }
    true
}

impl Pass for WaitcntPass<'_> {
    type State = Outstanding;
    type Need = WaitCnt;
    type Cause = Vec<Early>;
    const NONE: WaitCnt = WaitCnt::NONE;
    const NUMBER_FIRST: bool = true;

    fn stronger(a: WaitCnt, b: WaitCnt) -> WaitCnt {
        a.and(b)
    }

    /// The function's entry has a wait for operations that a caller has left outstanding: see [`WaitcntPass::is_function`].
    fn entry(&self, _: EntryKind) -> Outstanding {
        Outstanding::none(self.set())
    }

    fn is_crowded(&self, state: &Outstanding) -> bool {
        state.is_crowded()
    }

    fn gather(&self, state: &mut Outstanding, group: &dyn Fn(usize) -> usize) {
        state.gather(group);
    }

    fn size(&self, state: &Outstanding) -> usize {
        state.entries().len()
    }

    fn come_back(&self, state: &mut Outstanding) {
        state.wait(WaitCnt::at_calls(self.set()));
        state.seal();
    }

    fn join(&self, into: &mut Outstanding, from: &Outstanding) {
        into.join(from);
    }

    fn need(&self, state: &Outstanding, line: usize, counts: &dyn Fn(usize) -> bool) -> WaitCnt {
        let mut need = WaitCnt::NONE;
        self.conflicts(state, line, &mut |c| {
            if is_fixed_in_place(&c) || c.producer.is_none_or(|p| counts(p as usize)) {
                need = need.and(c.counter.at(c.limit));
            }
        });
        // A result for which the instruction waits anyway may prove that operands were read.
        let results = Counter::X.set(need, u8::MAX);
        if Counter::X.is_in(need) && !results.is_none() {
            let mut then = state.clone();
            then.wait(results);
            return results.and(self.need(&then, line, counts));
        }
        need
    }

    fn edge_need(&self, state: &Outstanding, edge: Edge) -> WaitCnt {
        let mut need = WaitCnt::NONE;
        for (_, limit) in self.outstanding_early(state, edge) {
            need = need.and(limit);
        }
        need
    }

    fn wait(&self, state: &mut Outstanding, need: WaitCnt) {
        state.wait(need);
    }

    fn step(&self, state: &mut Outstanding, line: usize) {
        let inst = &self.program.lines[line].inst;
        if let Some(wait) = WaitCnt::of(inst) {
            return state.wait(wait);
        }
        if let Some(barrier) = counters::passed_barrier(inst) {
            state.pass_barrier(barrier);
        }
        if is_return(&self.program.lines[line]) {
            return state.wait(WaitCnt::at_calls(self.set()));
        }
        let how = Issue {
            order_is_trusted: self.trusts_order,
            stall_is_trusted: self.trusts_stall,
            halves_are_trusted: self.trusts_halves,
            orders_lds: self.options.lds_order.contains(line),
        };
        for event in self.events(line) {
            state.issue(event, line, how);
        }
    }

    fn seal(&self, state: &mut Outstanding) {
        state.seal();
    }

    fn outer_cause(&self, state: &Outstanding, line: usize, inside: &dyn Fn(usize) -> bool) -> Vec<Early> {
        let mut cause = Vec::new();
        self.conflicts(state, line, &mut |conflict| {
            let outer = conflict.producer.is_some_and(|p| !inside(p as usize));
            if outer && !is_fixed_in_place(&conflict) {
                cause.push(Early { conflict, consumer: line });
            }
        });
        cause
    }

    fn weaker(&self, wait: WaitCnt) -> Vec<WaitCnt> {
        let without = |c: Counter| {
            let mut rest = WaitCnt::NONE;
            for other in Counter::ALL.into_iter().filter(|o| *o != c) {
                rest = rest.and(other.at(other.of(wait)));
            }
            rest
        };
        let mut weaker = vec![WaitCnt::NONE];
        weaker.extend(Counter::ALL.into_iter().map(without).filter(|w| *w != wait));
        // Let one more operation stay outstanding; if that succeeds, the next value is tried.
        let set = self.set();
        let one_more = Counter::ALL.into_iter().filter(|c| c.of(wait) < c.cap(set));
        weaker.extend(one_more.map(|c| c.set(wait, c.of(wait) + 1)));
        weaker
    }

    fn strength(&self, wait: WaitCnt) -> u64 {
        let set = self.set();
        let counters = set.counters().iter();
        counters.map(|c| u64::from(c.capacity(set).saturating_sub(c.of(wait)))).sum()
    }

    fn hoist(&mut self, cause: &Vec<Early>, edges: &[(Edge, &Outstanding)]) {
        for (edge, _) in edges {
            let known = self.early.entry(*edge).or_default();
            for early in cause {
                known.entry(early.key()).or_insert(*early);
            }
        }
    }
}

impl WaitcntPass<'_> {
    /// The early waits of `edge` for operations that are still outstanding there, with the values that are sufficient.
    pub fn outstanding_early(&self, state: &Outstanding, edge: Edge) -> Vec<(Early, WaitCnt)> {
        let Some(wanted) = self.early.get(&edge) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in state.entries().iter().filter(|e| e.debt == Debt::Write) {
            let counter = state.counter(entry.stream);
            let early = wanted.get(&(counter as u8, Some(entry.producer)));
            if let Some(early) = early {
                found.push((*early, counter.at(state.limit(entry))));
            }
        }
        found
    }
}

/// True for waits that concern memory or a whole counter. Such a wait has several producers, of which only one is known, so the wait cannot
/// leave a loop.
fn is_fixed_in_place(conflict: &Conflict) -> bool {
    conflict.reg.is_none() || [WAR.id, OPERAND_WAR.id].contains(&conflict.rule)
}
