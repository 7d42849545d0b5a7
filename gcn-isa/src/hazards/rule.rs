//! The structure of a wait-state rule.

use std::fmt;

use super::evidence::Evidence;
use super::view::{Kinds, Role};
use crate::inst::Via;
use crate::reg::Reg;
use crate::target::{Target, TargetSet};

/// A requirement on the distance between two instructions.
#[derive(Debug)]
pub struct Rule {
    /// The name. It begins with `cdna3.` or `mi100.` and the manual's case, with `llvm.` if no manual has the rule, or with `rocroller.` if
    /// only rocRoller requires this much.
    pub id: &'static str,
    /// A description of the violation.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: &'static str,
    /// The condition on the first instruction.
    pub first: Condition,
    /// The condition on the second instruction.
    pub second: Condition,
    /// The way in which the second instruction depends on the first.
    pub link: Link,
    /// The number of wait states for each target. A target that is not listed does not have the rule.
    pub need: &'static [(TargetSet, WaitStates)],
    /// The statements of manuals, LLVM and rocRoller about the rule.
    pub evidence: Evidence,
    /// True if the rule matters only while XNACK replay is on.
    pub xnack: bool,
    /// Further remarks.
    pub note: &'static str,
}

impl Rule {
    /// The targets that have the rule.
    pub fn targets(&self) -> TargetSet {
        self.need.iter().fold(TargetSet::EMPTY, |set, n| set.union(n.0))
    }

    /// The number of wait states on `target`; `None` if the target does not have the rule.
    pub fn states(&self, target: Target) -> Option<WaitStates> {
        self.need.iter().find(|n| n.0.contains(target)).map(|n| n.1)
    }

    /// The kind of dependency.
    pub fn dependency(&self) -> Dependency {
        match self.link {
            Link::Registers { first, second, .. } => {
                let written = first.intersects(Role::VDST.union(Role::SDST));
                let writes = second.intersects(Role::VDST.union(Role::SDST));
                match (written, writes && !second.intersects(Role::READS)) {
                    (true, false) => Dependency::Raw,
                    (true, true) => Dependency::Waw,
                    (false, _) => Dependency::War,
                }
            }
            Link::Writes(_) | Link::Hwreg | Link::Crossing { .. } => Dependency::Raw,
            Link::Clause { .. } => Dependency::Replay,
            Link::Always => Dependency::Structural,
        }
    }
}

impl fmt::Display for Rule {
    /// Writes the name, the title, and the number of wait states for each target.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.title)?;
        for (i, (targets, states)) in self.need.iter().enumerate() {
            let names: Vec<&str> = targets.targets().map(Target::name).collect();
            write!(f, "{} {states} on {}", if i == 0 { ":" } else { ";" }, names.join(" "))?;
        }
        write!(f, " ({})", self.cite)
    }
}

impl PartialEq for Rule {
    /// Names are unique, so rules with equal names are equal.
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// A condition on one instruction: it has at least one kind of a set, and none of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The instruction must have at least one of these kinds.
    pub any: Kinds,
    /// The instruction must have none of these kinds.
    pub none: Kinds,
}

impl Condition {
    /// The condition that the instruction has one of `kinds`.
    pub const fn any(kinds: Kinds) -> Condition {
        Condition { any: kinds, none: Kinds::empty() }
    }

    /// The same condition, with `kinds` excluded.
    #[must_use]
    pub const fn but(self, kinds: Kinds) -> Condition {
        Condition { any: self.any, none: self.none.union(kinds) }
    }

    /// True if an instruction of these kinds satisfies the condition.
    pub fn holds(self, kinds: Kinds) -> bool {
        kinds.intersects(self.any) && !kinds.intersects(self.none)
    }
}

/// The relation between two instructions that is necessary for the rule to apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// The instructions use a common register: the first in one of the roles `first`, the second in one of the roles `second`.
    Registers {
        /// The roles of the register in the first instruction.
        first: Role,
        /// The roles of the register in the second instruction.
        second: Role,
        /// The required overlap of the two register tuples.
        overlap: Overlap,
    },
    /// The first instruction writes a vector register that the second uses in one of the roles `second`, and there is an instruction of
    /// `by` between them.
    Crossing {
        /// The roles of the register in the second instruction.
        second: Role,
        /// The kinds of the instruction in between.
        by: Kinds,
    },
    /// The first instruction writes this register or part of it. Every second instruction of the rule depends on this register, so nothing
    /// else is compared.
    Writes(Reg),
    /// The instructions access the same hardware register.
    Hwreg,
    /// The instructions are in one memory clause that must not be replayed as a whole: see [`super::clause_need`].
    Clause {
        /// The number of instructions of the clause before the second one that are examined.
        window: u8,
    },
    /// No relation is needed.
    Always,
}

/// The required overlap of two register tuples. *Exactly* means the same first register and the same size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// At least one common register.
    Any,
    /// At least one common register that has not been overwritten in between.
    AnyLive,
    /// At least one common register, in two instructions with the same opcode.
    AnySameOpcode,
    /// At least one common register, in two instructions with different opcodes.
    AnyOtherOpcode,
    /// At least one common register, but not exactly the same registers.
    Partial,
    /// The same as [`Overlap::Partial`], even if the registers have been overwritten in between.
    PartialEver,
    /// Exactly the same registers, regardless of the opcodes.
    Exact,
    /// Exactly the same registers, in instructions with different opcodes.
    ExactOtherOpcode,
    /// Exactly the same registers, in instructions with the same number of passes and different opcodes.
    ExactSamePassesOtherOpcode,
    /// Exactly the same registers, in instructions with different numbers of passes.
    ExactOtherPasses,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Overlap::Any => "any common register",
            Overlap::AnyLive => "any common register that no instruction in between has overwritten",
            Overlap::AnySameOpcode => "any common register, in two instructions of the same opcode",
            Overlap::AnyOtherOpcode => "any common register, in two instructions of different opcodes",
            Overlap::Partial => "a common register, but not exactly the same ones",
            Overlap::PartialEver => {
                "a common register, but not exactly the same ones, even if another instruction has overwritten it since"
            }
            Overlap::Exact => "exactly the same registers",
            Overlap::ExactOtherOpcode => "exactly the same registers, but different opcodes",
            Overlap::ExactSamePassesOtherOpcode => "exactly the same registers and the same number of passes, but different opcodes",
            Overlap::ExactOtherPasses => "exactly the same registers, but different numbers of passes",
        })
    }
}

/// The kind of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependency {
    /// The second instruction reads what the first writes.
    Raw,
    /// Both instructions write.
    Waw,
    /// The second instruction writes what the first reads.
    War,
    /// The instructions may be replayed together.
    Replay,
    /// No data flows between the instructions.
    Structural,
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dependency::Raw => "read after write",
            Dependency::Waw => "write after write",
            Dependency::War => "write after read",
            Dependency::Replay => "replay",
            Dependency::Structural => "structural",
        })
    }
}

/// A number of wait states, which may depend on the number of passes of the first instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitStates {
    /// A fixed number.
    Const(u8),
    /// The number of passes plus this number, which may be negative. The sum is at least zero.
    Passes(i8),
    /// `at2` after two passes, otherwise the number of passes plus `plus`.
    PassesBut2 {
        /// The number after two passes.
        at2: u8,
        /// The number that is added to any other number of passes.
        plus: i8,
    },
    /// This number after two passes, otherwise none.
    OnlyAt2(u8),
}

impl WaitStates {
    /// The number of wait states after an instruction with `passes` passes.
    pub const fn after(self, passes: u8) -> u8 {
        match self {
            WaitStates::Const(n) => n,
            WaitStates::Passes(k) => passes.saturating_add_signed(k),
            WaitStates::PassesBut2 { at2, .. } if passes == 2 => at2,
            WaitStates::PassesBut2 { plus, .. } => passes.saturating_add_signed(plus),
            WaitStates::OnlyAt2(n) if passes == 2 => n,
            WaitStates::OnlyAt2(_) => 0,
        }
    }
}

impl fmt::Display for WaitStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passes = |f: &mut fmt::Formatter<'_>, k: i8| match k {
            0 => f.write_str("passes"),
            1.. => write!(f, "passes + {k}"),
            _ => write!(f, "passes - {}", -i16::from(k)),
        };
        match *self {
            WaitStates::Const(n) => write!(f, "{n}"),
            WaitStates::Passes(k) => passes(f, k),
            WaitStates::PassesBut2 { at2, plus } => {
                passes(f, plus)?;
                write!(f, " ({at2} after 2 passes)")
            }
            WaitStates::OnlyAt2(n) => write!(f, "{n} after 2 passes, else 0"),
        }
    }
}

/// The requirement of a rule between two instructions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Need {
    /// The rule.
    pub rule: &'static Rule,
    /// The number of wait states between the two instructions.
    pub states: u8,
    /// The register through which the second instruction depends on the first; `None` if they have no common register.
    pub reg: Option<Reg>,
    /// Whether both instructions name the register, or one of them accesses it through an index.
    pub via: Via,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.id, self.rule.title)?;
        if let Some(reg) = self.reg {
            write!(f, " ({reg})")?;
        }
        write!(f, ": {} wait states", self.states)
    }
}
