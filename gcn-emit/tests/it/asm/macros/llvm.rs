//! Compares with llvm-mc 22, case by case: both accept the file and produce the same object, or both reject it.

use std::collections::BTreeMap;

use gcn_emit::asm::{Options, assemble};
use gcn_test_support::env::{bless, fuzz_step};

use super::super::cases::llvm_module;
use super::super::{describe, first_difference};
use super::generate::program;
use crate::llvm::{Llvm, Scratch};

/// Cases written by hand, separated by lines of `====`.
const CASES: &str = include_str!("../../../data/asm_macros.txt");
/// The number of generated programs.
const GENERATED: u64 = 400;
/// For each case, a digest of its text and a digest of the object from llvm-mc 22, or `refused`. `GCN_BLESS=1 cargo test -p gcn-emit-tests
/// --test it asm::macros::llvm` updates them.
const GOLDEN: &str = include_str!("../../../data/asm_macros.tsv");
const REFUSED: &str = "refused";

fn cases() -> Vec<String> {
    let written = CASES.split("====\n").map(str::to_owned);
    written.chain((0..GENERATED).map(program)).collect()
}

fn digest(text: &str) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}

fn ours(case: &str) -> Result<Vec<String>, String> {
    let options = Options { target: Some("gfx942".parse().unwrap()), ..Options::default() };
    let assembly = assemble("case.s", case, &options).map_err(|errors| errors.to_string())?;
    Ok(describe(&assembly.module))
}

#[test]
fn all_cases_give_what_llvm_gave() {
    let golden: BTreeMap<&str, &str> = GOLDEN.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut wrong = Vec::new();
    let mut refused = 0;
    for case in cases() {
        let ours = ours(&case);
        let found = ours.as_ref().map_or(REFUSED.to_owned(), |lines| digest(&lines.join("\n")));
        refused += usize::from(found == REFUSED);
        if golden.get(digest(&case).as_str()) != Some(&found.as_str()) {
            wrong.push(format!("{case}  ours: {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n\n"));
    // Both accepted and rejected programs must occur.
    assert!((100..400).contains(&refused), "{refused} are refused");
}

#[test]
fn cases_mean_what_they_mean_to_llvm() {
    if Llvm::find().is_none() {
        return;
    }
    let dir = Scratch::new("asm-macros");
    // Each run of llvm-mc takes some hundredths of a second, so an ordinary run tests a part of the cases.
    let step = if bless() { 1 } else { fuzz_step(19) };
    let (mut wrong, mut golden) = (Vec::new(), BTreeMap::new());
    for case in cases().iter().step_by(step) {
        let theirs = llvm_module(&dir, "gfx942", case).map(|module| describe(&module));
        let stored = theirs.as_ref().map_or(REFUSED.to_owned(), |lines| digest(&lines.join("\n")));
        golden.insert(digest(case), stored);
        match (ours(case), theirs) {
            (Ok(ours), Some(theirs)) => {
                if let Some((ours, theirs)) = first_difference(&ours, &theirs) {
                    wrong.push(format!("{case}  ours {ours}\n  llvm {theirs}"));
                }
            }
            (Ok(_), None) => wrong.push(format!("{case}  llvm-mc refuses this")),
            (Err(errors), Some(_)) => wrong.push(format!("{case}  llvm-mc takes this: {errors}")),
            (Err(_), None) => {}
        }
    }
    if bless() {
        let mut text = String::new();
        golden.iter().for_each(|(case, result)| text += &format!("{case}\t{result}\n"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/asm_macros.tsv");
        std::fs::write(path, text).expect("the file can be written");
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n\n"));
}
