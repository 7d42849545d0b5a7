//! Counts over one file or many.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;

use gcn_emit::rewrite::Waits;
use gcn_isa::hazards::Grade;
use serde::Serialize;

use super::analysis::{Checked, counts};

/// Counts over files.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Summary {
    /// Files that were checked; each entry of a bundle counts.
    pub files: usize,
    /// Files that could not be read, or had nothing to check.
    pub unreadable: usize,
    /// Instructions that were checked.
    pub instructions: usize,
    /// Counts of the waits.
    pub waits: Waits,
    /// Bytes of code that could not be read.
    pub unread_bytes: u64,
    /// Lines of assembly that were left out because of errors.
    pub lines_left_out: usize,
    /// Places where control leaves to an unknown destination.
    pub unknown_exits: usize,
    /// Findings by rule and grade: a finding that rests on an assumption has a lower grade than its rule.
    #[serde(serialize_with = "super::json::counts")]
    pub rules: BTreeMap<(&'static str, Grade), RuleCount>,
}

/// Findings of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleCount {
    /// How many there are.
    pub findings: usize,
    /// Files that have one.
    pub files: usize,
    /// The rule in words.
    pub title: &'static str,
}

impl Summary {
    /// The counts of a file.
    pub fn of(checked: &Checked<'_>) -> Summary {
        let mut summary =
            Summary { files: 1, instructions: checked.input.unit.instructions(), ..Summary::default() };
        let mut add = |id, grade, title, findings| {
            let rule = summary.rules.entry((id, grade)).or_insert(RuleCount { findings: 0, files: 1, title });
            rule.findings += findings;
        };
        for section in &checked.sections {
            for finding in &section.report.findings {
                add(finding.rule, finding.grade, finding.title, 1);
            }
            if section.report.omitted > 0 {
                add(
                    "(not listed)",
                    Grade::Certain,
                    "findings beyond the largest number that is listed",
                    section.report.omitted,
                );
            }
        }
        for lint in &checked.lints {
            add(lint.rule.id, lint.rule.grade, lint.rule.title, 1);
        }
        summary.lines_left_out = checked.input.left_out.len();
        for section in &checked.sections {
            summary.waits += section.waits;
            summary.unread_bytes += section.code.unread.iter().map(|u| u.length).sum::<u64>();
            summary.unknown_exits += section.report.unknown_exits.len();
        }
        summary
    }

    /// The number of findings of a grade.
    pub fn findings(&self, grade: Grade) -> usize {
        self.rules.iter().filter(|(key, _)| key.1 == grade).map(|(_, r)| r.findings).sum()
    }

    /// 1 if there are findings that count, otherwise 2 if a file could not be read.
    pub fn exit_code(&self) -> u8 {
        if self.rules.keys().any(|key| counts(key.1)) {
            1
        } else if self.unreadable > 0 {
            2
        } else {
            0
        }
    }

    /// `17 certain, 2 documented, 40 cautious`, or `clean`.
    fn grades(&self) -> String {
        let some = Grade::ALL.into_iter().rev().map(|g| (self.findings(g), g)).filter(|c| c.0 > 0);
        let some: Vec<String> = some.map(|(count, grade)| format!("{count} {grade}")).collect();
        if some.is_empty() { "clean".to_owned() } else { some.join(", ") }
    }

    /// The parts that were not checked, if any.
    fn open(&self) -> String {
        let mut text = String::new();
        if self.lines_left_out > 0 {
            let _ = write!(
                text,
                "; {} line{} with errors left out",
                self.lines_left_out,
                plural(self.lines_left_out)
            );
        }
        if self.unread_bytes > 0 {
            let _ = write!(text, "; {} bytes not read", self.unread_bytes);
        }
        if self.unknown_exits > 0 {
            let _ = write!(text, "; {} unknown exit{}", self.unknown_exits, plural(self.unknown_exits));
        }
        text
    }

    /// A file in one line.
    pub fn render_line(&self, name: &str) -> String {
        format!("{name}: {} instructions: {}{}\n", self.instructions, self.grades(), self.open())
    }

    /// The table of rules, by grade, then by frequency.
    pub fn render_rules(&self) -> String {
        if self.rules.is_empty() {
            return String::new();
        }
        let mut rows: Vec<_> = self.rules.iter().collect();
        rows.sort_by_key(|((id, grade), r)| (Reverse(*grade), Reverse(r.findings), *id));
        let width = rows.iter().map(|r| r.0.0.len()).max().unwrap_or(0).max(4);
        let many = self.files > 1;
        let files = if many { "  files" } else { "" };
        let mut out = format!("{:>8}{files}  {:<10}  {:<width$}  title\n", "findings", "grade", "rule");
        for ((id, grade), rule) in rows {
            let files = if many { format!("  {:>5}", rule.files) } else { String::new() };
            let _ = writeln!(
                out,
                "{:>8}{files}  {:<10}  {id:<width$}  {}",
                rule.findings,
                grade.name(),
                rule.title
            );
        }
        out
    }

    /// Instructions and waits, in one line.
    pub fn render_waits(&self) -> String {
        let waits = &self.waits;
        format!(
            "{} instructions, {} wait states in s_nop ({} weighted by loop depth), {} s_waitcnt ({} weighted)\n",
            self.instructions,
            waits.wait_states,
            waits.weighted_wait_states,
            waits.waitcnts,
            waits.weighted_waitcnts
        )
    }

    /// The counts of several files, as text.
    pub fn render_total(&self) -> String {
        let mut out = format!("\n{} files: {}{}", self.files, self.grades(), self.open());
        if self.unreadable > 0 {
            let _ = write!(out, "; {} not checked", self.unreadable);
        }
        out.push('\n');
        out += &self.render_waits();
        out + &self.render_rules()
    }
}

/// The ending of a noun.
pub fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Summary) {
        self.files += other.files;
        self.unreadable += other.unreadable;
        self.instructions += other.instructions;
        self.waits += other.waits;
        self.unread_bytes += other.unread_bytes;
        self.lines_left_out += other.lines_left_out;
        self.unknown_exits += other.unknown_exits;
        for (key, rule) in other.rules {
            let own = self.rules.entry(key).or_insert(RuleCount { findings: 0, files: 0, ..rule });
            own.findings += rule.findings;
            own.files += rule.files;
        }
    }
}
