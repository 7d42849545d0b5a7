//! The totals over all files, as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_isa::Target;
use gcn_isa::hazards::Counts;
use serde::Serialize;

use super::Counted;

/// Counts by rule and target.
#[derive(Default)]
pub(super) struct Table {
    /// Code objects and assembly files that were counted.
    pub objects: usize,
    instructions: usize,
    /// Bytes in code sections that are not instructions.
    unread: u64,
    rows: BTreeMap<(&'static str, Target), Row>,
}

#[derive(Default)]
struct Row {
    /// Code objects in which the rule applies.
    objects: u64,
    counts: Counts,
}

/// The table as JSON.
#[derive(Serialize)]
struct Json {
    objects: usize,
    instructions: usize,
    unread_bytes: u64,
    rules: Vec<Line>,
}

/// A row of the table.
#[derive(Serialize)]
struct Line {
    rule: &'static str,
    target: &'static str,
    objects: u64,
    sites: u64,
    exact: u64,
    nops: u64,
    kept: u64,
    broken: u64,
    covered: u64,
    broken_objects: u64,
}

impl Table {
    pub fn add(&mut self, counted: &Counted) {
        self.objects += 1;
        self.instructions += counted.instructions;
        self.unread += counted.unread;
        for (rule, counts) in &counted.evidence {
            let row = self.rows.entry((rule, counted.target)).or_default();
            row.objects += 1;
            row.counts = row.counts.plus(*counts);
        }
    }

    /// The table as text: one line per row, columns separated by tabs.
    pub fn text(&self) -> String {
        let mut out =
            "rule\ttarget\tobjects\tsites\texact\tnops\tkept\tbroken\tcovered\tbroken_objects\n".to_owned();
        for l in self.lines() {
            let _ = writeln!(
                out,
                "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                l.rule,
                l.target,
                l.objects,
                l.sites,
                l.exact,
                l.nops,
                l.kept,
                l.broken,
                l.covered,
                l.broken_objects
            );
        }
        out
    }

    /// The table as JSON.
    pub fn json(&self) -> impl Serialize + use<> {
        Json {
            objects: self.objects,
            instructions: self.instructions,
            unread_bytes: self.unread,
            rules: self.lines().collect(),
        }
    }

    /// The totals.
    pub fn summary(&self) -> String {
        let unread = match self.unread {
            0 => String::new(),
            bytes => format!("; {bytes} bytes of code sections are not instructions and were left out"),
        };
        format!("{} code objects, {} instructions{unread}", self.objects, self.instructions)
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        self.rows.iter().map(|((rule, target), Row { objects, counts })| Line {
            rule,
            target: target.name(),
            objects: *objects,
            sites: counts.kept + counts.broken,
            exact: counts.exact,
            nops: counts.nops,
            kept: counts.kept,
            broken: counts.broken,
            covered: counts.covered,
            broken_objects: counts.objects,
        })
    }
}
