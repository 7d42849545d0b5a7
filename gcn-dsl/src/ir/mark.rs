//! Scheduling marks: the user's requirements on the instruction order, carried from the kernel's body to the finished
//! program.

use bitflags::bitflags;
use gcn_isa::counters::Counter;
use gcn_isa::table::{Class, InstDesc};

/// A place in a kernel with a requirement on the order around it. A mark is not an instruction: it keeps its
/// place among the instructions that stay in order, and does not appear in the finished program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mark {
    /// From here on instructions keep the written order, until the matching [`Mark::ManualEnd`] in layout
    /// order.
    ManualBegin,
    /// The end of such a stretch.
    ManualEnd,
    /// The following instructions, up to the [`Mark::Issued`] with the same number, form one asynchronous
    /// operation.
    Issue(u32),
    /// Its end.
    Issued(u32),
    /// The `s_waitcnt` after this mark waits for an operation; its value is computed when registers are
    /// known.
    Wait {
        /// The operation's number.
        op: u32,
        /// The counter that it moves.
        counter: Counter,
    },
    /// The `s_waitcnt` after this mark is the compiler's own, for this reason.
    Because(&'static str),
    /// Reads of LDS may be outstanding at the `s_barrier` after this mark.
    ReadsPass,
    /// A loop follows, on whose barriers all waves of the workgroup rely: [`super::ping_pong`].
    PingPong,
    /// Its end.
    PingPongEnd,
    /// The barrier after this mark belongs to the construct, and only one group of waves reaches it outside the loop.
    Stagger,
    /// The barrier after this mark begins or ends a phase, for all waves.
    Phase,
    /// Control rarely comes here.
    Cold,
    /// Only instructions of these classes may move across.
    Fence(Classes),
    /// The same, inserted by a pass: LDS accesses on the same side may still be merged.
    Gate {
        /// The classes.
        but: Classes,
        /// The instructions before it are as urgent as those that wait for it.
        urgent: bool,
    },
    /// The instructions around this mark are emitted in turns from these groups.
    Interleave(Box<[Group]>),
}

/// A number of instructions of one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// The number of instructions in each turn.
    pub count: u8,
    /// Of which class (or group of classes).
    pub class: Classes,
}

impl Mark {
    /// True if two accesses of LDS on the same side may become one.
    pub fn leaves_pairs(&self) -> bool {
        match self {
            Mark::Cold => true,
            Mark::Fence(classes) => classes.is_empty(),
            Mark::Gate { .. } => true,
            _ => false,
        }
    }

    /// The only classes that may move across, for a fence or gate.
    pub fn passing(&self) -> Option<Classes> {
        match self {
            Mark::Fence(but) | Mark::Gate { but, .. } => Some(*but),
            _ => None,
        }
    }

    /// True if the mark separates scheduling windows: instructions on both sides are never ordered together.
    pub fn is_boundary(&self) -> bool {
        match self {
            Mark::Fence(classes) => classes.is_empty(),
            Mark::Gate { .. } | Mark::Interleave(_) => false,
            _ => true,
        }
    }
}

bitflags! {
    /// Kinds of instruction, as a set. The bits are those of the mask of LLVM's `llvm.amdgcn.sched.barrier`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Classes: u16 {
        /// Vector arithmetic, matrix instructions not included.
        const VALU = 0x2;
        /// Scalar arithmetic.
        const SALU = 0x4;
        /// Matrix instructions (MFMA and SMFMAC).
        const MFMA = 0x8;
        /// Loads from global memory, buffers and scratch.
        const VMEM_READ = 0x20;
        /// Stores and atomics to them.
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
    /// The class of that name.
    pub fn named(name: &str) -> Option<Classes> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, class)| *class)
    }

    /// The name, if the set is a single class or a named group.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, class)| *class == self).map_or("other", |(name, _)| name)
    }

    /// The class of a table instruction; none for branches, waits and the like.
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
