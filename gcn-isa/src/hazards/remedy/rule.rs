//! The structure of a rule with a remedy.

use std::fmt;

use super::waits::{Dependency, Waits};
use crate::hazards::evidence::Evidence;
use crate::hazards::rule::Condition;
use crate::hazards::view::Role;
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::WaveSizes;
use crate::target::TargetSet;

/// A rule about a sequence of instructions that must be interrupted.
#[derive(Clone, Copy, Debug)]
pub struct RemedyRule {
    /// The name. It begins with `rdna.` if LLVM and Mesa have the same requirement, and with `llvm.` or `mesa.` if only that source
    /// requires this much.
    pub id: &'static str,
    /// A description of the violation.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: &'static str,
    /// The instruction sets that have the rule.
    pub targets: TargetSet,
    /// The wave sizes for which the rule applies.
    pub waves: WaveSizes,
    /// The instructions that lead to the hazard, in order. Other instructions may be in between.
    pub steps: &'static [Step],
    /// The instruction that must not follow the steps.
    pub second: Step,
    /// The events that end the sequence, so that the hazard no longer exists.
    pub ends: &'static [End],
    /// The distance from the last step over which the hazard lasts.
    pub within: Within,
    /// The remedy.
    pub remedy: Remedy,
    /// True if code outside the program (a function's caller or callees) may have taken the first step.
    pub outside: bool,
    /// True if one instruction may take the first two steps at once, the first by its reads and the second by its writes.
    pub alone: bool,
    /// The sources that support the rule.
    pub evidence: Evidence,
    /// Further remarks.
    pub note: &'static str,
}

impl PartialEq for RemedyRule {
    /// Names are unique, so rules with equal names are equal.
    fn eq(&self, other: &RemedyRule) -> bool {
        self.id == other.id
    }
}

impl Eq for RemedyRule {}

/// One instruction of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The condition on the instruction.
    pub who: Condition,
    /// The roles of the relevant registers; empty if the step does not depend on registers.
    pub roles: Role,
    /// The relevant registers.
    pub which: Which,
    /// The relation between the step's registers and those of the earlier steps.
    pub tie: Tie,
}

/// The registers that a step considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// VGPRs.
    Vgprs,
    /// Numbered SGPRs, including trap temporaries.
    Sgprs,
    /// Numbered SGPRs and trap temporaries, as aligned pairs.
    SgprPairs,
    /// VCC, with both halves treated as one register.
    Vcc,
    /// VCC, with each half treated as a separate register.
    VccHalves,
    /// EXEC, with both halves treated as one register.
    Exec,
    /// Every scalar register except EXEC and `null`.
    Scalars,
}

/// The number of a register in a sequence: SGPRs by number, then VGPRs.
pub(in crate::hazards) type Unit = u16;

/// The unit of the first VGPR.
const VGPRS: Unit = 256;

/// Flags added to the unit of a register to denote only its lower or its upper half.
const LOW: Unit = 1 << 12;
const HIGH: Unit = 1 << 13;
const HALVES: Unit = LOW | HIGH;

/// True if two units have a bit in common.
pub(in crate::hazards) fn meet(a: Unit, b: Unit) -> bool {
    a == b || a & !HALVES == b & !HALVES && (a & HALVES == 0 || b & HALVES == 0)
}

/// True if `a` has every bit of `b`.
pub(in crate::hazards) fn covers(a: Unit, b: Unit) -> bool {
    a == b || a == b & !HALVES
}

/// Trap temporaries, by number.
const TRAP_TEMPORARIES: std::ops::Range<u16> = 108..124;

impl Which {
    /// The unit to which register `number` of `file` belongs; `None` if this selection ignores the register.
    fn unit(self, file: RegFile, number: u16) -> Option<Unit> {
        let within = |tuple: Reg| (tuple.index..tuple.end()).contains(&number);
        let named = || number >= reg::VCC.index && !TRAP_TEMPORARIES.contains(&number);
        match (self, file) {
            (Which::Vgprs, RegFile::Vgpr) => Some(VGPRS + number),
            (Which::Vgprs, _) | (_, RegFile::Vgpr | RegFile::Agpr) => None,
            (Which::Sgprs, _) => (!named()).then_some(number),
            (Which::SgprPairs, _) => (!named()).then_some(number & !1),
            (Which::Vcc, _) => within(reg::VCC).then_some(reg::VCC.index),
            (Which::VccHalves, _) => within(reg::VCC).then_some(number),
            (Which::Exec, _) => within(reg::EXEC).then_some(reg::EXEC.index),
            (Which::Scalars, _) => (!within(reg::EXEC) && !within(reg::NULL)).then_some(number),
        }
    }

    /// The units of a tuple, or of one half of a register.
    pub(in crate::hazards) fn units(self, tuple: Reg, half: Option<Half>) -> impl Iterator<Item = Unit> {
        let half = half.map_or(0, |half| if half == Half::Low { LOW } else { HIGH });
        (tuple.index..tuple.end())
            .filter_map(move |number| self.unit(tuple.file, number))
            .map(move |u| u | half)
    }
}

/// The register that a unit denotes.
pub(in crate::hazards) fn register(unit: Unit) -> Reg {
    match (unit & !HALVES).checked_sub(VGPRS) {
        Some(number) => Reg::v(number, 1),
        None if unit == reg::VCC.index => reg::VCC,
        None if unit == reg::EXEC.index => reg::EXEC,
        None => Reg::s(unit, 1),
    }
}

/// The aligned pair of a unit.
pub(in crate::hazards) const fn pair(unit: Unit) -> Unit {
    unit & !1
}

/// The relation between the registers of a step and the register or registers of the sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// A sequence begins with each of the step's registers. This is possible only for the first step.
    Each,
    /// The step must use one of its registers, which need not be a register of the sequence.
    Some,
    /// The sequence's register is one of the step's registers.
    Same,
    /// One of the step's registers is in the aligned pair of the sequence's register. The sequence continues with this register of the
    /// step.
    OfPair,
    /// The sequence continues with two registers: its first register and another register of this step.
    Another,
    /// Both registers of the sequence are among the step's registers.
    Both,
    /// Both registers of the sequence are among the step's registers, in separate operands.
    Apart,
}

/// An event that ends a sequence, so that the hazard no longer exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// The event.
    pub by: EndBy,
    /// The stages at which the event ends a sequence: bit i stands for sequences that have completed exactly the steps
    /// 0 to i.
    pub stages: u8,
}

/// An event that ends sequences at these stages.
pub(super) const fn end(by: EndBy, stages: u8) -> End {
    End { by, stages }
}

/// The kind of event: see [`End`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndBy {
    /// An instruction that satisfies the condition.
    Kind(Condition),
    /// An instruction that waits for the completion of any of these dependencies.
    Waits(Waits),
    /// An instruction that satisfies the condition and reads a register with which a sequence of the rule has begun on the same path.
    Reads(Condition, Which),
    /// An instruction that satisfies the condition and uses the sequence's register in one of these roles. It ends only sequences of that
    /// register.
    Uses(Condition, Role, Which),
    /// The same as [`EndBy::Uses`], but evaluated after the instruction has taken its own steps. The instruction may first advance a
    /// sequence, and then ends the sequences that remain at the earlier stages.
    UsesThen(Condition, Role, Which),
}

/// The distance over which the hazard lasts after the last step. The fields are the maximum number of instructions of each kind between the
/// last step and the second instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// Vector ALU instructions, including matrix instructions.
    pub valus: u8,
    /// Transcendental instructions.
    pub transcendentals: u8,
    /// Scalar ALU instructions other than program control.
    pub salus: u8,
    /// Wait states: one for each instruction, N + 1 for `s_nop N`.
    pub states: u8,
    /// Vector ALU instructions between the first step and the last step. This limit is checked when the last step is taken.
    pub valus_of_steps: u8,
}

impl Within {
    /// The value for no limit.
    pub const EVER: u8 = u8::MAX;
    /// No limit on any kind.
    pub const ANY: Within = Within {
        valus: Within::EVER,
        transcendentals: Within::EVER,
        salus: Within::EVER,
        states: Within::EVER,
        valus_of_steps: Within::EVER,
    };
}

/// The remedy that must be inserted between the last step and the second instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// A wait for a dependency: `s_waitcnt_depctr`, or `s_wait_alu` on RDNA 4.
    Wait(Dependency),
    /// This number of vector ALU instructions. Only as many `v_nop` as are missing must be inserted.
    VectorNops(u8),
    /// `v_mov_b32 vN, vN` with the first source of the second instruction.
    MoveSource,
    /// `s_mov_b32 null, 0`.
    MoveNull,
    /// `s_waitcnt_vscnt null, 0`.
    WaitStores,
    /// This number of wait states.
    States(u8),
    /// A smaller value in a wait field of the second instruction.
    Field(WaitField),
}

/// A wait field of direct loads from LDS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitField {
    /// `wait_vdst` (`wait_va_vdst`): at most the number of vector ALU instructions since the last step, or 0 if one of
    /// them is transcendental, because transcendental instructions complete out of order.
    Valus,
    /// `wait_vdst` (`wait_va_vdst`) must be 0.
    NoValu,
    /// `wait_vm_vsrc` must be 0.
    NoVmem,
}

impl fmt::Display for Remedy {
    /// Writes a description of the remedy. The exact statement, `` `s_waitcnt_depctr depctr_va_vdst(0)` ``, depends on the target, so the
    /// text is `a wait for va_vdst(0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Wait(dependency) => write!(f, "a wait for `{}(0)`", dependency.name()),
            Remedy::VectorNops(1) => f.write_str("`v_nop`"),
            Remedy::VectorNops(count) => write!(f, "{count} vector ALU instructions, such as `v_nop`"),
            Remedy::MoveSource => f.write_str("`v_mov_b32` that copies the first source of the second instruction to itself"),
            Remedy::MoveNull => f.write_str("`s_mov_b32 null, 0`"),
            Remedy::WaitStores => f.write_str("`s_waitcnt_vscnt null, 0`"),
            Remedy::States(1) => f.write_str("1 wait state, such as `s_nop 0`"),
            Remedy::States(states) => write!(f, "{states} wait states"),
            Remedy::Field(WaitField::Valus) => {
                f.write_str("`wait_vdst:n` in the second instruction, where n is at most the number of vector ALU instructions in between, and 0 if one of these is transcendental")
            }
            Remedy::Field(WaitField::NoValu) => f.write_str("`wait_vdst:0` in the second instruction"),
            Remedy::Field(WaitField::NoVmem) => f.write_str("`wait_vm_vsrc:0` in the second instruction"),
        }
    }
}
