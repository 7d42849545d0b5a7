//! The selection of rules: sets with names, and single rules that are added or removed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::counter::{self, CounterRule};
use super::evidence::{self, Counts, Evidence, Grade, UnknownName};
use super::observed::observations;
use super::remedy::{self, RemedyRule};
use super::row::Cite;
use super::rule::Rule;
use crate::cfg::Flow;
use crate::indexing::Indexing;
use crate::program::Program;
use crate::reg::MOST_VGPRS;
use crate::target::{Target, TargetSet};

/// The facts that rules of every kind have.
#[derive(Clone, Copy, Debug)]
pub struct RuleFacts {
    /// The rule's name.
    pub id: &'static str,
    /// A description of the violation.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: Cite,
    /// The targets to which the rule applies.
    pub targets: TargetSet,
    /// The sources that support the rule. The behaviour of GPUs is in the table of [`observations`]; [`AnyRule::evidence`] combines both.
    pub evidence: Evidence,
    /// True if the rule matters only while XNACK replay is on.
    pub xnack: bool,
    /// True if the rule concerns the distance between instructions.
    pub is_distance: bool,
    /// Further remarks.
    pub note: &'static str,
}

/// A rule of any kind, with the information that rule sets and pages need.
pub trait AnyRule {
    /// The facts that rules of every kind have.
    fn facts(&self) -> RuleFacts;

    /// The number of sites in shipping kernels that satisfy the rule, and the number of sites that break it.
    fn counts(&self) -> Counts {
        evidence::counts(self.facts().id)
    }

    /// The sources that support the rule, including the GPUs that were [observed](observations).
    fn evidence(&self) -> Evidence {
        let facts = self.facts();
        facts.evidence.with_observations(observations(facts.id))
    }

    /// How well the rule is supported.
    fn grade(&self) -> Grade {
        self.evidence().grade(self.counts())
    }
}

impl AnyRule for Rule {
    fn facts(&self) -> RuleFacts {
        let Rule { id, title, cite, evidence, xnack, note, .. } = *self;
        let cite = Cite::One(cite);
        RuleFacts { id, title, cite, targets: self.targets(), evidence, xnack, is_distance: true, note }
    }
}

impl AnyRule for CounterRule {
    fn facts(&self) -> RuleFacts {
        let CounterRule { id, title, cite, targets, evidence, xnack, note, .. } = *self;
        RuleFacts { id, title, cite, targets, evidence, xnack, is_distance: false, note }
    }
}

impl AnyRule for RemedyRule {
    fn facts(&self) -> RuleFacts {
        let RemedyRule { id, title, cite, targets, evidence, note, .. } = *self;
        let cite = Cite::One(cite);
        RuleFacts { id, title, cite, targets, evidence, xnack: false, is_distance: true, note }
    }
}

/// All rules: those about distances, then counters, then remedies. A rule's position is its number ([`number`]).
fn every() -> impl Iterator<Item = &'static dyn AnyRule> {
    let distances = super::all().map(|r| r as &dyn AnyRule);
    let counters = counter::ALL.into_iter().map(|r| r as &dyn AnyRule);
    distances.chain(counters).chain(remedy::all().map(|r| r as &dyn AnyRule))
}

static NUMBERS: LazyLock<BTreeMap<&'static str, usize>> =
    LazyLock::new(|| every().enumerate().map(|(number, rule)| (rule.facts().id, number)).collect());

/// The number of the rule with the name `id`. It is larger than every rule's number if there is no such rule.
pub(super) fn number(id: &str) -> usize {
    NUMBERS.get(id).copied().unwrap_or(NUMBERS.len())
}

/// The citation of the rule with the name `id`, restricted to the sources about `target`; `None` selects every target that has the rule.
/// The citation is empty if there is no such rule.
///
/// ```
/// use gcn_isa::Target;
/// use gcn_isa::hazards::citation;
///
/// assert_eq!(citation("waitcnt.raw", Some(Target::GFX942)), "CDNA3 ISA section 4.4");
/// assert_eq!(citation("waitcnt.raw", Some(Target::GFX1201)), "RDNA 4 ISA section 5.7");
/// ```
pub fn citation(id: &str, target: Option<Target>) -> String {
    let on =
        |facts: RuleFacts| facts.cite.on(target.map_or(facts.targets, |target| TargetSet::of(&[target])));
    facts(id).map(on).unwrap_or_default()
}

/// The facts about the rule with the name `id`, which may be of any kind; `None` if there is no such rule.
pub fn facts(id: &str) -> Option<RuleFacts> {
    every().map(AnyRule::facts).find(|facts| facts.id == id)
}

/// A named set of rules. If sources require different numbers of wait states, each number is a separate rule, so a set of rules also
/// determines the numbers.
///
/// A set is defined by its *sources*. If the available manuals do not mention a case, this does not mean that the case is safe.
///
/// ```
/// use gcn_isa::hazards::{RuleSet, rule};
///
/// let set: RuleSet = "fast".parse().unwrap();
/// assert!(set.config(true).counts(rule("cdna3.106").unwrap()));
/// assert!(!set.config(true).counts(rule("llvm.102.opcode").unwrap()));
/// let error = "all".parse::<RuleSet>().unwrap_err().to_string();
/// assert!(error.contains("safe, fast, manual, certain, llvm or mesa"), "{error}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RuleSet {
    /// All rules, so that for each case the largest number of any source applies.
    #[default]
    Safe,
    /// The requirements of the manuals, rocRoller or shipping kernels; all rules about counters except those that the manuals contradict;
    /// the requirements of XNACK replay; and on RDNA the requirements on which LLVM and Mesa agree. Requirements that come only from LLVM,
    /// only from Mesa or only from caution are excluded.
    Fast,
    /// The requirements of the vendor, in its manuals or, where LLVM agrees, in rocRoller: the grades from *documented*
    /// on.
    Manual,
    /// The requirements of manuals and LLVM that shipping kernels always satisfy.
    Certain,
    /// The waits that LLVM 22 inserts, for comparison. The set has LLVM's numbers even where other sources require more, and includes waits
    /// that are unnecessary. Hazard sequences are searched within each function separately.
    Llvm,
    /// The requirements of Mesa 25 on RDNA, and LLVM's rules about counters. Mesa has no wait states for GFX9.
    Mesa,
}

impl RuleSet {
    /// All rule sets.
    pub const ALL: [RuleSet; 6] =
        [RuleSet::Safe, RuleSet::Fast, RuleSet::Manual, RuleSet::Certain, RuleSet::Llvm, RuleSet::Mesa];

    /// The set's name.
    pub const fn name(self) -> &'static str {
        match self {
            RuleSet::Safe => "safe",
            RuleSet::Fast => "fast",
            RuleSet::Manual => "manual",
            RuleSet::Certain => "certain",
            RuleSet::Llvm => "llvm",
            RuleSet::Mesa => "mesa",
        }
    }

    /// True if the rule is in the set.
    pub fn contains(self, rule: &(impl AnyRule + ?Sized)) -> bool {
        let (evidence, counts) = (rule.evidence(), rule.counts());
        match self {
            RuleSet::Safe => !evidence.is_llvm_quirk(),
            RuleSet::Fast => is_fast(rule, evidence, counts),
            RuleSet::Manual => evidence.grade(counts) >= Grade::Documented,
            RuleSet::Certain => evidence.grade(counts) >= Grade::Certain,
            RuleSet::Llvm => evidence.llvm.is_asked_for(),
            RuleSet::Mesa if rule.facts().is_distance => evidence.mesa.is_asked_for(),
            RuleSet::Mesa => evidence.llvm.is_asked_for(),
        }
    }

    /// The set as a [`Config`]. The rules of XNACK replay are included if `xnack` is true.
    pub fn config(self, xnack: bool) -> Config {
        Config {
            xnack,
            follows_guesses: self == RuleSet::Safe,
            follows_indices: self != RuleSet::Llvm,
            follows_calls: self != RuleSet::Llvm,
            rules: BY_SET[self as usize],
        }
    }
}

/// True if some source other than LLVM and caution requires the rule, or if the rule concerns a feature that only the target ID can
/// exclude.
fn is_fast(rule: &(impl AnyRule + ?Sized), evidence: Evidence, counts: Counts) -> bool {
    let uncontradicted = || evidence.llvm.is_asked_for() && !evidence.manual.is_less();
    evidence.is_asked_for_by_amd()
        || evidence.is_agreed_on_by_compilers()
        || rule.facts().xnack
        || !evidence.is_llvm_quirk() && counts.are_kept()
        || !rule.facts().is_distance && uncontradicted()
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RuleSet {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<RuleSet, UnknownName> {
        let found = RuleSet::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| UnknownName::new("rule set", name, RuleSet::ALL.iter().map(|s| s.name())))
    }
}

/// The size of a set of rule numbers, in words of 64 bits.
const WORDS: usize = 4;

/// A set of rule numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Numbers([u64; WORDS]);

impl Numbers {
    fn of(wanted: impl Fn(&dyn AnyRule) -> bool) -> Numbers {
        let mut numbers = Numbers::default();
        every().enumerate().filter(|(_, rule)| wanted(*rule)).for_each(|(n, _)| numbers.set(n, true));
        numbers
    }

    fn has(self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn set(&mut self, number: usize, on: bool) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word = *word & !(1 << (number % 64)) | u64::from(on) << (number % 64);
        }
    }
}

static BY_SET: LazyLock<[Numbers; RuleSet::ALL.len()]> =
    LazyLock::new(|| RuleSet::ALL.map(|set| Numbers::of(|rule| set.contains(rule))));

/// The rules that are enabled.
///
/// ```
/// use gcn_isa::hazards::{Config, RuleSet, rule};
///
/// let config = RuleSet::Fast.config(true).with("llvm.exec-vmem")?.without("xnack.clause")?;
/// assert!(config.counts(rule("llvm.exec-vmem").unwrap()) && !config.counts(rule("xnack.clause").unwrap()));
/// let error = Config::default().without("cdna3.160").unwrap_err().to_string();
/// assert_eq!(error, "there is no rule `cdna3.160`; near it are cdna3.10, cdna3.100, cdna3.110");
/// # Ok::<(), gcn_isa::hazards::UnknownRule>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// True if XNACK replay may be on. Then the rules about it apply if they are in the set.
    pub xnack: bool,
    /// True to follow jumps with an unknown destination to every possible target ([`Config::flow`]). Requirements that are found on such
    /// paths are graded cautious.
    pub follows_guesses: bool,
    /// True to treat registers that are accessed through an index like registers that an instruction names. LLVM 22 considers only the
    /// latter.
    pub follows_indices: bool,
    /// True to continue the sequences of the rules with remedies into called functions and back to the caller. LLVM 22 considers each
    /// function separately.
    pub follows_calls: bool,
    rules: Numbers,
}

impl Default for Config {
    /// [`RuleSet::Safe`] with XNACK off.
    fn default() -> Config {
        RuleSet::Safe.config(false)
    }
}

impl From<RuleSet> for Config {
    fn from(set: RuleSet) -> Config {
        set.config(false)
    }
}

impl Config {
    /// The control flow to use with these rules. Findings on paths that are merely possible are graded cautious.
    pub fn flow(self, program: &Program) -> Flow {
        if self.follows_guesses { Flow::of(program) } else { Flow::sure(program) }
    }

    /// The registers that may be accessed through an index. There are none if these rules ignore indices.
    pub fn indexing(self, program: &Program, flow: &Flow) -> Indexing {
        // On targets on which `s_set_vgpr_msb` selects the upper bits of VGPR numbers, the numbers in the instructions alone denote the
        // wrong registers.
        let has_msbs = program.target.addressable_vgprs() == MOST_VGPRS.into();
        if self.follows_indices || has_msbs { Indexing::of(program, flow) } else { Indexing::default() }
    }

    /// The rules with at least this grade, with XNACK off.
    pub fn at_least(grade: Grade) -> Config {
        Config::default().and_at_least(grade)
    }

    /// The rules of this configuration that have at least this grade.
    #[must_use]
    pub fn and_at_least(self, grade: Grade) -> Config {
        let graded = |rule: &dyn AnyRule| rule.grade() >= grade;
        let rules = Numbers::of(|rule| self.rules.has(number(rule.facts().id)) && graded(rule));
        Config { rules, follows_guesses: self.follows_guesses && grade == Grade::Cautious, ..self }
    }

    /// The same rules with XNACK replay on or off.
    #[must_use]
    pub const fn with_xnack(self, xnack: bool) -> Config {
        Config { xnack, ..self }
    }

    /// These rules, with the rule `id` added.
    ///
    /// # Errors
    /// [`UnknownRule`] if there is no rule of this name.
    pub fn with(self, id: &str) -> Result<Config, UnknownRule> {
        self.set(id, true)
    }

    /// These rules, with the rule `id` removed.
    ///
    /// # Errors
    /// [`UnknownRule`] if there is no rule of this name.
    pub fn without(self, id: &str) -> Result<Config, UnknownRule> {
        self.set(id, false)
    }

    fn set(mut self, id: &str, on: bool) -> Result<Config, UnknownRule> {
        let number = NUMBERS.get(id).ok_or_else(|| UnknownRule::new(id))?;
        self.rules.set(*number, on);
        Ok(self)
    }

    /// True if the rule is enabled.
    pub fn counts(self, rule: &(impl AnyRule + ?Sized)) -> bool {
        self.has(number(rule.facts().id), rule.facts().xnack)
    }

    /// True if the rule with this number is enabled. `xnack` is true if the rule matters only with XNACK replay on.
    pub(super) fn has(self, number: usize, xnack: bool) -> bool {
        (self.xnack || !xnack) && self.rules.has(number)
    }
}

/// The error that there is no rule of the given name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no rule `{name}`; near it are {}", .near.join(", "))]
pub struct UnknownRule {
    name: String,
    near: Vec<&'static str>,
}

/// The number of similar names that an error lists.
const NEAR: usize = 3;

impl UnknownRule {
    fn new(name: &str) -> UnknownRule {
        let mut near: Vec<&'static str> = every().map(|rule| rule.facts().id).collect();
        near.sort_by_cached_key(|id| (strsim::levenshtein(name, id), *id));
        near.truncate(NEAR);
        UnknownRule { name: name.to_owned(), near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_number_of_its_own() {
        assert_eq!(NUMBERS.len(), every().count());
        assert!(NUMBERS.len() <= 64 * WORDS);
    }

    #[test]
    fn on_rdna_the_safe_set_is_the_stronger_of_two() {
        let mut one_sided = 0;
        for rule in remedy::all() {
            let asked = [RuleSet::Llvm, RuleSet::Mesa].iter().filter(|set| set.contains(rule)).count();
            one_sided += usize::from(asked == 1);
            // LLVM's unnecessary waits are not part of the set.
            let is_moot = rule.evidence.is_llvm_quirk();
            assert_eq!(RuleSet::Safe.contains(rule), asked > 0 && !is_moot, "{}", rule.id);
        }
        assert!(one_sided > 10, "{one_sided}");
    }
}
