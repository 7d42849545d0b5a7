//! Whether the output has colours.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

/// The value of `--color`.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Takes in the command line's `--color`. The first call decides.
pub fn choose(choice: ColorChoice) {
    CHOICE.get_or_init(|| choice);
}

/// Whether standard output has colours.
pub fn of_output() -> bool {
    wanted(&std::io::stdout())
}

/// Whether standard error has colours.
pub fn of_errors() -> bool {
    wanted(&std::io::stderr())
}

/// The command line first, then `NO_COLOR` (no-color.org), `FORCE_COLOR` and `CLICOLOR_FORCE`, then whether it is a terminal that
/// can.
fn wanted(stream: &impl IsTerminal) -> bool {
    let said = CHOICE.get().copied().filter(|choice| *choice != ColorChoice::Auto);
    match said.unwrap_or_else(from_environment) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stream.is_terminal(),
    }
}

/// The choice of the environment.
pub fn from_environment() -> ColorChoice {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let forces = |name| value(name).is_some_and(|value| value != "0");
    if value("NO_COLOR").is_some() {
        ColorChoice::Never
    } else if forces("FORCE_COLOR") || forces("CLICOLOR_FORCE") {
        ColorChoice::Always
    } else if value("CLICOLOR").is_some_and(|value| value == "0")
        || value("TERM").is_some_and(|t| t == "dumb")
    {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    }
}
