//! Reports from the checks that run along with a simulation: the findings of sanitizers, and the statistics of faithful mode.

use std::fmt;

use crate::core::memory::Range;
use crate::core::site::{Hazard, Site, Space};

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access to memory that has been freed.
    UseAfterFree,
    /// A misaligned access where alignment is required.
    Misaligned,
    /// Uninitialized bits of a register that affect an address, EXEC, a branch, or a store to shared memory.
    UninitializedRegister,
    /// A read of uninitialized LDS.
    UninitializedLds,
    /// A read of global memory that neither the host nor a kernel has written.
    UninitializedMemory,
    /// Two accesses to LDS that no barrier or atomic orders, at least one of them a write.
    LdsRace,
    /// Two accesses to global memory that no barrier or atomic orders, at least one of them a write.
    GlobalRace,
    /// Lanes of one store write different values to the same bytes, and the ISA does not define which value remains.
    LaneRace,
    /// Two unordered stores of the same value. This is only a note, because the result does not depend on their order.
    SameValue,
    /// Two accesses to global memory by different workgroups that are ordered only by an atomic or fence of workgroup scope, which is too
    /// narrow.
    NarrowScope,
    /// A wave has ended without reaching a barrier at which others of its workgroup wait.
    DivergentBarrier,
    /// No wave of the workgroup can make progress.
    Deadlock,
}

impl FindingKind {
    /// A short description of the problem.
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
    /// True for a note, which does not count as an error.
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
    /// Reads and writes atomically.
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

/// The bytes that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Access {
    /// The kind of access.
    pub kind: AccessKind,
    /// The memory that is accessed.
    pub space: Space,
    /// A global address, an offset in LDS, or an offset in the lane's scratch.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u32,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} bytes of {} at {:#x}", self.kind, self.bytes, self.space, self.address)
    }
}

/// One of the instructions involved in a finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Party {
    /// The instruction, its position, and the wave that executed it.
    pub site: Site,
    /// The lane; `None` for a scalar instruction, or if the finding does not concern a particular lane.
    pub lane: Option<u8>,
    /// The access, if the finding is about memory.
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

/// A sanitizer's report.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The kind of the problem.
    pub kind: FindingKind,
    /// The instruction at which it was detected.
    pub party: Party,
    /// The other instruction involved: the earlier access of a race, or the instruction of another wave at a barrier.
    pub other: Option<Party>,
    /// The register, if the finding is about one.
    pub register: Option<String>,
    /// The allocation that contains the bytes; for an access out of bounds the nearest allocation, for freed memory the former allocation.
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

/// A read or write that came too early, and how often (faithful mode).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stale {
    /// The violated rule, the two instructions, and the first occurrence.
    pub hazard: Hazard,
    /// The number of occurrences over all waves.
    pub count: u64,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "time" } else { "times" };
        write!(f, "{} {times}: {}", self.count, self.hazard)
    }
}
