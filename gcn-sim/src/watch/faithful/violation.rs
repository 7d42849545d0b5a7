//! Determines which wait-state rules an instruction violates, and with which consequences.

use gcn_isa::Reg;
use gcn_isa::hazards::{Config, Dependency, Link, Need, Overlap, Role, Since, Use, View};
use gcn_isa::reg::RegUnit;

use crate::core::machine::Machine;
use crate::core::site::Hazard;
use crate::watch::strict::states::too_close;

use super::registers::Slot;

/// A consequence of a violation. The second instruction is the one that executes too early; the first is the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The second reads the value that the register had before the first wrote it.
    Hide(Slot),
    /// The second uses the MODE register from before the first.
    HideMode,
    /// The result of the first is written to the register after that of the second.
    Land(Slot),
    /// The first uses the value that the second writes.
    Redo(Slot),
}

/// A violated rule.
pub(super) struct Violation {
    /// The index of the first instruction among the remembered ones.
    pub past: usize,
    pub actions: Vec<Action>,
    pub hazard: Option<Box<Hazard>>,
}

/// The first instruction of a pair.
#[derive(Clone, Copy)]
pub(super) struct First<'a> {
    /// The index of the instruction among the remembered ones.
    pub past: usize,
    pub at: usize,
    pub view: &'a View,
    /// Facts about the instructions executed since the first one.
    pub since: Since,
}

/// The violated rules between two instructions that are `distance` wait states apart.
pub(super) fn between(
    machine: &Machine,
    rules: Config,
    First { past, at: first, view: a, since }: First<'_>,
    b: &View,
    distance: u64,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let needs = a.required_all_since(b, rules, since);
    for need in needs.into_iter().filter(|n| u64::from(n.states) > distance) {
        let Some((actions, reg)) = actions(machine, &need, a, b, since.live()) else { continue };
        let hazard = too_close(machine, first, need.rule.id, need.states, distance, reg);
        found.push(Violation { past, actions, hazard: Some(hazard) });
    }
    found
}

/// The consequences of a violated rule, and the register that both instructions use; `None` if that register has been overwritten in
/// between.
fn actions(
    machine: &Machine,
    need: &Need,
    first: &View,
    second: &View,
    live: u32,
) -> Option<(Vec<Action>, Option<Reg>)> {
    let slot = |unit: RegUnit| Slot::of(machine, unit);
    match need.rule.link {
        Link::Registers { first: a, second: b, overlap } => {
            let mut actions = Vec::new();
            for (x, y) in pairs_of(first, a, second, b) {
                let slots = common(x, y, live_of(first, x, overlap, live)).filter_map(slot);
                // A use may have several roles; only the roles that the rule names count.
                let writes = y.role.intersects(b & Role::WRITES);
                let first_writes = x.role.intersects(a & Role::WRITES);
                actions.extend(slots.map(|slot| match (first_writes, writes) {
                    (true, false) => Action::Hide(slot),
                    (true, true) => Action::Land(slot),
                    (false, _) => Action::Redo(slot),
                }));
            }
            (!actions.is_empty()).then_some((actions, need.reg))
        }
        Link::Crossing { second: b, .. } => {
            let both = pairs_of(first, Role::VDST, second, b);
            let slots = both.flat_map(|(x, y)| common(x, y, u32::MAX)).filter_map(slot);
            Some((slots.map(Action::Hide).collect(), need.reg))
        }
        Link::Writes(reg) => Some((reg.units().filter_map(slot).map(Action::Hide).collect(), Some(reg))),
        Link::Hwreg => Some((vec![Action::HideMode], None)),
        // Among the rules without a link, only those about MODE define a consequence.
        Link::Always if need.rule.dependency() == Dependency::Structural => {
            Some((vec![Action::HideMode], None))
        }
        Link::Clause { .. } | Link::Always => Some((Vec::new(), need.reg)),
    }
}

fn pairs_of<'a>(
    first: &'a View,
    a: Role,
    second: &'a View,
    b: Role,
) -> impl Iterator<Item = (&'a Use, &'a Use)> {
    first.uses().iter().filter(move |x| x.role.intersects(a)).flat_map(move |x| {
        let fits = move |y: &&Use| y.role.intersects(b) && x.reg.overlaps(y.reg);
        second.uses().iter().filter(fits).map(move |y| (x, y))
    })
}

/// The part of `live`, the bits that still contain the first instruction's result, that concerns the use `x` under a rule with this
/// overlap.
fn live_of(first: &View, x: &Use, overlap: Overlap, live: u32) -> u32 {
    let matters = x.role.contains(Role::VDST) || overlap == Overlap::AnyLive;
    if matters && first.owned() == Some(x.reg) { live } else { u32::MAX }
}

/// The registers of both uses that still contain the first instruction's result.
fn common<'a>(x: &'a Use, y: &'a Use, live: u32) -> impl Iterator<Item = RegUnit> + 'a {
    let mine = move |i: usize| live == u32::MAX || i < 32 && live >> i & 1 == 1;
    let units = x.reg.units().enumerate().filter(move |(i, _)| mine(*i)).map(|(_, unit)| unit);
    units.filter(|unit| unit.reg().overlaps(y.reg))
}
