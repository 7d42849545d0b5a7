//! Determines which synchronisation is sufficient for other workgroups and other compute units.
//!
//! If the waves of a workgroup share a compute unit, an atomic is sufficient to order one wave's earlier accesses before another wave's
//! later ones. Between workgroups, more is required: the stores of one wave must have reached a level of memory that the others read
//! (`s_waitcnt vmcnt(0)`, on gfx942 preceded by a write-back of L2), and the others must invalidate stale lines in their caches. Both are
//! parts of the memory model's agent-scope fences ([`gcn_isa::memory_model`]), from which everything here is derived.
//!
//! If the waves of a workgroup may run on several compute units (workgroup processor mode, TgSplit), the memory model prescribes such code
//! for workgroup scope as well. A barrier or an atomic then still orders accesses to LDS, but a load from global memory may read an old
//! value from the cache of its compute unit ([`Split`]).

use std::fmt;

use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::memory_model::{Action, Bits, Mode, Operation, Ordering, Scope, Sequence, Space, sequence};
use gcn_isa::{Inst, Mods, Target};

use super::clock::{Clock, Thread};
use crate::core::kernel::KernelState;

type CacheAction = (&'static str, Bits);

/// The instructions that the memory model prescribes for synchronisation on a target.
pub(super) struct Rules {
    target: Target,
    mode: Mode,
    write_back: Option<CacheAction>,
    /// The cache invalidations that an acquire of agent scope requires, outer caches first.
    invalidate: Vec<CacheAction>,
    /// The cache invalidation that an acquire of workgroup scope requires, if any.
    split: Option<CacheAction>,
    /// The wait before a releasing store, on targets where nothing else distinguishes such a store.
    release: Option<WaitCnt>,
}

/// True if the modifiers set all of these cache bits.
fn has(mods: &Mods, bits: Bits) -> bool {
    let mut wanted = Mods::default();
    bits.apply(&mut wanted);
    (mods.glc || !wanted.glc)
        && (mods.scc || !wanted.scc)
        && (mods.dlc || !wanted.dlc)
        && mods.scope >= wanted.scope
}

/// The maximum number of invalidations in a sequence.
const INVALIDATIONS: usize = 2;

/// The role of an instruction in synchronisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// For an access to global memory: its scope, if it is atomic. If its encoding permits several scopes, the widest.
    pub scope: Scope,
    /// True for a store directly after the waits of a release, which may therefore be atomic.
    pub releases: bool,
    write_back: bool,
    /// For each invalidation of [`Rules::invalidate`], whether this instruction performs it.
    invalidates: [bool; INVALIDATIONS],
    /// True if the instruction performs the invalidation of [`Rules::split`].
    split: bool,
}

impl Rules {
    pub(super) fn of(target: Target, state: &KernelState) -> Rules {
        let mode = match (state.tg_split, state.workgroup_processors) {
            (true, _) => Mode::TgSplit,
            (_, true) if target.has_workgroup_processors() => Mode::Wgp,
            _ => Mode::Normal,
        };
        let empty =
            Rules { target, mode, write_back: None, invalidate: Vec::new(), split: None, release: None };
        let cache = |ordering, scope| -> Vec<CacheAction> {
            let actions = empty.code(Operation::Fence, ordering, scope).map_or(Vec::new(), |s| s.before);
            let cache = actions.into_iter().filter_map(|action| match action {
                Action::Cache { mnemonic, bits } => Some((mnemonic, bits)),
                Action::Wait(_) => None,
            });
            cache.collect()
        };
        let store = empty.code(Operation::Store, Ordering::Release, Scope::Agent);
        let release = store.filter(|made| made.bits.is_empty()).map(|made| {
            made.before.iter().fold(WaitCnt::NONE, |all, action| match action {
                Action::Wait(counters) => all.and(counters.wait()),
                Action::Cache { .. } => all,
            })
        });
        let mut invalidate = cache(Ordering::Acquire, Scope::Agent);
        invalidate.drain(..invalidate.len().saturating_sub(INVALIDATIONS));
        Rules {
            write_back: cache(Ordering::Release, Scope::Agent).pop(),
            invalidate,
            split: cache(Ordering::Acquire, Scope::Workgroup).pop(),
            release,
            ..empty
        }
    }

    /// The memory model's code for global memory.
    fn code(&self, operation: Operation, ordering: Ordering, scope: Scope) -> Option<Sequence> {
        sequence(self.target, self.mode, operation, ordering, scope, Space::Global)
    }

    /// The role of an instruction; `waited` is the combination of the waits directly before it.
    pub(super) fn role(&self, inst: &Inst, waited: WaitCnt) -> Role {
        let is = |wanted: &CacheAction| inst.desc.mnemonic == wanted.0 && has(&inst.mods, wanted.1);
        let mut invalidates = [false; INVALIDATIONS];
        for (of_it, wanted) in invalidates.iter_mut().zip(&self.invalidate) {
            *of_it = is(wanted);
        }
        // A wait that is stronger than the sequence requires suffices as well.
        let releases = self.release.is_some_and(|wanted| {
            Counter::ALL.into_iter().all(|counter| counter.of(waited) <= counter.of(wanted))
        });
        Role {
            scope: self.scope(inst),
            releases,
            write_back: self.write_back.as_ref().is_some_and(is),
            invalidates,
            split: self.split.as_ref().is_some_and(is),
        }
    }

    /// True if the waves of a workgroup may see different values of global memory.
    pub(super) fn is_split(&self) -> bool {
        self.split.is_some()
    }

    fn scope(&self, inst: &Inst) -> Scope {
        let operation = match inst.desc.class {
            _ if !inst.desc.is_vmem() => return Scope::System,
            class if class.is_atomic() => Operation::Rmw,
            class if class.loads() => Operation::Load,
            _ => Operation::Store,
        };
        let suits = |scope: &Scope| {
            self.code(operation, Ordering::Relaxed, *scope).is_some_and(|made| has(&inst.mods, made.bits))
        };
        Scope::ALL.into_iter().rev().find(suits).unwrap_or(Scope::Wavefront)
    }

    /// True if stores remain invisible to other workgroups until they are written back.
    fn has_write_back(&self) -> bool {
        self.write_back.is_some()
    }

    /// The suggested fix.
    pub(super) fn remedy(&self, missing: Missing) -> String {
        let text = |operation, ordering, scope| {
            self.code(operation, ordering, scope).map_or_else(String::new, |made| made.to_string())
        };
        let fence = |ordering, scope| text(Operation::Fence, ordering, scope);
        match missing {
            Missing::Release(through) => format!(
                "the other wave releases it for its own workgroup only; at agent scope `{}` stands before {through}",
                fence(Ordering::Release, Scope::Agent)
            ),
            Missing::Acquire(Through::Atomic) => format!(
                "what the atomic read is acquired for a workgroup only; at agent scope `{}` stands after it",
                fence(Ordering::Acquire, Scope::Agent)
            ),
            Missing::Acquire(through) => format!(
                "what comes before {through} is acquired for a workgroup only; at agent scope `{}` stands after it",
                fence(Ordering::Acquire, Scope::Agent)
            ),
            Missing::Bits => format!(
                "between workgroups atomic accesses have agent scope: `{}`, `{}`, `{}`",
                text(Operation::Load, Ordering::Relaxed, Scope::Agent),
                text(Operation::Store, Ordering::Relaxed, Scope::Agent),
                text(Operation::Rmw, Ordering::Relaxed, Scope::Agent),
            ),
            Missing::SplitRelease => format!(
                "the waves of the workgroup may run on several compute units: `{}` stands before the barrier or the atomic",
                fence(Ordering::Release, Scope::Workgroup)
            ),
            Missing::SplitAcquire => format!(
                "the waves of the workgroup may run on several compute units: `{}` stands after the barrier or the atomic",
                fence(Ordering::Acquire, Scope::Workgroup)
            ),
        }
    }
}

/// The instruction by which two waves synchronise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Through {
    #[default]
    Atomic,
    /// The instruction of global wave sync with this mnemonic.
    Gws(&'static str),
}

impl fmt::Display for Through {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Through::Atomic => f.write_str("the atomic"),
            Through::Gws(mnemonic) => write!(f, "`{mnemonic}`"),
        }
    }
}

/// The missing part of a synchronisation between workgroups, or between the compute units of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Release(Through),
    Acquire(Through),
    /// The accesses are atomic, but their scope is too narrow.
    Bits,
    SplitRelease,
    SplitAcquire,
}

/// A wave's knowledge of the global stores of other waves in its workgroup, if these may run on other compute units.
#[derive(Default)]
struct Split {
    /// The stores by any wave that have reached a level of memory that all waves read.
    arrived: Clock,
    /// The stores among [`arrived`](Self::arrived) that were released to this wave through an atomic that it has read; and those for which
    /// the wave has also waited, or passed a barrier.
    read: Clock,
    waited: Clock,
    /// The stores among these that precede the last invalidation of the wave's cache.
    seen: Clock,
}

/// The synchronisation state of a wave.
#[derive(Default)]
pub(super) struct Sync {
    /// Everything that happened before, from this wave's point of view.
    pub clock: Clock,
    /// The part of `clock` that other workgroups can see.
    visible: Clock,
    /// True if stores to global memory by this wave are outstanding.
    stores: bool,
    /// True if there are stores that have not been written back; and the same for stores since the last write-back started.
    dirty: bool,
    dirty_since: bool,
    /// Everything that a write-back in progress will make visible.
    writing: Option<Clock>,
    /// The clocks that other workgroups released through atomics that the wave has read; and those for which it has also waited. They count
    /// as known after the caches have been invalidated.
    read: Clock,
    waited: Clock,
    /// True if `read`, or the same of `split`, may know more than what the wave has waited for.
    acquired: bool,
    /// The part of `waited` for which the outer caches have been invalidated, on targets with several levels.
    outer: Clock,
    split: Split,
    /// The clock that the wave would have if every atomic had agent scope.
    wide: Clock,
    /// The part of `wide` that the wave knows through global wave sync, and the last such instruction.
    met: Clock,
    met_through: Through,
}

/// The clocks that have been released through one word.
pub(super) struct Released {
    /// The workgroup of the waves that last released the word, and their clock for waves of the same workgroup.
    group: u32,
    near: Clock,
    near_visible: Clock,
    dirty: bool,
    /// The clock released by waves of any workgroup for other workgroups.
    visible: Clock,
    /// The clock released by the waves of the workgroup for waves on other compute units.
    arrived: Clock,
    /// The clock that would have been released if every atomic had agent scope. It is used to recognise scopes that are too narrow.
    wide: Clock,
}

impl Released {
    /// Nothing that waves of this workgroup have released.
    pub(super) fn nothing(group: u32) -> Released {
        let nothing = || Clock::nothing(group);
        Released {
            group,
            near: nothing(),
            near_visible: nothing(),
            dirty: false,
            visible: nothing(),
            arrived: nothing(),
            wide: nothing(),
        }
    }
}

impl Sync {
    pub(super) fn new(group: u32, wave: usize) -> Sync {
        let nothing = || Clock::nothing(group);
        Sync {
            clock: Clock::new(group, wave),
            visible: nothing(),
            read: nothing(),
            waited: nothing(),
            outer: nothing(),
            split: Split { arrived: nothing(), read: nothing(), waited: nothing(), seen: nothing() },
            wide: nothing(),
            met: nothing(),
            ..Sync::default()
        }
    }

    /// True if everything that the wave did is visible everywhere.
    fn is_clean(&self) -> bool {
        !self.stores && !self.dirty
    }

    /// Called before a store to global memory: everything before the store remains visible.
    pub(super) fn before_store(&mut self, wave: usize) {
        if !self.stores {
            self.split.arrived.learn_own(wave, &self.clock);
        }
        if self.is_clean() {
            self.visible.join(&self.clock);
            self.clock.advance(wave);
        } else if !self.stores {
            self.clock.advance(wave);
        }
    }

    /// Called when a store to global memory has started.
    pub(super) fn stored(&mut self, rules: &Rules, role: Role, is_atomic: bool) {
        self.stores = true;
        if rules.has_write_back() && !is_atomic && role.scope < Scope::Agent {
            (self.dirty, self.dirty_since) = (true, true);
        }
    }

    /// Called for a wait for vector memory operations: for all of them if `all`, otherwise for some.
    pub(super) fn wait(&mut self, all: bool) {
        // Any wait counts as a wait for reads, because strict mode already reports reads that are used too early.
        if std::mem::take(&mut self.acquired) {
            self.waited.join(&self.read);
            self.split.waited.join(&self.split.read);
        }
        if all {
            self.stores = false;
            if let Some(written) = self.writing.take() {
                self.visible.join(&written);
                self.dirty = self.dirty_since;
            }
        }
    }

    /// Called for a cache instruction.
    pub(super) fn fence(&mut self, rules: &Rules, role: Role, wave: usize) {
        if role.write_back {
            self.writing = Some(self.clock.clone());
            self.clock.advance(wave);
            self.dirty_since = false;
        }
        // Inner caches are filled from outer ones, so the outer caches must be invalidated first.
        match role.invalidates {
            [false, false] => {}
            _ if rules.invalidate.len() < INVALIDATIONS => self.clock.join(&self.waited),
            [outer, inner] => {
                if outer {
                    self.outer.join(&self.waited);
                }
                if inner {
                    self.clock.join(&self.outer);
                }
            }
        }
        if role.split {
            self.split.seen.join(&self.split.waited);
        }
    }

    /// Called for an atomic access that reads: it acquires what was released through its word.
    pub(super) fn acquire(&mut self, released: &Released, group: u32, wave: usize, scope: Scope) {
        self.acquired = true;
        if released.group == group {
            if self.is_clean() && released.dirty {
                self.before_store(wave);
            }
            self.clock.join(&released.near);
            self.visible.join(&released.near_visible);
            self.dirty |= released.dirty;
            self.split.read.join(&released.arrived);
            self.split.arrived.join(&released.arrived);
        }
        self.wide.join(&released.wide);
        if scope >= Scope::Agent {
            self.read.join(&released.visible);
        }
    }

    /// An acquire at agent scope by a wave that has waited for the completion of an instruction of global wave sync.
    pub(super) fn acquire_met(
        &mut self,
        released: &Released,
        group: u32,
        wave: usize,
        mnemonic: &'static str,
    ) {
        self.acquire(released, group, wave, Scope::Agent);
        self.met.join(&released.wide);
        self.met_through = Through::Gws(mnemonic);
        self.waited.join(&self.read);
        self.split.waited.join(&self.split.read);
    }

    /// Called for an atomic access that writes: it releases everything that the wave did, in addition to the clocks that were already
    /// released through the word.
    pub(super) fn release(&mut self, made: &mut Released, group: u32, wave: usize, scope: Scope) {
        if made.group != group {
            (made.near, made.near_visible) = (Clock::nothing(group), Clock::nothing(group));
            made.arrived = Clock::nothing(group);
            (made.group, made.dirty) = (group, false);
        }
        if self.is_clean() {
            self.visible.join(&self.clock);
        }
        if !self.stores {
            self.split.arrived.learn_own(wave, &self.clock);
        }
        made.arrived.join(&self.split.arrived);
        made.near.join(&self.clock);
        made.near_visible.join(&self.visible);
        made.dirty |= self.dirty;
        made.wide.join(&self.clock);
        made.wide.join(&self.wide);
        if scope >= Scope::Agent {
            made.visible.join(&self.visible);
        }
        self.clock.advance(wave);
    }

    /// What the synchronisation between this wave and `thread`, a wave of another workgroup, lacks to order the access at `at`. `None` if
    /// the two do not synchronise at all.
    pub(super) fn missing(&self, thread: Thread, at: u32) -> Option<Missing> {
        if !self.wide.knows(thread, at) {
            return None;
        }
        let released = self.read.knows(thread, at) || self.waited.knows(thread, at);
        let through = if self.met.knows(thread, at) { self.met_through } else { Through::Atomic };
        Some(if released { Missing::Acquire(through) } else { Missing::Release(through) })
    }

    /// What the synchronisation lacks for this wave to read from global memory what `thread`, a wave of the same workgroup that may run on
    /// another compute unit, stored before. `past`: the read bypasses the cache of its compute unit.
    pub(super) fn missing_near(&self, thread: Thread, at: u32, past: bool) -> Option<Missing> {
        let Split { arrived, read, waited, seen } = &self.split;
        if seen.knows(thread, at) || past && arrived.knows(thread, at) {
            return None;
        }
        let released = read.knows(thread, at) || waited.knows(thread, at);
        Some(if released { Missing::SplitAcquire } else { Missing::SplitRelease })
    }
}

/// Called when the waves of a workgroup meet at a barrier: each learns what all know.
pub(super) fn meet<'s>(group: u32, waves: impl Iterator<Item = &'s mut Sync>) {
    let waves: Vec<&mut Sync> = waves.collect();
    let mut all = Sync { dirty: waves.iter().any(|w| w.dirty), ..Sync::new(group, 0) };
    all.clock = Clock::nothing(group);
    let mut waves = waves;
    for (number, wave) in waves.iter_mut().enumerate() {
        if !wave.stores {
            wave.split.arrived.learn_own(number, &wave.clock);
        }
        all.split.arrived.join(&wave.split.arrived);
        all.split.waited.join(&wave.split.waited);
        if wave.is_clean() {
            wave.visible.join(&wave.clock);
        }
        all.clock.join(&wave.clock);
        all.visible.join(&wave.visible);
        all.read.join(&wave.read);
        all.waited.join(&wave.waited);
        all.wide.join(&wave.wide);
    }
    for (number, wave) in waves.into_iter().enumerate() {
        wave.split.arrived.join(&all.split.arrived);
        wave.split.waited.join(&all.split.arrived);
        wave.split.waited.join(&all.split.waited);
        wave.clock.join(&all.clock);
        wave.visible.join(&all.visible);
        wave.read.join(&all.read);
        wave.acquired = true;
        wave.waited.join(&all.waited);
        wave.wide.join(&all.wide);
        wave.dirty |= all.dirty;
        wave.clock.advance(number);
    }
}
