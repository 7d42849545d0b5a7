//! Findings in the format SARIF 2.1.0, which code review tools read.
//!
//! The location of a result is a line of the assembly file. An object has no assembly lines: there the location is the source line from the
//! debug information, or else the byte offset in the section.

use std::collections::BTreeMap;

use gcn_isa::check::Finding;
use gcn_isa::hazards::{Grade, citation};
use gcn_report::check::{Checked, Places, counts};
use serde_json::{Value, json};

use super::show::amounts;

/// The rule id for statements that cannot be read.
const ASSEMBLY: &str = "assembly";
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

fn level(grade: Grade) -> &'static str {
    if counts(grade) { "error" } else { "warning" }
}

/// The findings of a file: the `results`, and the `rules` to which they refer.
pub fn file(checked: &Checked<'_>) -> Value {
    let unit = &checked.input.unit;
    let name = &checked.input.name;
    let (mut results, mut rules) = (Vec::new(), BTreeMap::new());
    for section in &checked.sections {
        let places = Places::new(unit, section.code);
        for finding in checked.listed(section) {
            rules.insert(finding.rule, rule(finding.title, &citation(finding.rule, None)));
            results.push(result(name, &places, finding));
        }
    }
    for lint in checked.listed_lints() {
        rules.insert(lint.rule.id, rule(lint.rule.title, lint.rule.cite));
        let at = lint.at.and_then(|(section, line)| Some((unit.sections.get(section)?, line)));
        let place = match at {
            Some((code, line)) => location(name, &Places::new(unit, code), line),
            None => json!({ "physicalLocation": { "artifactLocation": artifact(name) } }),
        };
        results.push(json!({
            "ruleId": lint.rule.id,
            "level": level(lint.rule.grade),
            "message": { "text": format!("kernel {}: {}; {}", lint.kernel, lint.message, lint.remedy) },
            "locations": [place],
        }));
    }
    for error in &checked.input.left_out {
        rules.insert(ASSEMBLY, rule("a statement that the assembler does not take", "it was not checked"));
        results.push(json!({
            "ruleId": ASSEMBLY,
            "level": "error",
            "message": { "text": format!("not checked, since it has an error: {}", error.message) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": artifact(&error.file),
                "region": { "startLine": error.line, "startColumn": error.column },
            } }],
        }));
    }
    json!({ "results": results, "rules": rules, "notes": not_checked(checked) })
}

fn rule(title: &str, cite: &str) -> Value {
    let source = if cite.is_empty() { title } else { cite };
    json!({ "shortDescription": { "text": title }, "fullDescription": { "text": source } })
}

/// What was not checked in a file, as notifications.
fn not_checked(checked: &Checked<'_>) -> Vec<Value> {
    let mut notes = Vec::new();
    let mut note = |text: String| {
        notes.push(json!({
            "level": "warning",
            "message": { "text": text },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact(&checked.input.name) } }],
        }));
    };
    for section in &checked.sections {
        let places = Places::new(&checked.input.unit, section.code);
        for unread in section.unread_code() {
            note(format!(
                "not checked: {} bytes at {}+{:#x}: {}",
                unread.length, section.code.section, unread.offset, unread.why
            ));
        }
        for line in &section.report.unknown_exits {
            note(format!(
                "not checked: where control goes after `{}` ({})",
                places.text(*line),
                places.of(*line)
            ));
        }
        if section.report.undecided > 0 {
            note(format!(
                "not decided: what happens at {} places of {}, whose paths are too many to follow",
                section.report.undecided, section.code.section
            ));
        }
    }
    notes
}

/// The SARIF log of all files. `complaints` are the messages about files that could not be read; if there are any, the run is marked as
/// unsuccessful.
pub fn whole(files: Vec<Value>, complaints: &[String], exit_code: u8) -> Value {
    let (mut results, mut rules) = (Vec::new(), BTreeMap::new());
    let notes = complaints.iter().map(|c| json!({ "level": "error", "message": { "text": c } }));
    let mut notes: Vec<Value> = notes.collect();
    for mut file in files {
        if let Some(more) = file["notes"].as_array_mut() {
            notes.append(more);
        }
        if let Some(found) = file["results"].as_array_mut() {
            results.append(found);
        }
        if let Some(named) = file["rules"].as_object_mut() {
            rules.extend(std::mem::take(named));
        }
    }
    let rules = rules.into_iter().map(|(id, mut rule)| {
        rule["id"] = id.into();
        rule
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gcn check",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.collect::<Vec<_>>(),
            } },
            "invocations": [{
                "executionSuccessful": complaints.is_empty(),
                "exitCode": exit_code,
                "toolExecutionNotifications": notes,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A file as a URI reference; an absolute path becomes a `file` URI.
fn artifact(name: &str) -> Value {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_~".contains(&byte);
    let character = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path: String = name.bytes().map(character).collect();
    json!({ "uri": if path.starts_with('/') { format!("file://{path}") } else { path } })
}

fn location(name: &str, places: &Places<'_>, line: usize) -> Value {
    let offset = places.code.places.get(line).map_or(0, |p| p.offset);
    let source = places.source_line(line).map(|line| (name.to_owned(), line, 0));
    let compiled = || {
        let text = places.location(line)?;
        let mut parts = text.rsplitn(3, ':');
        let (column, row) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((parts.next()?.to_owned(), row, column))
    };
    let physical = match source.or_else(compiled) {
        Some((file, row, 0)) => {
            json!({ "artifactLocation": artifact(&file), "region": { "startLine": row } })
        }
        Some((file, row, column)) => json!({
            "artifactLocation": artifact(&file),
            "region": { "startLine": row, "startColumn": column },
        }),
        None => json!({ "artifactLocation": artifact(name) }),
    };
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{
            "fullyQualifiedName": places.in_function(line),
            "kind": "function",
            "properties": { "section": places.code.section, "offset": offset },
        }],
        "message": { "text": places.text(line) },
    })
}

fn result(name: &str, places: &Places<'_>, finding: &Finding) -> Value {
    let register = finding.reg.map_or(String::new(), |r| format!("{r}{}: ", finding.via.words()));
    let caveat = finding.caveat.map_or(String::new(), |c| format!(" ({c})"));
    let remedy = finding.remedy_at(&places.written(finding.second));
    let text = format!("{}: {register}{}{caveat}; {remedy}", finding.title, amounts(finding));
    let first = finding.first.map(|line| location(name, places, line));
    json!({
        "ruleId": finding.rule,
        "level": level(finding.grade),
        "message": { "text": text },
        "locations": [location(name, places, finding.second)],
        "relatedLocations": first.into_iter().collect::<Vec<_>>(),
        "properties": { "grade": finding.grade.name() },
    })
}
