//! Wait-state rules: the distances that must separate two dependent instructions.
//!
//! GFX9 and CDNA machines do not interlock every dependency: software must leave a number of *wait states* (issue slots) between certain
//! pairs of instructions. Each such requirement is a [`Rule`], a value with its citation, its conditions on the first and the second
//! instruction, and the number of wait states. If a manual and LLVM disagree, the larger number is used, and the rule's [`Evidence`]
//! records the disagreement.
//!
//! One engine evaluates the rules. [`required`] answers for an ordered pair of instructions; [`View`] is an instruction prepared for many
//! such queries. No rule requires more than [`MAX_REACH`] wait states, and [`View::reach`] is the largest number that any rule may require
//! after one instruction, so a pass only has to examine the last few instructions of each path.
//!
//! The rules are not equally well supported. [`Grade`] states how well manuals, LLVM and counts over the vendor's own kernels support a
//! rule, and [`RuleSet`] selects rules by grade. The rules that do not concern wait states are in [`counter`]; [`pages`] returns all rules
//! as plain values.
//!
//! The distance between two instructions is the sum of [`wait_states`] of the instructions strictly between them along
//! the shortest path.
//!
//! One hazard of the manuals has no rule here: case 14 (VCC is written by its name and read by the number of the SGPR after the last one,
//! or the reverse). On these targets VCC has only one encoding, so no program can mix the two.

mod clause;
mod config;
pub mod counter;
mod engine;
mod evidence;
mod matrix;
mod memory;
mod mi100;
mod observed;
mod page;
pub mod remedy;
mod row;
mod rule;
mod salu;
pub mod sequences;
mod since;
mod valu;
mod view;
mod views;
mod words;

use smallvec::SmallVec;

pub use clause::ClauseKind;
pub use config::{AnyRule, Config, RuleFacts, RuleSet, UnknownRule, citation, facts};
pub use engine::clause_need;
pub use evidence::{Counts, Evidence, Grade, UnknownName, Voice, compiled_counts, counted_rules, counts};
pub use observed::{NoObservation, Observation, Seen, observation_table, observations, read_observations};
pub use page::{AfterPasses, KernelCounts, PairFacts, RulePage, TargetStates, pages};
pub use rule::{Condition, Dependency, Link, Need, Overlap, Rule, WaitStates};
pub use since::Since;
pub use view::{Kinds, Role, Use, View};
pub use views::Views;

use crate::inst::Inst;
use crate::operand::Operand;
use crate::table::Class;
use crate::target::Target;

/// The largest number of wait states that any rule requires on any target.
pub const MAX_REACH: u8 = 26;

/// The rules of each family.
const FAMILIES: [(&str, &[Rule]); 8] = [
    ("Hardware registers and M0", salu::RULES),
    ("Scalar results of the vector ALU", valu::SCALAR_RULES),
    ("Vector results of the vector ALU", valu::VECTOR_RULES),
    ("Memory instructions", memory::RULES),
    ("What matrix instructions read", matrix::INPUT_RULES),
    ("What XDL matrix instructions write", matrix::XDL_RULES),
    ("What f32 and f64 matrix instructions write", matrix::F32_F64_RULES),
    ("Matrix instructions of gfx908", mi100::RULES),
];

/// Every rule of every target, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.into_iter().flat_map(|family| family.1)
}

/// The rules of `target`.
pub fn rules(target: Target) -> impl Iterator<Item = &'static Rule> {
    all().filter(move |r| r.targets().contains(target))
}

/// The rule with the name `id`, for example `cdna3.105`; `None` if there is no such rule.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|r| r.id == id)
}

/// The largest number of wait states that any rule requires between `first` and a later `second`, with the default [`Config`]; `None` if no
/// rule applies.
pub fn required(target: Target, first: &Inst, second: &Inst) -> Option<Need> {
    View::new(target, first).required(&View::new(target, second), Config::default())
}

/// The requirement of each rule that applies to this ordered pair, the largest first.
pub fn required_all(target: Target, first: &Inst, second: &Inst) -> SmallVec<[Need; 4]> {
    View::new(target, first).required_all(&View::new(target, second), Config::default())
}

/// The largest number of wait states that any rule may require after `inst`, regardless of what follows.
pub fn reach(target: Target, inst: &Inst) -> u8 {
    View::new(target, inst).reach()
}

/// The number of wait states that `inst` itself provides between its neighbours: N + 1 for `s_nop N` (N modulo 16), one for every other
/// instruction, regardless of its duration. The passes of a matrix instruction do not count, nor does the time of an `s_waitcnt`.
pub fn wait_states(inst: &Inst) -> u32 {
    match (inst.desc.class, inst.operands.first()) {
        (Class::Nop, Some(Operand::Imm(n))) => (*n & 0xf) as u32 + 1,
        _ => 1,
    }
}

/// The number of wait states of the longest `s_nop`. The hardware takes the operand modulo 16.
const MOST_NOP_STATES: u32 = 16;

/// The operands of the shortest sequence of `s_nop` that provides `states` wait states.
///
/// ```
/// assert!(gcn_isa::hazards::nops(18).eq([15, 1]));
/// ```
pub fn nops(states: u32) -> impl Iterator<Item = u16> {
    let ends = (1..=states.div_ceil(MOST_NOP_STATES)).map(|n| n * MOST_NOP_STATES);
    ends.map(move |end| (states.min(end) - (end - MOST_NOP_STATES)) as u16 - 1)
}

/// The instructions of [`nops`] as text for messages: `` `s_nop 15` and `s_nop 1` ``.
pub fn nops_in_words(states: u32) -> String {
    let each: Vec<String> = nops(states).map(|n| format!("`s_nop {n}`")).collect();
    each.join(" and ")
}
