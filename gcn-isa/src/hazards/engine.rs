//! Matches rules against instructions. All such queries go through this module.

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::clause;
use super::config::{self, Config};
use super::rule::{Link, Need, Overlap, Rule};
use super::since::Since;
use super::view::{Candidates, Kinds, Role, Use, View};
use crate::indexing::Indexed;
use crate::inst::{Inst, Via};
use crate::reg::Reg;
use crate::target::{InstructionSet, Target};

/// A rule of one target.
struct Entry {
    rule: &'static Rule,
    /// The rule's number among all rules.
    number: usize,
}

impl Entry {
    /// True if the rule is enabled.
    fn counts(&self, config: Config) -> bool {
        config.has(self.number, self.rule.xnack)
    }
}

/// The rules of each instruction set.
static BY_TARGET: LazyLock<[Vec<Entry>; InstructionSet::COUNT]> = LazyLock::new(|| {
    InstructionSet::ALL.map(|set| {
        let of_set = super::all().filter(|rule| rule.targets().has(set));
        of_set.map(|rule| Entry { rule, number: config::number(rule.id) }).collect()
    })
});

/// The rules of `target`.
fn rules(target: Target) -> &'static [Entry] {
    &BY_TARGET[target.instruction_set().index()]
}

/// The kinds of instructions that rules require between the first and the second instruction, by target.
static CROSSINGS: LazyLock<[Kinds; InstructionSet::COUNT]> = LazyLock::new(|| {
    let by = |e: &Entry| if let Link::Crossing { by, .. } = e.rule.link { by } else { Kinds::empty() };
    BY_TARGET.each_ref().map(|rules| rules.iter().map(by).fold(Kinds::empty(), Kinds::union))
});

/// The entry of [`CROSSINGS`] for `target`.
fn crossings(target: Target) -> Kinds {
    CROSSINGS[target.instruction_set().index()]
}

/// The rules whose first instruction may be this one, the kinds that the second instruction may have, and the largest number of wait states
/// among these rules.
fn candidates(view: &View) -> (Candidates, Kinds, u8) {
    let mut found = Candidates::new();
    let (mut binds, mut reach) = (Kinds::empty(), 0);
    for (i, Entry { rule, .. }) in rules(view.target).iter().enumerate() {
        // Few instructions satisfy the first condition of a rule, so this condition is tested first.
        if !rule.first.holds(view.kinds) || !produces(rule.link, view) {
            continue;
        }
        let states = rule.states(view.target).map_or(0, |s| s.after(view.passes));
        if states > 0 {
            found.push(i as u8);
            binds |= rule.second.any;
            reach = reach.max(states);
        }
    }
    (found, binds, reach)
}

/// True if `view` satisfies the link's condition on the first instruction.
fn produces(link: Link, view: &View) -> bool {
    match link {
        Link::Registers { first, .. } => view.uses_any(first),
        Link::Crossing { .. } => view.uses_any(Role::VDST),
        Link::Writes(reg) => view.writes_scalar(reg),
        Link::Hwreg => view.hwreg.is_some(),
        Link::Clause { .. } | Link::Always => true,
    }
}

impl View {
    /// Prepares `inst`, which does not access a register through an index.
    pub fn new(target: Target, inst: &Inst) -> View {
        View::indexed(target, inst, &Indexed::default())
    }

    /// Prepares `inst`; `indexed` lists the operands to which an index is added.
    pub fn indexed(target: Target, inst: &Inst, indexed: &Indexed) -> View {
        let mut view = View::without_rules(target, inst, indexed);
        view.crossing = view.kinds & crossings(target);
        (view.candidates, view.binds, view.reach) = candidates(&view);
        view
    }

    /// The largest requirement of any rule if `second` directly follows this instruction; `None` if no rule applies.
    pub fn required(&self, second: &View, config: Config) -> Option<Need> {
        self.required_since(second, config, Since::NOTHING)
    }

    /// The largest requirement of any rule if `second` follows this instruction after code that `since` summarises; `None` if no rule
    /// applies.
    pub fn required_since(&self, second: &View, config: Config, since: Since) -> Option<Need> {
        let mut best: Option<Need> = None;
        self.each_need(second, config, since, |need| {
            if best.is_none_or(|b| b.states < need.states) {
                best = Some(need);
            }
        });
        best
    }

    /// The requirement of each rule if `second` directly follows this instruction, the largest first.
    pub fn required_all(&self, second: &View, config: Config) -> SmallVec<[Need; 4]> {
        self.required_all_since(second, config, Since::NOTHING)
    }

    /// The requirement of each rule if `second` follows this instruction after code that `since` summarises, the largest first.
    pub fn required_all_since(&self, second: &View, config: Config, since: Since) -> SmallVec<[Need; 4]> {
        let mut needs = SmallVec::new();
        self.each_need(second, config, since, |need| needs.push(need));
        needs.sort_by_key(|n: &Need| std::cmp::Reverse(n.states));
        needs
    }

    /// Calls `found` with the requirement of each rule if `second` follows this instruction after code that `since` summarises.
    pub(crate) fn each_need(&self, second: &View, config: Config, since: Since, mut found: impl FnMut(Need)) {
        // No rule applies to most pairs of instructions, and the query ends here for them.
        if !self.binds.intersects(second.kinds) {
            return;
        }
        let rules = rules(self.target);
        for &i in &self.candidates {
            let entry = &rules[usize::from(i)];
            let rule = entry.rule;
            if !rule.second.holds(second.kinds) || !entry.counts(config) {
                continue;
            }
            let Some(bound) = linked(rule.link, self, second, since) else { continue };
            let states = rule.states(self.target).map_or(0, |s| s.after(self.passes));
            found(Need { rule, states, reg: bound.map(|b| b.reg), via: bound.map_or(Via::Name, |b| b.via) });
        }
    }
}

/// A register that links two instructions. `via` states how the instructions access it: by name or through an index. If they differ, `via`
/// is the less direct way.
#[derive(Clone, Copy)]
struct Bound {
    reg: Reg,
    via: Via,
}

/// `Some` if the link exists. The inner value is the register that links the two instructions, if there is one.
fn linked(link: Link, first: &View, second: &View, since: Since) -> Option<Option<Bound>> {
    let live = since.live();
    match link {
        Link::Crossing { second: b, by } if since.crossed().intersects(by) => {
            common(first, Role::VDST, second, b, Overlap::Any, live).map(Some)
        }
        Link::Crossing { .. } => None,
        Link::Registers { first: a, second: b, overlap } => {
            common(first, a, second, b, overlap, live).map(Some)
        }
        Link::Writes(reg) => Some(Some(Bound { reg, via: Via::Name })),
        Link::Hwreg => (first.hwreg == second.hwreg).then_some(None),
        Link::Clause { .. } => clause::conflict(std::iter::once(first), second)
            .map(|c| c.reg.map(|reg| Bound { reg, via: Via::Name })),
        Link::Always => Some(None),
    }
}

/// The requirement of the memory clause rule for `second` after the instructions `before`, which are in program order. The result is the
/// index in `before` of the conflicting instruction, and the requirement. It is `None` without XNACK.
///
/// `before` may begin anywhere, because the function finds the start of the clause. The remedy is to insert, before `second`, any
/// instruction that is not a memory instruction of the same kind as `second`.
pub fn clause_need<'a>(
    before: impl ExactSizeIterator<Item = &'a View> + DoubleEndedIterator + Clone,
    second: &View,
    config: Config,
) -> Option<(usize, Need)> {
    if !config.xnack || before.len() == 0 || second.clause_kind().is_none() {
        return None;
    }
    let entries = rules(second.target).iter().filter(|e| e.counts(config));
    let mut needs = entries.filter_map(|entry| {
        let Link::Clause { window } = entry.rule.link else { return None };
        if !entry.rule.second.holds(second.kinds) {
            return None;
        }
        let states = entry.rule.states(second.target)?.after(0);
        let found = clause::conflict(before.clone().rev().take(usize::from(window)), second)?;
        Some((
            before.len() - 1 - found.back,
            Need { rule: entry.rule, states, reg: found.reg, via: Via::Name },
        ))
    });
    needs.next()
}

/// True if the opcodes and pass counts of the two instructions satisfy the overlap condition.
fn alike(first: &View, second: &View, overlap: Overlap) -> bool {
    let same_opcode = first.opcode == second.opcode;
    let same_passes = first.passes == second.passes;
    match overlap {
        Overlap::Any | Overlap::AnyLive | Overlap::Partial | Overlap::PartialEver | Overlap::Exact => true,
        Overlap::AnySameOpcode => same_opcode,
        Overlap::AnyOtherOpcode | Overlap::ExactOtherOpcode => !same_opcode,
        Overlap::ExactSamePassesOtherOpcode => same_passes && !same_opcode,
        Overlap::ExactOtherPasses => !same_passes,
    }
}

/// True if the registers satisfy the overlap condition.
fn fits(x: &Use, y: &Use, overlap: Overlap) -> bool {
    match overlap {
        Overlap::Any | Overlap::AnyLive | Overlap::AnySameOpcode | Overlap::AnyOtherOpcode => {
            x.reg.overlaps(y.reg)
        }
        // If an index may select any register of a range, the selected tuple is unknown, so it may be the same tuple.
        _ if x.via.max(y.via) >= Via::Range => x.reg.overlaps(y.reg),
        Overlap::Partial | Overlap::PartialEver => x.reg.overlaps(y.reg) && x.reg != y.reg,
        _ => x.reg == y.reg,
    }
}

/// True if some register that the uses `x` and `y` share still has the value that `first` wrote, or if the overlap condition does not
/// require this.
fn is_live(first: &View, x: &Use, y: &Use, overlap: Overlap, live: u32) -> bool {
    let need_not = match overlap {
        Overlap::PartialEver => true,
        Overlap::AnyLive => false,
        _ => !x.role.contains(Role::VDST),
    };
    live == u32::MAX || need_not || first.owned() != Some(x.reg) || live & x.reg.shared_with(y.reg) != 0
}

/// The second instruction's register that overlaps a register of the first as required. A register that both instructions name is preferred
/// to a register that an index may access. `None` if no registers overlap as required.
fn common(first: &View, a: Role, second: &View, b: Role, overlap: Overlap, live: u32) -> Option<Bound> {
    if !second.roles.intersects(b) || !alike(first, second, overlap) {
        return None;
    }
    let mut best: Option<Bound> = None;
    for x in first.uses.iter().filter(|u| u.role.intersects(a)) {
        for y in second.uses.iter().filter(|y| y.role.intersects(b)) {
            let via = x.via.max(y.via);
            let nearer = best.is_none_or(|b| via < b.via);
            if nearer && fits(x, y, overlap) && is_live(first, x, y, overlap, live) {
                best = Some(Bound { reg: if via == Via::Name { y.reg } else { y.reg.common(x.reg) }, via });
                if via == Via::Name {
                    return best;
                }
            }
        }
    }
    best
}
