//! The parts of a rule with a remedy.

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
    /// Where it is written.
    pub cite: &'static str,
    /// The instruction sets that have it.
    pub targets: TargetSet,
    /// The sizes of waves that have it.
    pub waves: WaveSizes,
    /// The instructions that lead up to the hazard, in order; others may be in between.
    pub steps: &'static [Step],
    /// The instruction that must not follow them.
    pub second: Step,
    /// The events that end the danger.
    pub ends: &'static [End],
    /// The reach of the last step.
    pub within: Within,
    /// The remedy.
    pub remedy: Remedy,
    /// True if code outside the program may have taken the first step: the caller of a function, or its callees.
    pub outside: bool,
    /// True if one instruction may take the first two steps, by its own reads and writes.
    pub alone: bool,
    /// Who says so.
    pub evidence: Evidence,
    /// Further remarks.
    pub note: &'static str,
}

impl PartialEq for RemedyRule {
    /// Names are unique.
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
    /// The roles of the registers that count; empty if none counts.
    pub roles: Role,
    /// The registers that count.
    pub which: Which,
    /// The relation of the registers to those of the steps before.
    pub tie: Tie,
}

/// The registers that a step is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// VGPRs.
    Vgprs,
    /// SGPRs with a number, trap temporaries included.
    Sgprs,
    /// The same by aligned pairs.
    SgprPairs,
    /// VCC: its halves count as one.
    Vcc,
    /// VCC: each half for itself.
    VccHalves,
    /// EXEC: its halves count as one.
    Exec,
    /// Every scalar register but EXEC and `null`.
    Scalars,
}

/// A register as sequences tell them apart: SGPRs by number, then VGPRs.
pub(in crate::hazards) type Unit = u16;

/// Where VGPRs begin among units.
const VGPRS: Unit = 256;

/// Added to the unit of a register to denote only its lower or its upper half.
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
    /// The unit that register `number` of `file` belongs to; `None` if it does not count.
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

    /// The units of a tuple.
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

/// The relation of a step's registers to the sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// A first step: a sequence begins with each of them.
    Each,
    /// Using any one of them is enough.
    Some,
    /// The register of the sequence is among them.
    Same,
    /// One is in the sequence's aligned pair; the sequence continues with it.
    OfPair,
    /// The sequence continues with two registers: its own and another one of these.
    Another,
    /// Both registers of the sequence are among them.
    Both,
    /// The same, and they are in separate operands.
    Apart,
}

/// An event that ends the danger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// The event.
    pub by: EndBy,
    /// Bit i: ends sequences that have completed exactly the steps 0 to i.
    pub stages: u8,
}

/// An event that ends sequences of these stages.
pub(super) const fn end(by: EndBy, stages: u8) -> End {
    End { by, stages }
}

/// See [`End`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndBy {
    /// Such an instruction.
    Kind(Condition),
    /// An instruction that waits for all of one of these.
    Waits(Waits),
    /// Such an instruction, if it reads a register with which a sequence of the rule has begun on the same path.
    Reads(Condition, Which),
    /// Such an instruction, if it uses the sequence's register in one of these roles: it ends sequences of that
    /// register.
    Uses(Condition, Role, Which),
    /// The same, but only after the instruction itself has taken a step: the sequence before it counts once more.
    UsesThen(Condition, Role, Which),
}

/// The number of instructions of some kinds up to which the danger lasts between the last step and the second
/// instruction.
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
    /// Vector ALU instructions between the first step and the last; checked when the last is taken.
    pub valus_of_steps: u8,
}

impl Within {
    /// However far.
    pub const EVER: u8 = u8::MAX;
    /// However far.
    pub const ANY: Within = Within {
        valus: Within::EVER,
        transcendentals: Within::EVER,
        salus: Within::EVER,
        states: Within::EVER,
        valus_of_steps: Within::EVER,
    };
}

/// The remedy that a rule requires between the last step and the second instruction.
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
    /// This many wait states in all.
    States(u8),
    /// A smaller value in a field of the second instruction.
    Field(WaitField),
}

/// A field of direct loads from LDS that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitField {
    /// `wait_vdst` (`wait_va_vdst`): at most the number of vector ALU instructions since the last step, or 0 if one of them is
    /// transcendental, since those complete out of order.
    Valus,
    /// The same field: 0.
    NoValu,
    /// `wait_vm_vsrc`: 0.
    NoVmem,
}

impl fmt::Display for Remedy {
    /// The remedy in words. The exact statement, `` `s_waitcnt_depctr depctr_va_vdst(0)` ``, depends on the target, so
    /// this is `a wait for va_vdst(0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Wait(dependency) => write!(f, "a wait for `{}(0)`", dependency.name()),
            Remedy::VectorNops(1) => f.write_str("`v_nop`"),
            Remedy::VectorNops(count) => write!(f, "{count} vector ALU instructions, such as `v_nop`"),
            Remedy::MoveSource => f.write_str("`v_mov_b32` of its first source to itself"),
            Remedy::MoveNull => f.write_str("`s_mov_b32 null, 0`"),
            Remedy::WaitStores => f.write_str("`s_waitcnt_vscnt null, 0`"),
            Remedy::States(states) => write!(f, "{states} wait states"),
            Remedy::Field(WaitField::Valus) => {
                f.write_str("`wait_vdst` of at most the number of vector ALU instructions between, 0 if one is transcendental")
            }
            Remedy::Field(WaitField::NoValu) => f.write_str("`wait_vdst:0`"),
            Remedy::Field(WaitField::NoVmem) => f.write_str("`wait_vm_vsrc:0`"),
        }
    }
}
