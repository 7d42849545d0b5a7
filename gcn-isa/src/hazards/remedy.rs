//! RDNA hazards that wait states cannot prevent: sequences of instructions that must be interrupted in another way.
//!
//! A [`RemedyRule`] describes a sequence: one or more instructions that lead to a hazard ([`RemedyRule::steps`]), linked by registers, and
//! the instruction that must not follow them ([`RemedyRule::second`]). Instructions in between may end the sequence ([`RemedyRule::ends`]),
//! and so may a sufficient distance ([`Within`]); otherwise the program needs the [`Remedy`].
//!
//! If LLVM and Mesa differ, the common requirement is one rule, and the further requirements of each are separate rules. Therefore a rule
//! set is simply a set of rules: see [`RuleSet`](super::RuleSet).
//!
//! [`Sequences`](super::sequences::Sequences) matches the rules against a program.

mod fix;
mod memory;
pub(super) mod rule;
mod scalar;
mod vector;
pub(super) mod waits;

pub use fix::{Fix, FixParts};
pub use rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, WaitField, Which, Within};
pub use waits::{Dependency, Waits, waits_for_dependencies};

use super::evidence::{Evidence, Voice};
use super::rule::Condition;
use super::view::Kinds;
use crate::target::Target;

/// The rules of each family.
pub(super) const FAMILIES: [(&str, &[RemedyRule]); 3] = [
    ("Scalar registers of RDNA", scalar::RULES),
    ("Vector registers and EXEC of RDNA", vector::RULES),
    ("Memory instructions of RDNA", memory::RULES),
];

/// Every rule of every target, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static RemedyRule> {
    FAMILIES.into_iter().flat_map(|family| family.1)
}

/// The rules of `target`.
pub fn rules(target: Target) -> impl Iterator<Item = &'static RemedyRule> {
    all().filter(move |r| r.targets.contains(target))
}

/// Both LLVM and Mesa require the rule.
const BOTH: Evidence = Evidence::LLVM.mesa(Voice::Agrees);
/// LLVM requires the rule; Mesa requires less.
const MORE_IN_LLVM: Evidence = Evidence::LLVM.mesa(Voice::Less);
/// Mesa requires the rule; LLVM requires less.
const MORE_IN_MESA: Evidence = Evidence::of(Voice::Silent, Voice::Less).mesa(Voice::Agrees);

/// The condition that the instruction has one of `kinds`.
const fn anyone(kinds: Kinds) -> Condition {
    Condition::any(kinds)
}

/// The condition that the instruction has one of `kinds` and none of the kinds `none`.
const fn but(kinds: Kinds, none: Kinds) -> Condition {
    Condition { any: kinds, none }
}
