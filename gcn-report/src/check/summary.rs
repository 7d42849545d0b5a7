//! Totals over one or more files.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;

use gcn_emit::rewrite::Waits;
use gcn_isa::hazards::Grade;
use serde::Serialize;

use super::analysis::{Checked, counts};

/// Totals over files.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Summary {
    /// The number of checked files; each entry of a bundle counts.
    pub files: usize,
    /// The number of files that could not be read or contained nothing to check.
    pub unreadable: usize,
    /// The number of checked instructions.
    pub instructions: usize,
    /// The numbers of waits.
    pub waits: Waits,
    /// The number of bytes in code sections that could not be decoded as instructions.
    pub unread_bytes: u64,
    /// The number of these that may be code, because control may reach them or nothing marks them as data.
    pub unread_code_bytes: u64,
    /// The number of assembly lines that were skipped because of errors.
    pub lines_left_out: usize,
    /// The number of places where control continues at an unknown address.
    pub unknown_exits: usize,
    /// The number of places with too many paths for a decision.
    pub undecided: usize,
    /// The findings of every grade, listed or not, by rule and grade: a finding that relies on an assumption has a lower grade than its
    /// rule.
    #[serde(serialize_with = "super::json::counts")]
    pub rules: BTreeMap<(&'static str, Grade), RuleCount>,
}

/// The findings of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleCount {
    /// The number of findings.
    pub findings: usize,
    /// The number of files with findings.
    pub files: usize,
    /// The rule in words.
    pub title: &'static str,
}

impl Summary {
    /// The totals of one file.
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
            for more in &section.report.not_listed {
                add(more.rule, more.grade, more.title, more.findings);
            }
        }
        for lint in &checked.lints {
            add(lint.rule.id, lint.rule.grade, lint.rule.title, 1);
        }
        summary.lines_left_out = checked.input.left_out.len();
        for section in &checked.sections {
            summary.waits += section.waits;
            summary.unread_bytes += section.code.unread.iter().map(|u| u.length).sum::<u64>();
            summary.unread_code_bytes += section.unread_code().map(|u| u.length).sum::<u64>();
            summary.unknown_exits += section.report.unknown_exits.len();
            summary.undecided += section.report.undecided;
        }
        summary
    }

    /// The number of findings of a grade.
    pub fn findings(&self, grade: Grade) -> usize {
        self.rules.iter().filter(|(key, _)| key.1 == grade).map(|(_, r)| r.findings).sum()
    }

    /// True if all code in the files that could be opened was decoded, and all paths were followed.
    pub fn is_complete(&self) -> bool {
        self.unread_code_bytes == 0
            && self.lines_left_out == 0
            && self.unknown_exits == 0
            && self.undecided == 0
    }

    /// The exit code: 1 if there are findings that count; otherwise 2 if a file could not be opened or, unless `allow_unread`, could not be
    /// checked completely; otherwise 0.
    pub fn exit_code(&self, allow_unread: bool) -> u8 {
        if self.rules.keys().any(|key| counts(key.1)) {
            1
        } else if self.unreadable > 0 || !(allow_unread || self.is_complete()) {
            2
        } else {
            0
        }
    }

    /// A text such as `17 certain, 2 documented, 40 cautious`, or `clean`, or `no findings` if not everything was checked.
    fn grades(&self) -> String {
        let some = Grade::ALL.into_iter().rev().map(|g| (self.findings(g), g)).filter(|c| c.0 > 0);
        let some: Vec<String> = some.map(|(count, grade)| format!("{count} {grade}")).collect();
        match (some.is_empty(), self.is_complete()) {
            (true, true) => "clean".to_owned(),
            (true, false) => "no findings".to_owned(),
            _ => some.join(", "),
        }
    }

    /// What was not checked, in words; empty if everything was checked.
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
        if self.unread_code_bytes > 0 {
            let _ = write!(text, "; {} bytes not read", self.unread_code_bytes);
        }
        let data = self.unread_bytes - self.unread_code_bytes;
        if data > 0 {
            let _ = write!(text, "; {data} bytes of data");
        }
        if self.unknown_exits > 0 {
            let _ = write!(text, "; {} unknown exit{}", self.unknown_exits, plural(self.unknown_exits));
        }
        if self.undecided > 0 {
            let _ = write!(text, "; {} not decided", self.undecided);
        }
        text
    }

    /// The result of a file in one line.
    pub fn render_line(&self, name: &str) -> String {
        format!("{name}: {} instructions: {}{}\n", self.instructions, self.grades(), self.open())
    }

    /// The rules with findings, by grade and then by frequency: a table for grades from `level` on, and one line for each lower grade.
    pub fn render_rules(&self, level: Grade) -> String {
        let mut rows: Vec<_> = self.rules.iter().collect();
        rows.sort_by_key(|((id, grade), r)| (Reverse(*grade), Reverse(r.findings), *id));
        let (rows, below) = rows.split_at(rows.partition_point(|r| r.0.1 >= level));
        let below = below.chunk_by(|a, b| a.0.1 == b.0.1).filter_map(|rules| {
            let grade = rules.first()?.0.1;
            let counts: Vec<String> =
                rules.iter().map(|(key, r)| format!("{} {}", r.findings, key.0)).collect();
            Some(format!("{grade}, not listed without `--level {grade}`: {}\n", counts.join(", ")))
        });
        let below: String = below.collect();
        if rows.is_empty() {
            return below;
        }
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
        out + &below
    }

    /// The numbers of instructions and waits, in one line.
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

    /// The totals of several files, as text.
    pub fn render_total(&self, level: Grade) -> String {
        let mut out = format!("\n{} files: {}{}", self.files, self.grades(), self.open());
        if self.unreadable > 0 {
            let _ = write!(out, "; {} not checked", self.unreadable);
        }
        out.push('\n');
        out += &self.render_waits();
        out + &self.render_rules(level)
    }
}

/// The plural ending of a noun.
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
        self.unread_code_bytes += other.unread_code_bytes;
        self.unknown_exits += other.unknown_exits;
        self.undecided += other.undecided;
        for (key, rule) in other.rules {
            let own = self.rules.entry(key).or_insert(RuleCount { findings: 0, files: 0, ..rule });
            own.findings += rule.findings;
            own.files += rule.files;
        }
    }
}
