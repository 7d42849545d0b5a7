//! The results of checking a file: findings, lints and counts.

use std::collections::HashMap;

use gcn_emit::code::{Code, Unread, Unreadable};
use gcn_emit::lint::{Lint, lint};
use gcn_emit::rewrite::Waits;
use gcn_isa::check::{self, Advice, Amount, CheckReport, Finding};
use gcn_isa::counters::Counter;
use gcn_isa::hazards::{Config, Grade};

use crate::input::Input;

/// A checked file.
pub struct Checked<'i> {
    /// The input file.
    pub input: &'i Input,
    /// True if the rules for XNACK replay applied.
    pub xnack: bool,
    /// The lowest grade of findings that are listed. Findings of all grades are counted.
    pub level: Grade,
    /// The sections with code.
    pub sections: Vec<Section<'i>>,
    /// Mismatches between descriptor, metadata and code, of every grade.
    pub lints: Vec<Lint>,
}

/// A section of the file.
pub struct Section<'i> {
    /// The decoded code of the section.
    pub code: &'i Code,
    /// The checker's findings, of every grade.
    pub report: CheckReport,
    /// Advice; empty unless requested.
    pub advice: Vec<Advice>,
    /// The numbers of waits in the section.
    pub waits: Waits,
}

impl<'i> Checked<'i> {
    /// Checks a file against these rules; findings below `level` are not listed.
    pub fn new(input: &'i Input, level: Grade, rules: Config, advice: bool) -> Checked<'i> {
        let options = check::Options { rules, ..check::Options::default() };
        let section = |code: &'i Code| Section {
            code,
            report: check::check_with(&code.program, options),
            advice: if advice { check::advice(&code.program, options) } else { Vec::new() },
            waits: Waits::of(&code.program),
        };
        Checked {
            input,
            xnack: rules.xnack,
            level,
            sections: input.unit.sections.iter().map(section).collect(),
            lints: lint(&input.unit),
        }
    }

    /// The findings of a section that are to be listed.
    pub fn listed<'c>(&self, section: &'c Section<'_>) -> impl Iterator<Item = &'c Finding> {
        let level = self.level;
        section.report.findings.iter().filter(move |f| f.grade >= level)
    }

    /// The lints that are to be listed.
    pub fn listed_lints(&self) -> impl Iterator<Item = &Lint> {
        self.lints.iter().filter(|l| l.rule.grade >= self.level)
    }

    /// The listed findings grouped by function and rule, in the order of the first finding of each group.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut numbers = HashMap::new();
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            for finding in self.listed(section) {
                let function = section.code.function_of(finding.second);
                let key = (at, function.map(|f| f.lines.start), finding.rule, finding.grade);
                let number = *numbers.entry(key).or_insert(groups.len());
                if number == groups.len() {
                    let function = function.map_or(section.code.section.as_str(), |f| f.name.as_str());
                    groups.push(Group { section, function, places: Vec::new() });
                }
                if let Some(group) = groups.get_mut(number) {
                    group.add(finding);
                }
            }
        }
        groups
    }
}

/// The findings of one rule and grade in one function.
pub struct Group<'c> {
    /// The section.
    pub section: &'c Section<'c>,
    /// The function, or the section's name outside of functions.
    pub function: &'c str,
    /// The findings, grouped by the instruction that executes too early.
    pub places: Vec<Place<'c>>,
}

/// The findings of one rule about one instruction.
pub struct Place<'c> {
    /// The most severe finding of the group: the one for which `missing` is greatest.
    pub finding: &'c Finding,
    /// For each further finding of the group, the line of its first instruction.
    pub also: Vec<usize>,
}

impl<'c> Group<'c> {
    /// Adds a finding; those about the same instruction have to be added consecutively.
    fn add(&mut self, finding: &'c Finding) {
        match self.places.last_mut().filter(|p| p.finding.second == finding.second) {
            Some(place) => {
                let (worse, other) = if missing(finding) > missing(place.finding) {
                    (finding, place.finding)
                } else {
                    (place.finding, finding)
                };
                place.finding = worse;
                place.also.extend(other.first);
            }
            None => self.places.push(Place { finding, also: Vec::new() }),
        }
    }

    /// The number of findings.
    pub fn findings(&self) -> usize {
        self.places.iter().map(|p| 1 + p.also.len()).sum()
    }
}

/// What a finding lacks: the number of missing wait states or, for counters, the number of operations by which the strictest of the
/// counters has to be lower.
fn missing(finding: &Finding) -> u8 {
    match (finding.need, finding.have) {
        (Amount::States(need), Amount::States(have)) => need.saturating_sub(have),
        (Amount::Wait(wait), _) => {
            let strictest = Counter::ALL.into_iter().map(|c| c.of(wait.wait)).min();
            u8::MAX - strictest.unwrap_or(u8::MAX)
        }
        _ => 0,
    }
}

impl Section<'_> {
    /// Unreadable ranges of the section that may be code: control may reach them, or nothing marks them as data.
    pub fn unread_code(&self) -> impl Iterator<Item = &Unread> {
        // A jump to an unknown target may lead anywhere, including to data.
        let jumps = !self.report.unknown_exits.is_empty();
        self.code.unread.iter().filter(move |u| {
            let before = self.code.places.partition_point(|p| p.offset < u.offset).checked_sub(1);
            jumps
                || u.why != Unreadable::Data
                || match before.and_then(|line| self.code.program.lines.get(line)) {
                    Some(line) => line.falls_through(),
                    // A section without symbols is assumed to be entered at its start.
                    None => self.code.program.entries.is_empty(),
                }
        })
    }
}

/// True for grades whose findings make the exit code 1; findings of other grades are only reported.
pub fn counts(grade: Grade) -> bool {
    grade >= Grade::Documented
}
