//! Errors of commands, with their exit codes.

use std::io::Write as _;
use std::process::ExitCode;

use crate::colour;

/// The message and exit code of a command that failed.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
    /// True if the message is printed without the prefix `error:`.
    complete: bool,
}

impl Failure {
    /// Something is wrong with the input: exit code 1.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1, complete: false }
    }

    /// The command line is wrong, or a file cannot be read or written: exit code 2.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2, complete: false }
    }

    /// A failure that is reported by the exit code alone, without a message.
    pub fn silent(code: u8) -> Failure {
        Failure { message: String::new(), code, complete: false }
    }

    /// The reader closed the pipe of standard output: no message, exit code 0.
    pub fn closed_output() -> Failure {
        Failure { message: String::new(), code: 0, complete: false }
    }

    /// Something is wrong with the input; the message is printed without `error:`.
    pub fn shown(message: impl Into<String>) -> Failure {
        Failure { complete: true, ..Failure::input(message) }
    }

    /// The same message, with exit code 2.
    pub fn into_unreadable(self) -> Failure {
        Failure { code: 2, ..self }
    }

    /// The message as it is printed.
    pub fn message(&self) -> String {
        let prefix = if self.complete { "" } else { "error: " };
        format!("{prefix}{}", self.message)
    }

    /// Prints the message to standard error.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            let prefix = match (self.complete, colour::of_errors()) {
                (true, _) => "",
                // The same style as clap's errors.
                (false, true) => "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ",
                (false, false) => "error: ",
            };
            complain(&format!("{prefix}{}", self.message));
        }
        ExitCode::from(self.code)
    }
}

/// Errors of the libraries, reworded for users of the command line.
impl From<gcn_report::Error> for Failure {
    fn from(error: gcn_report::Error) -> Failure {
        use gcn_report::Error;
        match error {
            Error::Assembly(errors) => Failure::shown(errors.render(colour::of_errors())),
            Error::OtherTarget { name, wanted, is } => Failure::input(format!(
                "{name}: the file is for {is}, but --target is {wanted}; omit --target, or give another file"
            )),
            Error::NoEntries { .. } => Failure::input(format!("{error}; omit --entry")),
            Error::Several { name, there } => {
                Failure::usage(format!("{name}: {there}; choose one with --target or --entry"))
            }
            _ => Failure::input(error.to_string()),
        }
    }
}

/// Writes a line to standard error. Failures are ignored, since there is nowhere left to report them.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", message.trim_end());
}
