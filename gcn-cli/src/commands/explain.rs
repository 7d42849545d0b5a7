//! `gcn explain`.

mod listing;

use gcn_emit::target_id::TargetId;
use gcn_report::explain::{ExplainReport, report};
use gcn_report::input;

use crate::commands;
use crate::commands::code::{self, Broken};
use crate::commands::container::Choice;
use crate::commands::rule_set::Rules;
use crate::failure::Failure;
use crate::file;

/// Prints the code of an assembly file with the reason for each wait, and with the waits that are missing.
///
/// After each wait come the rules that require it, each with the two instructions, the registers through which they depend on each other
/// and the required wait; or a note that the wait orders memory, or that nothing needs it. Where a rule is broken, a line with `missing:`
/// says so.
///
/// For a file with macros or included files, the lines are those of the text on which `gcn fix --expand`
/// works.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly; `-` for standard input
    #[arg(value_name = "FILE.s", value_parser = file::name())]
    file: String,
    /// Also name the last writer of each register that an instruction reads
    #[arg(long)]
    writers: bool,
    #[command(flatten)]
    rules: Rules,
    /// The target id of a file that does not name one; must agree with the target that a file names, if any
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
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

pub fn run(args: &Args) -> Result<(), Failure> {
    let folders = args.includes.folders();
    let choice = Choice::for_target(args.target, args.wave);
    for input in code::read_with(&args.file, &choice, Broken::Refuse, &folders)? {
        let input = if input.unit.origins.is_empty() {
            input
        } else {
            input::expanded(input, &choice.into(), &folders)
                .map_err(|error| Failure::from(error).into_unreadable())?
        };
        let Some(text) = &input.text else {
            return Err(Failure::usage(format!(
                "{}: not assembly; `gcn disasm` converts it to assembly",
                input.name
            )));
        };
        let report: ExplainReport = report(&input, args.rules.config()?, args.writers);
        if args.json {
            file::print(commands::json(&report)?.as_bytes())?;
        } else {
            file::print(listing::print(&input, text, &report).as_bytes())?;
        }
    }
    Ok(())
}
