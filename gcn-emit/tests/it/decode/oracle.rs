//! Runs LLVM's disassembler on many words at once.
//!
//! Each word is a separate block (`[…]` on one line; a block that cannot be decoded gives only a warning with the number of the line). A
//! dword that decodes to a known text follows. The output up to that text belongs to the block.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Output;

use gcn_isa::Target;

use crate::llvm::feed;

/// `s_nop 0x7eee`, which ends a block.
const END: (u32, &str) = (0xbf80_7eee, "s_nop 0x7eee");
/// `s_nop 0x5aa5`, used as a literal if LLVM considers the word to have one.
const FILL: u32 = 0xbf80_5aa5;

/// LLVM's result for a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The word is not an instruction.
    Illegal,
    /// The word is an instruction: its text, and its size in bytes.
    Inst {
        text: String,
        length: usize,
        /// True if LLVM itself warns about the instruction.
        doubtful: bool,
    },
    /// The disassembler crashed.
    Crash,
}

/// The number of dwords that are added to a block after a word: for a literal, or as the second half of a 16-byte instruction.
fn fills(word: &[u8]) -> usize {
    match word.len() {
        16 => 3,
        12 => 0,
        _ => 1,
    }
}

/// The bytes of a block, which are also given to our decoder.
pub fn block(word: &[u8]) -> Vec<u8> {
    let mut block = word.to_vec();
    for _ in 0..fills(word) {
        block.extend(FILL.to_le_bytes());
    }
    block.extend(END.0.to_le_bytes());
    block
}

/// One answer for each word.
pub fn ask(target: Target, words: &[Vec<u8>]) -> Vec<Answer> {
    let output = run(target, words);
    if output.status.code().is_none() {
        if let [_] = words {
            return vec![Answer::Crash];
        }
        let (left, right) = words.split_at(words.len() / 2);
        return [ask(target, left), ask(target, right)].concat();
    }
    let warnings = warnings(&String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('.'));
    let mut answers = Vec::with_capacity(words.len());
    let mut again = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let warning = warnings.get(&(i + 1)).copied();
        answers.push(match warning {
            Some(Warning::Illegal { first: true }) => Answer::Illegal,
            Some(Warning::Illegal { first: false }) => {
                again.push(i);
                Answer::Illegal
            }
            _ => {
                let own: Vec<&str> = lines.by_ref().take_while(|l| *l != END.1).collect();
                inst(word, &own, warning == Some(Warning::Doubtful))
            }
        });
    }
    if again.is_empty() {
        assert_eq!(lines.next(), None, "{target}: output and input in step");
        return answers;
    }
    // Words of which LLVM consumed only the first part shift the output. The other words are tested again without them, and they themselves
    // without their second part.
    let rest: Vec<Vec<u8>> =
        words.iter().enumerate().filter(|(i, _)| !again.contains(i)).map(|(_, w)| w.clone()).collect();
    let mut rest = ask(target, &rest).into_iter();
    let mut short =
        ask(target, &again.iter().map(|&i| words[i][..words[i].len() / 2].to_vec()).collect::<Vec<_>>())
            .into_iter();
    (0..words.len()).filter_map(|i| if again.contains(&i) { short.next() } else { rest.next() }).collect()
}

/// The result according to the lines of a block.
fn inst(word: &[u8], lines: &[&str], doubtful: bool) -> Answer {
    let Some((first, rest)) = lines.split_first() else { panic!("no output for {word:02x?}") };
    let length = match (rest.len(), word.len()) {
        (dwords, length) if dwords == fills(word) => length,
        // The second half is decoded separately, as one or several instructions.
        (_, 16) => 8,
        (dwords, length) => (length + 4 * fills(word)).saturating_sub(4 * dwords),
    };
    Answer::Inst { text: (*first).to_owned(), length, doubtful }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Warning {
    Illegal {
        /// True if the warning is about the first instruction of the block.
        first: bool,
    },
    Doubtful,
}

/// Warnings by line number.
fn warnings(errors: &str) -> BTreeMap<usize, Warning> {
    let mut warnings = BTreeMap::new();
    for line in errors.lines() {
        let Some(rest) = line.strip_prefix("<stdin>:") else { continue };
        let mut parts = rest.splitn(3, ':');
        let (Some(line), Some(column), Some(what)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (Ok(line), Ok(column)) = (line.parse(), column.parse::<usize>()) else { continue };
        let warning = match what {
            w if w.contains("invalid instruction encoding") => Warning::Illegal { first: column == 2 },
            w if w.contains("potentially undefined") => Warning::Doubtful,
            other => panic!("LLVM says something new: {other}"),
        };
        warnings.insert(line, warning);
    }
    warnings
}

fn run(target: Target, words: &[Vec<u8>]) -> Output {
    let mut input = String::with_capacity(words.len() * 50);
    for word in words {
        let mut open = '[';
        for byte in block(word) {
            let _ = write!(input, "{open}{byte}");
            open = ' ';
        }
        input.push_str("]\n");
    }
    feed(
        &["-disassemble", "-disable-symbolication", "-triple=amdgcn-amd-amdhsa", &format!("-mcpu={target}")],
        input,
    )
}

/// The machine code that LLVM's assembler produces from each text; `None` if it rejects the text.
pub fn assemble(target: Target, texts: &[&str]) -> Vec<Option<Vec<u8>>> {
    let mut codes = vec![None; texts.len()];
    if texts.is_empty() {
        return codes;
    }
    let input: String = texts.iter().flat_map(|text| [text, "\n"]).collect();
    let args = ["-show-encoding", "-triple=amdgcn-amd-amdhsa", &format!("-mcpu={target}")];
    let output = feed(&args, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    let refused: BTreeSet<usize> = errors
        .lines()
        .filter(|line| line.contains(": error: "))
        .filter_map(|line| line.strip_prefix("<stdin>:")?.split(':').next()?.parse().ok())
        .collect();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut encodings = text.lines().filter_map(|line| line.split("encoding: [").nth(1));
    let accepted = (0..texts.len()).filter(|i| !refused.contains(&(i + 1)));
    for i in accepted {
        let list = encodings.next().expect("an encoding for each accepted line");
        let byte = |b: &str| u8::from_str_radix(b.trim().trim_start_matches("0x"), 16).ok();
        codes[i] = list.trim_end_matches(']').split(',').map(byte).collect();
    }
    assert_eq!(encodings.next(), None, "{target}: output and input in step");
    codes
}
