//! Waits that can be removed or weakened without breaking a rule.

use gcn_isa::check::{self, Amount};
use gcn_isa::hazards::Config;
use serde::Serialize;

use crate::code::Unit;

/// A wait that is stronger than any rule requires, provided that all other waits remain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Superfluous {
    /// The section that contains the wait.
    pub section: String,
    /// The function that contains the wait; `None` if it is in none.
    pub function: Option<String>,
    /// The index of the wait's line in the section's program.
    pub index: usize,
    /// The byte offset in the section.
    pub offset: u64,
    /// The line of the assembly file, from 1.
    pub line: Option<u32>,
    /// The wait.
    pub wait: String,
    /// The weaker wait that would be sufficient; `None` if it can be removed.
    pub enough: Option<String>,
    /// True if the wait is for outstanding stores or atomics. It may order them for other waves or the host, which no rule covers.
    pub may_order_memory: bool,
}

/// Lists the waits that can be removed or weakened, each considered separately, without breaking a rule of the set that is now satisfied.
/// Every other wait is needed: removing or weakening it would break a rule.
///
/// ```
/// use gcn_emit::{asm, code::Unit, rewrite::superfluous};
/// use gcn_isa::hazards::RuleSet;
///
/// let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\nv_mov_b32 v0, 0\ns_nop 4\nv_mov_b32 v1, v0\ns_endpgm\n";
/// let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
/// let unit = Unit::of_assembly(&asm::assemble("k.s", source, &options).unwrap()).unwrap();
/// let found = superfluous(&unit, RuleSet::Safe);
/// assert_eq!((found[0].line, found[0].wait.as_str(), &found[0].enough), (Some(3), "s_nop 4", &None));
/// ```
pub fn superfluous(unit: &Unit, rules: impl Into<Config>) -> Vec<Superfluous> {
    let rules = rules.into().with_xnack(unit.target_id.may_replay());
    let options = check::Options { rules, ..check::Options::default() };
    let mut found = Vec::new();
    for code in &unit.sections {
        for advice in check::advice(&code.program, options) {
            let Some(place) = code.places.get(advice.line) else { continue };
            found.push(Superfluous {
                section: code.section.clone(),
                function: code.function_of(advice.line).map(|f| f.name.clone()),
                index: advice.line,
                offset: place.offset,
                line: place.line,
                wait: text(advice.have).unwrap_or_default(),
                enough: text(advice.enough),
                may_order_memory: advice.may_order,
            });
        }
    }
    found
}

/// A wait as an instruction; `None` if it waits for nothing.
pub(super) fn text(amount: Amount) -> Option<String> {
    match amount {
        Amount::States(states @ 1..) => Some(format!("s_nop {}", states - 1)),
        Amount::Remedy { fix, target } if !fix.is_none() => Some(fix.statements(target).join("; ")),
        Amount::Wait(wait) if !wait.wait.is_none() => Some(wait.to_string()),
        _ => None,
    }
}
