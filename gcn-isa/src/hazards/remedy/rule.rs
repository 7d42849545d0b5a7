//! The structure of a rule with a remedy.

use std::fmt;

use super::waits::{Dependency, Waits};
use crate::hazards::evidence::Evidence;
use crate::hazards::rule::Condition;
use crate::hazards::view::Role;
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::WaveSizes;
use crate::target::TargetSet;

/// A sequence of instructions that something must interrupt.
#[derive(Clone, Copy, Debug)]
pub struct RemedyRule {
    /// Name: `rdna.` where LLVM and Mesa have the same requirement, `llvm.` and `mesa.` where only one of them requires
    /// that much.
    pub id: &'static str,
    /// The violation, in words.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: &'static str,
    /// The instruction sets that have the rule.
    pub targets: TargetSet,
    /// The wave sizes for which the rule applies.
    pub waves: WaveSizes,
    /// The instructions that lead up to the hazard, in order; others may be in between.
    pub steps: &'static [Step],
    /// The instruction that must not follow them.
    pub second: Step,
    /// The events that end the sequence, so that the hazard no longer exists.
    pub ends: &'static [End],
    /// How far after the last step the hazard lasts.
    pub within: Within,
    /// The remedy.
    pub remedy: Remedy,
    /// True if code outside the program (a function's caller or callees) may have taken the first step.
    pub outside: bool,
    /// True if one instruction may take the first two steps at once, by its reads and its writes.
    pub alone: bool,
    /// The sources that support the rule.
    pub evidence: Evidence,
    /// Further remarks.
    pub note: &'static str,
}

impl PartialEq for RemedyRule {
    /// Names are unique, so equal names mean equal rules.
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
    /// How the registers relate to those of the earlier steps.
    pub tie: Tie,
}

/// The registers that a step is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// VGPRs.
    Vgprs,
    /// Numbered SGPRs, trap temporaries included.
    Sgprs,
    /// Numbered SGPRs and trap temporaries, as aligned pairs.
    SgprPairs,
    /// VCC, with both halves treated as one register.
    Vcc,
    /// VCC, with each half treated as a register of its own.
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

/// How the registers of a step relate to the sequence's register or registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// Only for a first step: a sequence begins with each of the step's registers.
    Each,
    /// It is enough that the step uses any of the registers; they are not compared with the sequence's.
    Some,
    /// The sequence's register is among them.
    Same,
    /// One of them is in the aligned pair of the sequence's register; the sequence continues with this one.
    OfPair,
    /// The sequence continues with two registers: its first one and another one from this step.
    Another,
    /// Both registers of the sequence are among them.
    Both,
    /// Both registers of the sequence are among them, in separate operands.
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
    /// An instruction that meets the condition.
    Kind(Condition),
    /// An instruction that waits for any one of these dependencies completely.
    Waits(Waits),
    /// An instruction that meets the condition and reads a register with which a sequence of the rule has begun on the
    /// same path.
    Reads(Condition, Which),
    /// An instruction that meets the condition and uses the sequence's register in one of these roles. It ends only
    /// sequences of that register.
    Uses(Condition, Role, Which),
    /// As [`EndBy::Uses`], but evaluated after the instruction has taken its own steps: it may first advance a sequence
    /// and then end those that remain at the earlier stages.
    UsesThen(Condition, Role, Which),
}

/// The distance over which the hazard lasts after the last step: the largest number of instructions of each kind that
/// may come between the last step and the second instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// Vector ALU instructions, matrix instructions included.
    pub valus: u8,
    /// Transcendental instructions.
    pub transcendentals: u8,
    /// Scalar ALU instructions other than program control.
    pub salus: u8,
    /// Wait states: one for each instruction, N + 1 for `s_nop N`.
    pub states: u8,
    /// Vector ALU instructions between the first step and the last; checked when the last step is taken.
    pub valus_of_steps: u8,
}

impl Within {
    /// No limit.
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

/// The remedy that must be placed between the last step and the second instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// A wait for a dependency: `s_waitcnt_depctr`, or `s_wait_alu` on RDNA 4.
    Wait(Dependency),
    /// This many vector ALU instructions in all: as many `v_nop` as are missing.
    VectorNops(u8),
    /// `v_mov_b32 vN, vN` with the first source of the second instruction.
    MoveSource,
    /// `s_mov_b32 null, 0`.
    MoveNull,
    /// `s_waitcnt_vscnt null, 0`.
    WaitStores,
    /// This many wait states in total.
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
    /// The remedy in words. The exact statement, `` `s_waitcnt_depctr depctr_va_vdst(0)` ``, depends on the target, so
    /// the text is `a wait for va_vdst(0)`.
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
                f.write_str("a `wait_vdst` in the second instruction of at most the number of vector ALU instructions in between, or of 0 if one of these is transcendental")
            }
            Remedy::Field(WaitField::NoValu) => f.write_str("`wait_vdst:0` in the second instruction"),
            Remedy::Field(WaitField::NoVmem) => f.write_str("`wait_vm_vsrc:0` in the second instruction"),
        }
    }
}
