//! Reports of watchers: the findings of sanitizers, and the counts of faithful mode.

use std::fmt;

use crate::core::memory::Range;
use crate::core::site::{Hazard, Site, Space};

/// Which sanitizer found it, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// An access outside what is allocated.
    OutOfBounds,
    /// An access to memory that has been freed.
    UseAfterFree,
    /// An access that must be aligned and is not.
    Misaligned,
    /// Bits that nothing has written matter: in an address, in EXEC, at a branch, in memory that others see.
    UninitializedRegister,
    /// LDS is read that nothing has written.
    UninitializedLds,
    /// Global memory is read that neither host nor kernel has written.
    UninitializedMemory,
    /// Two accesses to LDS that no barrier or atomic orders.
    LdsRace,
    /// Two accesses to global memory that no barrier or atomic orders.
    GlobalRace,
    /// Lanes of one store write different values to the same bytes: which of them remains is not defined.
    LaneRace,
    /// Two stores of the same value that no barrier or atomic orders: a note, as the result is the same in any order.
    SameValue,
    /// Two accesses to global memory of different workgroups that an atomic or fence orders only within a workgroup.
    NarrowScope,
    /// A wave has ended without a barrier at which others of its workgroup wait.
    DivergentBarrier,
    /// No wave of the workgroup can make progress.
    Deadlock,
}

impl FindingKind {
    /// The problem in words.
    pub fn title(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "access out of bounds",
            FindingKind::UseAfterFree => "access to freed memory",
            FindingKind::Misaligned => "misaligned access",
            FindingKind::UninitializedRegister => "use of an undefined value",
            FindingKind::UninitializedLds => "read of uninitialised LDS",
            FindingKind::UninitializedMemory => "read of uninitialised memory",
            FindingKind::LdsRace => "data race in LDS",
            FindingKind::GlobalRace => "data race in global memory",
            FindingKind::LaneRace => "lanes of one store write different values to the same bytes",
            FindingKind::SameValue => "unordered stores of the same value",
            FindingKind::NarrowScope => "synchronisation between workgroups at too narrow a scope",
            FindingKind::DivergentBarrier => "a wave ended without a barrier at which others wait",
            FindingKind::Deadlock => "no wave can make progress",
        }
    }
}

impl FindingKind {
    /// True if it is worth knowing, but no fault.
    pub fn is_note(self) -> bool {
        self == FindingKind::SameValue
    }
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes at one moment.
    Atomic,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Atomic => "updates",
        })
    }
}

/// Bytes that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Access {
    /// The kind of access.
    pub kind: AccessKind,
    /// The memory.
    pub space: Space,
    /// Global address, byte address in LDS, or byte address in the lane's scratch.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} bytes of {} at {:#x}", self.kind, self.bytes, self.space, self.address)
    }
}

/// One of the instructions that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Party {
    /// The instruction, where it is, and which wave executed it.
    pub site: Site,
    /// The lane; `None` for scalar instructions and where no lane is to blame.
    pub lane: Option<u8>,
    /// The access concerned.
    pub access: Option<Access>,
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.site)?;
        if let Some(access) = &self.access {
            write!(f, " {access}")?;
        }
        if let Some(lane) = self.lane {
            write!(f, " in lane {lane}")?;
        }
        Ok(())
    }
}

/// A report of a sanitizer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The problem.
    pub kind: FindingKind,
    /// The instruction at which it was noticed.
    pub party: Party,
    /// The other one: the earlier access of a race, another wave at a barrier.
    pub other: Option<Party>,
    /// The register.
    pub register: Option<String>,
    /// The allocation that holds the bytes; for accesses out of bounds the nearest, for freed memory the former one.
    pub allocation: Option<Range>,
    /// The suggested fix.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.title(), self.party)?;
        if let Some(register) = &self.register {
            write!(f, " ({register})")?;
        }
        if let Some(range) = &self.allocation {
            write!(f, ", allocation of {} bytes at {:#x}", range.bytes, range.base)?;
        }
        if let Some(other) = &self.other {
            write!(f, "; the other is {other}")?;
        }
        write!(f, "; {}", self.remedy)
    }
}

/// A read or write that came too early, counted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stale {
    /// The rule, the two instructions, and where it happened first.
    pub hazard: Hazard,
    /// How often it happened, over all waves.
    pub count: u64,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "time" } else { "times" };
        write!(f, "{} {times}: {}", self.count, self.hazard)
    }
}
