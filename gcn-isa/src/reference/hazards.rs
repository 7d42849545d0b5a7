//! The wait-state rules that can apply to an instruction.

use std::collections::BTreeMap;

use super::page::{Hazard, HazardStates};
use super::{probe, targets_shown};
use crate::hazards::AnyRule as _;
use crate::hazards::{self, Kinds, Link, Role, Rule, View};
use crate::reg::Reg;
use crate::table::InstDesc;
use crate::target::Target;

/// The facts that have been found about one rule so far.
#[derive(Default)]
struct Found {
    first: bool,
    second: bool,
    /// For each target, the numbers of wait states after this instruction.
    states: BTreeMap<Target, Vec<u8>>,
}

/// The rules that can apply to an instruction of these rows, as the first or as the second instruction.
pub(super) fn hazards(rows: &[&'static InstDesc], target: Option<Target>) -> Vec<Hazard> {
    let mut found: BTreeMap<&'static str, Found> = BTreeMap::new();
    for row in rows {
        let variants = probe::variants(row);
        for target in targets_shown(row, target) {
            for inst in &variants {
                let view = View::new(target, inst);
                hazards::rules(target).for_each(|rule| note(&mut found, rule, target, &view));
            }
        }
    }
    hazards::all().filter_map(|rule| Some(hazard(rule, found.remove(rule.id)?))).collect()
}

fn note(found: &mut BTreeMap<&'static str, Found>, rule: &'static Rule, target: Target, view: &View) {
    let states = rule.states(target).map_or(0, |s| s.after(view.passes()));
    let first = states > 0 && rule.first.holds(view.kinds()) && can_cause(rule.link, view);
    let second = rule.second.holds(view.kinds()) && can_suffer(rule.link, view);
    if !first && !second {
        return;
    }
    let entry = found.entry(rule.id).or_default();
    entry.first |= first;
    entry.second |= second;
    let numbers = entry.states.entry(target).or_default();
    if first && !numbers.contains(&states) {
        numbers.push(states);
    }
}

/// True if the instruction satisfies the link's condition on the first instruction.
fn can_cause(link: Link, view: &View) -> bool {
    match link {
        Link::Registers { first, .. } => uses(view, first),
        Link::Crossing { .. } => uses(view, Role::VDST),
        Link::Writes(reg) => writes(view, reg),
        Link::Hwreg => view.kinds().intersects(Kinds::SETREG.union(Kinds::GETREG)),
        Link::Clause { .. } | Link::Always => true,
    }
}

/// True if the instruction satisfies the link's condition on the second instruction.
fn can_suffer(link: Link, view: &View) -> bool {
    match link {
        Link::Registers { second, .. } | Link::Crossing { second, .. } => uses(view, second),
        Link::Hwreg => view.kinds().intersects(Kinds::SETREG.union(Kinds::GETREG)),
        Link::Writes(_) | Link::Clause { .. } | Link::Always => true,
    }
}

fn uses(view: &View, roles: Role) -> bool {
    view.uses().iter().any(|u| u.role.intersects(roles))
}

fn writes(view: &View, reg: Reg) -> bool {
    view.uses().iter().any(|u| u.role.contains(Role::SDST) && u.reg.overlaps(reg))
}

fn hazard(rule: &'static Rule, found: Found) -> Hazard {
    let wait_states = found.states.into_iter().filter_map(|(target, mut after_this)| {
        after_this.sort_unstable();
        Some(HazardStates { target: target.name(), formula: rule.states(target)?.to_string(), after_this })
    });
    Hazard {
        id: rule.id,
        title: rule.title,
        citation: rule.cite,
        first: found.first,
        second: found.second,
        wait_states: wait_states.collect(),
        grade: rule.grade().to_string(),
        xnack_only: rule.xnack,
        note: rule.note,
    }
}
