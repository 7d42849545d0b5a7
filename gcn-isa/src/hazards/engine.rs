//! The one place where rules are matched against instructions.

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::rule::{Config, Link, Need, Overlap, Rule, Same};
use super::view::{Kinds, Role, Use, View};
use crate::reg::Reg;
use crate::target::Target;

/// The rules by target, in target order.
static BY_TARGET: LazyLock<[Vec<&'static Rule>; 6]> =
    LazyLock::new(|| Target::ALL.map(|t| super::rules(t).collect()));

fn rules(target: Target) -> &'static [&'static Rule] {
    &BY_TARGET[target as usize]
}

/// Rules that an instruction meets the first condition of, as indices into its target's rules.
pub(super) type Candidates = SmallVec<[u8; 12]>;

/// The rules that can bind something behind an instruction, and the longest wait among them.
pub(super) fn candidates(view: &View) -> (Candidates, u8) {
    let mut found = Candidates::new();
    let mut reach = 0;
    for (i, rule) in rules(view.target).iter().enumerate() {
        let states = rule.states(view.target).map_or(0, |s| s.after(view.passes));
        if states > 0 && rule.first.holds(view.kinds) && produces(rule.link, view) {
            found.push(i as u8);
            reach = reach.max(states);
        }
    }
    (found, reach)
}

/// True if `view` has the first instruction's side of the link.
fn produces(link: Link, view: &View) -> bool {
    match link {
        Link::Registers { first, .. } => view.uses.iter().any(|u| u.role.intersects(first)),
        Link::Writes(reg) => view.writes_scalar(reg),
        Link::Hwreg => view.hwreg.is_some(),
        Link::Clause | Link::Always => true,
    }
}

impl View {
    /// The longest wait that any rule asks if `second` comes after this instruction.
    pub fn required(&self, second: &View, config: Config) -> Option<Need> {
        let mut best: Option<Need> = None;
        self.each_need(second, config, |need| {
            if best.is_none_or(|b| b.states < need.states) {
                best = Some(need);
            }
        });
        best
    }

    /// What each rule asks if `second` comes after this instruction, longest first.
    pub fn required_all(&self, second: &View, config: Config) -> SmallVec<[Need; 4]> {
        let mut needs = SmallVec::new();
        self.each_need(second, config, |need| needs.push(need));
        needs.sort_by_key(|n: &Need| std::cmp::Reverse(n.states));
        needs
    }

    fn each_need(&self, second: &View, config: Config, mut found: impl FnMut(Need)) {
        for &i in &self.candidates {
            let rule = rules(self.target)[usize::from(i)];
            if !rule.second.holds(second.kinds) || !config.counts(rule) {
                continue;
            }
            let Some(reg) = linked(rule.link, self, second) else { continue };
            let states = rule.states(self.target).map_or(0, |s| s.after(self.passes));
            found(Need { rule, states, reg });
        }
    }
}

/// `Some` if the link holds, with the register that makes it if there is one.
fn linked(link: Link, first: &View, second: &View) -> Option<Option<Reg>> {
    match link {
        Link::Registers { first: a, second: b, overlap } => common(first, a, second, b, overlap).map(Some),
        Link::Writes(reg) => Some(Some(reg)),
        Link::Hwreg => (first.hwreg == second.hwreg).then_some(None),
        Link::Clause => clause(first, second),
        Link::Always => Some(None),
    }
}

/// The second instruction's register that overlaps one of the first as asked.
fn common(first: &View, a: Role, second: &View, b: Role, overlap: Overlap) -> Option<Reg> {
    let same_opcode = first.opcode == second.opcode;
    match overlap {
        Overlap::AnySameOpcode if !same_opcode => return None,
        Overlap::AnyOtherOpcode if same_opcode => return None,
        _ => {}
    }
    let alike = |same| match same {
        Same::Opcode => same_opcode,
        Same::Passes => first.passes == second.passes,
    };
    let fits = |x: &Use, y: &Use| match overlap {
        Overlap::Exact(same) => x.reg == y.reg && alike(same),
        Overlap::NotExact(same) => x.reg.overlaps(y.reg) && !(x.reg == y.reg && alike(same)),
        _ => x.reg.overlaps(y.reg),
    };
    let mut pairs = first
        .uses
        .iter()
        .filter(|u| u.role.intersects(a))
        .flat_map(|x| second.uses.iter().filter(|u| u.role.intersects(b)).map(move |y| (x, y)));
    pairs.find(|(x, y)| fits(x, y)).map(|(_, y)| y.reg)
}

/// Two neighbours of one memory clause that must not be replayed together.
fn clause(first: &View, second: &View) -> Option<Option<Reg>> {
    let same_clause = |kind: Kinds| first.kinds.contains(kind) && second.kinds.contains(kind);
    if !same_clause(Kinds::VMEM) && !same_clause(Kinds::SMEM) {
        return None;
    }
    if second.kinds.intersects(Kinds::STORE.union(Kinds::LDS_DMA)) {
        return Some(None);
    }
    let written = Role::VDST.union(Role::SDST);
    let members = [first, second];
    let pairs = members.into_iter().flat_map(|a| members.map(|b| (a, b)));
    pairs.into_iter().find_map(|(a, b)| common(a, written, b, Role::READS, Overlap::Any)).map(Some)
}
