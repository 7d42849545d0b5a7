//! Formats findings as JSON.

use std::collections::BTreeMap;

use gcn_isa::check::{Advice, Amount, Finding};
use gcn_isa::hazards::{Grade, citation};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::analysis::{Checked, Section};
use super::place::Places;
use super::summary::{RuleCount, Summary};

/// Serializes the table of rules as a list.
pub fn counts<S: Serializer>(
    rules: &BTreeMap<(&'static str, Grade), RuleCount>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rules.iter().map(|((rule, grade), count)| {
        json!({
            "rule": rule,
            "grade": grade.name(),
            "title": count.title,
            "findings": count.findings,
            "files": count.files,
        })
    }))
}

/// The table of rules as a value that implements `Serialize`.
struct RuleCounts<'r>(&'r BTreeMap<(&'static str, Grade), RuleCount>);

impl Serialize for RuleCounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        counts(self.0, serializer)
    }
}

/// The report about all files.
pub fn whole(files: Vec<Value>, total: &Summary) -> Value {
    json!({ "files": files, "total": total })
}

/// An instruction.
#[derive(Serialize)]
struct Instruction {
    section: String,
    /// The byte offset in the section.
    offset: u64,
    /// The function and the offset in it.
    place: String,
    /// The line in the assembly file.
    line: Option<u32>,
    /// The position in the macro, repetition or included file, if the line is that of a macro call or `.include`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// The source line from which the instruction was compiled.
    source: Option<String>,
    text: String,
}

fn instruction(places: &Places<'_>, line: usize) -> Instruction {
    let place = places.code.places.get(line);
    Instruction {
        section: places.code.section.clone(),
        offset: place.map_or(0, |p| p.offset),
        place: places.in_function(line),
        line: place.and_then(|p| p.line),
        origin: places.origin(line),
        source: places.location(line),
        text: places.text(line),
    }
}

/// The report about a file.
pub fn file(checked: &Checked<'_>) -> Value {
    let unit = &checked.input.unit;
    let mut findings = Vec::new();
    let (mut unread, mut exits, mut advice) = (Vec::new(), Vec::new(), Vec::new());
    for section in &checked.sections {
        let places = Places::new(unit, section.code);
        findings.extend(checked.listed(section).map(|f| finding(&places, f)));
        advice.extend(section.advice.iter().map(|a| piece_of_advice(&places, a)));
        unread.extend(pieces(section));
        exits.extend(section.report.unknown_exits.iter().map(|l| json!(instruction(&places, *l))));
    }
    let not_listed = checked.sections.iter().flat_map(|s| &s.report.not_listed).map(
        |n| json!({ "rule": n.rule, "grade": n.grade.name(), "title": n.title, "findings": n.findings }),
    );
    let lints = checked.listed_lints().map(|lint| {
        let at = lint.at.and_then(|(section, line)| {
            let code = unit.sections.get(section)?;
            Some(instruction(&Places::new(unit, code), line))
        });
        json!({
            "rule": lint.rule.id,
            "grade": lint.rule.grade.name(),
            "title": lint.rule.title,
            "cite": lint.rule.cite,
            "kernel": lint.kernel,
            "instruction": at,
            "message": lint.message,
            "remedy": lint.remedy,
        })
    });
    let summary = Summary::of(checked);
    json!({
        "file": checked.input.name,
        "target_id": unit.target_id.to_string(),
        "xnack": checked.xnack,
        "instructions": summary.instructions,
        "waits": summary.waits,
        "findings": findings,
        "omitted": checked.sections.iter().map(|s| s.report.omitted()).sum::<usize>(),
        "not_listed": not_listed.collect::<Vec<_>>(),
        "rules": RuleCounts(&summary.rules),
        "complete": summary.is_complete(),
        "lints": lints.collect::<Vec<_>>(),
        "advice": advice,
        "not_checked": {
            "lines": checked.input.left_out, "unread": unread, "unknown_exits": exits,
            "undecided": summary.undecided,
        },
    })
}

fn pieces(section: &Section<'_>) -> impl Iterator<Item = Value> {
    section.code.unread.iter().map(|u| {
        json!({
            "section": section.code.section,
            "offset": u.offset,
            "bytes": u.length,
            "why": u.why.to_string(),
        })
    })
}

fn finding(places: &Places<'_>, finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "grade": finding.grade.name(),
        "title": finding.title,
        "cite": citation(finding.rule, Some(places.code.program.target)),
        "first": finding.first.map(|l| instruction(places, l)),
        "second": instruction(places, finding.second),
        "register": finding.reg.map(|r| r.to_string()),
        "need": amount(finding.need),
        "have": amount(finding.have),
        "caveat": finding.caveat.map(|c| c.to_string()),
        "path": finding.path.iter().map(|l| places.block(*l)).collect::<Vec<_>>(),
        "remedy": finding.remedy_at(&places.written(finding.second)),
    })
}

fn amount(amount: Amount) -> Value {
    match amount {
        Amount::States(states) => json!({ "wait_states": states }),
        Amount::Wait(wait) => json!({ "s_waitcnt": wait.counters() }),
        Amount::Instruction(text) => json!(text),
        Amount::OtherRegister => json!("another register"),
        Amount::Remedy { fix, target } => {
            json!({ "statements": fix.statements(target), "fields": fix.fields(target) })
        }
        _ => Value::Null,
    }
}

fn piece_of_advice(places: &Places<'_>, advice: &Advice) -> Value {
    json!({
        "instruction": instruction(places, advice.line),
        "have": amount(advice.have),
        "enough": amount(advice.enough),
        "may_order": advice.may_order,
    })
}
