//! The `gcn` command: assembles, disassembles, checks, explains and runs code for AMD GPUs.
//!
//! `commands/` has one file per command; `file` reads and writes files, `failure` defines the errors and exit codes, and `colour` decides
//! whether output is coloured.
#![forbid(unsafe_code)]

mod colour;
mod commands;
mod failure;
mod file;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Assembles, disassembles, checks, explains and runs code for AMD GPUs: GFX9 and CDNA (gfx900 to gfx950),
/// RDNA 1 to 4 (gfx1010 to gfx1201), CDNA 5 (gfx1250, gfx1251).
///
/// The file name `-` means standard input or standard output. Exit code 0: done; 1: something is wrong with the input; 2: the command line
/// is wrong or a file cannot be read or written.
#[derive(Parser)]
#[command(name = "gcn", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour the output; by default `NO_COLOR`, `FORCE_COLOR` and `CLICOLOR_FORCE` decide, and then whether it is a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: ColorChoice,
}

// clap takes the help of each command from its `Args`.
#[derive(Subcommand)]
enum Command {
    Annotate(commands::annotate::Args),
    Asm(commands::asm::Args),
    Check(commands::check::Args),
    Completions(commands::completions::Args),
    Disasm(commands::disasm::Args),
    Evidence(commands::evidence::Args),
    Explain(commands::explain::Args),
    Fix(commands::fix::Args),
    Inst(commands::inst::Args),
    Inspect(commands::inspect::Args),
    Layout(commands::layout::Args),
    Lsp(commands::lsp::Args),
    Man(commands::completions::ManArgs),
    Mutate(commands::mutate::Args),
    New(commands::new::Args),
    Probe(commands::probe::Args),
    Rules(commands::rules::Args),
    Run(commands::run::Args),
    Schema(commands::schema::Args),
    Sim(commands::sim::Args),
    Targets(commands::targets::Args),
    Timeline(commands::timeline::Args),
    Tune(commands::tune::Args),
    Wait(commands::wait::Args),
}

fn main() -> ExitCode {
    let matches = Cli::command().color(colour::from_environment()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    colour::choose(cli.color);
    let done = match cli.command {
        Command::Annotate(args) => commands::annotate::run(&args),
        Command::Asm(args) => commands::asm::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Completions(args) => commands::completions::run(&args, Cli::command()),
        Command::Disasm(args) => commands::disasm::run(&args),
        Command::Evidence(args) => commands::evidence::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Fix(args) => commands::fix::run(&args),
        Command::Inst(args) => commands::inst::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Layout(args) => commands::layout::run(&args),
        Command::Lsp(args) => commands::lsp::run(&args),
        Command::Man(args) => commands::completions::man(&args, Cli::command()),
        Command::Mutate(args) => commands::mutate::run(&args),
        Command::New(args) => commands::new::run(&args),
        Command::Probe(args) => commands::probe::run(&args),
        Command::Rules(args) => commands::rules::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Sim(args) => commands::sim::run(&args),
        Command::Targets(args) => commands::targets::run(&args),
        Command::Timeline(args) => commands::timeline::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Wait(args) => commands::wait::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
