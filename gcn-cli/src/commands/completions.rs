//! `gcn completions` and `gcn man`: scripts for shells and pages for `man`, from the definition of the command line.

use std::path::PathBuf;

use clap_complete::Shell;

use crate::failure::Failure;
use crate::file;

/// Prints a script with which a shell completes the command line of `gcn`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  gcn completions bash > ~/.local/share/bash-completion/completions/gcn
  gcn completions zsh > ~/.zfunc/_gcn
  gcn completions fish > ~/.config/fish/completions/gcn.fish";

/// Prints the script.
pub fn run(args: &Args, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "gcn", &mut script);
    file::print(&script)
}

/// Writes the manual pages: `gcn.1`, and `gcn-COMMAND.1` for each command.
#[derive(clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The folder for the pages; it is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const MAN_EXAMPLES: &str = "\
Examples:
  gcn man ~/.local/share/man/man1           then `man gcn-check`";

/// Writes the page of `command` and those of its subcommands.
pub fn man(args: &ManArgs, command: clap::Command) -> Result<(), Failure> {
    let folder = &args.folder;
    let failed = |error| Failure::usage(format!("cannot write to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)
}
