//! The effects of an instruction on the sequences of each rule: the sequences that it ends, begins, continues and completes.

use smallvec::SmallVec;

use crate::hazards::remedy::rule::Unit;
use crate::hazards::remedy::{EndBy, RemedyRule, Step, Tie, Which, waits};
use crate::hazards::view::{Kinds, Role, View};
use crate::inst::{Inst, Via};

/// The units that an instruction uses.
pub(super) type Units = SmallVec<[Unit; 4]>;

/// The effects of an instruction on the sequences of one rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Act {
    /// The rule's index among the selected rules.
    pub rule: u8,
    /// The instruction ends the sequences at these stages.
    pub ends: u8,
    /// The instruction ends the sequences at these stages if a sequence has begun with one of these registers.
    pub ends_if_begun: Option<(u8, Units)>,
    /// The instruction ends the sequences at these stages that have one of these registers.
    pub ends_of: Option<(u8, Units)>,
    /// The same as `ends_of`, but applied after the instruction has taken its steps.
    pub ends_then: Option<(u8, Units)>,
    /// The steps that the instruction takes, by number, each with its registers.
    pub steps: SmallVec<[(u8, Units); 1]>,
    /// The registers of the instruction, if it is the second instruction of the rule.
    pub second: Option<Units>,
    /// The registers of each operand of the second instruction, for rules that distinguish operands.
    pub operands: SmallVec<[Units; 2]>,
}

impl Act {
    /// True if the instruction has no effect on the rule's sequences.
    fn is_idle(&self) -> bool {
        self.ends == 0
            && self.ends_if_begun.is_none()
            && self.ends_of.is_none()
            && self.ends_then.is_none()
            && self.steps.is_empty()
            && self.second.is_none()
    }
}

/// The effects of an instruction on the sequences of the selected rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Acts {
    pub of_rules: SmallVec<[Act; 4]>,
    /// The number that the instruction adds to each clock.
    pub clocks: [i32; CLOCKS],
}

/// The number of clocks: one each for vector ALU, transcendental and scalar ALU instructions, and one for wait states.
pub(super) const CLOCKS: usize = 4;

impl Acts {
    /// The effects of `inst`, whose view is `view`, under these rules.
    pub fn of(rules: &[&'static RemedyRule], inst: &Inst, view: &View) -> Acts {
        let waits = waits::of(view.target.instruction_set(), inst);
        let kinds = view.kinds();
        let mut acts = Acts { of_rules: SmallVec::new(), clocks: clocks(inst, kinds) };
        for (number, rule) in rules.iter().enumerate() {
            let mut act = Act { rule: number as u8, ..Act::default() };
            for end in rule.ends {
                match end.by {
                    EndBy::Kind(who) if who.holds(kinds) => act.ends |= end.stages,
                    EndBy::Waits(any) if waits.intersects(any) => act.ends |= end.stages,
                    EndBy::Reads(who, which) if who.holds(kinds) => {
                        act.ends_if_begun = some(end.stages, units(view, Role::SSRC, which));
                    }
                    EndBy::Uses(who, roles, which) if who.holds(kinds) => {
                        act.ends_of = some(end.stages, units(view, roles, which));
                    }
                    EndBy::UsesThen(who, roles, which) if who.holds(kinds) => {
                        act.ends_then = some(end.stages, units(view, roles, which));
                    }
                    _ => {}
                }
            }
            for (place, step) in rule.steps.iter().enumerate() {
                if let Some(units) = takes(step, view) {
                    act.steps.push((place as u8, units));
                }
            }
            act.second = takes(&rule.second, view);
            if rule.second.tie == Tie::Apart && act.second.is_some() {
                let uses = view.uses().iter().filter(|u| u.role.intersects(rule.second.roles));
                act.operands = uses.map(|u| rule.second.which.units(u.reg, u.half).collect()).collect();
                act.operands.sort_unstable();
                act.operands.dedup();
            }
            if !act.is_idle() {
                acts.of_rules.push(act);
            }
        }
        acts
    }
}

/// The stages and registers, or `None` if there are no registers.
fn some(stages: u8, units: Units) -> Option<(u8, Units)> {
    (!units.is_empty()).then_some((stages, units))
}

/// The registers with which an instruction takes a step; `None` if the instruction does not take the step.
fn takes(step: &Step, view: &View) -> Option<Units> {
    if !step.who.holds(view.kinds()) {
        return None;
    }
    if step.roles.is_empty() {
        return Some(Units::new());
    }
    let mut used = units(view, step.roles, step.which);
    let enough = match step.tie {
        Tie::Both | Tie::Apart => used.len() > 1,
        _ => !used.is_empty(),
    };
    if step.tie == Tie::Some {
        used.clear();
    }
    enough.then_some(used)
}

/// The relevant units that an instruction uses in some role, in ascending order.
fn units(view: &View, roles: Role, which: Which) -> Units {
    let uses = view.uses().iter().filter(|u| u.role.intersects(roles) && u.via < Via::AnyIndex);
    let mut units: Units = uses.flat_map(|u| which.units(u.reg, u.half)).collect();
    units.sort_unstable();
    units.dedup();
    units
}

fn clocks(inst: &Inst, kinds: Kinds) -> [i32; CLOCKS] {
    [
        kinds.intersects(Kinds::ANY_VALU).into(),
        kinds.contains(Kinds::TRANS).into(),
        (kinds.contains(Kinds::SALU) && !kinds.contains(Kinds::CONTROL)).into(),
        crate::hazards::wait_states(inst) as i32,
    ]
}
