//! The source text with the reasons for its waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gcn_emit::rewrite::{LOOP_WEIGHT, Verdict};

use super::ExplainReport;
use crate::commands::code::Input;

/// The column where reasons start.
const COLUMN: usize = 44;

/// The listing with the reasons of each wait next to it.
pub fn print(input: &Input, text: &str, report: &ExplainReport) -> String {
    let mut notes: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for missing in &report.missing {
        let line = missing.line.unwrap_or(0);
        notes.entry(line).or_default().push(format!("missing: {}", missing.message));
    }
    for wait in &report.waits {
        if let Some(line) = wait.line {
            notes.entry(line).or_default().extend(wait.words());
        }
    }
    for writers in report.writers.iter().flatten() {
        if let Some(line) = writers.line {
            let text =
                writers.reads.iter().map(|r| format!("{} <- {}", r.register, r.written_by.join(" or ")));
            notes.entry(line).or_default().extend(text);
        }
    }
    let code: BTreeSet<u32> =
        input.unit.sections.iter().flat_map(|s| &s.places).filter_map(|p| p.line).collect();
    let mut out = String::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        if code.contains(&number) || is_label(line) && near(&code, number) {
            line_with(&mut out, number, line.trim_end(), notes.get(&number).map_or(&[][..], Vec::as_slice));
        }
    }
    totals(&mut out, report);
    out
}

/// True for a line that contains only a label.
fn is_label(line: &str) -> bool {
    let text = line.split([';', '#']).next().unwrap_or_default().trim_end();
    text.ends_with(':') && !text.contains(char::is_whitespace)
}

/// True if there is an instruction on this line or one of the next few.
fn near(code: &BTreeSet<u32>, number: u32) -> bool {
    const REACH: u32 = 8;
    code.range(number..number + REACH).next().is_some()
}

fn line_with(out: &mut String, number: u32, text: &str, notes: &[String]) {
    let shown = text.replace('\t', "    ");
    let mut rest = notes.iter();
    match rest.next() {
        Some(note) => {
            let _ = writeln!(out, "{number:>6} {shown:COLUMN$} ; {note}");
        }
        None => {
            let _ = writeln!(out, "{number:>6} {shown}");
        }
    }
    for note in rest {
        let _ = writeln!(out, "{:>6} {:COLUMN$} ; {note}", "", "");
    }
}

fn totals(out: &mut String, report: &ExplainReport) {
    let count = |verdict| report.waits.iter().filter(|w| w.verdict == verdict).count();
    let totals = report.totals;
    let _ = writeln!(
        out,
        "{}: {} wait states, {} s_waitcnt; weighted by {LOOP_WEIGHT} for each loop around them: {} and {}",
        report.file,
        totals.wait_states,
        totals.waitcnts,
        totals.weighted_wait_states,
        totals.weighted_waitcnts
    );
    let _ = writeln!(
        out,
        "of {} waits {} are needed, {} order memory, {} are not needed; {} are missing",
        report.waits.len() - count(Verdict::Hint),
        count(Verdict::Needed),
        count(Verdict::OrdersMemory),
        count(Verdict::NotNeeded) + count(Verdict::Unreached),
        report.missing.len()
    );
}
