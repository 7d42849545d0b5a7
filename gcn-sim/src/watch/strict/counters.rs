//! Tracks the outstanding memory operations of a wave.
//!
//! The registers of an operation must not be used from its issue until a wait guarantees its completion. An operation belongs to one or two
//! streams (`gcn_isa::counters::Stream`), which determine the counters of the instruction set that it increments:
//! - If all operations on a counter belong to one stream that completes in order, such as vector memory or LDS, a wait for n completes all
//!   but the youngest n.
//! - For a stream without order, such as scalar memory, and for several streams on one counter, only a wait for 0 guarantees anything.
//! - A flat operation is on two counters and may decrement them at different times. It is complete when its memory part is complete and, if
//!   it accessed LDS, its LDS part as well.
//!
//! An instruction that would overflow a counter does not issue until enough operations have completed
//! (`gcn_isa::counters::Counter::capacity`). In a stream that completes in order, these are the oldest operations. In a stream without
//! order they are unknown; among operations that write no register, such as stores, the oldest are assumed to have completed. The choice
//! does not affect the rules' results, because afterwards the number of outstanding operations equals the counter's capacity in any case.
//! So the number of operations that are kept for a wave is bounded by its counters and registers.

use gcn_isa::counters::{Counter, Stream, WaitCnt, finishes_after};
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::{self, CounterRule};
use gcn_isa::reg::RegUnit;
use smallvec::{SmallVec, smallvec};

use super::effect::{Effect, Mask, Part, is_of_lds, is_of_memory};
use super::hazard;
use super::range::LdsRange;
use crate::core::machine::Machine;
use crate::core::site::Hazard;
use crate::core::trace::Path;

/// Serial numbers of operations, by register. There are none for the registers after the last one to which one was given.
#[derive(Default)]
struct Numbers(Vec<u32>);

impl Numbers {
    /// The number at this place; 0, which no operation has, if there is none.
    #[inline]
    fn at(&self, place: usize) -> u32 {
        self.0.get(place).copied().unwrap_or(0)
    }

    fn set(&mut self, place: usize, number: u32) {
        if self.0.len() <= place {
            self.0.resize(place + 1, 0);
        }
        self.0[place] = number;
    }
}

/// The part of an operation that one counter counts.
#[derive(Clone, Copy, Debug)]
struct Counted {
    stream: Stream,
    counter: Counter,
    /// The largest value of the counter that a wait instruction can express.
    cap: u8,
    /// True until the completion of this part is guaranteed.
    is_out: bool,
    /// False for the LDS part of a flat operation that did not access LDS.
    matters: bool,
}

impl Counted {
    /// The part of an operation on `stream` that has just started.
    fn started(machine: &Machine, stream: Stream) -> Counted {
        let set = machine.target().instruction_set();
        let counter = stream.counter(set);
        Counted { stream, counter, cap: counter.cap(set), is_out: true, matters: true }
    }
}

/// An operation that is not *certain*: no wait or full counter guarantees its completion.
#[derive(Clone, Debug)]
struct Operation {
    /// The serial number.
    id: u32,
    /// The index of the instruction.
    at: usize,
    parts: SmallVec<[Counted; 2]>,
    /// True if the operation writes registers, by which it can be distinguished from similar operations.
    writes: bool,
    /// True if the completion of the operation has been reported.
    told: bool,
    writes_lds: bool,
    stores: bool,
    syncs: bool,
    /// The barrier whose `s_barrier_wait` completes the operation.
    until: Option<i16>,
    /// The LDS bytes that a DMA (a load to LDS) writes.
    dma: Option<LdsRange>,
    /// The LDS bytes that a copy reads outside the LDS queue.
    copied: Option<LdsRange>,
    /// The registers that it has yet to read or to write.
    registers: Mask,
    /// The registers that it writes, if the state of the wave made others of those that the instruction names.
    moved: Option<Box<[Part]>>,
}

impl Operation {
    /// True if the operation may not have written its results yet.
    fn is_uncertain(&self) -> bool {
        self.is_out_on(|_| true)
    }

    /// As [`is_uncertain`](Self::is_uncertain), for the operation's effects on the selected streams.
    fn is_out_on(&self, streams: impl Fn(Stream) -> bool) -> bool {
        self.parts.iter().any(|p| p.is_out && p.matters && streams(p.stream))
    }

    fn on(&self, counter: Counter) -> Option<Counted> {
        self.parts.iter().copied().find(|p| p.is_out && p.counter == counter)
    }
}

/// The outstanding operations, oldest first, and the registers that they will write.
pub(crate) struct Counters {
    operations: Vec<Operation>,
    /// For each half of a register, the serial number of the operation that will write it; less than `first` if no operation will.
    pending: Numbers,
    /// For each register, the serial number of the youngest operation that may still read it; less than `first` if no operation may.
    held: Numbers,
    /// The registers of all operations.
    busy: Mask,
    /// The serial number of the wave's first operation, and of the next one.
    first: u32,
    next: u32,
    /// The serial numbers of the operations that the last instruction made certain.
    done: Vec<u32>,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            operations: Vec::new(),
            pending: Numbers::default(),
            held: Numbers::default(),
            busy: Mask::default(),
            first: 1,
            next: 1,
            done: Vec::new(),
        }
    }
}

impl Counters {
    pub(crate) fn reset(&mut self) {
        self.operations.clear();
        self.done.clear();
        self.busy = Mask::default();
        // The registers are not cleared for every workgroup: that would take as long as many instructions.
        self.first = self.next;
        if self.next > u32::MAX / 2 {
            *self = Counters::default();
        }
    }

    /// The serial numbers of the operations that the last instruction made certain.
    pub(crate) fn done(&self) -> &[u32] {
        &self.done
    }

    /// True if no operation is outstanding.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The serial number of the youngest operation.
    pub(crate) fn youngest(&self) -> u32 {
        self.next - 1
    }

    /// The weakest wait that guarantees the effect of operation `id` on LDS or on memory; `None` if the effect is already guaranteed. For
    /// the LDS part of a flat operation, a wait for lgkmcnt is sufficient.
    pub(crate) fn wait_for(&self, id: u32, path: Path) -> Option<WaitCnt> {
        let operation = self.find(id)?;
        let of_memory = operation.dma.is_some() || path == Path::Global;
        let wait = self.needed(operation, if of_memory { is_of_memory } else { is_of_lds });
        (wait != WaitCnt::NONE).then_some(wait)
    }

    /// Makes the operations certain that have completed when an instruction has issued: those for which it waits, and those that must
    /// have made room for it.
    pub(crate) fn advance(&mut self, effects: &[Effect], effect: &Effect) {
        self.done.clear();
        if self.operations.is_empty() {
            return;
        }
        match effect.wait {
            Some(wait) => self.wait(effects, wait),
            None if effect.room == WaitCnt::NONE => {}
            None => self.make_room(effects, effect.room),
        }
    }

    pub(crate) fn before(
        &mut self,
        effects: &[Effect],
        machine: &Machine,
        effect: &Effect,
        rules: Config,
        alone: bool,
    ) -> Result<(), Box<Hazard>> {
        self.advance(effects, effect);
        if self.operations.is_empty() || effect.wait.is_some() {
            return Ok(());
        }
        if (effect.barrier || effect.accesses)
            && let Some(operation) = self.operations.iter().find(|o| o.syncs && o.is_uncertain())
            && rules.counts(&counter::GWS)
        {
            return Err(self.too_early(machine, &counter::GWS, operation, None));
        }
        if effect.arrives {
            self.barrier(machine, rules, alone)?;
        }
        if !self.busy.may_meet(effect.registers) {
            return Ok(());
        }
        let is_pending = |part: &Part| {
            let unit = part.unit.index();
            self.pending.at(2 * unit).max(self.pending.at(2 * unit + 1)).max(self.held.at(unit)) >= self.first
        };
        if !effect.reads.iter().chain(&effect.writes).any(is_pending) {
            return Ok(());
        }
        // Asked only when it matters, because it takes longer than the rest.
        let halves = || rules.counts(&counter::HALF);
        for part in &effect.reads {
            if let Some(operation) = self.writer(*part) {
                return Err(self.too_early(machine, &counter::RAW, operation, Some(part.unit)));
            }
            if let Some(operation) = self.writer(part.whole()).filter(|_| halves()) {
                return Err(self.too_early(machine, &counter::HALF, operation, Some(part.unit)));
            }
        }
        for part in &effect.writes {
            if let Some(operation) = self.writer(*part)
                && !returns_in_order(machine, operation, effect)
            {
                return Err(self.too_early(machine, &counter::WAW, operation, Some(part.unit)));
            }
            if let Some(operation) = self.writer(part.whole()).filter(|_| part.half.is_some() && halves())
                && !returns_in_order(machine, operation, effect)
            {
                return Err(self.too_early(machine, &counter::HALF, operation, Some(part.unit)));
            }
            if let Some(operation) = self.reader(part.unit)
                && !reads_in_order(operation, effect)
            {
                return Err(self.too_early(machine, &counter::OPERAND_WAR, operation, Some(part.unit)));
            }
        }
        Ok(())
    }

    pub(crate) fn after(
        &mut self,
        effects: &[Effect],
        machine: &Machine,
        (effect, at): (&Effect, usize),
        lds: LdsRange,
    ) -> Result<(), Box<Hazard>> {
        let early = self.too_early_for_copies(effect, machine, lds);
        let moved = (!std::ptr::eq(effect, &effects[at])).then(|| effect.writes.iter().copied().collect());
        if let Some(barrier) = effect.passes {
            self.pass_barrier(effects, barrier);
        }
        if let Some((stream, held)) = &effect.operands {
            self.hold(effects, machine, at, (*stream, held));
        }
        self.start((effect, moved), machine, at, lds);
        early
    }

    /// The hazard of an access to LDS bytes that a DMA may still write, or of a write to bytes that a copy may still read; `None` if there is
    /// none.
    fn too_early_for_copies(
        &self,
        effect: &Effect,
        machine: &Machine,
        lds: LdsRange,
    ) -> Result<(), Box<Hazard>> {
        if lds == LdsRange::default() || effect.lds_dma {
            return Ok(());
        }
        let meets = |bytes: Option<LdsRange>| bytes.is_some_and(|bytes| bytes.overlaps(&lds));
        let broken = self.operations.iter().find_map(|o| {
            let early = effect.writes_lds && meets(o.copied);
            let rule = early.then_some(&counter::ASYNC_LDS_READ);
            let set = machine.target().instruction_set();
            Some((if meets(o.dma) { counter::copies_to_lds(set) } else { rule? }, o))
        });
        broken.map_or(Ok(()), |(rule, operation)| Err(self.too_early(machine, rule, operation, None)))
    }

    /// Adds the operation that an instruction starts, if it starts one.
    fn start(
        &mut self,
        (effect, moved): (&Effect, Option<Box<[Part]>>),
        machine: &Machine,
        at: usize,
        lds: LdsRange,
    ) {
        if effect.streams.is_empty() {
            return;
        }
        let is_flat = effect.streams.len() > 1;
        let part = |stream: &Stream| {
            let matters = !is_flat || !is_of_lds(*stream) || lds != LdsRange::default();
            Counted { matters, ..Counted::started(machine, *stream) }
        };
        let id = self.number();
        let registers = Mask::of(effect.writes.iter().map(|part| part.unit));
        self.busy = self.busy.or(registers);
        for half in effect.writes.iter().flat_map(|part| part.halves()) {
            self.pending.set(half, id);
        }
        self.operations.push(Operation {
            id,
            at,
            parts: effect.streams.iter().map(part).collect(),
            writes: !effect.writes.is_empty(),
            told: false,
            writes_lds: effect.writes_lds,
            stores: effect.stores,
            syncs: effect.syncs,
            until: effect.until,
            dma: effect.lds_dma.then_some(lds),
            copied: effect.copies_lds.then_some(lds),
            registers,
            moved,
        });
    }

    /// Adds an instruction that has yet to read its operands. The hardware finishes the other stream of operands first.
    fn hold(
        &mut self,
        effects: &[Effect],
        machine: &Machine,
        at: usize,
        (stream, held): (Stream, &[RegUnit]),
    ) {
        if let Some((_, other)) = stream.of_operands()
            && self.finish(0, |_, part| part.stream == other)
        {
            self.settle(effects);
        }
        let id = self.number();
        let registers = Mask::of(held.iter().copied());
        self.busy = self.busy.or(registers);
        held.iter().for_each(|unit| self.held.set(unit.index(), id));
        self.operations.push(Operation {
            id,
            at,
            parts: smallvec![Counted::started(machine, stream)],
            writes: false,
            told: false,
            writes_lds: false,
            stores: false,
            syncs: false,
            until: None,
            dma: None,
            copied: None,
            registers,
            moved: None,
        });
    }

    /// Makes the operations certain that are complete once the wave has waited at `barrier`.
    fn pass_barrier(&mut self, effects: &[Effect], barrier: i16) {
        if self.finish(0, |operation, _| operation.until == Some(barrier)) {
            self.settle(effects);
        }
    }

    /// The serial number of the next operation.
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The youngest operation that may still read a register.
    fn reader(&self, unit: RegUnit) -> Option<&Operation> {
        let id = self.held.at(unit.index());
        if id < self.first { None } else { self.find(id) }
    }

    fn writer(&self, part: Part) -> Option<&Operation> {
        let id = part.halves().map(|half| self.pending.at(half)).find(|id| *id >= self.first)?;
        self.find(id)
    }

    fn find(&self, id: u32) -> Option<&Operation> {
        // Operations are sorted by serial number.
        self.operations.binary_search_by_key(&id, |o| o.id).ok().map(|at| &self.operations[at])
    }

    /// Makes operations certain whose completion `wait` guarantees.
    fn wait(&mut self, effects: &[Effect], wait: WaitCnt) {
        let mut finished = false;
        for counter in Counter::ALL.into_iter().filter(|counter| counter.is_in(wait)) {
            let left = usize::from(counter.of(wait));
            if left == 0 || self.order(counter).is_some() {
                finished |= self.finish(left, |_, part| part.counter == counter);
            }
        }
        if finished {
            self.settle(effects);
        }
    }

    /// Makes operations certain that must have completed before an instruction that needs `room` can issue. Since the counter may be full
    /// because of any stream, each stream is considered as if the operations of all other streams had completed.
    fn make_room(&mut self, effects: &[Effect], room: WaitCnt) {
        let mut finished = false;
        for counter in Counter::ALL.into_iter().filter(|counter| counter.is_in(room)) {
            let left = usize::from(counter.of(room));
            if self.operations.len() <= left {
                continue;
            }
            for stream in Stream::ALL {
                finished |= self.finish(left, |operation, part| {
                    part.counter == counter
                        && part.stream == stream
                        && (stream.in_order() || !operation.writes)
                });
            }
        }
        if finished {
            self.settle(effects);
        }
    }

    /// The stream to which all outstanding operations on a counter belong; `None` if there are several, or if the stream does not complete
    /// in order.
    fn order(&self, counter: Counter) -> Option<Stream> {
        let mut streams = self.operations.iter().filter_map(|o| o.on(counter)).map(|part| part.stream);
        let first = streams.next().filter(|stream| stream.in_order())?;
        streams.all(|stream| stream == first).then_some(first)
    }

    /// Makes all but the youngest `left` of the selected parts certain. Returns true if there were more than `left`.
    fn finish(&mut self, left: usize, which: impl Fn(&Operation, &Counted) -> bool) -> bool {
        // No operation has two parts on one counter.
        let place = |o: &Operation| o.parts.iter().position(|part| part.is_out && which(o, part));
        let count = self.operations.iter().filter(|o| place(o).is_some()).count();
        if count <= left {
            return false;
        }
        let oldest = self.operations.iter_mut().filter_map(|o| place(o).map(|at| &mut o.parts[at]));
        oldest.take(count - left).for_each(|part| part.is_out = false);
        true
    }

    /// Reports the operations that have become certain, and removes those that no counter counts any more.
    fn settle(&mut self, effects: &[Effect]) {
        let (pending, done) = (&mut self.pending, &mut self.done);
        // The youngest certain result of each stream of results, which shows that all older instructions have read their operands.
        let mut shown: SmallVec<[(Stream, u32); 2]> = SmallVec::new();
        self.operations.retain_mut(|o| {
            if !o.told && !o.is_uncertain() {
                o.told = true;
                shown.extend(o.parts.iter().map(|part| (part.stream, o.id)));
                done.push(o.id);
                let writes = o.moved.as_deref().unwrap_or(&effects[o.at].writes);
                for half in writes.iter().flat_map(|part| part.halves()) {
                    if pending.at(half) == o.id {
                        pending.set(half, 0);
                    }
                }
            }
            o.parts.iter().any(|part| part.is_out)
        });
        self.operations.retain(|o| {
            let results = o.parts.first().and_then(|part| part.stream.of_operands());
            !results.is_some_and(|(results, _)| shown.iter().any(|s| s.0 == results && s.1 > o.id))
        });
        self.busy = self.operations.iter().fold(Mask::default(), |all, o| all.or(o.registers));
    }

    /// The hazard of a barrier at which operations are outstanding, if any. Other waves see LDS writes after the barrier only if the writes
    /// have completed before it. If the waves may be on different compute units, the same holds for stores to memory. Before gfx90a, a
    /// barrier requires all counters to be 0.
    fn barrier(&self, machine: &Machine, rules: Config, alone: bool) -> Result<(), Box<Hazard>> {
        let strongest = !machine.target().has_back_off_barrier();
        for operation in &self.operations {
            let writes = operation.writes_lds && operation.is_out_on(is_of_lds);
            let stores = operation.stores && operation.is_out_on(is_of_memory) && machine.state().tg_split;
            let asked = [
                (strongest, &counter::BARRIER_COUNTERS),
                (writes && !alone, &counter::BARRIER_LDS),
                (operation.dma.is_some() && !alone, &counter::BARRIER_LDS_DMA),
                (stores && !alone, &counter::BARRIER_STORE),
            ];
            if let Some((_, rule)) = asked.iter().find(|(applies, rule)| *applies && rules.counts(*rule)) {
                return Err(self.too_early(machine, rule, operation, None));
            }
        }
        Ok(())
    }

    /// The hazard of an instruction that does not wait for `operation`.
    fn too_early(
        &self,
        machine: &Machine,
        rule: &CounterRule,
        operation: &Operation,
        register: Option<RegUnit>,
    ) -> Box<Hazard> {
        let set = machine.target().instruction_set();
        let count = |counter| self.operations.iter().filter(|o| o.on(counter).is_some()).count();
        let counts = set.counters().iter().map(|counter| (counter, count(*counter)));
        let shown = counts.filter(|(counter, n)| matches!(counter, Counter::Vm | Counter::Lgkm) || *n > 0);
        let outstanding: Vec<String> =
            shown.map(|(counter, n)| format!("{n} on {}", counter.name(set))).collect();
        let have = format!("operations that may be outstanding: {}", outstanding.join(", "));
        let need = self.needed(operation, |_| true).on(set);
        let remedy = format!("place `{need}` before it");
        hazard(machine, rule.id, operation.at, register, (need.counters(), have, remedy))
    }

    /// The weakest wait that guarantees the effects of `operation` on the selected streams.
    fn needed(&self, operation: &Operation, streams: impl Fn(Stream) -> bool) -> WaitCnt {
        let parts = operation.parts.iter().filter(|p| p.is_out && p.matters && streams(p.stream));
        parts.fold(WaitCnt::NONE, |wait, part| {
            let younger = self.operations.iter().filter(|o| o.id > operation.id);
            let younger = younger.filter(|o| o.on(part.counter).is_some()).count();
            let value = if self.order(part.counter).is_some() { younger } else { 0 };
            part.counter.set(wait, u8::try_from(value).unwrap_or(u8::MAX).min(part.cap))
        })
    }
}

/// True if the instruction of `effect` is a load whose result arrives only after `operation` has read its operands, because the stream of
/// both reads operands in order.
fn reads_in_order(operation: &Operation, effect: &Effect) -> bool {
    let mine = effect.operands.as_ref().filter(|_| !effect.streams.is_empty()).map(|(stream, _)| *stream);
    operation.parts.iter().any(|part| part.stream.in_order() && Some(part.stream) == mine)
}

/// True if the result of `effect` is certainly written after that of `first`, so that the result of `effect` remains.
fn returns_in_order(machine: &Machine, first: &Operation, effect: &Effect) -> bool {
    let set = machine.target().instruction_set();
    let mut parts = first.parts.iter().filter(|part| part.is_out && part.matters);
    parts.all(|part| effect.streams.iter().any(|stream| finishes_after(set, part.stream, *stream)))
}

#[cfg(test)]
mod tests {
    use gcn_emit::{encode::encode_program, text::parse_program};
    use gcn_isa::Target;

    use super::*;
    use crate::core::kernel::KernelState;

    /// However many operations a wave starts without a wait, the counters' capacities bound the number of tracked operations.
    #[test]
    fn no_more_is_outstanding_than_the_counters_hold() {
        for (target, text, most) in [
            (Target::GFX1030, "global_store_dword v1, v0, s[0:1]", 63),
            (Target::GFX1100, "global_store_b32 v1, v0, s[0:1]", 63),
            (Target::GFX1201, "global_store_b32 v1, v0, s[0:1]", 63),
            (Target::GFX942, "global_store_dword v1, v0, s[0:1]", 63),
            // A flat operation is on both counters, and decrements the LDS counter earlier.
            (Target::GFX942, "flat_store_dword v[2:3], v0", 63),
            (Target::GFX900, "s_store_dword s4, s[0:1], 0x0", 15),
        ] {
            let program = parse_program(&format!("{text}\ns_endpgm"), target, "test").unwrap();
            let code = encode_program(&program).unwrap().bytes;
            let machine = Machine::new(target, &code, KernelState::default()).unwrap();
            let effects: Vec<Effect> = machine
                .steps()
                .iter()
                .map(|step| Effect::of(target, &step.inst, Config::default()))
                .collect();
            let mut counters = Counters::default();
            let mut kept = 0;
            for started in 1..1000 {
                counters.before(&effects, &machine, &effects[0], Config::default(), true).unwrap();
                counters.after(&effects, &machine, (&effects[0], 0), LdsRange::default()).unwrap();
                kept = kept.max(counters.operations.len());
                assert_eq!(counters.youngest(), started);
            }
            assert_eq!(kept, most, "{target} {text}");
        }
    }
}
