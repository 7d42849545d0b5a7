//! Outstanding memory operations of a wave.
//!
//! An operation's registers are off limits from its issue until a wait has made its completion certain. It is on one stream or two
//! (`gcn_isa::counters::Stream`), which move the counters of the instruction set:
//! - where all that a counter counts is of one stream that completes in order, as vector memory or LDS, a wait for n completes all but
//!   the youngest n;
//! - of a stream without order, as scalar memory, and of several streams at once only 0 says anything;
//! - flat operations are on two counters, which they leave at different times. Their completion needs that of memory, and that of LDS
//!   if they touched it.
//!
//! An instruction that would overflow a counter does not issue before enough operations are done
//! (`gcn_isa::counters::Counter::capacity`): of a stream that completes in order, the oldest. Of a stream without order nobody knows
//! which; among operations that write no register, stores for one, the oldest are taken. As many are outstanding after that as the
//! counter holds, so that what the rules say of them does not depend on it, and a wave never has more than its counters and registers
//! can name.

use gcn_isa::counters::{Counter, Stream, WaitCnt, finishes_after};
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::{self, CounterRule};
use gcn_isa::reg::RegUnit;
use smallvec::SmallVec;

use super::effect::{Effect, Part, is_of_lds, is_of_memory};
use super::hazard;
use super::range::LdsRange;
use crate::core::machine::Machine;
use crate::core::site::Hazard;
use crate::core::trace::Path;

/// Halves of registers.
const HALVES: usize = 2 * RegUnit::COUNT;

/// An operation on one counter.
#[derive(Clone, Copy, Debug)]
struct Counted {
    stream: Stream,
    counter: Counter,
    /// The largest value of the counter that waits.
    cap: u8,
    /// Not yet certain.
    is_out: bool,
    /// The counter matters: it is not that of LDS for a flat operation that did not access LDS.
    matters: bool,
}

/// An operation that is not certain to have completed.
#[derive(Clone, Debug)]
struct Operation {
    /// Serial number.
    id: u32,
    /// Index of the instruction.
    at: usize,
    parts: SmallVec<[Counted; 2]>,
    /// It writes registers, which tell it from its like.
    writes: bool,
    /// Its completion has been told.
    told: bool,
    writes_lds: bool,
    stores: bool,
    syncs: bool,
    /// LDS bytes that a DMA writes.
    dma: Option<LdsRange>,
}

impl Operation {
    /// True if what it writes may still be to come.
    fn is_uncertain(&self) -> bool {
        self.is_out_on(|_| true)
    }

    /// The same for its effects on some streams.
    fn is_out_on(&self, streams: impl Fn(Stream) -> bool) -> bool {
        self.parts.iter().any(|p| p.is_out && p.matters && streams(p.stream))
    }

    fn on(&self, counter: Counter) -> Option<Counted> {
        self.parts.iter().copied().find(|p| p.is_out && p.counter == counter)
    }
}

/// The outstanding operations, oldest first, and which registers they will write.
pub(crate) struct Counters {
    operations: Vec<Operation>,
    /// Serial number of the operation that writes half a register, 0 if none.
    pending: [u32; HALVES],
    next: u32,
    /// Serial numbers of the operations that the last instruction made certain.
    done: Vec<u32>,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters { operations: Vec::new(), pending: [0; HALVES], next: 1, done: Vec::new() }
    }
}

impl Counters {
    pub(crate) fn reset(&mut self) {
        self.operations.clear();
        self.pending = [0; HALVES];
        self.next = 1;
        self.done.clear();
    }

    /// The operations that the last instruction made certain, by serial number.
    pub(crate) fn done(&self) -> &[u32] {
        &self.done
    }

    /// Serial number of the youngest operation.
    pub(crate) fn youngest(&self) -> u32 {
        self.next - 1
    }

    /// The weakest wait that guarantees the effect of operation `id` on LDS or on memory; none if it is guaranteed. A
    /// flat operation has done its part in LDS when lgkmcnt is low enough.
    pub(crate) fn wait_for(&self, id: u32, path: Path) -> Option<WaitCnt> {
        let operation = self.find(id)?;
        let of_memory = operation.dma.is_some() || path == Path::Global;
        let wait = self.needed(operation, if of_memory { is_of_memory } else { is_of_lds });
        (wait != WaitCnt::NONE).then_some(wait)
    }

    pub(crate) fn before(
        &mut self,
        effects: &[Effect],
        machine: &Machine,
        effect: &Effect,
        rules: Config,
        alone: bool,
    ) -> Result<(), Box<Hazard>> {
        self.done.clear();
        if let Some(wait) = effect.wait {
            self.wait(effects, wait);
            return Ok(());
        }
        if self.operations.is_empty() {
            return Ok(());
        }
        self.make_room(effects, effect.room);
        if (effect.barrier || effect.accesses)
            && rules.counts(&counter::GWS)
            && let Some(operation) = self.operations.iter().find(|o| o.syncs && o.is_uncertain())
        {
            return Err(self.too_early(machine, &counter::GWS, operation, None));
        }
        if effect.barrier {
            return self.barrier(machine, rules, alone);
        }
        let whole = |part: &Part| Part { half: None, ..*part };
        let halves = rules.counts(&counter::HALF);
        for part in &effect.reads {
            if let Some(operation) = self.writer(*part) {
                return Err(self.too_early(machine, &counter::RAW, operation, Some(part.unit)));
            }
            if let Some(operation) = self.writer(whole(part)).filter(|_| halves) {
                return Err(self.too_early(machine, &counter::HALF, operation, Some(part.unit)));
            }
        }
        for part in &effect.writes {
            if let Some(operation) = self.writer(*part)
                && !returns_in_order(machine, operation, effect)
            {
                return Err(self.too_early(machine, &counter::WAW, operation, Some(part.unit)));
            }
            if let Some(operation) = self.writer(whole(part)).filter(|_| halves && part.half.is_some())
                && !returns_in_order(machine, operation, effect)
            {
                return Err(self.too_early(machine, &counter::HALF, operation, Some(part.unit)));
            }
        }
        Ok(())
    }

    pub(crate) fn after(
        &mut self,
        effects: &[Effect],
        machine: &Machine,
        at: usize,
        lds: LdsRange,
    ) -> Result<(), Box<Hazard>> {
        let effect = &effects[at];
        let early = self.too_early_for_dma(effect, machine, lds);
        self.start(effect, machine, at, lds);
        early
    }

    /// The hazard of touching LDS bytes that a DMA may still write.
    fn too_early_for_dma(
        &self,
        effect: &Effect,
        machine: &Machine,
        lds: LdsRange,
    ) -> Result<(), Box<Hazard>> {
        if lds == LdsRange::default() || effect.lds_dma {
            return Ok(());
        }
        match self.operations.iter().find(|o| o.dma.is_some_and(|dma| dma.overlaps(&lds))) {
            Some(operation) => Err(self.too_early(machine, &counter::LDS_DMA, operation, None)),
            None => Ok(()),
        }
    }

    /// Takes note of the operation that an instruction starts, if it starts one.
    fn start(&mut self, effect: &Effect, machine: &Machine, at: usize, lds: LdsRange) {
        if effect.streams.is_empty() {
            return;
        }
        let set = machine.target().instruction_set();
        let is_flat = effect.streams.len() > 1;
        let part = |stream: &Stream| {
            let counter = stream.counter(set);
            let matters = !is_flat || !is_of_lds(*stream) || lds != LdsRange::default();
            Counted { stream: *stream, counter, cap: counter.cap(set), is_out: true, matters }
        };
        let id = self.next;
        self.next += 1;
        for half in effect.writes.iter().flat_map(|part| part.halves()) {
            self.pending[half] = id;
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
            dma: effect.lds_dma.then_some(lds),
        });
    }

    fn writer(&self, part: Part) -> Option<&Operation> {
        let id = self.pending[part.halves()].iter().copied().find(|id| *id != 0)?;
        self.find(id)
    }

    fn find(&self, id: u32) -> Option<&Operation> {
        // They are in the order of their numbers.
        self.operations.binary_search_by_key(&id, |o| o.id).ok().map(|at| &self.operations[at])
    }

    /// Drops the operations that `wait` makes certain.
    fn wait(&mut self, effects: &[Effect], wait: WaitCnt) {
        for counter in Counter::ALL.into_iter().filter(|counter| counter.is_in(wait)) {
            let left = usize::from(counter.of(wait));
            if left == 0 || self.order(counter).is_some() {
                self.finish(left, |_, part| part.counter == counter);
            }
        }
        self.settle(effects);
    }

    /// Lets full counters finish the operations without which an instruction that needs `room` could not issue. Operations of
    /// other streams may be done by then, so that only those of one stream can be too many.
    fn make_room(&mut self, effects: &[Effect], room: WaitCnt) {
        let mut finished = false;
        for counter in Counter::ALL.into_iter().filter(|counter| counter.is_in(room)) {
            let left = usize::from(counter.of(room));
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

    /// The stream of all that is outstanding on a counter, if there is one and it completes in order.
    fn order(&self, counter: Counter) -> Option<Stream> {
        let mut streams = self.operations.iter().filter_map(|o| o.on(counter)).map(|part| part.stream);
        let first = streams.next().filter(|stream| stream.in_order())?;
        streams.all(|stream| stream == first).then_some(first)
    }

    /// Makes the oldest of these parts certain, all but the youngest `left`. True if there were more.
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

    /// Tells which operations have become certain, and drops those that no counter counts any more.
    fn settle(&mut self, effects: &[Effect]) {
        let (pending, done) = (&mut self.pending, &mut self.done);
        self.operations.retain_mut(|o| {
            if !o.told && !o.is_uncertain() {
                o.told = true;
                done.push(o.id);
                for half in effects[o.at].writes.iter().flat_map(|part| part.halves()) {
                    let slot = &mut pending[half];
                    *slot = if *slot == o.id { 0 } else { *slot };
                }
            }
            o.parts.iter().any(|part| part.is_out)
        });
    }

    /// Other waves see LDS after a barrier only if the writes before it have completed, and memory too if they may be on other compute
    /// units. Before gfx90a a barrier
    /// needs all counters at 0 anyway.
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

    /// The hazard of not having waited for `operation`.
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

    /// The weakest wait that guarantees the effects of `operation` on some streams.
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

/// True if the result of `effect` is written after that of `first`, so that it is the last.
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

    /// However many operations a wave starts without a wait, no more are kept than its counters hold.
    #[test]
    fn no_more_is_outstanding_than_the_counters_hold() {
        for (target, text, most) in [
            (Target::GFX1030, "global_store_dword v1, v0, s[0:1]", 63),
            (Target::GFX1100, "global_store_b32 v1, v0, s[0:1]", 63),
            (Target::GFX1201, "global_store_b32 v1, v0, s[0:1]", 63),
            (Target::GFX942, "global_store_dword v1, v0, s[0:1]", 63),
            // On both counters; it leaves that of LDS earlier.
            (Target::GFX942, "flat_store_dword v[2:3], v0", 63),
            (Target::GFX900, "s_store_dword s4, s[0:1], 0x0", 15),
        ] {
            let program = parse_program(&format!("{text}\ns_endpgm"), target, "test").unwrap();
            let code = encode_program(&program).unwrap().bytes;
            let machine = Machine::new(target, &code, KernelState::default()).unwrap();
            let effects: Vec<Effect> =
                machine.steps().iter().map(|step| Effect::of(target, &step.inst)).collect();
            let mut counters = Counters::default();
            let mut kept = 0;
            for started in 1..1000 {
                counters.before(&effects, &machine, &effects[0], Config::default(), true).unwrap();
                counters.after(&effects, &machine, 0, LdsRange::default()).unwrap();
                kept = kept.max(counters.operations.len());
                assert_eq!(counters.youngest(), started);
            }
            assert_eq!(kept, most, "{target} {text}");
        }
    }
}
