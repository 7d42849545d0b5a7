//! Outstanding memory operations of a wave.
//!
//! An operation's registers are off limits from its issue until an `s_waitcnt` has made its completion certain:
//! - vector memory operations complete in order, so `vmcnt(n)` completes all but the youngest n;
//! - LDS operations likewise with `lgkmcnt(n)`, as long as nothing else is outstanding on that counter;
//! - scalar memory, messages, several kinds at once: only 0 says anything;
//! - flat operations leave the two counters at different times: while one is outstanding on a counter, only 0 says
//!   anything. Its own completion needs vmcnt, and lgkmcnt if it touched LDS.
//!
//! An instruction that would overflow a counter does not issue before enough operations are done
//! (`gcn_isa::counters::Counter::capacity`): of a type that completes in order, the oldest.

use gcn_isa::InstructionSet;
use gcn_isa::counters::{Counter, WaitCnt, finishes_after};
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::{self, CounterRule};
use gcn_isa::reg::RegUnit;

use super::effect::{Effect, Kind};
use super::hazard;
use super::range::LdsRange;
use crate::core::machine::Machine;
use crate::core::site::Hazard;
use crate::core::trace::Path;

/// Says how far the counters count: strict mode is for GFX9.
const SET: InstructionSet = InstructionSet::GFX900;

/// An operation that is not certain to have completed.
#[derive(Clone, Debug)]
struct Operation {
    /// Serial number.
    id: u32,
    /// Index of the instruction.
    at: usize,
    kind: Kind,
    /// Not yet certain on vmcnt, on lgkmcnt.
    on_vm: bool,
    on_lgkm: bool,
    /// What lgkmcnt says matters: it is not a flat operation that stayed away from LDS.
    by_lgkm: bool,
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
        self.on_vm || (self.on_lgkm && self.by_lgkm)
    }
}

/// The outstanding operations, oldest first, and which registers they will write.
pub(crate) struct Counters {
    operations: Vec<Operation>,
    /// Serial number of the operation that writes a register, 0 if none.
    pending: [u32; RegUnit::COUNT],
    next: u32,
    /// Serial numbers of the operations that the last instruction made certain.
    done: Vec<u32>,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters { operations: Vec::new(), pending: [0; RegUnit::COUNT], next: 1, done: Vec::new() }
    }
}

impl Counters {
    pub(crate) fn reset(&mut self) {
        self.operations.clear();
        self.pending = [0; RegUnit::COUNT];
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

    /// The weakest wait that makes certain what operation `id` does to LDS or to memory; none if it is. A flat operation has done its
    /// part in LDS when lgkmcnt says so.
    pub(crate) fn wait_for(&self, id: u32, path: Path) -> Option<WaitCnt> {
        let operation = self.operations.iter().find(|o| o.id == id)?;
        let needed = self.needed(operation);
        let counter =
            if operation.dma.is_some() || path == Path::Global { Counter::Vm } else { Counter::Lgkm };
        let wait = counter.at(counter.of(needed));
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
            && let Some(operation) = self.operations.iter().find(|o| o.syncs && o.on_lgkm)
        {
            return Err(self.too_early(machine, &counter::GWS, operation, None));
        }
        if effect.barrier {
            return self.barrier(machine, rules, alone);
        }
        for unit in &effect.reads {
            if let Some(operation) = self.writer(*unit) {
                return Err(self.too_early(machine, &counter::RAW, operation, Some(*unit)));
            }
        }
        for unit in &effect.writes {
            if let Some(operation) = self.writer(*unit)
                && !returns_in_order(operation.kind, effect.kind)
            {
                return Err(self.too_early(machine, &counter::WAW, operation, Some(*unit)));
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
        self.start(effect, at, lds);
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
    fn start(&mut self, effect: &Effect, at: usize, lds: LdsRange) {
        let Some(kind) = effect.kind else { return };
        let id = self.next;
        self.next += 1;
        for unit in &effect.writes {
            self.pending[unit.index()] = id;
        }
        self.operations.push(Operation {
            id,
            at,
            kind,
            on_vm: kind.on_vm(),
            on_lgkm: kind.on_lgkm(),
            by_lgkm: kind != Kind::Flat || lds != LdsRange::default(),
            told: false,
            writes_lds: effect.writes_lds,
            stores: effect.stores,
            syncs: effect.syncs,
            dma: effect.lds_dma.then_some(lds),
        });
    }

    fn writer(&self, unit: RegUnit) -> Option<&Operation> {
        let id = self.pending[unit.index()];
        if id == 0 { None } else { self.operations.iter().find(|o| o.id == id) }
    }

    /// Drops the operations that `wait` makes certain.
    fn wait(&mut self, effects: &[Effect], wait: WaitCnt) {
        let [vm, lgkm] = [Counter::Vm, Counter::Lgkm].map(|counter| counter.of(wait));
        if Counter::Vm.is_in(wait) {
            let in_order = vm == 0 || self.operations.iter().all(|o| !o.on_vm || o.kind != Kind::Flat);
            let outstanding = self.operations.iter().filter(|o| o.on_vm).count();
            let done = if in_order { outstanding.saturating_sub(usize::from(vm)) } else { 0 };
            self.operations.iter_mut().filter(|o| o.on_vm).take(done).for_each(|o| o.on_vm = false);
        }
        if Counter::Lgkm.is_in(wait) {
            let in_order = lgkm == 0 || self.operations.iter().all(|o| !o.on_lgkm || o.kind == Kind::Lds);
            let outstanding = self.operations.iter().filter(|o| o.on_lgkm).count();
            let done = if in_order { outstanding.saturating_sub(usize::from(lgkm)) } else { 0 };
            self.operations.iter_mut().filter(|o| o.on_lgkm).take(done).for_each(|o| o.on_lgkm = false);
        }
        self.settle(effects);
    }

    /// Lets full counters finish the operations without which an instruction that needs `room` could not issue. Operations of
    /// other types may be done by then, so that only those of one type can be too many.
    fn make_room(&mut self, effects: &[Effect], room: WaitCnt) {
        let full = |kind: Kind, left: u8| {
            let count = self.operations.iter().filter(|o| o.kind == kind).count();
            count.saturating_sub(usize::from(left))
        };
        let (vector, lds) =
            (full(Kind::Vector, Counter::Vm.of(room)), full(Kind::Lds, Counter::Lgkm.of(room)));
        if vector + lds == 0 {
            return;
        }
        self.operations
            .iter_mut()
            .filter(|o| o.kind == Kind::Vector)
            .take(vector)
            .for_each(|o| o.on_vm = false);
        self.operations.iter_mut().filter(|o| o.kind == Kind::Lds).take(lds).for_each(|o| o.on_lgkm = false);
        self.settle(effects);
    }

    /// Tells which operations have become certain, and drops those that no counter counts any more.
    fn settle(&mut self, effects: &[Effect]) {
        let (pending, done) = (&mut self.pending, &mut self.done);
        self.operations.retain_mut(|o| {
            if !o.told && !o.is_uncertain() {
                o.told = true;
                done.push(o.id);
                for unit in &effects[o.at].writes {
                    let slot = &mut pending[unit.index()];
                    *slot = if *slot == o.id { 0 } else { *slot };
                }
            }
            o.on_vm || o.on_lgkm
        });
    }

    /// Other waves see LDS after a barrier only if the writes before it have completed, and memory too if they may be on other compute
    /// units. Before gfx90a a barrier needs all
    /// counters at 0 anyway.
    fn barrier(&self, machine: &Machine, rules: Config, alone: bool) -> Result<(), Box<Hazard>> {
        let strongest = !machine.target().has_unified_agprs();
        for operation in &self.operations {
            let writes = operation.writes_lds && operation.on_lgkm && operation.by_lgkm;
            let stores = operation.stores && operation.on_vm && machine.state().tg_split;
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
        let need = self.needed(operation);
        let vm = self.operations.iter().filter(|o| o.on_vm).count();
        let lgkm = self.operations.iter().filter(|o| o.on_lgkm).count();
        let have = format!("operations that may be outstanding: {vm} on vmcnt, {lgkm} on lgkmcnt");
        let need = need.on(SET);
        let remedy = format!("place `{need}` before it");
        hazard(machine, rule.id, operation.at, register, (need.counters(), have, remedy))
    }

    /// The weakest wait that makes `operation` certain.
    fn needed(&self, operation: &Operation) -> WaitCnt {
        let younger = |on: fn(&Operation) -> bool| {
            self.operations.iter().filter(|o| on(o) && o.id > operation.id).count() as u8
        };
        let mut wait = WaitCnt::NONE;
        if operation.on_vm {
            let flat = self.operations.iter().any(|o| o.on_vm && o.kind == Kind::Flat);
            let most = Counter::Vm.cap(SET);
            wait = Counter::Vm.set(wait, if flat { 0 } else { younger(|o| o.on_vm).min(most) });
        }
        if operation.on_lgkm && operation.by_lgkm {
            let mixed = self.operations.iter().any(|o| o.on_lgkm && o.kind != Kind::Lds);
            let most = Counter::Lgkm.cap(SET);
            wait = Counter::Lgkm.set(wait, if mixed { 0 } else { younger(|o| o.on_lgkm).min(most) });
        }
        wait
    }
}

/// True if a second operation of this kind returns after the first, so that its result is the last one written.
fn returns_in_order(first: Kind, second: Option<Kind>) -> bool {
    second.is_some_and(|second| finishes_after(SET, first.stream(), second.stream()))
}
