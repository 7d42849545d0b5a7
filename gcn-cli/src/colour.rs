//! Decides whether output is coloured.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

/// The value of `--color`.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Records the value of `--color`. Only the first call has an effect.
pub fn choose(choice: ColorChoice) {
    CHOICE.get_or_init(|| choice);
}

/// True if standard output is coloured.
pub fn of_output() -> bool {
    wanted(&std::io::stdout())
}

/// True if standard error is coloured.
pub fn of_errors() -> bool {
    wanted(&std::io::stderr())
}

/// True if output to `stream` is coloured. This depends on, in decreasing precedence: the command line; the variables `NO_COLOR`
/// (no-color.org), `FORCE_COLOR` and `CLICOLOR_FORCE`; whether the stream is a terminal that supports colours.
fn wanted(stream: &impl IsTerminal) -> bool {
    let said = CHOICE.get().copied().filter(|choice| *choice != ColorChoice::Auto);
    match said.unwrap_or_else(from_environment) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stream.is_terminal(),
    }
}

/// The choice according to the environment variables; `Auto` if none of them is set.
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
