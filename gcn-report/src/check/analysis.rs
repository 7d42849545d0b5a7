//! The results of checker, lint and counts for a file.

use gcn_emit::code::Code;
use gcn_emit::lint::{Lint, lint};
use gcn_emit::rewrite::Waits;
use gcn_isa::check::{self, Advice, CheckReport, Finding};
use gcn_isa::hazards::{self, Config, Grade};

use crate::input::Input;

/// A file that was checked.
pub struct Checked<'i> {
    /// The file.
    pub input: &'i Input,
    /// Whether the rules of XNACK replay applied.
    pub xnack: bool,
    /// Its sections with code.
    pub sections: Vec<Section<'i>>,
    /// Where descriptor and metadata do not fit the code.
    pub lints: Vec<Lint>,
}

/// A section of it.
pub struct Section<'i> {
    /// The code.
    pub code: &'i Code,
    /// The checker's findings.
    pub report: CheckReport,
    /// Empty unless requested.
    pub advice: Vec<Advice>,
    /// Counts of its waits.
    pub waits: Waits,
}

impl<'i> Checked<'i> {
    /// Checks a file by these rules; findings below `level` are left out.
    pub fn new(input: &'i Input, level: Grade, rules: Config, advice: bool) -> Checked<'i> {
        let options = check::Options { rules, ..check::Options::default() };
        let report = |code: &'i Code| {
            let mut report = check::check_with(&code.program, options);
            // A finding may be of a lower grade than its rule, on a path that is only possible.
            report.findings.retain(|f| f.grade >= level);
            report
        };
        let section = |code: &'i Code| Section {
            code,
            report: report(code),
            advice: if advice { check::advice(&code.program, options) } else { Vec::new() },
            waits: Waits::of(&code.program),
        };
        let mut lints = lint(&input.unit);
        lints.retain(|l| l.rule.grade >= level);
        Checked {
            input,
            xnack: rules.xnack,
            sections: input.unit.sections.iter().map(section).collect(),
            lints,
        }
    }

    /// Similar findings, grouped in the order of the first of each, with the size of each group.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut numbers = std::collections::HashMap::new();
        let mut groups: Vec<Group<'_>> = Vec::new();
        for section in &self.sections {
            for finding in &section.report.findings {
                let key = (finding.rule, finding.grade, finding.first_name, finding.second_name);
                let number = *numbers.entry(key).or_insert(groups.len());
                match groups.get_mut(number) {
                    Some(group) => group.others.push((section, finding)),
                    None => groups.push(Group { section, finding, others: Vec::new() }),
                }
            }
        }
        groups
    }
}

/// Findings of one rule on the same two instructions.
pub struct Group<'c> {
    /// The section of the first.
    pub section: &'c Section<'c>,
    /// The first.
    pub finding: &'c Finding,
    /// The others, each with its section.
    pub others: Vec<(&'c Section<'c>, &'c Finding)>,
}

/// The source of a rule.
pub fn citation(rule: &str) -> &'static str {
    let states = hazards::rule(rule).map(|r| r.cite);
    states.or_else(|| hazards::counter::rule(rule).map(|r| r.cite)).unwrap_or("")
}

/// True for findings that make the exit code 1.
pub fn counts(grade: Grade) -> bool {
    grade >= Grade::Documented
}
