//! Memory clauses under XNACK: sequences of memory instructions that a page fault replays as a whole.
//!
//! Adjacent scalar memory instructions form a clause, and so do adjacent vector memory instructions. Any other instruction between two of
//! them, including a branch or an `s_nop`, ends the clause; a label does not. When one instruction of a clause faults, other instructions
//! of the clause may execute again. Therefore no instruction of a clause may overwrite a register that an instruction of the clause reads,
//! and a store must not follow a load. It is not enough to compare adjacent instructions: the conflict may be with any earlier instruction
//! of the clause (measured with LLVM 22).

use super::view::{Kinds, Role, View};
use crate::reg::{Reg, RegUnit};

/// The two kinds of memory clauses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClauseKind {
    /// A clause of scalar memory instructions.
    Scalar,
    /// A clause of vector memory instructions.
    Vector,
}

impl View {
    /// The kind of clause to which the instruction belongs; `None` if the instruction ends a clause.
    pub fn clause_kind(&self) -> Option<ClauseKind> {
        if self.kinds.contains(Kinds::SMEM) {
            Some(ClauseKind::Scalar)
        } else if self.kinds.contains(Kinds::VMEM) {
            Some(ClauseKind::Vector)
        } else {
            None
        }
    }
}

/// The reason why an instruction must not join the clause before it.
pub(super) struct Conflict {
    /// The conflicting instruction of the clause, counted backwards from the clause's last instruction, which is number 0.
    pub back: usize,
    /// The register that one of the two instructions writes and the other reads; `None` for a store after a load.
    pub reg: Option<Reg>,
}

/// The conflict of `second` with the clause at the end of `before`, which lists its instructions last first; `None` if there is no
/// conflict.
pub(super) fn conflict<'a>(
    before: impl Iterator<Item = &'a View> + Clone,
    second: &View,
) -> Option<Conflict> {
    let kind = second.clause_kind()?;
    let clause = before.take_while(|v| v.clause_kind() == Some(kind));
    let mut written = Registers::default();
    let mut read = Registers::default();
    for member in clause.clone() {
        written.add(member, Role::WRITES);
        read.add(member, Role::READS);
    }
    // A clause that writes no registers may be replayed any number of times.
    let loads = clause.clone().position(|v| v.uses_any(Role::WRITES))?;
    if second.kinds.intersects(Kinds::STORE.union(Kinds::LDS_DMA)) {
        return Some(Conflict { back: loads, reg: None });
    }
    let partner = |reg: Reg, role| {
        let back = clause
            .clone()
            .position(|v| v.uses.iter().any(|u| u.role.intersects(role) && u.reg.overlaps(reg)));
        back.map(|back| Conflict { back, reg: Some(reg) })
    };
    if let Some(reg) = written.common(second, Role::READS) {
        return partner(reg, Role::WRITES);
    }
    if let Some(reg) = read.common(second, Role::WRITES) {
        return partner(reg, Role::READS);
    }
    let mut own = Registers::default();
    own.add(second, Role::READS);
    let within = own.common(second, Role::WRITES).or_else(|| written.first_common(&read));
    within.map(|reg| Conflict { back: loads, reg: Some(reg) })
}

/// A set of registers of all register files.
#[derive(Default)]
struct Registers([u64; RegUnit::COUNT.div_ceil(64)]);

impl Registers {
    /// Adds the registers that `view` uses in one of `roles`.
    fn add(&mut self, view: &View, roles: Role) {
        for unit in view.uses.iter().filter(|u| u.role.intersects(roles)).flat_map(|u| u.reg.units()) {
            if let Some(word) = self.0.get_mut(unit.index() / 64) {
                *word |= 1 << (unit.index() % 64);
            }
        }
    }

    fn has(&self, unit: RegUnit) -> bool {
        self.0.get(unit.index() / 64).is_some_and(|word| word >> (unit.index() % 64) & 1 == 1)
    }

    /// A register of this set that `view` uses in one of `roles`; `None` if there is none.
    fn common(&self, view: &View, roles: Role) -> Option<Reg> {
        let used = view.uses.iter().filter(|u| u.role.intersects(roles));
        used.flat_map(|u| u.reg.units()).find(|unit| self.has(*unit)).map(RegUnit::reg)
    }

    /// A register that is in both sets; `None` if there is none.
    fn first_common(&self, other: &Registers) -> Option<Reg> {
        let words = self.0.iter().zip(&other.0).map(|(a, b)| a & b);
        let (at, bits) = words.enumerate().find(|w| w.1 != 0)?;
        RegUnit::from_index(at * 64 + bits.trailing_zeros() as usize).map(RegUnit::reg)
    }
}
