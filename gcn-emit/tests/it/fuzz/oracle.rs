//! Runs LLVM's assembler and disassembler on many instructions at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Output;

use gcn_isa::Target;

use crate::llvm::feed;

/// LLVM's result for a line: the bytes, or the error. For a line that refers to a symbol, the bytes are empty.
pub type Assembled = Result<Vec<u8>, String>;

/// One result for each line; a line contains one instruction.
pub fn assemble(target: Target, lines: &[String]) -> Vec<Assembled> {
    // After a malformed number LLVM skips the next line, so an empty line is inserted after each.
    let output = run(&["-show-encoding"], target, lines.join("\n\n") + "\n");
    assert!(output.status.code().is_some(), "llvm-mc crashed on a batch of {target}");
    let errors = errors(&String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut encodings = text.lines().filter_map(encoding);
    let answers = lines.iter().enumerate().map(|(i, line)| match errors.get(&(2 * i + 1)) {
        Some(error) => Err(error.clone()),
        None => Ok(encodings.next().unwrap_or_else(|| panic!("{target}: no encoding for `{line}`"))),
    });
    let answers = answers.collect();
    assert_eq!(encodings.next(), None, "{target}: output and input in step");
    answers
}

/// The bytes after `encoding: [`; `None` if some of them are filled in later (these are letters).
fn encoding(line: &str) -> Option<Vec<u8>> {
    let list = line.split_once("encoding: [")?.1.split(']').next()?;
    let byte = |b: &str| b.strip_prefix("0x").and_then(|b| u8::from_str_radix(b, 16).ok());
    Some(list.split(',').map(byte).collect::<Option<Vec<u8>>>().unwrap_or_default())
}

/// The first error of each line.
fn errors(text: &str) -> BTreeMap<usize, String> {
    let mut errors = BTreeMap::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("<stdin>:") else { continue };
        let mut parts = rest.splitn(3, ':');
        if let (Some(Ok(line)), Some(_), Some(what)) =
            (parts.next().map(str::parse), parts.next(), parts.next())
            && let Some(what) = what.strip_prefix(" error: ")
        {
            errors.entry(line).or_insert_with(|| what.to_owned());
        }
    }
    errors
}

/// `s_nop 0x7eee`, which marks the end of an instruction's output.
const END: (u32, &str) = (0xbf80_7eee, "s_nop 0x7eee");

/// The text for each instruction's bytes; `None` if LLVM finds no instruction. If it finds several, they are joined by `; `.
pub fn disassemble(target: Target, codes: &[Vec<u8>]) -> Vec<Option<String>> {
    let mut input = String::with_capacity(codes.len() * 60);
    for code in codes {
        input.push('[');
        for byte in code {
            let _ = write!(input, "{byte} ");
        }
        input.push_str("]\n[");
        for byte in END.0.to_le_bytes() {
            let _ = write!(input, "{byte} ");
        }
        input.push_str("]\n");
    }
    let output = run(&["-disassemble", "-disable-symbolication"], target, input);
    assert!(output.status.code().is_some(), "the disassembler crashed on a batch of {target}");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('.'));
    let texts = codes.iter().map(|_| {
        let own: Vec<&str> = lines.by_ref().take_while(|l| *l != END.1).collect();
        (!own.is_empty()).then(|| own.join("; "))
    });
    let texts = texts.collect();
    assert_eq!(lines.next(), None, "{target}: output and input in step");
    texts
}

fn run(mode: &[&str], target: Target, input: String) -> Output {
    let cpu = format!("-mcpu={target}");
    feed(&[mode, &["-triple=amdgcn-amd-amdhsa", &cpu]].concat(), input)
}
