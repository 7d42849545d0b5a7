//! Which synchronisation reaches other workgroups.
//!
//! The waves of a workgroup share a compute unit: an atomic is enough to order what one of them did before what another does
//! after it. Between workgroups it is not. What a wave did must have gone where the others look (`s_waitcnt vmcnt(0)`, and on
//! gfx942 a write-back of L2 before it), and the others must throw away what their caches hold from before. The code of both is
//! that of the memory model's fences of agent scope ([`gcn_isa::memory_model`]), from which everything here is derived.
//!
//! Targets whose memory model is not in the tables are not judged: there a wait is enough.
//!
//! Assumed is that the workgroup runs on one compute unit (no TgSplit), as the memory model's sequences otherwise differ.

use gcn_isa::memory_model::{Action, Bits, Mode, Operation, Ordering, Scope, Sequence, Space, sequence};
use gcn_isa::table::Class;
use gcn_isa::{Inst, Mods, Target};

use super::clock::{Clock, Thread};

/// How the memory model wants synchronisation between workgroups on a target.
pub(super) struct Rules {
    target: Target,
    write_back: Option<(&'static str, Bits)>,
    invalidate: Option<(&'static str, Bits)>,
}

fn agent(target: Target, operation: Operation, ordering: Ordering) -> Option<Sequence> {
    sequence(target, Mode::Normal, operation, ordering, Scope::Agent, Space::Global)
}

/// True if an instruction with these modifiers has the bits.
fn has(mods: &Mods, bits: Bits) -> bool {
    let mut wanted = Mods::default();
    bits.apply(&mut wanted);
    (mods.glc || !wanted.glc) && (mods.scc || !wanted.scc)
}

/// What an instruction is to synchronisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// The widest scope that an access to global memory has, if it is an atomic one.
    pub scope: Scope,
    write_back: bool,
    invalidate: bool,
}

impl Rules {
    pub(super) fn of(target: Target) -> Rules {
        let cache = |ordering| {
            let actions = agent(target, Operation::Fence, ordering).map_or(Vec::new(), |s| s.before);
            actions.into_iter().rev().find_map(|action| match action {
                Action::Cache { mnemonic, bits } => Some((mnemonic, bits)),
                Action::Wait(_) => None,
            })
        };
        Rules { target, write_back: cache(Ordering::Release), invalidate: cache(Ordering::Acquire) }
    }

    pub(super) fn role(&self, inst: &Inst) -> Role {
        let is = |wanted: Option<(&str, Bits)>| {
            wanted.is_some_and(|(name, bits)| inst.desc.mnemonic == name && has(&inst.mods, bits))
        };
        // Without a model every wait makes visible what was waited for, and every access is atomic for all.
        let waits = self.invalidate.is_none() && inst.desc.class == Class::Waitcnt;
        let (write_back, invalidate) = (is(self.write_back), is(self.invalidate) || waits);
        Role { scope: self.scope(inst), write_back, invalidate }
    }

    fn scope(&self, inst: &Inst) -> Scope {
        let operation = match inst.desc.class {
            _ if !inst.desc.is_vmem() || self.invalidate.is_none() => return Scope::System,
            class if class.is_atomic() => Operation::Rmw,
            class if class.loads() => Operation::Load,
            _ => Operation::Store,
        };
        let suits = |scope: &Scope| {
            let made =
                sequence(self.target, Mode::Normal, operation, Ordering::Relaxed, *scope, Space::Global);
            made.is_some_and(|made| has(&inst.mods, made.bits))
        };
        Scope::ALL.into_iter().rev().find(suits).unwrap_or(Scope::Wavefront)
    }

    /// Stores stay where other workgroups do not look until they are written back.
    fn has_write_back(&self) -> bool {
        self.write_back.is_some()
    }

    /// What to do about it.
    pub(super) fn remedy(&self, missing: Missing) -> String {
        let text = |operation, ordering| {
            agent(self.target, operation, ordering).map_or_else(String::new, |made| made.to_string())
        };
        match missing {
            Missing::Release => format!(
                "the other wave releases it for its own workgroup only; at agent scope `{}` stands before the atomic",
                text(Operation::Fence, Ordering::Release)
            ),
            Missing::Acquire => format!(
                "what the atomic read is acquired for a workgroup only; at agent scope `{}` stands after it",
                text(Operation::Fence, Ordering::Acquire)
            ),
            Missing::Bits => format!(
                "between workgroups atomic accesses have agent scope: `{}`, `{}`, `{}`",
                text(Operation::Load, Ordering::Relaxed),
                text(Operation::Store, Ordering::Relaxed),
                text(Operation::Rmw, Ordering::Relaxed),
            ),
        }
    }
}

/// What synchronisation between workgroups lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Release,
    Acquire,
    /// The atomic accesses themselves are too narrow.
    Bits,
}

/// What a wave knows of the others, and they of it.
#[derive(Default)]
pub(super) struct Sync {
    /// What happened before for this wave.
    pub clock: Clock,
    /// Of that, what other workgroups can see.
    visible: Clock,
    /// Stores to global memory are outstanding.
    stores: bool,
    /// Stores have not been written back; and those since the last write-back began.
    dirty: bool,
    dirty_since: bool,
    /// What a write-back that is under way makes visible.
    writing: Option<Clock>,
    /// What other workgroups released through atomics that were read, before and after a wait; it counts when the caches
    /// have been invalidated.
    read: Clock,
    waited: Clock,
    /// What the wave would know if each atomic were of agent scope.
    wide: Clock,
}

/// What has been released through a word.
pub(super) struct Released {
    /// By the waves of one workgroup, for each other: the last that did.
    group: u32,
    near: Clock,
    near_visible: Clock,
    dirty: bool,
    /// By anybody for other workgroups.
    visible: Clock,
    /// The same if each atomic were of agent scope.
    wide: Clock,
}

impl Sync {
    pub(super) fn new(group: u32, wave: usize) -> Sync {
        let nothing = || Clock::nothing(group);
        let (visible, read, waited, wide) = (nothing(), nothing(), nothing(), nothing());
        Sync { clock: Clock::new(group, wave), visible, read, waited, wide, ..Sync::default() }
    }

    /// Everything that the wave did can be seen everywhere.
    fn is_clean(&self) -> bool {
        !self.stores && !self.dirty
    }

    /// Before a store to global memory: what came before it stays visible.
    pub(super) fn before_store(&mut self, wave: usize) {
        if self.is_clean() {
            self.visible.join(&self.clock);
            self.clock.advance(wave);
        }
    }

    /// A store to global memory was begun.
    pub(super) fn stored(&mut self, rules: &Rules, role: Role, is_atomic: bool) {
        self.stores = true;
        if rules.has_write_back() && !is_atomic && role.scope < Scope::Agent {
            (self.dirty, self.dirty_since) = (true, true);
        }
    }

    /// A wait for vector memory, for all of it or for some.
    pub(super) fn wait(&mut self, all: bool) {
        // What a wave reads too early is for strict mode to say.
        self.waited.join(&self.read);
        if all {
            self.stores = false;
            if let Some(written) = self.writing.take() {
                self.visible.join(&written);
                self.dirty = self.dirty_since;
            }
        }
    }

    /// A cache instruction.
    pub(super) fn fence(&mut self, role: Role, wave: usize) {
        if role.write_back {
            self.writing = Some(self.clock.clone());
            self.clock.advance(wave);
            self.dirty_since = false;
        }
        if role.invalidate {
            self.clock.join(&self.waited);
        }
    }

    /// An atomic access reads what was released.
    pub(super) fn acquire(&mut self, released: &Released, group: u32, wave: usize, scope: Scope) {
        if released.group == group {
            if self.is_clean() && released.dirty {
                self.before_store(wave);
            }
            self.clock.join(&released.near);
            self.visible.join(&released.near_visible);
            self.dirty |= released.dirty;
        }
        self.wide.join(&released.wide);
        if scope >= Scope::Agent {
            self.read.join(&released.visible);
        }
    }

    /// An acquire at agent scope, for whose completion the wave has waited.
    pub(super) fn acquire_waited(&mut self, released: &Released, group: u32, wave: usize) {
        self.acquire(released, group, wave, Scope::Agent);
        self.waited.join(&self.read);
    }

    /// An atomic access releases what the wave did, in addition to what has been released through the word.
    pub(super) fn release(
        &mut self,
        before: Option<Released>,
        group: u32,
        wave: usize,
        scope: Scope,
    ) -> Released {
        let mut made = before.unwrap_or_else(|| Released {
            group,
            near: Clock::nothing(group),
            near_visible: Clock::nothing(group),
            dirty: false,
            visible: Clock::nothing(group),
            wide: Clock::nothing(group),
        });
        if made.group != group {
            (made.near, made.near_visible) = (Clock::nothing(group), Clock::nothing(group));
            (made.group, made.dirty) = (group, false);
        }
        if self.is_clean() {
            self.visible.join(&self.clock);
        }
        made.near.join(&self.clock);
        made.near_visible.join(&self.visible);
        made.dirty |= self.dirty;
        made.wide.join(&self.clock);
        made.wide.join(&self.wide);
        if scope >= Scope::Agent {
            made.visible.join(&self.visible);
        }
        self.clock.advance(wave);
        made
    }

    /// What is missing for the wave to know what a wave of another workgroup did, if it has synchronised with it at all.
    pub(super) fn missing(&self, thread: Thread, at: u32) -> Option<Missing> {
        if !self.wide.knows(thread, at) {
            return None;
        }
        let released = self.read.knows(thread, at) || self.waited.knows(thread, at);
        Some(if released { Missing::Acquire } else { Missing::Release })
    }
}

/// The waves of a workgroup meet: each learns what all know.
pub(super) fn meet<'s>(group: u32, waves: impl Iterator<Item = &'s mut Sync>) {
    let waves: Vec<&mut Sync> = waves.collect();
    let mut all = Sync { dirty: waves.iter().any(|w| w.dirty), ..Sync::new(group, 0) };
    all.clock = Clock::nothing(group);
    let mut waves = waves;
    for wave in &mut waves {
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
        wave.clock.join(&all.clock);
        wave.visible.join(&all.visible);
        wave.read.join(&all.read);
        wave.waited.join(&all.waited);
        wave.wide.join(&all.wide);
        wave.dirty |= all.dirty;
        wave.clock.advance(number);
    }
}
