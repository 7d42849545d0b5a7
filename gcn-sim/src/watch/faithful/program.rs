//! Data about a program's instructions that faithful mode computes before the run.

use gcn_isa::Inst;
use gcn_isa::hazards::{Config, Kinds};
use gcn_isa::table::{Access, Class};

use super::registers::{Changes, Slot};
use crate::core::machine::{Cx, Machine};
use crate::watch::strict;

/// Data about each instruction of a program.
pub(crate) struct Program {
    pub(super) strict: strict::Program,
    pub(super) info: Vec<Info>,
}

/// Data about one instruction.
pub(super) struct Info {
    pub(super) writes: Vec<Slot>,
    pub(super) reads: Vec<Slot>,
    lanes: WrittenLanes,
    /// True if the old values of the instruction's registers may be needed later.
    pub(super) watched: bool,
    /// True if a rule allows later instructions to overwrite the instruction's sources.
    pub(super) reads_late: bool,
    /// True if the instruction writes MODE.
    pub(super) mode: bool,
    /// True for a load that keeps part of its destination.
    pub(super) merges: bool,
    /// The bits that a load of half a register leaves unchanged.
    pub(super) kept: u32,
    /// True if the instruction reads memory through the scalar cache.
    pub(super) scalar_memory: bool,
}

/// The lanes of a vector register that an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenLanes {
    All,
    Exec,
    /// The lanes whose value changes.
    Changed,
}

impl Program {
    pub(crate) fn new(machine: &Machine, rules: Config) -> Program {
        let strict = strict::Program::new(machine, rules);
        let info = (0..machine.steps().len())
            .map(|at| Info::of(machine, &machine.steps()[at].inst, &strict.current(at, None)))
            .collect();
        Program { strict, info }
    }
}

impl Info {
    pub(super) fn of(machine: &Machine, inst: &Inst, now: &strict::Current<'_>) -> Info {
        let desc = inst.desc;
        let (effect, view) = (now.effect, now.view);
        let slots = |parts: &[strict::effect::Part]| -> Vec<Slot> {
            parts.iter().filter_map(|part| Slot::of(machine, part.unit)).collect()
        };
        let late = view.kinds().contains(Kinds::WIDE_STORE) || desc.is_matrix();
        Info {
            writes: slots(&effect.writes),
            reads: slots(&effect.reads),
            lanes: match desc.class {
                Class::Writelane => WrittenLanes::Changed,
                Class::Permlane => WrittenLanes::All,
                _ if desc.is_matrix() => WrittenLanes::All,
                _ => WrittenLanes::Exec,
            },
            watched: view.reach() > 0 || !effect.streams.is_empty(),
            reads_late: late,
            mode: desc.class == Class::Setreg || desc.does(gcn_isa::table::Behaviours::SKIPS_VECTOR),
            merges: !effect.streams.is_empty() && desc.operands.iter().any(|o| o.access == Access::ReadWrite),
            kept: match effect.writes[..] {
                [strict::effect::Part { half: Some(half), .. }] => !half.bits(),
                _ => 0,
            },
            scalar_memory: desc.is_smem(),
        }
    }

    pub(super) fn written_lanes(&self, cx: &Cx<'_>, changes: &Changes, exec: u64) -> u64 {
        match self.lanes {
            WrittenLanes::All => u64::MAX,
            WrittenLanes::Exec => exec,
            WrittenLanes::Changed => changes.changed_lanes(cx.w),
        }
    }
}
