//! Scheduling marks: the user's requirements on instruction order, carried from the kernel's source to the finished
//! program.

use bitflags::bitflags;
use gcn_isa::counters::Counter;
use gcn_isa::table::{Class, InstDesc};

/// A point in a kernel at which the user or a pass restricts the order of instructions. A mark is not an instruction:
/// it keeps its position relative to the instructions that stay in order, and does not appear in the finished program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mark {
    /// From here on instructions keep their source order, until the matching [`Mark::ManualEnd`] in layout order.
    ManualBegin,
    /// The end of a manual schedule.
    ManualEnd,
    /// The following instructions, up to the [`Mark::Issued`] with the same number, form one asynchronous
    /// operation.
    Issue(u32),
    /// The end of an asynchronous operation.
    Issued(u32),
    /// The `s_waitcnt` after this mark waits for an operation; its value is computed after register allocation.
    Wait {
        /// The operation's number.
        op: u32,
        /// The counter that counts it.
        counter: Counter,
    },
    /// The compiler itself emitted the `s_waitcnt` after this mark, for this reason.
    Because(&'static str),
    /// LDS reads may still be outstanding when the wave executes the `s_barrier` after this mark.
    ReadsPass,
    /// A `#[ping_pong]` loop follows. All waves of the workgroup must reach its barriers: see [`super::ping_pong`].
    PingPong,
    /// The end of a `#[ping_pong]` loop.
    PingPongEnd,
    /// The barrier after this mark stands before or after a `#[ping_pong]` loop. Except for the first barrier before
    /// the loop, only one group of waves reaches it.
    Stagger,
    /// The barrier after this mark begins or ends a phase of a `#[ping_pong]` loop, for all waves.
    Phase,
    /// The code here is rarely executed.
    Cold,
    /// Only instructions of these classes may move across this mark.
    Fence(Classes),
    /// As `Fence`, but inserted by a pass: LDS accesses on the same side of the gate may still be merged.
    Gate {
        /// The classes whose instructions may move across the gate.
        but: Classes,
        /// True if the instructions before the gate are as urgent as those after it, because the latter wait for them.
        urgent: bool,
    },
    /// The scheduler takes the instructions around this mark from the classes of these groups in turn.
    Interleave(Box<[Group]>),
}

/// A number of instructions of one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// The number of instructions in each turn.
    pub count: u8,
    /// The class, or a union of classes.
    pub class: Classes,
}

impl Mark {
    /// True if two LDS accesses on the same side of the mark may be merged into one.
    pub fn leaves_pairs(&self) -> bool {
        match self {
            Mark::Cold => true,
            Mark::Fence(classes) => classes.is_empty(),
            Mark::Gate { .. } => true,
            _ => false,
        }
    }

    /// For a fence or gate: the classes whose instructions may move across it; `None` for other marks.
    pub fn passing(&self) -> Option<Classes> {
        match self {
            Mark::Fence(but) | Mark::Gate { but, .. } => Some(*but),
            _ => None,
        }
    }

    /// True if the mark separates scheduling windows, so that no instruction moves from one side to the other.
    pub fn is_boundary(&self) -> bool {
        match self {
            Mark::Fence(classes) => classes.is_empty(),
            Mark::Gate { .. } | Mark::Interleave(_) => false,
            _ => true,
        }
    }
}

bitflags! {
    /// Sets of instruction classes. The bits are those of the mask of LLVM's `llvm.amdgcn.sched.barrier`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Classes: u16 {
        /// Vector arithmetic except matrix instructions.
        const VALU = 0x2;
        /// Scalar arithmetic.
        const SALU = 0x4;
        /// Matrix instructions (MFMA and SMFMAC).
        const MFMA = 0x8;
        /// Loads from global memory, buffers and scratch.
        const VMEM_READ = 0x20;
        /// Stores and atomics to global memory, buffers and scratch.
        const VMEM_WRITE = 0x40;
        /// Vector memory.
        const VMEM = Self::VMEM_READ.bits() | Self::VMEM_WRITE.bits();
        /// LDS loads.
        const DS_READ = 0x100;
        /// LDS stores and atomics.
        const DS_WRITE = 0x200;
        /// LDS.
        const DS = Self::DS_READ.bits() | Self::DS_WRITE.bits();
        /// Transcendental vector arithmetic.
        const TRANS = 0x400;
        /// Scalar loads.
        const SMEM = 0x800;
    }
}

/// Every class that a user can name, with its name.
pub const NAMES: &[(&str, Classes)] = &[
    ("mfma", Classes::MFMA),
    ("valu", Classes::VALU),
    ("salu", Classes::SALU),
    ("trans", Classes::TRANS),
    ("ds_read", Classes::DS_READ),
    ("ds_write", Classes::DS_WRITE),
    ("ds", Classes::DS),
    ("vmem_read", Classes::VMEM_READ),
    ("vmem_write", Classes::VMEM_WRITE),
    ("vmem", Classes::VMEM),
    ("smem", Classes::SMEM),
];

impl Classes {
    /// The class with that name.
    pub fn named(name: &str) -> Option<Classes> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, class)| *class)
    }

    /// The name, if the set is a single class or a named group; otherwise "other".
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, class)| *class == self).map_or("other", |(name, _)| name)
    }

    /// The class of a table instruction; the empty set for branches, waits and the like.
    pub fn of(desc: &InstDesc) -> Classes {
        match desc.class {
            Class::Trans => Classes::TRANS,
            Class::LdsRead | Class::LdsPermute => Classes::DS_READ,
            Class::LdsWrite | Class::LdsAtomic | Class::LdsAtomicRet => Classes::DS_WRITE,
            Class::VmemLoad | Class::GlobalLoad | Class::ScratchLoad | Class::FlatLoad => Classes::VMEM_READ,
            Class::VmemLoadLds | Class::GlobalLoadLds | Class::ScratchLoadLds => Classes::VMEM_READ,
            _ if desc.multiplies_matrices() => Classes::MFMA,
            _ if desc.is_valu() => Classes::VALU,
            _ if desc.is_salu() => Classes::SALU,
            _ if desc.is_vmem() => Classes::VMEM_WRITE,
            _ if desc.is_smem() => Classes::SMEM,
            _ => Classes::empty(),
        }
    }
}
