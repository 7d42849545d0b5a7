//! Wait-state rules: the distances that must separate two dependent instructions.
//!
//! GFX9 and CDNA machines do not interlock every dependency: software must leave a number of *wait states* (issue
//! slots) between certain pairs of instructions. Each such requirement is a [`Rule`], a value with its citation, its
//! conditions on the first and the second instruction, and the number of wait states. Where a manual and LLVM disagree
//! the larger number is used, and the rule's [`Evidence`] records that.
//!
//! One engine evaluates the rules. [`required`] answers for an ordered pair of instructions; [`View`] is an instruction
//! prepared for many such queries. No rule requires more than [`MAX_REACH`] wait states, and [`View::reach`] gives the
//! most that any rule may require after one instruction, so a pass need only examine the last few instructions of each
//! path.
//!
//! The rules are not equally well supported. [`Grade`] says how well manuals, LLVM and counts over the vendor's own
//! kernels support a rule, and [`RuleSet`] selects rules by grade. The rules that do not concern wait states are in
//! [`counter`]; [`pages`] returns all rules as plain values.
//!
//! The distance between two instructions is the sum of [`wait_states`] of the instructions strictly between them along
//! the shortest path.
//!
//! One hazard of the manuals has no rule here: case 14 (VCC written by name and read by the number of the SGPR after
//! it, or the reverse). On these targets VCC has only one encoding, so no program can mix the two.

mod clause;
mod config;
pub mod counter;
mod engine;
mod evidence;
mod matrix;
mod memory;
mod mi100;
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
pub use config::{AnyRule, Config, RuleFacts, RuleSet, UnknownRule, citation};
pub use engine::clause_need;
pub use evidence::{Counts, Evidence, Grade, UnknownName, Voice, compiled_counts, counted_rules, counts};
pub use page::{AfterPasses, KernelCounts, PairFacts, RulePage, TargetStates, pages};
pub use rule::{Condition, Dependency, Link, Need, Overlap, Rule, WaitStates};
pub use since::Since;
pub use view::{Kinds, Role, Use, View};
pub use views::Views;

use crate::inst::Inst;
use crate::operand::Operand;
use crate::table::Class;
use crate::target::Target;

/// The most wait states that any rule requires on any target.
pub const MAX_REACH: u8 = 26;

/// The rules, family by family.
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

/// The rule called `id`, for example `cdna3.105`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|r| r.id == id)
}

/// The longest wait that any rule requires between `first` and a later `second`, with the default [`Config`].
pub fn required(target: Target, first: &Inst, second: &Inst) -> Option<Need> {
    View::new(target, first).required(&View::new(target, second), Config::default())
}

/// The requirement of each rule that binds this ordered pair, longest first.
pub fn required_all(target: Target, first: &Inst, second: &Inst) -> SmallVec<[Need; 4]> {
    View::new(target, first).required_all(&View::new(target, second), Config::default())
}

/// The most wait states that any rule may require after `inst`, whatever follows.
pub fn reach(target: Target, inst: &Inst) -> u8 {
    View::new(target, inst).reach()
}

/// The wait states that `inst` itself contributes between its neighbours: N + 1 for `s_nop N` (N modulo 16), one for
/// every other instruction, however long it takes. A matrix instruction's passes do not count, nor does the time of an
/// `s_waitcnt`.
pub fn wait_states(inst: &Inst) -> u32 {
    match (inst.desc.class, inst.operands.first()) {
        (Class::Nop, Some(Operand::Imm(n))) => (*n & 0xf) as u32 + 1,
        _ => 1,
    }
}

/// Wait states of the longest `s_nop`: the hardware takes its operand modulo 16.
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

/// The instructions of [`nops`] as messages show them: `` `s_nop 15` and `s_nop 1` ``.
pub fn nops_in_words(states: u32) -> String {
    let each: Vec<String> = nops(states).map(|n| format!("`s_nop {n}`")).collect();
    each.join(" and ")
}
