//! The cases in which LLVM 22 differs from the guide, and the cases in which the guide contradicts itself.
//!
//! The tables follow the guide. This module's test against LLVM's memory legalizer fails if there is a difference that is not listed here,
//! or if an entry is no longer a difference.

use super::{Mode, Operation, Ordering, Scope, Space};
use crate::Target;

/// A combination of a target and an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applies {
    /// The target.
    pub target: Target,
    /// The mode.
    pub mode: Mode,
    /// The operation.
    pub operation: Operation,
    /// The ordering.
    pub ordering: Ordering,
    /// The scope.
    pub scope: Scope,
    /// The address space; it has no meaning for a fence.
    pub space: Space,
}

/// A difference between the guide and LLVM 22.1.8.
#[derive(Debug)]
pub struct Difference {
    /// A short name.
    pub id: &'static str,
    /// A description of the combinations with the difference.
    pub place: &'static str,
    /// The guide's sequence, which this project emits.
    pub guide: &'static str,
    /// LLVM's sequence.
    pub llvm: &'static str,
    /// Returns true if the difference applies to a combination.
    pub applies: fn(Applies) -> bool,
}

/// A row for which the guide contradicts itself or has no statement.
#[derive(Debug)]
pub struct Erratum {
    /// The rows.
    pub rows: &'static str,
    /// The printed text.
    pub printed: &'static str,
    /// The entry in our tables, and the reason for it.
    pub taken: &'static str,
}

/// All differences.
pub static DIFFERENCES: &[Difference] = &[
    Difference {
        id: "lds-release",
        place: "release, acq_rel and seq_cst on LDS, workgroup scope and wider",
        guide: "nothing before the access: LDS operations of a wave are done in order",
        llvm: "`s_waitcnt lgkmcnt(0)` before the access",
        applies: |at| {
            at.mode == Mode::Normal
                && at.operation != Operation::Fence
                && at.space == Space::Local
                && at.scope >= Scope::Workgroup
                && at.ordering.releases()
        },
    },
    Difference {
        id: "tgsplit-lgkmcnt",
        place: "TgSplit mode, workgroup scope and wider: fences, and what stands before a release or a seq_cst load",
        guide: "no lgkmcnt(0): there is no LDS in this mode",
        llvm: "waits for lgkmcnt(0) as well",
        applies: |at| {
            at.mode == Mode::TgSplit
                && (at.operation == Operation::Fence || at.space != Space::Local && at.ordering.releases())
                && at.scope >= Scope::Workgroup
        },
    },
    Difference {
        id: "tgsplit-generic-acq_rel",
        place: "TgSplit mode, workgroup scope: after an acq_rel or seq_cst atomicrmw of the generic address space",
        guide: "`s_waitcnt vmcnt(0) lgkmcnt(0)`: of the two only vmcnt(0) is conditional",
        llvm: "`s_waitcnt vmcnt(0)`, as the guide has after an acquire",
        applies: |at| {
            at.mode == Mode::TgSplit
                && at.operation == Operation::Rmw
                && matches!(at.ordering, Ordering::AcqRel | Ordering::SeqCst)
                && at.scope == Scope::Workgroup
                && at.space == Space::Generic
        },
    },
];

/// All contradictions.
pub static ERRATA: &[Erratum] = &[
    Erratum {
        rows: "GFX940, atomicrmw release, workgroup and system",
        printed: "`sc0=1` on the access",
        taken: "no `sc0`: the same section says that `sc0` of a read-modify-write asks for the old value and has no part in \
                coherence",
    },
    Erratum {
        rows: "GFX940, atomicrmw release, agent",
        printed: "`sc1=1` on the access",
        taken: "no `sc1`: `sc1` tells system from agent scope, and the rows of the same scope for monotonic, acquire and \
                acq_rel have none",
    },
    Erratum {
        rows: "GFX90A, `buffer_wbl2`",
        printed: "no bits",
        taken: "no bits; LLVM's compiler sets bits 14 and 15 of the first word (`glc`, `scc`), for which its assembler has no \
                operand",
    },
    Erratum {
        rows: "all, loads from memory straight into LDS",
        printed: "nothing",
        taken: "nothing; LLVM waits for them at workgroup scope where it knows of any. They count on vmcnt: a fence of agent \
                scope waits for them, and so does `s_barrier` through the wait inserter",
    },
    Erratum {
        rows: "gfx950",
        printed: "nothing: the guide of LLVM 17 does not have it",
        taken: "the rows of GFX940, which LLVM 22 uses as well",
    },
];
