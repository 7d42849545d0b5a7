//! All rules as plain values that can be printed or serialised.

use super::config::{AnyRule, RuleFacts, RuleSet};
use super::counter::{self, CounterRule};
use super::evidence::Counts;
use super::observed::{Observation, Seen, observations};
use super::remedy::{self, RemedyRule};
use super::rule::{Rule, WaitStates};
use super::view::Kinds;
use super::{FAMILIES, words};
use crate::table::{self, Class, InstDesc, WaveSizes};
use crate::target::{Target, TargetSet};

/// A rule of any kind.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RulePage {
    /// The rule's name.
    pub id: &'static str,
    /// The rule's family.
    pub family: &'static str,
    /// A description of the violation.
    pub title: &'static str,
    /// The conditions of wait-state rules on the two instructions; `None` for rules about counters and single
    /// instructions.
    pub pair: Option<PairFacts>,
    /// The targets that have the rule.
    pub targets: Vec<&'static str>,
    /// The citation of the source.
    pub citation: String,
    /// The statement of the manuals.
    pub manual: String,
    /// The statement of LLVM 22.
    pub llvm: String,
    /// The statement of rocRoller.
    pub rocroller: String,
    /// The statement of Mesa, for RDNA.
    pub mesa: String,
    /// The remedy that an RDNA rule requires; empty for other rules.
    pub remedy: String,
    /// True if hardware was observed to fail without the rule.
    pub hardware_fails: bool,
    /// The observations of the rule, each with its GPU, driver and date.
    pub observed: Vec<String>,
    /// Counts over hand-written shipping kernels.
    pub kernels: KernelCounts,
    /// Counts over compiled shipping kernels. They show whether code satisfies the rule, but not which source requires it.
    pub compiled: KernelCounts,
    /// The grade, which states how well the rule is supported.
    pub grade: &'static str,
    /// The rule sets that contain the rule.
    pub rule_sets: Vec<&'static str>,
    /// True if the rule matters only with XNACK replay on.
    pub xnack_only: bool,
    /// Further remarks.
    pub note: &'static str,
}

/// The conditions of a wait-state rule on the two instructions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PairFacts {
    /// The first instruction.
    pub first: String,
    /// The condition on the effects of the first instruction; may be empty.
    pub first_does: String,
    /// The second instruction.
    pub second: String,
    /// The condition on the effects of the second instruction; may be empty.
    pub second_does: String,
    /// The kind of dependency.
    pub dependency: String,
    /// The required overlap of the two instructions' registers. If the dependency has no registers, a description of what connects the
    /// instructions.
    pub overlap: String,
    /// The required wait states, by target.
    pub wait_states: Vec<TargetStates>,
}

/// The number of wait states that a rule requires on some targets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TargetStates {
    /// The targets.
    pub targets: Vec<&'static str>,
    /// The number, or a formula that depends on the number of passes of the first instruction.
    pub formula: String,
    /// The number of wait states for each number of passes of the first instruction. The list is empty if `formula` is a number.
    pub after: Vec<AfterPasses>,
}

/// The wait states after an instruction with a certain number of passes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AfterPasses {
    /// The number of passes of the first instruction.
    pub passes: u8,
    /// The number of wait states.
    pub states: u8,
}

/// [`Counts`] in serialisable form.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KernelCounts {
    /// The number of sites that satisfy the rule.
    pub kept: u64,
    /// The number of sites with exactly the required distance.
    pub exact: u64,
    /// The number of sites that satisfy the rule only because of an `s_nop` or `v_nop`.
    pub nops: u64,
    /// The number of sites that break the rule.
    pub broken: u64,
    /// The number of broken sites that are excused by matrix passes or by a branch in between.
    pub covered: u64,
    /// The number of code objects that break the rule.
    pub objects: u64,
    /// A text that summarises all these counts.
    pub summary: String,
}

/// All rules, or all rules of one target: first the wait-state rules of each family, then the other rules.
pub fn pages(target: Option<Target>) -> Vec<RulePage> {
    let wanted = |targets: TargetSet| target.is_none_or(|t| targets.contains(t));
    let pairs = FAMILIES.iter().flat_map(|(family, rules)| rules.iter().map(move |r| (*family, r)));
    let mut pages: Vec<RulePage> =
        pairs.filter(|p| wanted(p.1.targets())).map(|(family, rule)| of_pair(family, rule, target)).collect();
    pages.extend(counter::ALL.into_iter().filter(|r| wanted(r.targets)).map(of_counter));
    for (family, rules) in remedy::FAMILIES {
        pages.extend(rules.iter().filter(|r| wanted(r.targets)).map(|r| of_remedy(family, r)));
    }
    pages
}

fn of_pair(family: &'static str, rule: &'static Rule, target: Option<Target>) -> RulePage {
    let (first_does, second_does) = words::link(rule.link);
    let pair = PairFacts {
        first: words::condition(rule.first),
        first_does,
        second: words::condition(rule.second),
        second_does,
        dependency: words::dependency(rule),
        overlap: words::overlap(rule.link),
        wait_states: rule.need.iter().filter_map(|n| states(rule, n.0, n.1, target)).collect(),
    };
    RulePage { pair: Some(pair), ..page(family, rule) }
}

fn of_counter(rule: &'static CounterRule) -> RulePage {
    page("Counters, barriers and single instructions", rule)
}

fn of_remedy(family: &'static str, rule: &'static RemedyRule) -> RulePage {
    let waves = if rule.waves == WaveSizes::W64 { ", in programs with waves of 64 lanes" } else { "" };
    RulePage { remedy: format!("{}{waves}", rule.remedy), ..page(family, rule) }
}

impl From<Counts> for KernelCounts {
    fn from(counts: Counts) -> KernelCounts {
        KernelCounts {
            kept: counts.kept,
            exact: counts.exact,
            nops: counts.nops,
            broken: counts.broken,
            covered: counts.covered,
            objects: counts.objects,
            summary: counts.to_string(),
        }
    }
}

fn page(family: &'static str, rule: &impl AnyRule) -> RulePage {
    let RuleFacts { id, title, cite, targets, xnack, note, .. } = rule.facts();
    let evidence = rule.evidence();
    RulePage {
        id,
        family,
        title,
        pair: None,
        targets: names(targets),
        citation: cite.on(targets),
        manual: evidence.manual.to_string(),
        llvm: evidence.llvm.to_string(),
        rocroller: evidence.rocroller.to_string(),
        mesa: evidence.mesa.to_string(),
        remedy: String::new(),
        hardware_fails: evidence.fails,
        observed: observations(id).iter().map(in_words).collect(),
        kernels: rule.counts().into(),
        compiled: super::compiled_counts(id).into(),
        grade: rule.grade().name(),
        rule_sets: RuleSet::ALL.iter().filter(|s| s.contains(rule)).map(|s| s.name()).collect(),
        xnack_only: xnack,
        note,
    }
}

/// The observation as text: `fails on AMD Instinct MI300X (gfx942), driver 7.1.25424, 2026-11-29`.
fn in_words(seen: &Observation) -> String {
    let Observation { target, gpu, driver, date, .. } = seen;
    let what = if seen.seen == Seen::Fails { "fails" } else { "no failure was seen" };
    format!("{what} on {gpu} ({target}), driver {driver}, {date}")
}

fn names(targets: TargetSet) -> Vec<&'static str> {
    targets.targets().map(Target::name).collect()
}

fn states(rule: &Rule, on: TargetSet, states: WaitStates, only: Option<Target>) -> Option<TargetStates> {
    let targets: Vec<Target> =
        on.targets().filter(|t| only.map_or(Target::REPRESENTATIVES.contains(t), |o| o == *t)).collect();
    if targets.is_empty() {
        return None;
    }
    let mut passes = Vec::new();
    if !matches!(states, WaitStates::Const(_)) {
        targets.iter().for_each(|t| pass_counts(*t, rule.first.any, &mut passes));
        passes.sort_unstable();
    }
    Some(TargetStates {
        targets: targets.into_iter().map(Target::name).collect(),
        formula: states.to_string(),
        after: passes.into_iter().map(|p| AfterPasses { passes: p, states: states.after(p) }).collect(),
    })
}

/// Adds the numbers of passes that matrix instructions of these kinds take on `target`.
fn pass_counts(target: Target, kinds: Kinds, passes: &mut Vec<u8>) {
    for row in table::rows().iter().filter(|r| r.targets.contains(target) && matrix_kind(r).intersects(kinds))
    {
        let of_row = row.passes(target).map_or(&F8F6F4[..], |_| &[]);
        for p in row.passes(target).into_iter().chain(of_row.iter().copied()) {
            if !passes.contains(&p) {
                passes.push(p);
            }
        }
    }
}

/// The passes of the f8f6f4 instructions, by shape and format.
const F8F6F4: [u8; 3] = [4, 8, 16];

fn matrix_kind(row: &InstDesc) -> Kinds {
    match row.class {
        Class::MfmaXdl | Class::Smfmac => Kinds::XDL.union(Kinds::MATRIX),
        Class::MfmaSgemm => Kinds::SGEMM.union(Kinds::MATRIX),
        Class::MfmaDgemm => Kinds::DGEMM.union(Kinds::MATRIX),
        _ => Kinds::empty(),
    }
}
