//! The machine instructions that implement atomics and fences with a memory ordering and scope: the code sequences of the LLVM AMDGPU guide
//! (LLVM 17, "Memory Model GFX6-GFX9", "GFX90A", "GFX940"), and for RDNA those of LLVM 22.
//!
//! A [`Row`] is a row of the guide's table: operation, ordering, scopes, address spaces, and the numbered steps. [`sequence`] finds the row
//! for a target and returns the instructions before the access, the cache bits of the access, and the instructions after the access. The
//! waits of a sequence order memory; waits for registers are additional (`crate::wait`).
//!
//! The semantics is HSA's memory model. It has one happens-before relation for all address spaces, so the guide's omissions for OpenCL do
//! not apply here. The rows list the instructions that a *thread* must issue in order; [`Ordering::acquires`] and [`Ordering::releases`]
//! state which reorderings a compiler must avoid.
//!
//! ```
//! use gcn_isa::Target;
//! use gcn_isa::memory_model::{Mode, Operation, Ordering, Scope, Space, sequence};
//!
//! let release = sequence(Target::GFX942, Mode::Normal, Operation::Store, Ordering::Release, Scope::Agent, Space::Global);
//! assert_eq!(release.unwrap().to_string(), "buffer_wbl2 sc1; s_waitcnt vmcnt(0) lgkmcnt(0); store sc1");
//! ```

mod differences;
mod gfx10_gfx11;
mod gfx12;
mod gfx6_gfx9;
mod gfx90a;
mod gfx940;
mod page;
mod pattern;
mod step;

use std::fmt;

pub use differences::{Applies, DIFFERENCES, Difference, ERRATA, Erratum};
pub use page::page;
pub use pattern::{MemoryWait, memory_wait};
pub use step::{Bits, Counters, Row, Step, What, When};

use crate::counters::{Counter, WaitCnt};
use crate::{InstructionSet, Mods, Target, TargetSet};

/// An operation with a memory ordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// A read-modify-write, including exchange and compare-exchange.
    Rmw,
    /// A fence, which has no address space.
    Fence,
}

/// Memory orderings, with the same names as in Rust; LLVM's `monotonic` is `Relaxed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ordering {
    /// The operation is atomic, but does not order other operations.
    Relaxed,
    /// Later operations do not happen before this operation.
    Acquire,
    /// Earlier operations do not happen after this operation.
    Release,
    /// The operation has both effects: acquire and release.
    AcqRel,
    /// The operation has both effects, and there is a single total order of all such operations.
    SeqCst,
}

/// The threads with which an operation synchronises: LLVM's `syncscope`. LLVM's `singlethread` has the sequences of
/// `Wavefront`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Lanes of the same wave.
    Wavefront,
    /// Waves of the same workgroup.
    Workgroup,
    /// Waves of the same cluster of workgroups (gfx12.5); on targets without clusters, as [`Scope::Agent`].
    Cluster,
    /// All threads on the same GPU (called *agent*).
    Agent,
    /// All threads, including those of the host and of other GPUs.
    System,
}

/// The memory that is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Global memory, accessed by `buffer_*` and `global_*`.
    Global,
    /// LDS, accessed by `ds_*`.
    Local,
    /// Global memory or LDS, accessed by `flat_*`.
    Generic,
}

/// The compute units on which the waves of a workgroup run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One compute unit.
    Normal,
    /// Several compute units (`.amdhsa_tg_split`, gfx90a and later). LDS is not available.
    TgSplit,
    /// The two compute units of a workgroup processor, which share the LDS (RDNA, `.amdhsa_workgroup_processor_mode`).
    Wgp,
}

impl Operation {
    /// All operations, in the guide's order.
    pub const ALL: [Operation; 4] = [Operation::Load, Operation::Store, Operation::Rmw, Operation::Fence];

    /// The guide's name for the operation.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Load => "load atomic",
            Operation::Store => "store atomic",
            Operation::Rmw => "atomicrmw",
            Operation::Fence => "fence",
        }
    }

    /// True if the operation may have the ordering. A load cannot release, a store cannot acquire, and a fence must order something.
    pub const fn allows(self, ordering: Ordering) -> bool {
        match self {
            Operation::Load => !matches!(ordering, Ordering::Release | Ordering::AcqRel),
            Operation::Store => !matches!(ordering, Ordering::Acquire | Ordering::AcqRel),
            Operation::Rmw => true,
            Operation::Fence => !matches!(ordering, Ordering::Relaxed),
        }
    }
}

impl Ordering {
    /// All orderings, from weak to strong.
    pub const ALL: [Ordering; 5] =
        [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];

    /// LLVM's name for the ordering.
    pub const fn name(self) -> &'static str {
        match self {
            Ordering::Relaxed => "monotonic",
            Ordering::Acquire => "acquire",
            Ordering::Release => "release",
            Ordering::AcqRel => "acq_rel",
            Ordering::SeqCst => "seq_cst",
        }
    }

    /// True if no later operation may be moved before an operation with this ordering.
    pub const fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// True if no earlier operation may be moved after an operation with this ordering.
    pub const fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }
}

impl Scope {
    /// All scopes, from narrow to wide.
    pub const ALL: [Scope; 5] =
        [Scope::Wavefront, Scope::Workgroup, Scope::Cluster, Scope::Agent, Scope::System];

    /// LLVM's name for the scope. System scope has no name in LLVM IR.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Wavefront => "wavefront",
            Scope::Workgroup => "workgroup",
            Scope::Cluster => "cluster",
            Scope::Agent => "agent",
            Scope::System => "system",
        }
    }
}

impl Space {
    /// All address spaces, in the guide's order.
    pub const ALL: [Space; 3] = [Space::Global, Space::Local, Space::Generic];

    /// The guide's name for the address space.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Local => "local",
            Space::Generic => "generic",
        }
    }
}

/// A table of the guide.
#[derive(Debug)]
pub struct Table {
    /// The guide's section.
    pub section: &'static str,
    /// The targets to which the table applies. gfx950 is not in the guide; LLVM uses gfx942's sequences for it.
    pub targets: TargetSet,
    /// True if these targets have TgSplit mode.
    pub tg_split: bool,
    /// The table's rows.
    pub rows: &'static [Row],
}

/// All tables.
pub static TABLES: [Table; 7] = [
    Table {
        section: "Memory Model GFX6-GFX9",
        targets: TargetSet::range(Target::GFX9_GENERIC, Target::GFX908),
        tg_split: false,
        rows: gfx6_gfx9::ROWS,
    },
    Table {
        section: "Memory Model GFX90A",
        targets: TargetSet::of(&[Target::GFX90A]),
        tg_split: true,
        rows: gfx90a::ROWS,
    },
    Table {
        section: "Memory Model GFX940",
        targets: TargetSet::range(Target::GFX942, Target::GFX950),
        tg_split: true,
        rows: gfx940::ROWS,
    },
    Table {
        section: "Memory Model GFX10",
        targets: TargetSet::between(InstructionSet::GFX10_1, InstructionSet::GFX10_3),
        tg_split: false,
        rows: gfx10_gfx11::GFX10,
    },
    Table {
        section: "Memory Model GFX11",
        targets: TargetSet::between(InstructionSet::GFX11, InstructionSet::GFX11_5),
        tg_split: false,
        rows: gfx10_gfx11::GFX11,
    },
    Table {
        section: "Memory Model GFX12",
        targets: TargetSet::one(InstructionSet::GFX12),
        tg_split: false,
        rows: gfx12::ROWS,
    },
    Table {
        section: "Memory Model GFX12.5",
        targets: TargetSet::one(InstructionSet::GFX12_5),
        tg_split: false,
        rows: gfx12::ROWS_12_5,
    },
];

impl Table {
    /// The table for a target; `None` if there is no table for it.
    pub fn of(target: Target) -> Option<&'static Table> {
        TABLES.iter().find(|t| t.targets.contains(target))
    }

    /// True if the table has rows for clusters of workgroups.
    pub fn has_clusters(&self) -> bool {
        self.rows.iter().any(|row| row.scopes.contains(&Scope::Cluster))
    }

    /// The row for an operation, ordering, scope and address space. In LDS, a scope wider than the workgroup is treated as workgroup scope.
    /// If the table has no rows for clusters, cluster scope is treated as agent scope. `None` if the table has no such row.
    pub fn row(
        &self,
        operation: Operation,
        ordering: Ordering,
        scope: Scope,
        space: Space,
    ) -> Option<&'static Row> {
        let scope = match scope {
            _ if space == Space::Local => scope.min(Scope::Workgroup),
            Scope::Cluster if !self.has_clusters() => Scope::Agent,
            _ => scope,
        };
        self.rows.iter().find(|row| {
            row.operation == operation
                && row.ordering == ordering
                && row.scopes.contains(&scope)
                && (operation == Operation::Fence || row.spaces.contains(&space))
        })
    }
}

/// An instruction of a sequence other than the access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A wait until these counters are zero.
    Wait(Counters),
    /// A cache instruction.
    Cache {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The cache bits.
        bits: Bits,
    },
}

/// The machine code of an atomic or a fence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// The instruction set.
    pub set: InstructionSet,
    /// The operation.
    pub operation: Operation,
    /// The instructions before the access. For a fence, these are all instructions.
    pub before: Vec<Action>,
    /// The cache bits of the access, without the bit that makes a read-modify-write return the old value.
    pub bits: Bits,
    /// The instructions after the access.
    pub after: Vec<Action>,
}

/// The sequence of a combination; `None` if there is none. This is the case for an ordering that the operation cannot have
/// ([`Operation::allows`]), for LDS in [`Mode::TgSplit`], and for a mode that the target lacks. The wait for a read-modify-write is for the
/// counters of both its forms, with and without a result: see [`Sequence::returning`].
pub fn sequence(
    target: Target,
    mode: Mode,
    operation: Operation,
    ordering: Ordering,
    scope: Scope,
    space: Space,
) -> Option<Sequence> {
    let table = Table::of(target)?;
    let local = space == Space::Local && operation != Operation::Fence;
    let set = target.instruction_set();
    let lacks_mode = match mode {
        Mode::Normal => false,
        Mode::TgSplit => local || !table.tg_split,
        Mode::Wgp => !set.has_workgroup_processors(),
    };
    if lacks_mode {
        return None;
    }
    let mut made = Sequence { set, operation, before: Vec::new(), bits: Bits::empty(), after: Vec::new() };
    let mut row = table.row(operation, ordering, scope, space)?;
    let mut accessed = operation == Operation::Fence;
    // The guide's "same as corresponding" refers from seq_cst to a weaker ordering, so at most two rows are followed.
    for _ in Ordering::ALL {
        let mut next = None;
        for step in row.steps.iter().filter(|s| s.when.holds(mode)) {
            match step.what {
                What::Access(bits) => {
                    made.bits = bits;
                    accessed = true;
                }
                What::Wait(counters) => made.wait(accessed && operation != Operation::Fence, counters),
                What::Cache(mnemonic, bits) => {
                    let after = accessed && operation != Operation::Fence;
                    made.part(after).push(Action::Cache { mnemonic, bits });
                }
                What::Same(ordering) => next = table.row(operation, ordering, scope, space),
            }
        }
        match next {
            Some(same) => row = same,
            None => break,
        }
    }
    Some(made)
}

impl Sequence {
    fn part(&mut self, after: bool) -> &mut Vec<Action> {
        if after { &mut self.after } else { &mut self.before }
    }

    /// The sequence of a read-modify-write that returns the old value, or of one that does not return it. On RDNA, these two use different
    /// counters.
    ///
    /// ```
    /// use gcn_isa::Target;
    /// use gcn_isa::memory_model::{Mode, Operation, Ordering, Scope, Space, sequence};
    /// let (of, scope) = (Operation::Rmw, Scope::Agent);
    /// let add = sequence(Target::GFX1100, Mode::Wgp, of, Ordering::Acquire, scope, Space::Global).unwrap();
    /// let after = "buffer_gl1_inv; buffer_gl0_inv";
    /// assert_eq!(add.clone().returning(true).to_string(), format!("atomic; s_waitcnt vmcnt(0); {after}"));
    /// assert_eq!(add.returning(false).to_string(), format!("atomic; s_waitcnt_vscnt null, 0x0; {after}"));
    /// ```
    #[must_use]
    pub fn returning(mut self, returns: bool) -> Sequence {
        for action in self.before.iter_mut().chain(&mut self.after) {
            if let Action::Wait(counters) = action
                && counters.contains(Counters::ATOMIC)
            {
                counters.remove(Counters::ATOMIC);
                counters.insert(if returns { Counters::VM } else { Counters::VS });
            }
        }
        self
    }

    /// Adds a wait; adjacent waits are merged into one instruction.
    fn wait(&mut self, after: bool, counters: Counters) {
        let part = self.part(after);
        match part.last_mut() {
            Some(Action::Wait(last)) => *last |= counters,
            _ => part.push(Action::Wait(counters)),
        }
    }
}

impl Counters {
    /// The wait until these counters are zero.
    pub const fn wait(self) -> WaitCnt {
        let mut wait = WaitCnt::NONE;
        if self.intersects(Counters::VM.union(Counters::ATOMIC)) {
            wait = Counter::Vm.set(wait, 0);
        }
        if self.intersects(Counters::VS.union(Counters::ATOMIC)) {
            wait = Counter::Vs.set(wait, 0);
        }
        if self.contains(Counters::LGKM) {
            wait = Counter::Lgkm.set(wait, 0);
        }
        wait
    }
}

impl Bits {
    /// Sets the bits in the modifiers of an instruction.
    pub fn apply(self, mods: &mut Mods) {
        mods.glc |= self.intersects(Bits::GLC | Bits::SC0);
        mods.scc |= self.contains(Bits::SC1);
        mods.dlc |= self.contains(Bits::DLC);
        mods.scope = mods.scope.max(self.scope());
    }
}

impl Bits {
    /// The scope field of RDNA 4: 0 CU, 1 SE, 2 DEV, 3 SYS.
    const fn scope(self) -> u8 {
        if self.contains(Bits::SCOPE_SYS) {
            3
        } else if self.contains(Bits::SCOPE_DEV) {
            2
        } else {
            self.contains(Bits::SCOPE_SE) as u8
        }
    }
}

impl fmt::Display for Bits {
    /// Writes the bits, each preceded by a space: ` sc0 sc1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter_names().try_for_each(|(name, bit)| match bit.scope() {
            0 => write!(f, " {}", name.to_lowercase()),
            _ => write!(f, " scope:{name}"),
        })
    }
}

impl Action {
    /// The assembly text for an instruction set.
    pub fn on(&self, set: InstructionSet) -> String {
        match self {
            Action::Wait(counters) => counters.wait().on(set).to_string(),
            Action::Cache { mnemonic, bits } => format!("{mnemonic}{bits}"),
        }
    }
}

impl fmt::Display for Sequence {
    /// Writes the instructions separated by `; `. The access is written as `load`, `store` or `atomic`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.operation {
            Operation::Load => Some("load"),
            Operation::Store => Some("store"),
            Operation::Rmw => Some("atomic"),
            Operation::Fence => None,
        };
        let before = self.before.iter().map(|action| action.on(self.set));
        let access = access.map(|name| format!("{name}{}", self.bits));
        let parts: Vec<String> =
            before.chain(access).chain(self.after.iter().map(|action| action.on(self.set))).collect();
        f.write_str(&parts.join("; "))
    }
}
