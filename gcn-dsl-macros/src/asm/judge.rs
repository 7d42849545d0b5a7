//! Checks a program against every rule. A missing wait is reported as an error or inserted.

use std::collections::{BTreeSet, HashMap};

use gcn_emit::encode::encode_program;
use gcn_isa::Program;
use gcn_isa::check::{self, Amount, Finding};
use gcn_isa::hazards::nops_in_words;
use gcn_isa::program::SourceLoc;
use gcn_isa::wait::{self, Inserted, WaitOptions};

use super::faults::Faults;
use super::source::Item;
use super::{Missing, Options};

/// A program that satisfies every rule, with its machine code.
pub(crate) struct Checked {
    pub program: Program,
    pub code: Vec<u8>,
    /// Line and column of each instruction in the user's file; (0, 0) for an inserted wait.
    pub places: Vec<(u32, u32)>,
}

/// Checks a program that [`super::read`] made.
pub(crate) fn judge(
    mut program: Program,
    items: &[Item],
    options: &Options,
    faults: &mut Faults,
) -> Option<Checked> {
    // The target id does not determine the XNACK mode, so the rules for both modes apply.
    let rules = options.rules.config(program.target.supports_xnack());
    if options.missing == Missing::Fix {
        let waits = WaitOptions { rules, ..WaitOptions::default() };
        let inserted = wait::insert_waits(&mut program, &waits);
        note(&mut program, &inserted, items);
    }
    // Some errata depend on the number of registers of the kernel; the code that builds the kernel handles them.
    let checks = check::Options { rules, errata: false, ..check::Options::default() };
    let report = check::check_with(&program, checks);
    let at = At { program: &program, items, options };
    for finding in one_for_each_mistake(&program, &report.findings) {
        faults.add(at.item(finding.second), at.message(finding));
    }
    if options.whole {
        end(&program, items, faults);
    }
    let code = match encode_program(&program) {
        Ok(code) => code.bytes,
        Err(error) => {
            faults.add(error.line.and_then(|l| at.item(l)), error.to_string());
            Vec::new()
        }
    };
    if faults.any() {
        return None;
    }
    let place = |line: usize| at.item(line).and_then(|i| items.get(i)?.place).unwrap_or_default();
    let short = |n: usize| u32::try_from(n).unwrap_or(0);
    let places =
        (0..program.lines.len()).map(place).map(|(line, column)| (short(line), short(column))).collect();
    Some(Checked { program, code, places })
}

/// Omits findings that disappear once an earlier finding is fixed: if an instruction lacks a wait, so do later
/// instructions in the same block that depend on the same result.
fn one_for_each_mistake<'f>(program: &Program, findings: &'f [Finding]) -> Vec<&'f Finding> {
    let blocks = blocks(program);
    let mut kept: Vec<&Finding> = Vec::new();
    let mut last: HashMap<(Option<usize>, &str, Option<usize>), usize> = HashMap::new();
    for finding in findings {
        let key = (finding.first, finding.rule, blocks.get(finding.second).copied());
        let cured = last.get(&key).and_then(|k| kept.get(*k)).is_some_and(|earlier| cures(earlier, finding));
        if !cured {
            last.insert(key, kept.len());
            kept.push(finding);
        }
    }
    kept
}

/// The number of the basic block that contains each line.
fn blocks(program: &Program) -> Vec<usize> {
    let labels = program.labels.iter().filter_map(|l| l.at);
    let ends = program.lines.iter().enumerate().filter(|l| l.1.inst.desc.ends_block());
    let begins: BTreeSet<usize> = labels.chain(ends.map(|l| l.0 + 1)).collect();
    let begun = |block: &mut usize, line: usize| {
        *block += usize::from(begins.contains(&line));
        Some(*block)
    };
    (0..program.lines.len()).scan(0, begun).collect()
}

/// True if the fix for `earlier` also fixes `later`, a finding further down in the program.
fn cures(earlier: &Finding, later: &Finding) -> bool {
    let missing = |f: &Finding| match (f.need, f.have) {
        (Amount::States(need), Amount::States(have)) => Some(need.saturating_sub(have)),
        _ => None,
    };
    match (earlier.need, later.need) {
        (Amount::Wait(one), Amount::Wait(other)) => one.wait.and(other.wait) == one.wait,
        (Amount::Remedy { fix: one, .. }, Amount::Remedy { fix: other, .. }) => one.covers(other),
        _ => missing(earlier).zip(missing(later)).is_some_and(|(one, other)| one >= other),
    }
}

/// Attaches to each inserted wait a comment with its reason, which refers to line numbers of the user's file.
fn note(program: &mut Program, inserted: &[Inserted], items: &[Item]) {
    let line_of = |line: usize| {
        let item = items.get(program.lines.get(line)?.loc?.line as usize)?;
        item.place.map(|p| p.0)
    };
    let notes: Vec<(usize, usize, String)> = inserted
        .iter()
        .map(|wait| {
            let reasons = wait.reasons.iter().map(|reason| {
                let mut reason = reason.clone();
                reason.producer = reason.producer.map(|p| line_of(p).unwrap_or(p));
                reason.to_string()
            });
            (wait.at, wait.count.max(1), reasons.collect::<Vec<_>>().join("; "))
        })
        .collect();
    for (at, count, text) in notes {
        for line in program.lines.iter_mut().skip(at).take(count) {
            line.note = Some(text.as_str().into());
        }
    }
}

/// Reports an error if a kernel can run past its last instruction.
fn end(program: &Program, items: &[Item], faults: &mut Faults) {
    let falls_off = program.lines.last().is_none_or(|l| l.inst.desc.falls_through());
    let label_at_end = program.labels.iter().any(|l| l.at == Some(program.lines.len()));
    if falls_off || label_at_end {
        let message = "the kernel runs on past this; end it with `s_endpgm`".to_owned();
        faults.add(items.len().checked_sub(1), message);
    }
}

/// Describes program lines in messages by their positions in the user's source.
struct At<'p> {
    program: &'p Program,
    items: &'p [Item],
    options: &'p Options,
}

impl At<'_> {
    /// The item that a program line was parsed from.
    fn item(&self, line: usize) -> Option<usize> {
        let loc: SourceLoc = self.program.lines.get(line)?.loc?;
        Some(loc.line as usize)
    }

    fn name(&self, line: usize) -> String {
        let item = self.item(line).and_then(|i| Some((i, self.items.get(i)?)));
        item.map_or_else(|| "an inserted line".to_owned(), |(index, item)| item.name(index))
    }

    fn message(&self, finding: &Finding) -> String {
        let first = finding.first.map(|line| (self.name(line), finding.first_name));
        let second = finding.second_name;
        let on = match (&first, finding.reg) {
            (Some((place, first)), Some(reg)) => {
                format!("`{second}` depends on {reg} of `{first}` in {place}")
            }
            (Some((place, first)), None) => format!("`{second}` comes after `{first}` in {place}"),
            (None, Some(reg)) => format!("`{second}` uses {reg}"),
            (None, None) => format!("`{second}`"),
        };
        let amounts = format!("{}{}", finding.via.words(), amounts(finding));
        let path = self.path(finding);
        let remedy = remedy(finding, self.options);
        let Finding { rule, grade, title, .. } = finding;
        let caveat = finding.caveat.map(|c| format!(", {c}")).unwrap_or_default();
        format!("{on}{amounts}{path}\nrule {rule} ({grade}{caveat}): {title}\nhelp: {remedy}")
    }

    /// Describes the path on which the violation occurs; empty if the path is straight-line code.
    fn path(&self, finding: &Finding) -> String {
        if finding.path.is_empty() {
            return String::new();
        }
        let names: Vec<String> = finding.path.iter().map(|l| self.name(*l)).collect();
        format!(", by way of {}", names.join(" and "))
    }
}

fn amounts(finding: &Finding) -> String {
    match (finding.need, finding.have) {
        (Amount::States(need), Amount::States(have)) => {
            format!(": {need} wait state{} needed in between, {have} there", if need == 1 { "" } else { "s" })
        }
        (Amount::Wait(wait), _) => format!(": `{wait}` needed in between, nothing as strong there"),
        (Amount::Remedy { fix, target }, _) => format!(": needs {}", fix.words(target)),
        _ => String::new(),
    }
}

fn remedy(finding: &Finding, options: &Options) -> String {
    match (finding.need, finding.have) {
        (Amount::States(need), Amount::States(have)) => {
            let missing = need.saturating_sub(have);
            let independent = if missing == 1 {
                "an independent instruction".to_owned()
            } else {
                format!("{missing} independent instructions")
            };
            format!(
                "put {}, or {independent}, before it{}",
                nops_in_words(missing.into()),
                automatic(options)
            )
        }
        (Amount::Wait(wait), _) => format!("put `{wait}` before it{}", automatic(options)),
        (Amount::Instruction(text), _) => format!("put `{text}` before it"),
        (Amount::OtherRegister, _) => "use another register here".to_owned(),
        (Amount::Remedy { .. }, _) => format!("{}{}", finding.remedy_at("it"), automatic(options)),
        _ => "wait longer before it".to_owned(),
    }
}

/// The hint that the macro can insert the wait; empty if the macro already inserts waits.
fn automatic(options: &Options) -> &'static str {
    match (options.missing, options.whole) {
        (Missing::Deny, true) => ", or let `#[check(fix)]` do so",
        (Missing::Deny, false) => ", or let `check = fix` do so",
        (Missing::Fix, _) => "",
    }
}
