//! Integration tests of the `gcn` command, in one binary: its output and exit codes.

mod annotate;
mod asm;
mod book;
mod check;
mod ci;
mod commands;
mod containers;
mod disasm;
mod docs;
mod evidence;
mod explain;
mod files;
mod fix;
mod lsp;
mod macros;
mod mutated;
mod names;
mod new;
mod rdna;
mod rules;
mod run;
mod sarif;
mod schema;
mod shell;
mod sim;
mod timeline;
mod triton;
mod tune;
mod wait;
mod waits;

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

/// The result of a run of `gcn`.
#[derive(Debug)]
pub struct Run {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// Standard output of a run that must succeed.
    pub fn text(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        String::from_utf8(self.out).expect("UTF-8")
    }

    /// Standard error of a run that must fail with this exit code and print nothing to standard output.
    pub fn failure(self, code: i32) -> String {
        assert_eq!((self.code, self.out.len()), (code, 0), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

/// Runs `gcn` with these arguments and this standard input.
pub fn gcn_with(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gcn"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gcn starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // A command that reads no input closes the pipe; the failing write does not matter.
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("gcn ends");
    feed.join().expect("the input is written");
    Run {
        code: output.status.code().expect("an exit code"),
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs `gcn` without input.
pub fn gcn(arguments: &[&str]) -> Run {
    gcn_with(arguments, b"")
}

/// The text of a gzipped file.
pub fn unpack(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("a gzipped text");
    text
}

/// The bytes of a gzipped file.
pub fn unpack_bytes(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("a gzipped file");
    bytes
}

/// An assembly file with two kernels, as a user would write it.
pub const TWO_KERNELS: &str = include_str!("../data/two_kernels.s");

/// A kernel with waits missing.
pub const UNWAITED: &str = include_str!("../data/unwaited.s");

/// The code object of [`TWO_KERNELS`].
pub fn two_kernels() -> Vec<u8> {
    let run = gcn_with(&["asm", "-", "-o", "-"], TWO_KERNELS.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}
