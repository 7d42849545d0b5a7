//! `gcn mutate`.

use std::fmt::Write as _;

use gcn_emit::rewrite::{Superfluous, superfluous};
use gcn_emit::target_id::TargetId;
use gcn_isa::table::Class;
use serde::Serialize;

use crate::commands::code::Broken;
use crate::commands::container::Choice;
use crate::commands::rule_set::Rules;
use crate::commands::{self, code};
use crate::failure::Failure;
use crate::file;

/// Removes or weakens each wait of a kernel in turn, and lists the waits without which no rule is broken.
///
/// FILE is assembly, a relocatable object, a code object or a bundle of them, gzipped or not. A wait that is not listed is needed: if it is
/// removed or weakened, a rule is broken. Each wait is judged on its own, so of two listed waits, only one may be removable; `gcn fix
/// --strip` removes as many as possible together.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly or an object; `-` for standard input
    #[arg(value_name = "FILE", value_parser = file::name())]
    file: String,
    #[command(flatten)]
    rules: Rules,
    /// The target id of assembly that does not name one; must agree with the target that a file names, if any
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn mutate kernel.s                      waits that could be weaker, by line
  gcn mutate kernel.hsaco --rules certain  against only the undisputed rules";

/// The output of `--json` for a file.
#[derive(Serialize)]
struct Report {
    file: String,
    target_id: String,
    /// The number of `s_nop` and `s_waitcnt`.
    waits: usize,
    superfluous: Vec<Superfluous>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let rules = args.rules.config()?;
    let mut reports = Vec::new();
    for input in code::read(&args.file, &Choice::for_target(args.target, args.wave), Broken::Refuse)? {
        let lines = input.unit.sections.iter().flat_map(|s| &s.program.lines);
        let is_wait = |class: Class| matches!(class, Class::Nop | Class::Waitcnt);
        let waits = lines.filter(|l| is_wait(l.inst.desc.class)).count();
        let superfluous = superfluous(&input.unit, rules);
        reports.push(Report {
            file: input.name,
            target_id: input.unit.target_id.to_string(),
            waits,
            superfluous,
        });
    }
    if args.json {
        return file::print(commands::json(&reports)?.as_bytes());
    }
    let out: String = reports.iter().map(listing).collect();
    file::print(out.as_bytes())
}

fn listing(report: &Report) -> String {
    let mut out = String::new();
    for wait in &report.superfluous {
        let place = match wait.line {
            Some(line) => format!("{}:{line}", report.file),
            None => format!("{}: {}+{:#x}", report.file, wait.section, wait.offset),
        };
        let enough =
            wait.enough.as_ref().map_or_else(|| "is not needed".to_owned(), |e| format!("could be `{e}`"));
        let order = if wait.may_order_memory { ", unless it orders memory for others" } else { "" };
        let _ = writeln!(out, "{place}: `{}` {enough}{order}", wait.wait);
    }
    let unneeded = report.superfluous.iter().filter(|s| s.enough.is_none()).count();
    let weaker = report.superfluous.len() - unneeded;
    let _ = writeln!(
        out,
        "{}: {} waits, {unneeded} not needed, {weaker} stronger than needed",
        report.file, report.waits
    );
    out
}
