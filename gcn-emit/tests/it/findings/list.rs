//! Checks that every finding in the corpus is in a class that the page explains.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_emit::asm::{Options, assemble};
use gcn_emit::code::{Code, Unit};
use gcn_isa::check::{self, Amount, Finding};
use gcn_isa::hazards::RuleSet;
use gcn_isa::inst::Via;

use super::page;
use crate::asm::corpus;

/// Tool, rule, and the section of the page that explains why findings of the rule in the tool's output are true.
const ARGUED: &[(&str, &str, &str)] = &[
    ("aster", "cdna3.100", "A1"),
    ("aster", "cdna3.106", "A2"),
    ("aster", "xnack.clause", "A3"),
    ("clang22", "cdna3.102.passes", "L1"),
    ("clang22", "llvm.102.opcode", "L1"),
    ("clang22", "mi100.mfma-srcc.passes", "L1"),
    ("clang22", "cdna3.8", "L2"),
    ("clang22", "xnack.clause", "L3"),
    ("clang22", "gfx950.cvt-scale", "L4"),
];

/// Tool, and the section of the page about registers that an index may select, for findings of any rule.
const BY_INDEX: &[(&str, &str)] = &[("clang22", "L5")];

/// The code of an assembly text.
pub fn unit(path: &str, text: &str) -> Unit {
    let options = Options { keep_instructions: true, ..Options::default() };
    let assembly = assemble(path, text, &options).unwrap_or_else(|errors| panic!("{errors}"));
    Unit::of_assembly(&assembly).expect("instructions were kept")
}

/// The findings in all code of a unit, each with its section.
pub fn findings<'u>(unit: &'u Unit) -> Vec<(&'u Code, Finding)> {
    let rules = RuleSet::Safe.config(unit.target_id.may_replay());
    let options = check::Options { rules, ..check::Options::default() };
    let of = move |code: &'u Code| {
        check::check_with(&code.program, options).findings.into_iter().map(move |f| (code, f))
    };
    unit.sections.iter().flat_map(of).collect()
}

#[test]
fn the_findings_of_the_corpus_are_the_ones_that_the_page_argues() {
    let mut rows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut classes: BTreeMap<(String, String, &str, &str), usize> = BTreeMap::new();
    for file in corpus::files() {
        let unit = unit(&file.path, &file.text);
        let tool = file.path.split('/').next().unwrap_or_default().to_owned();
        for (code, finding) in findings(&unit) {
            let rule = finding.rule.to_owned();
            let why = argument(&tool, &finding);
            *classes.entry((tool.clone(), rule.clone(), finding.grade.name(), why)).or_default() += 1;
            rows.entry((file.path.clone(), rule)).or_default().push(place(code, &finding));
        }
    }
    let mut fresh = String::from("| tool | rule | grade | findings | why |\n|---|---|---|---|---|\n");
    for ((tool, rule, grade, why), count) in &classes {
        let _ = writeln!(fresh, "| {tool} | `{rule}` | {grade} | {count} | {why} |");
    }
    page::compare("classes", &fresh);
    let mut fresh = String::from("| file | rule | line ← earlier line (present/needed) |\n|---|---|---|\n");
    for ((path, rule), places) in &rows {
        let _ = writeln!(fresh, "| {path} | `{rule}` | {} |", places.join(", "));
    }
    page::compare("list", &fresh);
}

/// The section of the page that explains a class of findings. A class without a section counts as false.
fn argument(tool: &str, finding: &Finding) -> &'static str {
    let rule = finding.rule;
    let known = if finding.via == Via::Name {
        ARGUED.iter().find(|a| a.0 == tool && a.1 == rule).map(|a| a.2)
    } else {
        BY_INDEX.iter().find(|a| a.0 == tool).map(|a| a.1)
    };
    known.unwrap_or_else(|| panic!("nothing argues that findings of {rule} in the output of {tool} are true"))
}

/// The position of a finding, such as `637 ← 630 (17/20)`.
fn place(code: &Code, finding: &Finding) -> String {
    let line = |l: usize| {
        code.places[l].line.map_or_else(|| format!("+{:#x}", code.places[l].offset), |l| l.to_string())
    };
    let first = finding.first.map_or(String::new(), |first| format!(" ← {}", line(first)));
    let amounts = match (finding.have, finding.need) {
        (Amount::States(have), Amount::States(need)) => format!(" ({have}/{need})"),
        (_, Amount::Wait(wait)) => format!(" ({})", wait.counters()),
        _ => String::new(),
    };
    format!("{}{first}{amounts}", line(finding.second))
}
