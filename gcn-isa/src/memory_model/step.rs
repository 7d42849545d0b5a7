//! The parts of a row of the guide's tables, and the short functions with which the rows are written.

use bitflags::bitflags;

use super::{Mode, Operation, Ordering, Scope, Space};

bitflags! {
    /// Cache bits of an access or a cache instruction, by their names in the target's assembler.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Bits: u8 {
        /// `glc` before gfx942: miss in the L1 cache.
        const GLC = 1;
        /// `sc0` on gfx942 and later: low bit of the scope.
        const SC0 = 1 << 1;
        /// `sc1` on gfx942 and later: high bit of the scope.
        const SC1 = 1 << 2;
        /// `dlc` of RDNA 1 and 2: miss in the cache that several compute units share.
        const DLC = 1 << 3;
        /// `scope:SCOPE_SE` of RDNA 4.
        const SCOPE_SE = 1 << 4;
        /// `scope:SCOPE_DEV` of RDNA 4.
        const SCOPE_DEV = 1 << 5;
        /// `scope:SCOPE_SYS` of RDNA 4.
        const SCOPE_SYS = 1 << 6;
    }

    /// Counters that are waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Counters: u8 {
        /// `vmcnt(0)`: vector memory operations are done.
        const VM = 1;
        /// `lgkmcnt(0)`: LDS operations are done.
        const LGKM = 1 << 1;
        /// Stores are done, on targets that have a separate counter for them.
        const VS = 1 << 2;
        /// The read-modify-write is done. If it returns a value, it is on the counter of loads, otherwise on that of stores.
        const ATOMIC = 1 << 3;
    }
}

/// A row of a table of the guide. Its first four columns are its citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Column "LLVM Instr".
    pub operation: Operation,
    /// Column "LLVM Memory Ordering".
    pub ordering: Ordering,
    /// Column "LLVM Memory Sync Scope"; `singlethread` always accompanies `wavefront` and is omitted.
    pub scopes: &'static [Scope],
    /// Column "AMDGPU Address Space"; empty for a fence.
    pub spaces: &'static [Space],
    /// Column "AMDGPU Machine Code", step by step.
    pub steps: &'static [Step],
}

/// A step of the machine code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The effect of the step.
    pub what: What,
    /// The mode in which the step applies.
    pub when: When,
}

/// The effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The access itself, with these bits.
    Access(Bits),
    /// `s_waitcnt`.
    Wait(Counters),
    /// A cache instruction.
    Cache(&'static str, Bits),
    /// "Same as corresponding" row of another ordering.
    Same(Ordering),
}

/// The modes in which a step applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// All modes.
    Always,
    /// "If not TgSplit execution mode, omit."
    TgSplit,
    /// "If TgSplit execution mode, omit."
    NotTgSplit,
    /// "If CU wavefront execution mode, omit."
    Wgp,
}

impl When {
    /// True if the step applies in `mode`.
    pub const fn holds(self, mode: Mode) -> bool {
        match self {
            When::Always => true,
            When::TgSplit => matches!(mode, Mode::TgSplit),
            When::NotTgSplit => !matches!(mode, Mode::TgSplit),
            When::Wgp => matches!(mode, Mode::Wgp),
        }
    }
}

pub(super) const NONE: Bits = Bits::empty();
pub(super) const GLC: Bits = Bits::GLC;
pub(super) const GLC_DLC: Bits = Bits::GLC.union(Bits::DLC);
pub(super) const SE: Bits = Bits::SCOPE_SE;
pub(super) const DEV: Bits = Bits::SCOPE_DEV;
pub(super) const SYS: Bits = Bits::SCOPE_SYS;
pub(super) const SC0: Bits = Bits::SC0;
pub(super) const SC1: Bits = Bits::SC1;
pub(super) const SC0_SC1: Bits = Bits::SC0.union(Bits::SC1);

/// Waits for both counters.
pub(super) const WAIT: Step = always(What::Wait(Counters::VM.union(Counters::LGKM)));
/// RDNA: waits for all operations.
pub(super) const ALL: Step = always(What::Wait(Counters::VM.union(Counters::VS).union(Counters::LGKM)));
/// RDNA: waits for vector memory.
pub(super) const VM_VS: Step = always(What::Wait(Counters::VM.union(Counters::VS)));
/// RDNA: waits for loads and LDS.
pub(super) const VM_LGKM: Step = WAIT;
/// RDNA: waits for loads.
pub(super) const VM: Step = WAIT_VM;
/// RDNA: waits for LDS.
pub(super) const LGKM: Step = WAIT_LGKM;
/// RDNA: waits for the read-modify-write.
pub(super) const ATOMIC: Step = always(What::Wait(Counters::ATOMIC));
/// RDNA: waits for the read-modify-write, which may be in LDS.
pub(super) const LGKM_ATOMIC: Step = always(What::Wait(Counters::LGKM.union(Counters::ATOMIC)));
/// Waits for vector memory.
pub(super) const WAIT_VM: Step = always(What::Wait(Counters::VM));
/// Waits for LDS.
pub(super) const WAIT_LGKM: Step = always(What::Wait(Counters::LGKM));
/// Waits for LDS; omitted in TgSplit mode.
pub(super) const WAIT_LGKM_UNLESS_SPLIT: Step = unless_split(WAIT_LGKM);
/// Waits for vector memory; omitted if not in TgSplit mode.
pub(super) const WAIT_VM_IF_SPLIT: Step = if_split(WAIT_VM);

const fn always(what: What) -> Step {
    Step { what, when: When::Always }
}

pub(super) const fn access(bits: Bits) -> Step {
    always(What::Access(bits))
}

pub(super) const fn cache(mnemonic: &'static str, bits: Bits) -> Step {
    always(What::Cache(mnemonic, bits))
}

pub(super) const fn same(ordering: Ordering) -> Step {
    always(What::Same(ordering))
}

pub(super) const fn if_split(step: Step) -> Step {
    Step { when: When::TgSplit, ..step }
}

pub(super) const fn if_wgp(step: Step) -> Step {
    Step { when: When::Wgp, ..step }
}

pub(super) const fn unless_split(step: Step) -> Step {
    Step { when: When::NotTgSplit, ..step }
}

pub(super) const fn row(
    operation: Operation,
    ordering: Ordering,
    scopes: &'static [Scope],
    spaces: &'static [Space],
    steps: &'static [Step],
) -> Row {
    Row { operation, ordering, scopes, spaces, steps }
}

pub(super) const fn fence(ordering: Ordering, scopes: &'static [Scope], steps: &'static [Step]) -> Row {
    Row { operation: Operation::Fence, ordering, scopes, spaces: &[], steps }
}
