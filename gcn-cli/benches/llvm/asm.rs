//! Compares `gcn asm` with `llvm-mc` and `ld.lld` on random instructions. Every form in gcn-emit's golden list for the target is equally
//! likely, registers are random, and half of the instructions have a random literal, so that hardly any instruction occurs twice.
//!
//! Measured with LLVM 22.1.8 on an idle machine in three runs: `gcn asm` is 10.3 to 10.4 times as fast by elapsed time, 10.5 times by
//! processor time.

use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use gcn_test_support::{Random, llvm::tool};

use crate::times::{Times, timed};

/// Lines with a target, the text of an instruction and its machine code.
const FORMS: &[u8] = include_bytes!("../../../gcn-emit/tests/data/encodings.tsv.gz");
const TARGET: &str = "gfx942";
const COUNT: usize = 100_000;
/// The number of counted runs of each program; one run before them is not counted.
const RUNS: usize = 15;

/// Runs both programs, if LLVM is installed.
pub fn compare() {
    let (Some(assembler), Some(linker)) = (tool("llvm-mc"), tool("ld.lld")) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("random.s"), source(COUNT)).expect("the folder can be written");
    let (mut ours, mut theirs) = (Times::default(), Times::default());
    for run in 0..=RUNS {
        let ours_once = timed(Command::new(env!("CARGO_BIN_EXE_gcn")).arg("asm").arg(path("random.s"))).0;
        let object = path("random.o");
        let assembled = timed(&mut assemble(&assembler, &path("random.s"), &object)).0;
        let linked = timed(&mut link(&linker, &object, &path("random.so"))).0;
        if run > 0 {
            ours.add(ours_once);
            let processor = assembled.1.zip(linked.1).map(|(a, b)| a + b);
            theirs.add((assembled.0 + linked.0, processor));
        }
    }
    println!("gcn asm, {COUNT} instructions, {RUNS} runs of each in turn");
    ours.print("llvm-mc and ld.lld", &mut theirs);
}

fn assemble(assembler: &Path, source: &Path, object: &Path) -> Command {
    let mut command = Command::new(assembler);
    command.args(["-triple=amdgcn-amd-amdhsa", &format!("-mcpu={TARGET}"), "-filetype=obj"]);
    command.arg(source).arg("-o").arg(object);
    command
}

fn link(linker: &Path, object: &Path, output: &Path) -> Command {
    let mut command = Command::new(linker);
    command.arg("-shared").arg(object).arg("-o").arg(output);
    command
}

/// A file with this number of instructions.
fn source(count: usize) -> String {
    let mut golden = String::new();
    flate2::read::GzDecoder::new(FORMS).read_to_string(&mut golden).expect("the list is gzipped UTF-8");
    let rows = golden.lines().filter_map(|line| line.strip_prefix(TARGET)?.trim_start().split_once('\t'));
    let forms: Vec<(&str, &str)> = rows.collect();
    let literals: Vec<(&str, &str)> =
        forms.iter().copied().filter(|(text, code)| has_literal(text, code)).collect();
    let mut random = Random::new(1);
    let mut out = format!("\t.amdgcn_target \"amdgcn-amd-amdhsa--{TARGET}\"\nk:\n");
    for number in 0..count {
        let list = if number % 2 == 0 { &forms } else { &literals };
        out.push('\t');
        let (form, _) = list[random.below(list.len())];
        vary(&mut random, form, number % 2 == 1, &mut out);
        out.push('\n');
    }
    out
}

/// True if the last dword of the machine code is the only hexadecimal number in the text, and is too large for an inline constant or an
/// offset.
fn has_literal(text: &str, code: &str) -> bool {
    let mut numbers = text.split("0x").skip(1);
    let (Some(digits), None) = (numbers.next(), numbers.next()) else { return false };
    let digits = digits.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
    let dword = code.len().checked_sub(8).and_then(|at| u32::from_str_radix(&code[at..], 16).ok());
    digits.len() > 6 && dword.map(u32::swap_bytes) == u32::from_str_radix(digits, 16).ok()
}

/// The text with each single VGPR replaced by a random even one, which every operand accepts, and, if `literal`, with the literal replaced
/// by a random one.
fn vary(random: &mut Random, text: &str, literal: bool, out: &mut String) {
    for word in text.split_inclusive([' ', ',', '|', '(', ')', '-']) {
        let name = word.trim_end_matches([' ', ',', '|', '(', ')', '-']);
        let rest = &word[name.len()..];
        if name.strip_prefix('v').is_some_and(|n| n.parse::<u8>().is_ok()) {
            *out += &format!("v{}{rest}", 2 * random.below(128));
        } else if literal && name.starts_with("0x") {
            *out += &format!("{:#x}{rest}", 0x1_0000 + random.below(0x7fff_0000));
        } else {
            out.push_str(word);
        }
    }
}
