//! Tests the decoder against LLVM's disassembler on random words, and with malformed input.

mod classes;
mod compare;
mod generate;
mod hostile;
mod oracle;

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::Target;
use gcn_test_support::env::{fuzz_count, fuzz_seed};

use crate::llvm::Llvm;
use classes::{CLASSES, listed};
use compare::compare;
pub(crate) use generate::{Words, seeds};

/// The number of words per target in a default run; `GCN_FUZZ_COUNT` sets another number, 10,000,000 for the full run.
const DEFAULT_COUNT: usize = 20_000;
/// The number of words in one run of the tool.
const BATCH: usize = 50_000;

/// For each word, our decoder and LLVM's agree that it is not an instruction, or give the same text and length. Otherwise the difference
/// must be in one of the listed classes.
#[test]
fn random_words_decode_as_llvm_decodes_them() {
    if Llvm::find().is_none() {
        return;
    }
    let count = fuzz_count(DEFAULT_COUNT);
    let mut by_class: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unlisted = Vec::new();
    for target in Target::REPRESENTATIVES {
        let mut words = Words::new(target, fuzz_seed(1), seeds(target));
        let (mut illegal, mut legal, mut different) = (0, 0, 0);
        let mut left = count;
        while left > 0 {
            let batch: Vec<Vec<u8>> = (0..left.min(BATCH)).map(|_| words.next()).collect();
            left -= batch.len();
            let outcome = compare(target, &batch);
            illegal += outcome.illegal;
            legal += outcome.legal;
            different += outcome.differences.len();
            for difference in outcome.differences {
                match CLASSES.iter().find(|class| class.1(&difference)) {
                    Some((name, _)) => *by_class.entry(name).or_default() += 1,
                    None => unlisted.push(difference.to_string()),
                }
            }
        }
        println!(
            "{target}: {legal} words decode to the same text, {illegal} to none, {different} differ as listed"
        );
        // The generator is useful only if both outcomes are common.
        assert!(
            legal > count / 3 && illegal > count / 8,
            "{target}: {legal} legal, {illegal} illegal of {count}"
        );
    }
    println!("{by_class:?}");
    let shown: Vec<&String> = unlisted.iter().take(40).collect();
    assert!(unlisted.is_empty(), "{} words differ in no listed way, among them {shown:#?}", unlisted.len());
}

#[test]
fn every_class_of_differences_is_explained() {
    let listed = listed();
    let names: BTreeSet<&str> = listed.iter().map(|row| row.0).collect();
    assert_eq!(names, CLASSES.iter().map(|class| class.0).collect());
    assert!(listed.iter().all(|row| row.1.parse::<u64>().is_ok() && row.2.len() > 40), "{listed:?}");
}
