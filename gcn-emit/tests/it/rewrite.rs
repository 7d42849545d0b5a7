//! Tests the insertion and removal of waits in assembly files.

mod agree;
mod corpus;
mod functions;
mod indexed;
mod mutate;
mod order;
mod text;

use gcn_emit::asm::{self, assemble};
use gcn_emit::code::Unit;
use gcn_emit::rewrite::{Fixed, Options, fix};

/// A kernel for gfx942 with these lines.
pub fn kernel(lines: &[&str]) -> String {
    format!(".amdgcn_target \"amdgcn-amd-amdhsa--gfx942:xnack-\"\n{}\n", lines.join("\n"))
}

/// The lines of the fixed kernel, except for the first.
pub fn fixed(lines: &[&str], strip: bool) -> Vec<String> {
    let options = Options { strip, ..Options::default() };
    let fixed = fix("k.s", &kernel(lines), &options).unwrap_or_else(|error| panic!("{error}"));
    fixed.text.lines().skip(1).map(|l| l.trim().to_owned()).collect()
}

/// The code of a text.
pub fn unit(text: &str) -> Unit {
    let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
    let assembly = assemble("k.s", text, &options).unwrap_or_else(|errors| panic!("{errors}"));
    Unit::of_assembly(&assembly).expect("instructions are kept")
}

/// A text without its waits, which a fix must not change.
pub fn without_waits(text: &str) -> String {
    let wait = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("s_nop") || line.starts_with("s_waitcnt")
    };
    text.split_inclusive('\n').filter(|l| !wait(l)).collect()
}

/// Applies `fix --strip` to a text, which must succeed.
pub fn strip(name: &str, text: &str) -> Fixed {
    let options = Options { strip: true, ..Options::default() };
    fix(name, text, &options).unwrap_or_else(|error| panic!("{name}: {error}"))
}
