//! What goes wrong, and the exit code that says so.

use std::io::Write as _;
use std::process::ExitCode;

/// Why a command did not do its work.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
    /// The message needs no `error:` before it.
    complete: bool,
}

impl Failure {
    /// Something is wrong with what was read: exit code 1.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1, complete: false }
    }

    /// The command line is wrong, or a file cannot be read or written: exit code 2.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2, complete: false }
    }

    /// The output says what there is to say: this exit code.
    pub fn silent(code: u8) -> Failure {
        Failure { message: String::new(), code, complete: false }
    }

    /// Whoever read the output has stopped reading: nothing to say.
    pub fn reader_gone() -> Failure {
        Failure { message: String::new(), code: 0, complete: false }
    }

    /// Something is wrong with what was read, and the message says so by itself.
    pub fn shown(message: impl Into<String>) -> Failure {
        Failure { complete: true, ..Failure::input(message) }
    }

    /// What was read is not what the command is for, and the message says so by itself: exit code 2.
    pub fn unreadable(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2, complete: true }
    }

    /// The same message with exit code 2.
    pub fn into_unreadable(self) -> Failure {
        Failure { code: 2, ..self }
    }

    /// The failure with more to say.
    pub fn with(mut self, more: &str) -> Failure {
        self.message += more;
        self
    }

    /// The message as it is printed.
    pub fn message(&self) -> String {
        let prefix = if self.complete { "" } else { "error: " };
        format!("{prefix}{}", self.message)
    }

    /// Prints the message to standard error.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            let prefix = if self.complete { "" } else { "error: " };
            complain(&format!("{prefix}{}", self.message));
        }
        ExitCode::from(self.code)
    }
}

/// Writes a line to standard error. If that is closed, nobody is left to tell.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", message.trim_end());
}
