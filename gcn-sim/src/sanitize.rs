//! Sanitizers: what a program does wrong though the result may be right.
//!
//! Each wave's clock counts its intervals; barriers and atomics let waves learn of each other's. Two accesses to a byte, one
//! of them a write, race if neither wave had learned of the other's interval. Atomics release what their wave did before if
//! none of its stores was outstanding, and acquire what others released through the same word.

mod clock;
mod finding;
mod registers;
mod shadow;
mod spin;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bitflags::bitflags;
use gcn_isa::counters::WaitCnt;

use crate::dispatch::{Launch, Options};
use crate::error::{Site, Space};
use crate::exec::{Cx, Fault, Kind, Next, Path, Touch};
use crate::machine::Machine;
use crate::memory::Range;
use crate::step::Step;
use crate::strict::effect::Effect;
use crate::wave::{Status, Wave};
use crate::workgroup::site;

use clock::{Clock, WAVES};
use registers::{Info, Registers};
use shadow::{Epoch, Order, Shadow, words};
use spin::Spin;

pub use finding::{Access, AccessKind, Finding, FindingKind, Party};

bitflags! {
    /// Which sanitizers run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Sanitize: u16 {
        /// Accesses that are out of bounds, to freed memory or misaligned. Without this they end the run as
        /// [`crate::SimError`]; with it they are findings like the others.
        const ACCESSES = 1;
        /// Reads of registers that nothing has written. Copies are not reads; what they copy is looked at when it is used.
        const REGISTERS = 1 << 1;
        /// Reads of LDS that nothing has written.
        const LDS = 1 << 2;
        /// Reads of global memory that nothing has written, in allocations of [`crate::Memory::alloc_uninit`].
        const MEMORY = 1 << 3;
        /// Accesses of different waves to the same bytes that nothing orders.
        const RACES = 1 << 4;
        /// Waves of a workgroup that do not meet at one barrier.
        const BARRIERS = 1 << 5;
        /// Waves that can make no progress.
        const DEADLOCK = 1 << 6;
    }
}

/// What the sanitizers know about a launch.
pub(crate) struct Shared {
    checks: Sanitize,
    limit: u32,
    info: Vec<Info>,
    effects: Vec<Effect>,
    state: Mutex<Global>,
}

/// What the workgroups share. They run one after the other while a sanitizer runs.
#[derive(Default)]
struct Global {
    memory: Shadow,
    /// What has been released through words of global memory.
    released: HashMap<u64, Clock>,
    /// Findings so far, each place once.
    known: HashSet<(FindingKind, u32, Option<u32>)>,
}

impl Shared {
    pub(crate) fn new(machine: &Machine, options: &Options) -> Option<Shared> {
        if options.sanitize.is_empty() {
            return None;
        }
        let steps = machine.steps();
        Some(Shared {
            checks: options.sanitize,
            limit: options.findings,
            info: steps.iter().map(|s| Info::of(&s.inst)).collect(),
            effects: steps.iter().map(|s| Effect::of(machine.target(), &s.inst)).collect(),
            state: Mutex::default(),
        })
    }

    fn has(&self, checks: Sanitize) -> bool {
        self.checks.intersects(checks)
    }

    /// True if bad accesses are findings.
    pub(crate) fn is_lenient(&self) -> bool {
        self.has(Sanitize::ACCESSES)
    }

    fn global(&self) -> MutexGuard<'_, Global> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the sanitizers know about a workgroup.
pub(crate) struct Group {
    id: [u32; 3],
    index: u32,
    grid: [u32; 3],
    waves: Vec<State>,
    lds: Shadow,
    /// What has been released through words of LDS.
    released: HashMap<u64, Clock>,
    findings: Vec<Finding>,
    exec: u64,
}

/// What they know about a wave.
#[derive(Default)]
struct State {
    registers: Registers,
    clock: Clock,
    spin: Spin,
    /// Stores to global memory are outstanding.
    stores: bool,
}

/// An access as a finding tells it.
fn access_of(touch: &Touch) -> Access {
    let kind = match touch.kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::Atomic => AccessKind::Atomic,
    };
    let space = match touch.space {
        Path::Global | Path::Scalar => Space::Global,
        Path::Lds => Space::Lds,
        Path::Scratch => Space::Scratch,
    };
    Access { kind, space, address: touch.address, bytes: u32::from(touch.bytes) }
}

impl Group {
    pub(crate) fn new(_: &Shared, _: &Machine, waves: usize) -> Group {
        Group {
            id: [0; 3],
            index: 0,
            grid: [1; 3],
            waves: (0..waves).map(|_| State::default()).collect(),
            lds: Shadow::default(),
            released: HashMap::new(),
            findings: Vec::new(),
            exec: 0,
        }
    }

    /// Workgroup `id` starts; its waves have their initial state, with `sgprs` SGPRs.
    pub(crate) fn start(&mut self, launch: &Launch<'_>, id: [u32; 3], waves: &[Wave], sgprs: usize) {
        (self.id, self.grid, self.index) = (id, launch.geometry.groups, launch.geometry.index(id) as u32);
        self.lds.clear();
        self.released.clear();
        self.waves.resize_with(waves.len(), State::default);
        for (number, (state, wave)) in self.waves.iter_mut().zip(waves).enumerate() {
            state.registers.start(launch.machine, sgprs, wave.exec());
            state.clock = Clock::new(self.index, number);
            state.spin.reset();
            state.stores = false;
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Looks at an instruction before it executes.
    pub(crate) fn before(&mut self, shared: &Shared, cx: &mut Cx<'_>, step: &Step) -> Result<(), Fault> {
        self.exec = cx.w.exec();
        if !shared.has(Sanitize::REGISTERS) {
            return Ok(());
        }
        let (at, number) = (cx.w.pc, cx.w.id as usize);
        let Some((reg, lane)) = self.waves[number].registers.unwritten(cx, &shared.info[at]) else {
            return Ok(());
        };
        let mut finding = self.finding(FindingKind::UninitializedRegister, cx, step, lane, None);
        finding.register = Some(reg.to_string());
        finding.remedy = "write the register first, in every lane that reads it".to_owned();
        self.report(shared, finding)
    }

    /// Looks at what an instruction has done.
    pub(crate) fn after(
        &mut self,
        shared: &Shared,
        cx: &mut Cx<'_>,
        step: &Step,
        next: Next,
    ) -> Result<(), Fault> {
        let (at, number) = (cx.w.pc, cx.w.id as usize);
        if shared.has(Sanitize::REGISTERS) {
            self.waves[number].registers.write(cx, step, &shared.info[at], self.exec);
        }
        let touches = cx.trace.as_deref_mut().map(|t| std::mem::take(&mut t.touches)).unwrap_or_default();
        let result = self.look_at(shared, cx, step, &touches);
        if shared.has(Sanitize::DEADLOCK) {
            self.follow(cx, next, &touches);
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
        let effect = &shared.effects[cx.w.pc];
        let state = &mut self.waves[cx.w.id as usize];
        if effect.wait.is_some_and(|w: WaitCnt| w.vm == 0) {
            state.stores = false;
        }
        self.bad_accesses(shared, cx, step)?;
        if touches.is_empty() {
            return Ok(());
        }
        if shared.has(Sanitize::LDS | Sanitize::MEMORY) {
            self.unwritten(shared, cx, step, touches)?;
        }
        if shared.has(Sanitize::RACES) {
            self.races(shared, cx, step, touches)?;
        }
        let global = |t: &Touch| t.kind != Kind::Read && matches!(t.space, Path::Global | Path::Scalar);
        self.waves[cx.w.id as usize].stores |= touches.iter().any(global);
        Ok(())
    }

    fn bad_accesses(&mut self, shared: &Shared, cx: &mut Cx<'_>, step: &Step) -> Result<(), Fault> {
        let faults = match cx.trace.as_deref_mut() {
            Some(trace) if !trace.faults.is_empty() => std::mem::take(&mut trace.faults),
            _ => return Ok(()),
        };
        for fault in faults {
            let finding = match fault {
                Fault::OutOfBounds { space, write, lane, address, bytes } => {
                    let kind = if write { AccessKind::Write } else { AccessKind::Read };
                    let access = Access { kind, space, address, bytes };
                    self.out_of_bounds(cx, step, lane, access)
                }
                Fault::Misaligned { lane, address, alignment } => {
                    let space = if step.inst.desc.is_ds() { Space::Lds } else { Space::Global };
                    let access = Access { kind: AccessKind::Atomic, space, address, bytes: alignment };
                    let mut finding =
                        self.finding(FindingKind::Misaligned, cx, step, Some(lane), Some(access));
                    finding.remedy = format!("the address must be a multiple of {alignment}");
                    finding
                }
                other => return Err(other),
            };
            self.report(shared, finding)?;
        }
        Ok(())
    }

    fn out_of_bounds(&self, cx: &Cx<'_>, step: &Step, lane: Option<u8>, access: Access) -> Finding {
        let freed = match access.space {
            Space::Global => cx.memory.freed(access.address),
            _ => None,
        };
        let kind = if freed.is_some() { FindingKind::UseAfterFree } else { FindingKind::OutOfBounds };
        let mut finding = self.finding(kind, cx, step, lane, Some(access));
        finding.allocation = match access.space {
            Space::Global => freed.or_else(|| cx.memory.nearest(access.address)),
            Space::Lds => Some(Range { base: 0, bytes: cx.lds.len() as u64 }),
            Space::Scratch => Some(Range { base: 0, bytes: (cx.w.scratch.len() / 64) as u64 }),
        };
        finding.remedy = match kind {
            FindingKind::UseAfterFree => "free it after the kernel".to_owned(),
            _ => "check the index, or allocate more".to_owned(),
        };
        finding
    }

    fn unwritten(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        touches: &[Touch],
    ) -> Result<(), Fault> {
        for touch in touches {
            let lds = touch.space == Path::Lds;
            let reads = touch.kind != Kind::Write;
            let bytes = u32::from(touch.bytes);
            let missing = if lds {
                let shadow = &mut self.lds;
                let missing = reads && words(touch.address, bytes).any(|(w, m)| shadow.unwritten(w, m) != 0);
                if touch.kind != Kind::Read {
                    words(touch.address, bytes).for_each(|(w, m)| shadow.mark_written(w, m));
                }
                missing && shared.has(Sanitize::LDS)
            } else {
                let looked_at = shared.has(Sanitize::MEMORY) && touch.space != Path::Scratch;
                looked_at
                    && touch.kind == Kind::Read
                    && !cx.memory.is_written(touch.address, u64::from(bytes))
            };
            if missing {
                let kind = if lds { FindingKind::UninitializedLds } else { FindingKind::UninitializedMemory };
                let mut finding = self.finding(kind, cx, step, touch.lane, Some(access_of(touch)));
                finding.remedy = "write it first, or start from a buffer that is".to_owned();
                self.report(shared, finding)?;
            }
        }
        Ok(())
    }

    fn races(&mut self, shared: &Shared, cx: &Cx<'_>, step: &Step, touches: &[Touch]) -> Result<(), Fault> {
        let number = cx.w.id as usize;
        let thread = self.index * WAVES + cx.w.id;
        let mut found = Vec::new();
        let mut global = shared.global();
        for touch in touches.iter().filter(|t| t.space != Path::Scratch) {
            let lds = touch.space == Path::Lds;
            let order = self.order(step, touch, number);
            let state = &mut self.waves[number];
            let Global { memory, released, .. } = &mut *global;
            let (shadow, released) =
                if lds { (&mut self.lds, &mut self.released) } else { (memory, released) };
            if order == Order::Atomic
                && touch.kind != Kind::Write
                && let Some(clock) = released.get(&(touch.address / 4))
            {
                state.clock.join(clock);
            }
            let at = state.clock.now(number);
            for (word, mask) in words(touch.address, u32::from(touch.bytes)) {
                let epoch = Epoch { thread, at, step: cx.w.pc as u32, lane: touch.lane, mask, order };
                let writes = touch.kind != Kind::Read;
                found.extend(shadow.access(word, epoch, writes, &state.clock).map(|other| (*touch, other)));
            }
            // LDS operations of a wave are in order: nothing of them is outstanding behind a later one.
            if touch.kind != Kind::Read && order != Order::Plain && (lds || !state.stores) {
                let clock = state.clock.clone();
                released.entry(touch.address / 4).and_modify(|c| c.join(&clock)).or_insert(clock);
                state.clock.advance(number);
            }
        }
        drop(global);
        for (touch, (other, other_writes)) in found {
            let finding = self.race(cx, step, &touch, &other, other_writes);
            self.report(shared, finding)?;
        }
        Ok(())
    }

    /// How an access orders itself against others. Loads and stores that bypass the nearer caches are taken to be atomic;
    /// before gfx942 atomic stores look like any other.
    fn order(&self, step: &Step, touch: &Touch, number: usize) -> Order {
        let mods = &step.inst.mods;
        let bypasses = (mods.glc || mods.scc) && touch.space == Path::Global;
        if touch.kind == Kind::Atomic || bypasses {
            Order::Atomic
        } else if touch.kind == Kind::Write && self.exec.count_ones() == 1 && !self.waves[number].stores {
            Order::Release
        } else {
            Order::Plain
        }
    }

    fn race(&self, cx: &Cx<'_>, step: &Step, touch: &Touch, other: &Epoch, other_writes: bool) -> Finding {
        let lds = touch.space == Path::Lds;
        let kind = if lds { FindingKind::LdsRace } else { FindingKind::GlobalRace };
        let mut finding = self.finding(kind, cx, step, touch.lane, Some(access_of(touch)));
        let [x, y, _] = self.grid;
        let group = other.group();
        let at = other.step as usize;
        let first = &cx.machine.steps()[at];
        let other_kind = match (other.order, other_writes) {
            (Order::Atomic, true) => AccessKind::Atomic,
            (_, true) => AccessKind::Write,
            (_, false) => AccessKind::Read,
        };
        finding.other = Some(Party {
            site: Site {
                workgroup: [group % x, group / x % y, group / x / y],
                wave: other.wave(),
                offset: first.offset,
                text: cx.machine.text(&first.inst),
                line: cx.machine.line_text(first.offset),
            },
            lane: other.lane,
            access: Some(Access { kind: other_kind, ..access_of(touch) }),
        });
        finding.remedy = match other.group() == self.index {
            true => "put s_barrier between the two, with the waits before it, or make both atomic".to_owned(),
            false => "workgroups are not ordered: use atomics, or two kernels".to_owned(),
        };
        finding
    }

    /// All waves meet: each learns what all have done.
    pub(crate) fn barrier(&mut self) {
        let mut all = Clock::new(self.index, 0);
        self.waves.iter().for_each(|w| all.join(&w.clock));
        for (number, state) in self.waves.iter_mut().enumerate() {
            state.clock.join(&all);
            state.clock.advance(number);
            state.spin.reset();
        }
    }

    /// Waves that meet, though not all at one barrier.
    pub(crate) fn divergent(
        &mut self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
    ) -> Result<(), Fault> {
        if !shared.has(Sanitize::BARRIERS) {
            return Ok(());
        }
        let Some(first) = waves.iter().find(|w| matches!(w.status, Status::AtBarrier(_))) else {
            return Ok(());
        };
        let Some(other) = waves.iter().find(|w| w.status != first.status) else { return Ok(()) };
        let mut finding = Finding {
            kind: FindingKind::DivergentBarrier,
            party: self.party_of(machine, first),
            other: Some(self.party_of(machine, other)),
            register: None,
            allocation: None,
            remedy: "let every wave of the workgroup execute the same barriers".to_owned(),
        };
        if other.status == Status::Ended {
            finding.remedy = "the other wave has ended; let it execute the barrier too".to_owned();
        }
        self.report(shared, finding)
    }

    /// Where a wave is that waits or has ended.
    fn party_of(&self, machine: &Machine, wave: &Wave) -> Party {
        let at = match wave.status {
            Status::AtBarrier(at) => at,
            Status::Running | Status::Ended => wave.pc,
        };
        let (offset, text) = match machine.steps().get(at) {
            Some(step) => (step.offset, machine.text(&step.inst)),
            None => (0, String::new()),
        };
        let line = machine.line_text(offset);
        let site = Site { workgroup: self.id, wave: wave.id, offset, text, line };
        Party { site, lane: None, access: None }
    }

    /// Follows what waits for what.
    fn follow(&mut self, cx: &Cx<'_>, next: Next, touches: &[Touch]) {
        if touches.iter().any(|t| t.kind != Kind::Read) {
            self.waves.iter_mut().for_each(|w| w.spin.reset());
            return;
        }
        let back = match next {
            Next::Jump(to) if to <= cx.w.pc => Some(to),
            _ => None,
        };
        self.waves[cx.w.id as usize].spin.step(cx.w, back);
    }

    /// After each wave had its turn: the finding if none can go on.
    pub(crate) fn deadlock(
        &self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
    ) -> Option<Box<Finding>> {
        if !shared.has(Sanitize::DEADLOCK) {
            return None;
        }
        let mut running = waves.iter().filter(|w| w.status == Status::Running);
        let stuck = |w: &Wave| self.waves[w.id as usize].spin.stuck;
        let first = running.clone().next()?;
        if !running.all(stuck) {
            return None;
        }
        let other = waves.iter().find(|w| matches!(w.status, Status::AtBarrier(_)));
        Some(Box::new(Finding {
            kind: FindingKind::Deadlock,
            party: self.party_of(machine, first),
            other: other.map(|wave| self.party_of(machine, wave)),
            register: None,
            allocation: None,
            remedy:
                "nobody in the workgroup writes what it waits for; another workgroup may never run beside it"
                    .to_owned(),
        }))
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
            Some(Access { space: Space::Lds, .. }) => Some(Range { base: 0, bytes: cx.lds.len() as u64 }),
            _ => None,
        };
        let party = Party { site: site(cx, self.id, step), lane, access };
        Finding { kind, party, other: None, register: None, allocation, remedy: String::new() }
    }

    /// Keeps a finding, each pair of instructions once; ends the run if none is to be kept.
    fn report(&mut self, shared: &Shared, finding: Finding) -> Result<(), Fault> {
        if shared.limit == 0 {
            return Err(Fault::Finding(Box::new(finding)));
        }
        let mut global = shared.global();
        let key = (finding.kind, finding.party.site.offset, finding.other.as_ref().map(|o| o.site.offset));
        if global.known.len() < shared.limit as usize && global.known.insert(key) {
            self.findings.push(finding);
        }
        Ok(())
    }
}
