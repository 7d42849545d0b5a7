//! Sanitizers: they detect errors in a program even if the result of this run is right.
//!
//! Race detection uses vector clocks: each wave's clock counts its intervals, and barriers and atomics make the clocks of waves known to
//! each other. Two accesses to a byte, at least one of them a write, race if neither wave knew the other's interval. An atomic releases
//! everything that its wave did before, and acquires everything that other waves released through the same word. Within a workgroup,
//! nothing else is required; between workgroups, the cache and wait instructions that the memory model prescribes are also required
//! (`scope.rs`). An access to LDS takes place when a wait guarantees its completion: an access that is outstanding at a barrier comes after
//! the barrier.

mod bounds;
mod clock;
mod defined;
mod lanes;
mod progress;
mod races;
mod scope;
mod shadow;
mod spin;

pub use defined::{Alone, Registers};

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gcn_isa::Inst;
use gcn_isa::counters::{Counter, Stream, WaitCnt};
use gcn_isa::hazards::Config;
use gcn_isa::table::Class;

use crate::core::fault::{Fault, Next};
use crate::core::finding::{Access, Finding, FindingKind, Party};
use crate::core::grid::Geometry;
use crate::core::machine::{Cx, Machine, Step};
use crate::core::memory::Range as Bytes;
use crate::core::options::{Options, Sanitize};
use crate::core::place::site;
use crate::core::site::Space;
use crate::core::trace::{Kind, Touch};
use crate::core::wave::Wave;
use crate::semantics::{indexed, mem};
use crate::watch::strict::counters::Counters;
use crate::watch::strict::effect::Effect;
use crate::watch::strict::outstanding::Accesses;
use crate::watch::strict::range::LdsRange;

use defined::{Access as Accessed, Aside, Bits, Changes, Info, Kind as Does, Now, Places, Undefined};
use races::Guess;
use scope::{Released, Role, Rules, Sync};
use shadow::{ByPlace, Shadow};
use spin::Spin;

/// The state of the sanitizers for a launch.
pub(crate) struct Shared {
    checks: Sanitize,
    limit: u32,
    program: Arc<(Settings, Program)>,
    state: Mutex<Global>,
    /// The number of changes of global memory.
    changes: AtomicU64,
}

/// What the data of a [`Program`] depend on, apart from its instructions.
type Settings = (bool, bool, Config);

/// Data about each instruction of a program.
struct Program {
    info: Vec<Info>,
    effects: Vec<Effect>,
    rules: Rules,
    roles: Vec<Role>,
}

impl Program {
    fn new(machine: &Machine, config: Config) -> Program {
        let steps = machine.steps();
        let rules = Rules::of(machine.target(), machine.state());
        // The combination of the waits directly before an instruction.
        let mut waited = WaitCnt::NONE;
        let mut role = |step: &Step| {
            let role = rules.role(&step.inst, waited);
            waited = WaitCnt::of(&step.inst).map_or(WaitCnt::NONE, |wait| waited.and(wait));
            role
        };
        Program {
            info: steps.iter().map(|s| Info::of(machine, &s.inst)).collect(),
            effects: steps.iter().map(|s| Effect::of(machine.target(), &s.inst, config)).collect(),
            roles: steps.iter().map(&mut role).collect(),
            rules,
        }
    }
}

/// The state that the workgroups share. They run on one host thread while a sanitizer is active.
#[derive(Default)]
struct Global {
    memory: Shadow,
    /// The clocks that have been released through words of global memory.
    released: ByPlace<Released>,
    /// The findings so far. Each pair of instructions occurs only once.
    known: HashSet<(FindingKind, u32, Option<u32>)>,
    /// The pairs of instructions with notes (findings that are not errors).
    notes: HashSet<(u32, Option<u32>)>,
    /// Races of reads that a later compare-and-swap may show to be harmless.
    guesses: Vec<Guess>,
}

impl Global {
    /// True if the finding must be kept: it is the first one for its pair of instructions, and the limit has not been reached.
    fn is_new(&mut self, finding: &Finding, limit: u32) -> bool {
        let (at, other) = (finding.party.site.offset, finding.other.as_ref().map(|o| o.site.offset));
        if finding.kind.is_note() {
            return self.notes.insert((at, other)) && self.notes.len() == 1;
        }
        self.known.len() < limit as usize && self.known.insert((finding.kind, at, other))
    }

    /// True if a finding of this kind for this pair of instructions would not be kept.
    fn keeps_no(&self, kind: FindingKind, at: u32, other: Option<u32>, limit: u32) -> bool {
        if kind.is_note() {
            return self.notes.contains(&(at, other));
        }
        self.known.len() >= limit as usize || self.known.contains(&(kind, at, other))
    }

    /// Adds to the reported note the number of notes that are not kept.
    fn count_notes(&self, findings: &mut [Finding]) {
        let others = self.notes.len().saturating_sub(1);
        if let Some(note) = findings.iter_mut().find(|f| f.kind.is_note()).filter(|_| others > 0) {
            let pairs = if others == 1 { "pair of instructions does" } else { "pairs of instructions do" };
            note.remedy.push_str(&format!("; {others} other {pairs} so"));
        }
    }
}

impl Shared {
    pub(crate) fn new(machine: &Machine, options: &Options) -> Option<Shared> {
        if options.sanitize.is_empty() {
            return None;
        }
        let state = machine.state();
        let settings = (state.tg_split, state.workgroup_processors, options.rules);
        Some(Shared {
            checks: options.sanitize,
            limit: options.findings,
            program: machine.derived(settings, || Program::new(machine, options.rules)),
            state: Mutex::default(),
            changes: AtomicU64::new(0),
        })
    }

    fn code(&self) -> &Program {
        &self.program.1
    }

    fn has(&self, checks: Sanitize) -> bool {
        self.checks.intersects(checks)
    }

    /// True if the trace has to record the bytes that stores replace.
    pub(crate) fn keeps(&self) -> bool {
        self.has(Sanitize::RACES | Sanitize::DEADLOCK)
    }

    /// True if bad accesses are findings and do not end the run.
    pub(crate) fn is_lenient(&self) -> bool {
        self.has(Sanitize::ACCESSES)
    }

    fn global(&self) -> MutexGuard<'_, Global> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the sanitizers for a workgroup.
pub(crate) struct Group {
    id: [u32; 3],
    index: u32,
    grid: [u32; 3],
    waves: Vec<State>,
    lds: Shadow,
    /// The clocks that have been released through words of LDS.
    released: ByPlace<Released>,
    findings: Vec<Finding>,
    exec: u64,
    /// The current instruction with its actual registers, if an index changed them.
    moved: Option<(Inst, Info)>,
    /// The changes that the current instruction makes to undefined bits; for a load that is simulated on a separate wave, its registers
    /// there.
    changes: Changes,
    loading: Option<Places>,
    /// True if the current instruction reads and writes only registers whose bits are defined.
    quick: bool,
    /// True if the current instruction is a load whose uninitialised bytes of LDS become undefined bits of registers.
    tracks: bool,
    aside: Aside,
    /// The addresses of the uninitialised bytes of LDS that the current instruction has read.
    unwritten: Vec<u64>,
    /// The number of changes of global memory that the waves have taken into account.
    seen: u64,
    /// Buffers.
    hows: Vec<u32>,
    runs: Vec<Range<usize>>,
}

/// The state of the sanitizers for a wave.
#[derive(Default)]
struct State {
    bits: Bits,
    /// The last LDS address at which the wave has read an uninitialised byte.
    unwritten: Option<u64>,
    sync: Sync,
    spin: Spin,
    counters: Counters,
    /// The wave's accesses to LDS that may be outstanding.
    outstanding: Accesses,
}

impl State {
    /// Tracks which accesses to LDS are outstanding.
    fn count(&mut self, effects: &[Effect], cx: &Cx<'_>, touches: &[Touch]) {
        let (effect, at) = (&effects[cx.w.pc], cx.w.pc);
        if effect.arrives {
            self.outstanding.arrive(&self.counters);
        }
        if effect.wait.is_none() && effect.streams.is_empty() {
            return;
        }
        // Violations are ignored here, because strict mode reports them.
        self.counters.advance(effects, effect);
        if !effect.streams.is_empty() {
            self.counters.after(effects, cx.machine, (effect, at), LdsRange::of(touches)).ok();
            self.outstanding.add(&self.counters, cx.machine, (effect, at), touches);
        }
    }
}

impl Group {
    pub(crate) fn new(_: &Shared, _: &Machine, waves: usize) -> Group {
        Group {
            id: [0; 3],
            index: 0,
            grid: [1; 3],
            waves: (0..waves).map(|_| State::default()).collect(),
            lds: Shadow::default(),
            released: ByPlace::default(),
            findings: Vec::new(),
            exec: 0,
            moved: None,
            changes: Changes::default(),
            loading: None,
            quick: false,
            tracks: false,
            aside: Aside::default(),
            unwritten: Vec::new(),
            seen: 0,
            hows: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Prepares for workgroup `id`, whose waves have their initial state, with `sgprs` initialised SGPRs.
    pub(crate) fn start(
        &mut self,
        machine: &Machine,
        geometry: &Geometry,
        id: [u32; 3],
        waves: &[Wave],
        sgprs: usize,
    ) {
        (self.id, self.grid, self.index) = (id, geometry.groups, geometry.index(id) as u32);
        self.lds.clear();
        self.released.clear();
        self.waves.resize_with(waves.len(), State::default);
        for (number, (state, wave)) in self.waves.iter_mut().zip(waves).enumerate() {
            state.bits.start(machine, sgprs, wave);
            state.unwritten = None;
            state.sync = Sync::new(self.index, number);
            state.spin.reset();
            state.counters.reset();
            state.outstanding.reset();
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Checks an instruction before it executes.
    pub(crate) fn before(&mut self, shared: &Shared, cx: &mut Cx<'_>, step: &Step) -> Result<(), Fault> {
        self.exec = cx.w.exec();
        (self.quick, self.tracks) = (false, false);
        self.unwritten.clear();
        if !shared.has(Sanitize::REGISTERS) {
            return Ok(());
        }
        let (code, at) = (shared.code(), cx.w.pc);
        let state = &mut self.waves[cx.w.id as usize];
        let lds = shared.has(Sanitize::LDS) && code.effects[at].reads_lds;
        self.tracks = lds && code.info[at].loads;
        self.quick = !indexed::may_be_moved(cx, step)
            && !cx.w.mode.vskip
            && !state.bits.must_prepare(&code.info[at], lds)
            && state.bits.are_defined(&code.info[at], self.exec);
        if self.quick {
            return Ok(());
        }
        // Before execution, because a relative move may change the index itself.
        self.moved = indexed::moved(cx, step)?.map(|inst| {
            let info = Info::of(cx.machine, &inst);
            (inst, info)
        });
        let (inst, info) = match &self.moved {
            Some((inst, info)) => (inst, info),
            None => (&step.inst, &code.info[at]),
        };
        if cx.w.mode.vskip && !inst.desc.is_salu() && !inst.desc.is_smem() {
            return Ok(());
        }
        let used = Now { cx, step, inst, info, bits: &state.bits }.uses();
        if let Some(used) = &used {
            state.bits.settle(used);
        }
        self.loading = state.bits.begin_load(cx, (info, step), &mut self.aside, lds);
        let now = Now { cx, step, inst, info, bits: &state.bits };
        self.changes = now.changes(&mut self.aside)?;
        let lane = self.changes.exec();
        for undefined in used.map(|used| used.undefined).into_iter().chain(lane.map(Undefined::exec)) {
            self.undefined(shared, cx, step, undefined)?;
        }
        Ok(())
    }

    fn undefined(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        undefined: Undefined,
    ) -> Result<(), Fault> {
        let mut finding = self.finding(FindingKind::UninitializedRegister, cx, step, undefined.lane, None);
        finding.register = Some(undefined.register);
        let wave = &self.waves[cx.w.id as usize];
        let memories = [("LDS", wave.unwritten), ("scratch", wave.bits.found_in_scratch())];
        finding.remedy = format!("{}: write all of it first, in every lane that counts", undefined.why);
        for (memory, address) in memories.into_iter().filter_map(|(memory, a)| Some((memory, a?))) {
            let last = format!(
                "; the wave has read {memory} that nothing has written, last at address {address:#x}"
            );
            finding.remedy.push_str(&last);
        }
        self.report(shared, finding)
    }

    /// Propagates undefined bits through the instruction that has executed.
    fn follow_bits(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        touches: &[Touch],
    ) -> Result<(), Fault> {
        let (moved, mut changes) = (self.moved.take(), std::mem::take(&mut self.changes));
        let (inst, info) = match &moved {
            Some((inst, info)) => (inst, info),
            None => (&step.inst, &shared.code().info[cx.w.pc]),
        };
        let (bits, aside) = (&mut self.waves[cx.w.id as usize].bits, &mut self.aside);
        let mut found = None;
        if info.kind == Does::Memory {
            let access = Accessed { step, inst, info, touches, exec: self.exec, unwritten: &self.unwritten };
            found = bits.memory(cx, &access, aside)?;
            changes = bits.load(cx, &access, aside, self.loading.take())?;
        }
        changes.apply(bits);
        found.map_or(Ok(()), |undefined| self.undefined(shared, cx, step, undefined))
    }

    /// Checks what an instruction has done.
    pub(crate) fn after(
        &mut self,
        shared: &Shared,
        cx: &mut Cx<'_>,
        step: &Step,
        next: Next,
    ) -> Result<(), Fault> {
        let number = cx.w.id as usize;
        let touches = cx.trace.as_deref_mut().map(|t| std::mem::take(&mut t.touches)).unwrap_or_default();
        let mut result = self.look_at(shared, cx, step, &touches);
        let bits = &self.waves[number].bits;
        let follows = !self.quick || !self.unwritten.is_empty() || bits.concern(&touches);
        if shared.has(Sanitize::REGISTERS) && follows && result.is_ok() {
            result = self.follow_bits(shared, cx, step, &touches);
        }
        if step.inst.desc.class == Class::Gws && shared.has(Sanitize::RACES) {
            let resource = (step.inst.desc.mnemonic, mem::gws::resource(cx, step));
            self.meets(shared, number, resource, matches!(next, Next::Queue(_)));
        }
        if shared.has(Sanitize::DEADLOCK) {
            self.follow(shared, cx, next, &touches);
        }
        if let Some(trace) = cx.trace.as_deref_mut() {
            trace.touches = touches;
        }
        result
    }

    fn look_at(
        &mut self,
        shared: &Shared,
        cx: &mut Cx<'_>,
        step: &Step,
        touches: &[Touch],
    ) -> Result<(), Fault> {
        let (code, number) = (shared.code(), cx.w.id as usize);
        let (effect, role) = (&code.effects[cx.w.pc], code.roles[cx.w.pc]);
        let sync = &mut self.waves[number].sync;
        if let Some(wait) = effect.wait {
            let stores = Stream::Store.counter(cx.machine.target().instruction_set());
            let all = stores.of(wait) == 0;
            if all || Counter::Vm.is_in(wait) {
                sync.wait(all);
            }
        }
        sync.fence(&code.rules, role, number);
        // Outstanding accesses matter at barriers, to other waves.
        if shared.has(Sanitize::RACES) && (self.waves.len() > 1 || cx.machine.state().tg_split) {
            self.waves[number].count(&code.effects, cx, touches);
        }
        self.bad_accesses(shared, cx, step)?;
        if touches.is_empty() {
            return Ok(());
        }
        let mut found = std::mem::take(&mut self.runs);
        found.clear();
        found.extend(lanes::runs(touches));
        let checked = self.look_at_runs(shared, cx, step, (touches, &found));
        self.runs = found;
        checked
    }

    /// Checks accesses; `runs` are those that follow each other.
    fn look_at_runs(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        (touches, runs): (&[Touch], &[Range<usize>]),
    ) -> Result<(), Fault> {
        if shared.has(Sanitize::LDS | Sanitize::MEMORY) {
            self.unwritten(shared, cx, step, (touches, runs))?;
        }
        if shared.has(Sanitize::RACES) {
            self.races(shared, cx, step, (touches, runs))?;
        }
        let mut firsts = runs.iter().map(|run| &touches[run.start]);
        if let Some(touch) = firsts.find(|touch| races::stores(touch)) {
            let code = shared.code();
            let (role, sync) = (code.roles[cx.w.pc], &mut self.waves[cx.w.id as usize].sync);
            sync.stored(&code.rules, role, touch.kind == Kind::Atomic);
        }
        Ok(())
    }

    fn finding(
        &self,
        kind: FindingKind,
        cx: &Cx<'_>,
        step: &Step,
        lane: Option<u8>,
        access: Option<Access>,
    ) -> Finding {
        let allocation = match access {
            Some(Access { space: Space::Global, address, .. }) => cx.memory.range_of(address),
            Some(Access { space: Space::Lds, .. }) => Some(Bytes { base: 0, bytes: cx.lds.len() as u64 }),
            _ => None,
        };
        let party = Party { site: site(cx, self.id, step), lane, access };
        Finding { kind, party, other: None, register: None, allocation, remedy: String::new() }
    }

    /// Keeps a finding, unless there is one for the same pair of instructions. If no findings are to be kept, ends the run with it.
    fn report(&mut self, shared: &Shared, finding: Finding) -> Result<(), Fault> {
        if shared.limit == 0 && !finding.kind.is_note() {
            return Err(Fault::Finding(Box::new(finding)));
        }
        if shared.global().is_new(&finding, shared.limit) {
            self.findings.push(finding);
        }
        Ok(())
    }
}
