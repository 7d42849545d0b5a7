//! Stall reasons and pipelines, with the names of ROCm's PC sampling on CDNA3 and CDNA4.

use std::fmt;

use serde::Serialize;

/// The reason why a wave did not issue its next instruction, as named by ROCm's PC sampling.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Stall {
    /// The instruction has not been fetched yet: after a branch, or after a miss of the instruction cache.
    NoInstructionAvailable,
    /// A result of another pipeline is pending, and the hardware stalls the instruction until it is available.
    AluDependency,
    /// The wave waits at an `s_waitcnt`.
    Waitcnt,
    /// The wave executes an internal instruction, such as `s_nop`, that takes longer than a slot.
    InternalInstruction,
    /// The wave waits at a barrier.
    BarrierWait,
    /// Another wave was selected for the pipeline.
    ArbiterNotWin,
    /// The wave was selected, but the pipeline does not accept the instruction yet.
    ArbiterWinExStall,
    /// Any other reason, such as `s_sleep` or a counter that is at its maximum.
    Other,
}

impl Stall {
    /// The number of reasons.
    pub const COUNT: usize = 8;

    /// Every reason, in the order of the documentation.
    pub const ALL: [Stall; Stall::COUNT] = [
        Stall::NoInstructionAvailable,
        Stall::AluDependency,
        Stall::Waitcnt,
        Stall::InternalInstruction,
        Stall::BarrierWait,
        Stall::ArbiterNotWin,
        Stall::ArbiterWinExStall,
        Stall::Other,
    ];

    /// The name in ROCm's documentation ("Analyzing PC sampling data on CDNA3 and CDNA4 GPU architectures").
    pub const fn name(self) -> &'static str {
        match self {
            Stall::NoInstructionAvailable => "NO_INSTRUCTION_AVAILABLE",
            Stall::AluDependency => "ALU_DEPENDENCY",
            Stall::Waitcnt => "WAITCNT",
            Stall::InternalInstruction => "INTERNAL_INSTRUCTION",
            Stall::BarrierWait => "BARRIER_WAIT",
            Stall::ArbiterNotWin => "ARBITER_NOT_WIN",
            Stall::ArbiterWinExStall => "ARBITER_WIN_EX_STALL",
            Stall::Other => "OTHER",
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Numbers of cycles for each [`Stall`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stalls([u64; Stall::COUNT]);

impl Stalls {
    /// The cycles with one reason.
    pub fn get(&self, stall: Stall) -> u64 {
        self.0[stall as usize]
    }

    /// The cycles with any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons with a nonzero number of cycles, in descending order of cycles.
    pub fn by_length(&self) -> Vec<(Stall, u64)> {
        let mut list: Vec<_> =
            Stall::ALL.into_iter().map(|s| (s, self.get(s))).filter(|(_, n)| *n > 0).collect();
        list.sort_by_key(|(stall, cycles)| (std::cmp::Reverse(*cycles), *stall));
        list
    }

    #[inline]
    pub(crate) fn add(&mut self, stall: Stall, cycles: u64) {
        self.0[stall as usize] += cycles;
    }

    pub(crate) fn plus(&mut self, other: &Stalls) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

impl Serialize for Stalls {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Stall::ALL.into_iter().map(|s| (s.name(), self.get(s))))
    }
}

/// An execution pipeline, as named by ROCm's PC sampling. `EXP` is for graphics; no instruction here uses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Pipe {
    /// The vector ALU.
    #[serde(rename = "VALU")]
    Valu,
    /// The matrix cores.
    Matrix,
    /// LDS.
    #[serde(rename = "LDS")]
    Lds,
    /// The scalar ALU and scalar memory.
    Scalar,
    /// Vector memory: buffer, global and scratch instructions.
    Tex,
    /// Flat memory instructions.
    Flat,
    /// Branches and messages.
    Misc,
    /// No execution unit: the instruction buffer itself executes the instruction (`s_nop`, `s_waitcnt`, `s_barrier`, `s_sleep`, `s_endpgm` …).
    Internal,
}

impl Pipe {
    /// The number of pipelines.
    pub const COUNT: usize = 8;

    /// Every pipeline.
    pub const ALL: [Pipe; Pipe::COUNT] = [
        Pipe::Valu,
        Pipe::Matrix,
        Pipe::Lds,
        Pipe::Scalar,
        Pipe::Tex,
        Pipe::Flat,
        Pipe::Misc,
        Pipe::Internal,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Pipe::Valu => "VALU",
            Pipe::Matrix => "Matrix",
            Pipe::Lds => "LDS",
            Pipe::Scalar => "Scalar",
            Pipe::Tex => "Tex",
            Pipe::Flat => "Flat",
            Pipe::Misc => "Misc",
            Pipe::Internal => "Internal",
        }
    }

    /// The category of the pipeline as a bit. In a slot, a SIMD issues at most one instruction of each category. Buffer and flat
    /// instructions belong to the same category (rocprofiler-compute documentation, scheduler).
    pub(crate) const fn category(self) -> u8 {
        match self {
            Pipe::Valu => 1,
            Pipe::Matrix => 2,
            Pipe::Lds => 4,
            Pipe::Scalar => 8,
            Pipe::Tex | Pipe::Flat => 16,
            Pipe::Misc => 32,
            Pipe::Internal => 0,
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
