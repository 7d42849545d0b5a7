//! `gcn explain`.

mod listing;

use std::collections::BTreeMap;

use gcn_emit::rewrite::{ExplainedWait, Waits, Writers, explain, writers};
use gcn_emit::target_id::TargetId;
use gcn_isa::check;
use gcn_isa::hazards::Config;
use serde::Serialize;

use crate::commands;
use crate::commands::code::{self, Broken, Input};
use crate::commands::container::Choice;
use crate::commands::rule_set::Rules;
use crate::failure::Failure;
use crate::file;

/// Prints the code of an assembly file with the reason for each wait, and the missing waits.
///
/// After each wait come the rules that it serves, each with the two instructions, the registers by which they
/// depend and the required wait; or a note that it orders memory, or that nothing needs it. Where a rule is
/// not kept, `missing:` says so.
///
/// For a file with macros or included files, the lines are those of the text on which `gcn fix --expand`
/// works.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly; `-` for standard input
    #[arg(value_name = "FILE.s")]
    file: String,
    /// Also name the last writer of each register that an instruction reads
    #[arg(long)]
    writers: bool,
    #[command(flatten)]
    rules: Rules,
    /// The target id of a file that does not name one
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    includes: file::Includes,
    /// Print the waits with their reasons as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn explain kernel.s              list the code, each wait with its reasons
  gcn explain kernel.s --writers    also the last writer of each register";

/// A missing wait at a line.
#[derive(Serialize)]
struct Missing {
    /// Line of the file, from 1.
    line: Option<u32>,
    rule: &'static str,
    message: String,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report {
    file: String,
    target_id: String,
    waits: Vec<ExplainedWait>,
    missing: Vec<Missing>,
    writers: Option<Vec<Writers>>,
    totals: Waits,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let folders = args.includes.folders();
    for input in code::read_with(&args.file, &Choice::for_target(args.target), Broken::Refuse, &folders)? {
        let input =
            if input.unit.origins.is_empty() { input } else { code::expanded(input, args.target, &folders)? };
        let Some(text) = &input.text else {
            return Err(Failure::usage(format!(
                "{}: not assembly; `gcn disasm` converts it to assembly",
                input.name
            )));
        };
        let report = report(&input, args, args.rules.config()?);
        if args.json {
            file::print(commands::json(&report)?.as_bytes())?;
        } else {
            file::print(listing::print(&input, text, &report).as_bytes())?;
        }
    }
    Ok(())
}

fn report(input: &Input, args: &Args, rules: Config) -> Report {
    let unit = &input.unit;
    let mut totals = Waits::default();
    unit.sections.iter().for_each(|s| totals += Waits::of(&s.program));
    Report {
        file: input.name.clone(),
        target_id: unit.target_id.to_string(),
        waits: explain(unit, rules),
        missing: missing(input, rules),
        writers: args.writers.then(|| writers(unit)),
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

/// Maps the finding to the file's own lines.
fn message(finding: &check::Finding, line_of: &dyn Fn(usize) -> Option<u32>) -> String {
    let name =
        |name: &str, line| line_of(line).map_or_else(|| name.to_owned(), |n| format!("{name} (line {n})"));
    let reg = finding.reg.map_or_else(String::new, |r| format!("{r} of "));
    let first = finding.first.map_or_else(String::new, |l| format!("{}, then ", name(finding.first_name, l)));
    let amounts = match (finding.need, finding.have) {
        (check::Amount::States(need), check::Amount::States(have)) => {
            format!("needs {need} wait states, has {have}")
        }
        (check::Amount::Wait(wait), _) => format!("needs `s_waitcnt {wait}`"),
        _ => finding.title.to_owned(),
    };
    format!("{}: {reg}{first}{}{}: {amounts}", finding.rule, finding.second_name, finding.via.words())
}
