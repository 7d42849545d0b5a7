//! Explains why each wait is needed.

use std::collections::BTreeMap;

use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;
use gcn_emit::rewrite::{ExplainedWait, Verdict, Waits, Writers, explain, writers};
use gcn_isa::check;
use gcn_isa::hazards::Config;
use serde::Serialize;

use crate::input::Input;

/// A missing wait.
#[derive(Serialize)]
pub struct Missing {
    /// The line in the file, from 1.
    pub line: Option<u32>,
    /// The rule's id.
    pub rule: &'static str,
    /// A description of both instructions and of what is missing between them.
    pub message: String,
}

/// The reasons for each wait in a file, and the missing waits.
#[derive(Serialize)]
pub struct ExplainReport {
    /// The file.
    pub file: String,
    /// The target with its feature settings.
    pub target_id: String,
    /// Each wait with the rules that require it.
    pub waits: Vec<ExplainedWait>,
    /// Violated rules.
    pub missing: Vec<Missing>,
    /// For each instruction, the last writers of the registers that it reads, if requested.
    pub writers: Option<Vec<Writers>>,
    /// The numbers of waits.
    pub totals: Waits,
}

/// Explains the waits in a file; with `with_writers`, also where each register was written.
pub fn report(input: &Input, rules: Config, with_writers: bool) -> ExplainReport {
    let unit = &input.unit;
    let mut totals = Waits::default();
    unit.sections.iter().for_each(|s| totals += Waits::of(&s.program));
    ExplainReport {
        file: input.name.clone(),
        target_id: unit.target_id.to_string(),
        waits: explain(unit, rules),
        missing: missing(input, rules),
        writers: with_writers.then(|| writers(unit)),
        totals,
    }
}

fn missing(input: &Input, rules: Config) -> Vec<Missing> {
    let rules = rules.with_xnack(input.unit.target_id.may_replay());
    let options = check::Options { rules, ..check::Options::default() };
    let mut found: BTreeMap<(Option<u32>, &str), Missing> = BTreeMap::new();
    for code in &input.unit.sections {
        let line_of = |line: usize| code.places.get(line).and_then(|p| p.line);
        for finding in check::check_with(&code.program, options).findings {
            let line = line_of(finding.second);
            let missing = || Missing { line, rule: finding.rule, message: message(&finding, &line_of) };
            found.entry((line, finding.rule)).or_insert_with(missing);
        }
    }
    found.into_values().collect()
}

/// The finding's message, with lines of the file.
fn message(finding: &check::Finding, line_of: &dyn Fn(usize) -> Option<u32>) -> String {
    let name =
        |name: &str, line| line_of(line).map_or_else(|| name.to_owned(), |n| format!("{name} (line {n})"));
    let reg = finding.reg.map_or_else(String::new, |r| format!("{r} of "));
    let first = finding.first.map_or_else(String::new, |l| format!("{}, then ", name(finding.first_name, l)));
    let amounts = match (finding.need, finding.have) {
        (check::Amount::States(need), check::Amount::States(have)) => {
            format!("needs {need} wait states, has {have}")
        }
        (check::Amount::Wait(wait), _) => format!("needs `{wait}`"),
        (check::Amount::Remedy { fix, target }, _) => format!("needs {}", fix.words(target)),
        _ => finding.title.to_owned(),
    };
    format!("{}: {reg}{first}{}{}: {amounts}", finding.rule, finding.second_name, finding.via.words())
}

/// The reasons for each wait in a code object, by its address. Empty for code that cannot be analysed.
pub fn by_address(object: &[u8]) -> BTreeMap<u32, String> {
    let Some(unit) = read_code_object(object).ok().and_then(|o| Unit::of_object(&o).ok()) else {
        return BTreeMap::new();
    };
    let mut reasons = BTreeMap::new();
    for wait in explain(&unit, Config::default()) {
        // Code that is not linked has no addresses yet.
        let Some(code) = unit.sections.iter().find(|c| c.section == wait.section && c.address > 0) else {
            continue;
        };
        let verdict = match wait.verdict {
            Verdict::Needed | Verdict::OrdersMemory => "",
            Verdict::NotNeeded => "No rule needs it.",
            Verdict::Unreached | Verdict::Hint => continue,
        };
        let Some(place) = code.places.get(wait.index) else { continue };
        let Ok(address) = u32::try_from(code.address + place.offset) else { continue };
        let why = [wait.reasons.join("; "), verdict.to_owned()];
        reasons
            .insert(address, why.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "));
    }
    reasons
}
