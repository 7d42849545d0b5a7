//! `gcn fix`.

use std::fmt::Write as _;

use clap::ValueEnum;
use gcn_emit::asm;
use gcn_emit::rewrite::{
    self, Change, Erratum, Fixed, FunctionWaits, KeptWait, RewriteError, Waits, fix_functions,
};
use gcn_emit::target_id::TargetId;
use serde::Serialize;

use crate::commands::rule_set::{Rules, Xnack};
use crate::commands::{self, totals};
use crate::failure::{self, Failure};
use crate::{colour, file};

/// Inserts the waits that are missing in an assembly file, and with `--strip` removes those that nothing needs.
///
/// Everything but the waits stays as it is, byte for byte, with one exception: on gfx90a, if the shift amount of a 64-bit shift is in the
/// last VGPR, that VGPR is swapped with another one. The result goes to standard output or to `-o`. A report goes to standard error: wait
/// states and `s_waitcnt` before and after, also weighted by a factor of 10 for each enclosing loop.
///
/// `--strip` first removes every `s_nop` and `s_waitcnt` and then inserts as few as the rules allow. Waits that order memory (before
/// barriers, in a release, after an acquire) are kept, and so are those in unreachable code.
///
/// A write to LDS (or a load from memory into it) need not be waited for at every barrier: while it fills one LDS buffer, the program may
/// use another. If the file waits for such an instruction before at least one barrier or LDS access, its waits for it are assumed to be
/// right. If the file never waits for it, waits are inserted before every barrier and LDS access.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly; `-` for standard input. Several files only with `--stats`
    #[arg(value_name = "FILE.s", required_unless_present = "functions", conflicts_with = "functions", value_parser = file::name())]
    files: Vec<String>,
    /// Remove the existing waits first
    #[arg(long)]
    strip: bool,
    /// The file for the result; by default standard output
    #[arg(short, long, value_name = "OUT.s", conflicts_with_all = ["stats", "functions"], value_parser = file::name())]
    output: Option<String>,
    #[command(flatten)]
    rules: Rules,
    /// The target id, such as gfx942 or gfx90a:xnack-. If the file names a target, this option may only set features that the file leaves
    /// open; with `xnack-` the rules of XNACK replay do not apply
    #[arg(long, value_name = "T", required_if_eq("functions", ""))]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
    /// Whether memory accesses may be replayed (XNACK); `target`: unless the target id says xnack-
    #[arg(long, value_name = "WHEN", default_value = "target")]
    xnack: Xnack,
    #[command(flatten)]
    includes: file::Includes,
    /// Expand macros, repetitions, conditions and included files first. Without this option, a wait that has to change inside one of them
    /// is an error that names the line
    #[arg(long, conflicts_with = "functions")]
    expand: bool,
    /// Change only one kind of wait
    #[arg(long, value_name = "KIND")]
    only: Option<Only>,
    /// Also put `s_delay_alu` where LLVM does (RDNA 3 and later), replacing the existing ones: hints that save time and order nothing
    #[arg(long, conflicts_with_all = ["functions", "only"])]
    delays: bool,
    /// Write the reason after each inserted wait
    #[arg(long)]
    comment: bool,
    /// Print only the totals of each file, on standard output
    #[arg(long)]
    stats: bool,
    /// Print the report as JSON; the text is then written only with `-o`
    #[arg(long, conflicts_with = "functions")]
    json: bool,
    /// Read many functions from one file, each after a line `func NAME:`, and print them in the same format. Lines from `===` to the next
    /// `func` are skipped
    #[arg(long, value_name = "FILE", requires = "target", value_parser = file::name())]
    functions: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  gcn fix kernel.s -o fixed.s                 insert the missing waits
  gcn fix kernel.s --strip -o fast.s          as few waits as the rules allow
  gcn fix kernel.s --rules certain --comment  only undisputed rules, each wait with its reason
  gcn fix kernel.s -I inc --expand -o k.s     expand macros and included files, then insert
  gcn fix --strip --stats *.s                 wait states and s_waitcnt before and after
  gcn fix --target gfx942 --functions - --only counters < functions.txt";

/// A kind of wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Only {
    /// `s_nop`.
    WaitStates,
    /// `s_waitcnt`.
    Counters,
}

/// The output of `--json` for a file.
#[derive(Serialize)]
struct Report {
    file: String,
    target_id: String,
    /// The file to which the text was written.
    output: Option<String>,
    before: Waits,
    after: Waits,
    functions: Vec<FunctionWaits>,
    changes: Vec<Change>,
    kept: Vec<KeptWait>,
    unmended: Vec<Erratum>,
    mended: Vec<Erratum>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(functions) = &args.functions {
        return batch(args, functions);
    }
    if args.stats {
        return stats(args);
    }
    let [name] = args.files.as_slice() else {
        return Err(Failure::usage("several files can be read only with `--stats`"));
    };
    let fixed = fix(name, args)?;
    if let Some(output) = &args.output {
        file::write(output, fixed.text.as_bytes())?;
    }
    if args.json {
        let report = report(name, fixed, args.output.clone());
        return file::print(commands::json(&report)?.as_bytes());
    }
    if args.output.is_none() {
        file::print(fixed.text.as_bytes())?;
    }
    failure::complain(&said(name, &fixed));
    Ok(())
}

fn options(args: &Args) -> Result<rewrite::Options, Failure> {
    Ok(rewrite::Options {
        target: args.target,
        wave: args.wave.wave,
        xnack: args.xnack.choice(),
        rules: args.rules.config()?,
        strip: args.strip,
        only: args.only.map(|only| match only {
            Only::WaitStates => rewrite::Only::WaitStates,
            Only::Counters => rewrite::Only::Counters,
        }),
        comment: args.comment,
        delays: args.delays,
        brief: !args.json,
    })
}

fn fix(name: &str, args: &Args) -> Result<Fixed, Failure> {
    let shown = file::shown(name);
    let mut text = file::read_text(name)?;
    let folders = args.includes.folders();
    if args.expand {
        let options = asm::Options { target: args.target, wave: args.wave.wave, ..asm::Options::default() };
        text = asm::expand(shown, &text, &options, &folders)
            .map_err(|errors| Failure::shown(errors.render(colour::of_errors())))?;
    }
    rewrite::fix_with(shown, &text, &options(args)?, &folders).map_err(|error| refuse(shown, &error))
}

fn refuse(name: &str, error: &RewriteError) -> Failure {
    match error {
        RewriteError::Assembly(errors) => Failure::shown(errors.render(colour::of_errors())),
        _ => Failure::input(format!("{name}: {error}")),
    }
}

/// The report on a file as text.
fn said(name: &str, fixed: &Fixed) -> String {
    let name = file::shown(name);
    let mut out = String::new();
    let count = |action| fixed.changes.iter().filter(|c| c.action == action).count();
    let _ = writeln!(
        out,
        "{name}: {} waits inserted, {} changed, {} removed; {} stay because they order memory",
        count(rewrite::Action::Inserted),
        count(rewrite::Action::Changed),
        count(rewrite::Action::Removed),
        fixed.kept.len(),
    );
    if fixed.delays > 0 {
        let _ = writeln!(out, "{name}: {} `s_delay_alu`", fixed.delays);
    }
    for Erratum { line, rule, message } in &fixed.mended {
        let _ = writeln!(out, "{name}:{line}: {rule}: {message}");
    }
    for Erratum { line, rule, message } in &fixed.unmended {
        let _ = writeln!(out, "{name}:{line}: warning[{rule}]: no wait mends this: {message}");
    }
    out + &totals::table(&totals::rows(&fixed.functions))
}

fn report(name: &str, fixed: Fixed, output: Option<String>) -> Report {
    let (before, after) = totals::sum(&fixed.functions);
    let Fixed { target_id, changes, kept, functions, unmended, mended, .. } = fixed;
    let target_id = target_id.to_string();
    Report {
        file: file::shown(name).to_owned(),
        target_id,
        output,
        before,
        after,
        functions,
        changes,
        kept,
        unmended,
        mended,
    }
}

/// Prints the totals of many files. A file that cannot be read is reported and does not stop the rest.
fn stats(args: &Args) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let (mut before, mut after) = (Waits::default(), Waits::default());
    let (mut reports, mut failed) = (Vec::new(), 0);
    for name in &args.files {
        let fixed = match fix(name, args) {
            Ok(fixed) => fixed,
            Err(failure) => {
                failure.report();
                failed += 1;
                continue;
            }
        };
        let (was, is) = totals::sum(&fixed.functions);
        before += was;
        after += is;
        rows.push((file::shown(name).to_owned(), was, is));
        if args.json {
            reports.push(report(name, fixed, None));
        }
    }
    if args.json {
        file::print(commands::json(&reports)?.as_bytes())?;
    } else {
        if rows.len() > 1 {
            rows.push((format!("{} files", rows.len()), before, after));
        }
        file::print(totals::table(&rows).as_bytes())?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::input(format!("{failed} of {} files could not be rewritten", args.files.len()))),
    }
}

fn batch(args: &Args, name: &str) -> Result<(), Failure> {
    let target = args.target.ok_or_else(|| Failure::usage("`--functions` needs `--target`"))?;
    let text = file::read_text(name)?;
    let fixed = fix_functions(&text, target, &options(args)?);
    let mut failed = 0;
    for function in &fixed {
        if let Err(error) = &function.result {
            failed += 1;
            let place = format!("{}:{}: func {}", file::shown(name), function.line, function.name);
            refuse(&place, error).report();
        }
    }
    let done = fixed.iter().filter_map(|f| Some((&f.name, f.result.as_ref().ok()?)));
    file::print_pieces(done.flat_map(|(name, text)| ["func ", name, ":\n", text, "\n"]))?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::input(format!("{failed} of {} functions could not be read", fixed.len()))),
    }
}
