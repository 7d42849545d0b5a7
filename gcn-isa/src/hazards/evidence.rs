//! The support for a rule by manuals, LLVM, rocRoller and shipping kernels, and the resulting grade.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The statements of manuals, LLVM, rocRoller and Mesa about a rule, and whether hardware was seen to fail without it. The behaviour of
/// shipping kernels is counted separately: [`Counts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// The statement of the manuals.
    pub manual: Voice,
    /// The statement of LLVM 22.
    pub llvm: Voice,
    /// The statement of rocRoller, AMD's generator of matrix multiplications: the wait state observers of its scheduler and their tests
    /// (commit 826b8ba2ed6f of July 2025; gfx908, gfx90a, gfx942, gfx950).
    pub rocroller: Voice,
    /// The statement of Mesa 25.0.7: the hazard pass of its shader compiler ACO and the tests of that pass (RDNA only).
    pub mesa: Voice,
    /// True if hardware computes wrong results when the rule is broken, according to a public report that includes the code.
    pub fails: bool,
}

/// The statement of one source about a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Voice {
    /// The rule is part of the machine's definition. No interpretation of the source makes the rule optional.
    Defines,
    /// The source requires this number or more.
    Agrees,
    /// The wording includes this number, but may not intend it.
    Covers,
    /// The source requires this number in code where it cannot matter.
    Moot,
    /// The source requires fewer wait states or a weaker wait, at least in some cases.
    Less,
    /// The source does not mention the case.
    Silent,
}

impl fmt::Display for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Voice::Defines => "defines it",
            Voice::Agrees => "requires it",
            Voice::Covers => "requires it by its wording",
            Voice::Moot => "requires it even where the hazard cannot occur",
            Voice::Less => "requires less",
            Voice::Silent => "does not mention it",
        })
    }
}

impl Voice {
    /// True if this source inserts or requires the wait, regardless of whether it has a good reason.
    pub const fn is_asked_for(self) -> bool {
        matches!(self, Voice::Defines | Voice::Agrees | Voice::Covers | Voice::Moot)
    }

    /// True if this source requires less than the rule.
    pub const fn is_less(self) -> bool {
        matches!(self, Voice::Less)
    }

    /// True if this source has a reason to require the rule.
    const fn is_meant(self) -> bool {
        matches!(self, Voice::Defines | Voice::Agrees | Voice::Covers)
    }
}

impl Evidence {
    /// The rule is part of the machine's definition.
    pub(super) const DEFINED: Evidence = Evidence::of(Voice::Defines, Voice::Agrees);
    /// The manual and LLVM have the same requirement.
    pub(super) const AGREED: Evidence = Evidence::of(Voice::Agrees, Voice::Agrees);
    /// Only the manual requires the rule.
    pub(super) const MANUAL: Evidence = Evidence::of(Voice::Agrees, Voice::Silent);
    /// The manual requires the rule; LLVM requires less.
    pub(super) const ABOVE_LLVM: Evidence = Evidence::of(Voice::Agrees, Voice::Less);
    /// Only LLVM requires the rule.
    pub(super) const LLVM: Evidence = Evidence::of(Voice::Silent, Voice::Agrees);
    /// LLVM requires the rule; the manual requires less.
    pub(super) const ABOVE_MANUAL: Evidence = Evidence::of(Voice::Less, Voice::Agrees);

    /// Only rocRoller requires the rule; LLVM requires less.
    pub(super) const ROCROLLER: Evidence = Evidence::of(Voice::Silent, Voice::Less).rocroller(Voice::Agrees);

    /// The evidence with these statements of the manual and of LLVM, and without statements of rocRoller and Mesa.
    pub(super) const fn of(manual: Voice, llvm: Voice) -> Evidence {
        Evidence { manual, llvm, rocroller: Voice::Silent, mesa: Voice::Silent, fails: false }
    }

    /// The same evidence with this statement of Mesa.
    #[must_use]
    pub(super) const fn mesa(self, mesa: Voice) -> Evidence {
        Evidence { mesa, ..self }
    }

    /// The same evidence with this statement of rocRoller.
    #[must_use]
    pub(super) const fn rocroller(self, rocroller: Voice) -> Evidence {
        Evidence { rocroller, ..self }
    }

    /// The same evidence with a failure that was observed on hardware.
    #[must_use]
    pub(super) const fn fails(self) -> Evidence {
        Evidence { fails: true, ..self }
    }

    /// True if the vendor's manuals, rocRoller or the hardware itself intentionally require the rule.
    pub const fn is_asked_for_by_amd(self) -> bool {
        self.manual.is_meant() || self.rocroller.is_meant() || self.fails
    }

    /// True if only LLVM requires the rule, and only where it cannot matter.
    pub const fn is_llvm_quirk(self) -> bool {
        matches!(self.llvm, Voice::Moot) && !self.is_asked_for_by_amd()
    }

    /// True if both LLVM and Mesa intentionally require the rule.
    pub const fn is_agreed_on_by_compilers(self) -> bool {
        matches!(self.llvm, Voice::Agrees) && self.mesa.is_meant()
    }

    /// The grade of a rule with these counts over shipping kernels.
    ///
    /// A rule is *documented* if the manual requires it, at least by its wording, if rocRoller and LLVM agree on it, or
    /// if hardware was observed to fail without it. A rule is *certain* if manual and LLVM agree and shipping kernels
    /// satisfy it, if it is part of the machine's definition, or if both LLVM and Mesa, whose source is AMD, require
    /// it. Every other rule is *cautious*.
    pub const fn grade(self, counts: Counts) -> Grade {
        match (self.manual, self.llvm) {
            (Voice::Defines, _) => Grade::Certain,
            _ if self.is_agreed_on_by_compilers() => Grade::Certain,
            (Voice::Agrees, Voice::Agrees) if counts.are_kept() => Grade::Certain,
            (Voice::Agrees | Voice::Covers, _) => Grade::Documented,
            (_, Voice::Agrees) if self.rocroller.is_meant() => Grade::Documented,
            _ if self.fails => Grade::Documented,
            _ => Grade::Cautious,
        }
    }
}

/// The number of sites in production kernels that satisfy a rule, and of those that break it. A *site* is an instruction to which the rule
/// applies together with an earlier instruction, if the earlier instruction is close enough for the rule to matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts {
    /// The number of sites that satisfy the rule.
    pub kept: u64,
    /// The number of sites with exactly the required distance.
    pub exact: u64,
    /// The number of sites that satisfy the rule only because of an `s_nop` or `v_nop`.
    pub nops: u64,
    /// The number of sites that break the rule. For rules about counters and single instructions, this is the number of findings.
    pub broken: u64,
    /// The number of broken sites that would satisfy the rule if matrix instructions in between counted as their number of passes, or that
    /// have a branch in between.
    pub covered: u64,
    /// The number of code objects that contain a site that breaks the rule.
    pub objects: u64,
}

impl Counts {
    /// True if the rule is satisfied on purpose (some sites have exactly the required distance, or an `s_nop` for it) and fewer than one
    /// site in ten breaks it without an excuse. Some violations are tolerated, because kernels also have defects.
    pub const fn are_kept(self) -> bool {
        let broken = self.broken.saturating_sub(self.covered);
        self.exact + self.nops > 0 && broken.saturating_mul(10) < self.kept.saturating_add(self.broken)
    }

    /// True if no site of the rule was found.
    pub const fn is_unseen(self) -> bool {
        self.kept + self.broken == 0
    }

    /// The sums of the two counts.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            kept: self.kept + other.kept,
            exact: self.exact + other.exact,
            nops: self.nops + other.nops,
            broken: self.broken + other.broken,
            covered: self.covered + other.covered,
            objects: self.objects + other.objects,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unseen() {
            return f.write_str("no sites");
        }
        let count = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        if self.kept > 0 {
            let verb = if self.kept == 1 { "satisfies" } else { "satisfy" };
            write!(f, "{} {verb} the rule", count(self.kept, "site"))?;
            let details: Vec<String> = [
                (self.exact, "with exactly the required distance"),
                (self.nops, "only because of an `s_nop` or `v_nop`"),
            ]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, how)| format!("{count} {how}"))
            .collect();
            if !details.is_empty() {
                write!(f, " ({})", details.join(", "))?;
            }
        }
        if self.broken > 0 {
            let verb = if self.broken == 1 { "breaks" } else { "break" };
            let between = if self.kept > 0 { ". " } else { "" };
            let objects = count(self.objects, "code object");
            write!(f, "{between}{} in {objects} {verb} the rule", count(self.broken, "site"))?;
        }
        if self.covered > 0 {
            let verb = if self.covered == 1 { "is" } else { "are" };
            write!(f, "; {} of these {verb} excused by matrix passes or a branch in between", self.covered)?;
        }
        Ok(())
    }
}

/// Counts over shipping kernels, with a line for each corpus, rule and target. The column `made` states whether the kernels were written by
/// hand or generated by a compiler. Only hand-written kernels are independent evidence: compiled code satisfies the rules of its compiler.
const COUNTED: &str = include_str!("../../data/evidence.tsv");

/// The counts of hand-written and of compiled kernels.
type ByMaker = [Counts; 2];

/// The possible values of `made`.
const MAKERS: [&str; 2] = ["hand", "compiler"];

/// The counts by rule, summed over all corpora and targets. The file is part of the crate, so an error in it is a bug that any test that
/// reads the counts finds. For this reason, an error causes a panic.
static COUNTS: LazyLock<BTreeMap<&'static str, ByMaker>> =
    LazyLock::new(|| read(COUNTED).unwrap_or_else(|line| panic!("evidence.tsv: no counts in `{line}`")));

/// Parses the table into counts by rule. Returns the malformed line if there is one. Columns are identified by their names.
fn read(table: &'static str) -> Result<BTreeMap<&'static str, ByMaker>, &'static str> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let mut rules = BTreeMap::new();
    for line in lines {
        let cells: Vec<&'static str> = line.split('\t').collect();
        let cell = |name| cells.get(header.iter().position(|h| *h == name)?).copied();
        let number = |name| cell(name)?.parse::<u64>().ok();
        let row = || {
            let counts = Counts {
                kept: number("kept")?,
                exact: number("exact")?,
                nops: number("nops")?,
                broken: number("broken")?,
                covered: number("covered")?,
                objects: number("broken_objects")?,
            };
            let made = cell("made")?;
            Some((cell("rule")?, MAKERS.iter().position(|m| *m == made)?, counts))
        };
        let (rule, made, counts) = row().ok_or(line)?;
        let sums: &mut ByMaker = rules.entry(rule).or_default();
        if let Some(sum) = sums.get_mut(made) {
            *sum = sum.plus(counts);
        }
    }
    Ok(rules)
}

/// The rules that were counted, ordered by name, with the counts of hand-written kernels.
pub fn counted_rules() -> impl Iterator<Item = (&'static str, Counts)> {
    COUNTS.iter().map(|(rule, [hand, _])| (*rule, *hand))
}

/// The counts over hand-written shipping kernels for the rule with the name `id`. They determine the rule's grade. All counts are zero if
/// the rule was not counted.
pub fn counts(id: &str) -> Counts {
    COUNTS.get(id).copied().unwrap_or_default()[0]
}

/// The counts over compiled shipping kernels for the rule with the name `id`.
pub fn compiled_counts(id: &str) -> Counts {
    COUNTS.get(id).copied().unwrap_or_default()[1]
}

/// A grade that states how well a rule is supported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Grade {
    /// Only LLVM or only rocRoller requires the rule, or the rule interprets the manual's words more broadly than they require.
    #[default]
    Cautious,
    /// The manual requires the rule, or rocRoller and LLVM agree on it, or hardware was observed to fail without it.
    Documented,
    /// The manual and LLVM agree, and shipping kernels satisfy the rule.
    Certain,
}

impl Grade {
    /// All grades, the least supported first.
    pub const ALL: [Grade; 3] = [Grade::Cautious, Grade::Documented, Grade::Certain];

    /// The name of the grade.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Cautious => "cautious",
            Grade::Documented => "documented",
            Grade::Certain => "certain",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Grade {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Grade, UnknownName> {
        let found = Grade::ALL.into_iter().find(|g| g.name() == name);
        found.ok_or_else(|| UnknownName::new("grade", name, Grade::ALL.into_iter().map(Grade::name)))
    }
}

/// The error that there is no grade or rule set of the given name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no {what} `{name}`; write {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

impl UnknownName {
    pub(super) fn new(
        what: &'static str,
        name: &str,
        known: impl DoubleEndedIterator<Item = &'static str>,
    ) -> UnknownName {
        let mut known = known.rev();
        let last = known.next().unwrap_or_default();
        let mut others: Vec<&str> = known.collect();
        others.reverse();
        UnknownName { what, name: name.to_owned(), known: format!("{} or {last}", others.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grade_follows_the_voices_and_the_counts() {
        let kept = Counts { kept: 90, exact: 3, ..Counts::default() };
        let grade = |evidence: Evidence, counts: Counts| evidence.grade(counts);
        assert_eq!(grade(Evidence::AGREED, kept), Grade::Certain);
        assert_eq!(grade(Evidence::AGREED, Counts::default()), Grade::Documented, "not seen");
        assert_eq!(
            grade(Evidence::AGREED, Counts { exact: 0, ..kept }),
            Grade::Documented,
            "kept by chance only"
        );
        assert_eq!(grade(Evidence::AGREED, Counts { broken: 10, ..kept }), Grade::Documented, "one in ten");
        assert_eq!(grade(Evidence::AGREED, Counts { broken: 9, ..kept }), Grade::Certain);
        assert_eq!(grade(Evidence::AGREED, Counts { broken: 50, covered: 50, ..kept }), Grade::Certain);
        assert_eq!(grade(Evidence::of(Voice::Covers, Voice::Agrees), kept), Grade::Documented);
        assert_eq!(grade(Evidence::ABOVE_LLVM, kept), Grade::Documented);
        assert_eq!(grade(Evidence::LLVM, kept), Grade::Cautious);
        assert_eq!(grade(Evidence::LLVM.rocroller(Voice::Agrees), Counts::default()), Grade::Documented);
        assert_eq!(grade(Evidence::ROCROLLER, kept), Grade::Cautious);
        assert_eq!(grade(Evidence::of(Voice::Moot, Voice::Less), kept), Grade::Cautious);
        assert_eq!(grade(Evidence::ABOVE_MANUAL, kept), Grade::Cautious);
        assert_eq!(grade(Evidence::DEFINED, Counts { broken: 1000, ..kept }), Grade::Certain);
        assert_eq!(grade(Evidence::of(Voice::Less, Voice::Less).fails(), kept), Grade::Documented);
    }

    #[test]
    fn counts_in_words_leave_out_what_is_zero() {
        let words = |counts: Counts| counts.to_string();
        assert_eq!(words(Counts::default()), "no sites");
        assert_eq!(words(Counts { kept: 1, ..Counts::default() }), "1 site satisfies the rule");
        assert_eq!(
            words(Counts { kept: 3, exact: 2, broken: 1, objects: 1, ..Counts::default() }),
            "3 sites satisfy the rule (2 with exactly the required distance). 1 site in 1 code object breaks the rule"
        );
        assert_eq!(
            words(Counts { broken: 4, covered: 2, objects: 2, ..Counts::default() }),
            "4 sites in 2 code objects break the rule; 2 of these are excused by matrix passes or a branch in between"
        );
    }

    #[test]
    fn columns_go_by_their_names_and_targets_are_added_up() {
        let table = "kept\trule\texact\tnops\tbroken\tcovered\tbroken_objects\tmade\n\
                     5\ta\t1\t2\t3\t1\t2\thand\n7\ta\t0\t0\t1\t0\t1\thand\n9\ta\t0\t0\t0\t0\t0\tcompiler\n\
                     1\tb\t0\t0\t0\t0\t0\thand\n";
        let rules = read(table).unwrap();
        assert_eq!(rules["a"][0], Counts { kept: 12, exact: 1, nops: 2, broken: 4, covered: 1, objects: 3 });
        assert_eq!((rules["a"][1].kept, rules["b"][0].kept), (9, 1));
        assert!(read("rule\tmade\na\trobot\n").is_err());
        assert_eq!(read("rule\tkept\na\tmany\n"), Err("a\tmany"));
    }

    #[test]
    fn every_counted_rule_exists() {
        for (id, _) in counted_rules() {
            let known = super::super::rule(id).is_some() || super::super::counter::rule(id).is_some();
            assert!(known, "evidence.tsv counts `{id}`, which is not a rule");
        }
    }
}
